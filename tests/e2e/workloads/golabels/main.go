// SPDX-License-Identifier: Apache-2.0

// Goroutines with labels and one without, for the seconds of the first argument.
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

//go:noinline
func spin(n int) int {
	sum := n
	for i := 0; i < n; i++ {
		sum = sum*1664525 + 1013904223
	}
	return sum
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	done := make(chan int)
	work := func(context.Context) {
		sum := 0
		for time.Now().Before(end) {
			sum += spin(100000)
		}
		done <- sum
	}
	few := pprof.Labels("handler", "first", "long", strings.Repeat("x", 100))
	var pairs []string
	for i := 0; i < 20; i++ {
		pairs = append(pairs, "key"+strconv.Itoa(i), "value"+strconv.Itoa(i))
	}
	go pprof.Do(context.Background(), few, work)
	go pprof.Do(context.Background(), pprof.Labels("handler", "second"), work)
	go pprof.Do(context.Background(), pprof.Labels(pairs...), work)
	go work(nil)
	println(<-done + <-done + <-done + <-done)
}
