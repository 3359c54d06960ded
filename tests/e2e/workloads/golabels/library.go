// SPDX-License-Identifier: Apache-2.0

package main

import "C" // without cgo this file is left out

//export labels_work
func labels_work(seconds C.int) { work(int(seconds)) }
