// SPDX-License-Identifier: Apache-2.0

// A library for a program of C or another language: it collects garbage, and calls the program back.
package main

/*
#include <stdint.h>
typedef uint32_t back(uint32_t n);
static uint32_t call_back(back *function, uint32_t n) { return function(n); }
*/
import "C"

import "time"

type tree struct{ left, right *tree }

//go:noinline
func makeTree(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{makeTree(depth - 1), makeTree(depth - 1)}
}

//go:noinline
func spin(n uint32) uint32 {
	sum := n
	for i := uint32(0); i < n; i++ {
		sum = sum*1664525 + 1013904223
	}
	return sum
}

//go:noinline
func garbage() uint32 {
	if makeTree(10).left != nil {
		return spin(20000)
	}
	return 0
}

//go:noinline
func inGoroutine(done chan<- uint32) { done <- garbage() }

//export shared_spin
func shared_spin(n C.uint32_t) C.uint32_t { return C.uint32_t(spin(uint32(n))) }

// Until a time; `function` may call shared_spin().
//
//export shared_work
func shared_work(milliseconds C.uint32_t, function *C.back) C.uint32_t {
	end := time.Now().Add(time.Duration(milliseconds) * time.Millisecond)
	done := make(chan uint32)
	kept := makeTree(14)
	sum := uint32(0)
	for time.Now().Before(end) {
		sum += garbage()
		go inGoroutine(done)
		sum += <-done
		sum += uint32(C.call_back(function, 100000))
	}
	if kept.left == nil {
		return 0
	}
	return C.uint32_t(sum)
}

func main() {}
