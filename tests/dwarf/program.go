// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"net/http"
	"sort"
)

func main() {
	numbers := []int{3, 1}
	sort.Ints(numbers)
	fmt.Println(numbers, http.StatusText(200))
}
