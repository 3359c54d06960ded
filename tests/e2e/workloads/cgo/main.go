// SPDX-License-Identifier: Apache-2.0

// Two goroutines, which work in Go, and sometimes in C. Neither clocks nor garbage, for the walk
// ends where Go's runtime changes stacks for them.
package main

/*
#include <stdint.h>
uint32_t sort_in_c(void);
*/
import "C"

const rounds, inC = 800, 16 // a round takes 0.6 ms

//go:noinline
func goLeaf(n uint32) uint32 {
	sum := n
	for i := uint32(0); i < n; i++ {
		sum = sum*1664525 + 1013904223
	}
	return sum
}

//go:noinline
func goOuter() uint32 { return goLeaf(600000) + 1 }

//go:noinline
func callC() uint32 { return uint32(C.sort_in_c()) }

func work(done chan<- uint32) {
	sum := uint32(0)
	for i := 0; i < rounds; i++ {
		sum += goOuter()
		if i%inC == 0 {
			sum += callC()
		}
	}
	done <- sum
}

func main() {
	done := make(chan uint32)
	go work(done)
	go work(done)
	println(<-done + <-done)
}
