// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package main

import "C"

//export labels_work
func labels_work(seconds C.int) { work(int(seconds)) }
