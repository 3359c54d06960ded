// SPDX-License-Identifier: Apache-2.0

// Two goroutines, which work in Go, and sometimes in C, which calls Go back. A thread of C calls Go,
// too.
package main

/*
#include <stdint.h>
uint32_t sort_in_c(void);
uint32_t call_back(uint32_t depth);
uint32_t call_from_thread(void);
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

//go:noinline
func calledLeaf() uint32 { return goLeaf(200000) + 1 }

//export called_back
func called_back(depth C.uint32_t) C.uint32_t {
	if depth > 0 {
		return C.call_back(depth - 1)
	}
	return C.uint32_t(calledLeaf())
}

func work(done chan<- uint32) {
	sum := uint32(0)
	for i := 0; i < rounds; i++ {
		sum += goOuter()
		if i%inC == 0 {
			sum += callC() + uint32(C.call_back(2))
		}
	}
	done <- sum
}

func main() {
	done := make(chan uint32)
	go work(done)
	go work(done)
	for i := 0; i < rounds; i += inC {
		C.call_from_thread()
	}
	println(<-done + <-done)
}
