// SPDX-License-Identifier: Apache-2.0

// Work for which Go's runtime changes stacks: garbage, stacks that grow, clocks; by the first
// argument, for the seconds of the second one.
package main

import (
	"os"
	"strconv"
	"time"
)

type tree struct{ left, right *tree }

//go:noinline
func makeTree(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{makeTree(depth - 1), makeTree(depth - 1)}
}

//go:noinline
func garbage() int {
	count := 0
	for i := 0; i < 20; i++ {
		if makeTree(10).left != nil {
			count++
		}
	}
	return count
}

//go:noinline
func deep(depth int) int {
	var room [40]int
	room[depth%40] = depth
	if depth == 0 {
		return room[0]
	}
	return deep(depth-1) + room[depth%40]
}

//go:noinline
func grow(done chan<- int) { done <- deep(300) }

//go:noinline
func growing() int {
	const goroutines = 64
	done := make(chan int, goroutines)
	sum := 0
	for i := 0; i < goroutines; i++ {
		go grow(done)
	}
	for i := 0; i < goroutines; i++ {
		sum += <-done
	}
	return sum
}

//go:noinline
func clocks() int {
	sum := 0
	for i := 0; i < 1000; i++ {
		sum += time.Now().Nanosecond() & 1
	}
	return sum
}

//go:noinline
func repeat(step func() int, end time.Time) int {
	sum := 0
	for time.Now().Before(end) {
		sum += step()
	}
	return sum
}

func main() {
	steps := map[string]func() int{"garbage": garbage, "growing": growing, "clocks": clocks}
	seconds, _ := strconv.Atoi(os.Args[2])
	kept := makeTree(16)
	println(repeat(steps[os.Args[1]], time.Now().Add(time.Duration(seconds)*time.Second)))
	if kept.left == nil {
		os.Exit(1)
	}
}
