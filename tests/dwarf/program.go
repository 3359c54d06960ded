// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"encoding/json"
	"sort"
)

func main() {
	numbers := []int{3, 1}
	sort.Ints(numbers)
	text, _ := json.Marshal(numbers)
	fmt.Println(string(text))
}
