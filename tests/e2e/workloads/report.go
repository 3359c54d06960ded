// SPDX-License-Identifier: Apache-2.0

// Profiles that Go's own runtime writes: report CPU-FILE HEAP-FILE.
package main

import (
	"os"
	"runtime/pprof"
	"time"
)

var sink uint64
var kept [][]byte

func inner(n uint64) uint64 { return n*2654435761 ^ n>>7 }

//go:noinline
func hot(n int) {
	for i := 0; i < n; i++ {
		sink = inner(sink + uint64(i))
	}
}

//go:noinline
func cold(n int) {
	for i := 0; i < n; i++ {
		sink += uint64(i)
	}
}

func create(path string) *os.File {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	return file
}

func main() {
	file := create(os.Args[1])
	pprof.StartCPUProfile(file)
	for start := time.Now(); time.Since(start) < time.Second; {
		hot(3000000)
		cold(1000000)
		kept = append(kept, make([]byte, 300000))
	}
	pprof.StopCPUProfile()
	file.Close()
	file = create(os.Args[2])
	pprof.WriteHeapProfile(file)
	file.Close()
}
