// SPDX-License-Identifier: Apache-2.0

// Goroutines with labels and one without, for the seconds of the first argument. Prints the labels of each, by its
// number, as JSON. With cgo it may be a library.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	lock   sync.Mutex
	labels = map[string]map[string]string{}
)

// "goroutine 17 [running]:"
func number() string {
	var text [64]byte
	return string(bytes.Fields(text[:runtime.Stack(text[:], false)])[1])
}

func tell(ctx context.Context) {
	own := map[string]string{}
	if ctx != nil {
		pprof.ForLabels(ctx, func(key, value string) bool {
			own[key] = value
			return true
		})
	}
	lock.Lock()
	labels[number()] = own
	lock.Unlock()
}

//go:noinline
func spin(n int) int {
	sum := n
	for i := 0; i < n; i++ {
		sum = sum*1664525 + 1013904223
	}
	return sum
}

func work(seconds int) {
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	done := make(chan int)
	spend := func(ctx context.Context) {
		tell(ctx)
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
	go pprof.Do(context.Background(), few, spend)
	go pprof.Do(context.Background(), pprof.Labels("handler", "second"), spend)
	go pprof.Do(context.Background(), pprof.Labels(pairs...), spend)
	go spend(nil)
	println(<-done + <-done + <-done + <-done)
	json.NewEncoder(os.Stdout).Encode(labels)
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	work(seconds)
}
