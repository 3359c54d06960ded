// SPDX-License-Identifier: Apache-2.0

// Calls getppid() of C below 50 functions, in a goroutine with labels:
// tests/hostile/targets/scribble.c.
package main

/*
#include <unistd.h>
*/
import "C"

import (
	"context"
	"runtime/pprof"
)

func deepStep(depth int) int {
	if depth > 0 {
		return deepStep(depth-1) + 1
	}
	return int(C.getppid())
}

func main() {
	labels := pprof.Labels("deep", "label", "second", "one more")
	pprof.Do(context.Background(), labels, func(context.Context) { deepStep(50) })
}
