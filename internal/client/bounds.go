package client

import (
	"fmt"
	"math"
)

// bounds limits what decoding JSON can cost. A few bytes, such as {}, may decode into hundreds, so the size of the text bounds
// too little.
type bounds struct {
	items  int // in one array
	values int // in all, counted as commas and opening brackets
	depth  int // of arrays and objects within each other
}

const maxDepth = 64

var (
	responseBounds   = bounds{items: math.MaxInt, values: 500_000, depth: maxDepth + 2}
	deploymentBounds = bounds{items: 1000, values: 50_000, depth: maxDepth}
)

// check rejects JSON beyond the bounds. It scans raw once, without an allocation, and does not check that raw is JSON.
func (b bounds) check(raw []byte) error {
	var (
		array  [maxDepth + 3]bool // by depth: whether an array is open, not an object
		items  [maxDepth + 3]int  // by depth: commas so far
		depth  int
		values int
	)
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			if depth++; depth > b.depth {
				return fmt.Errorf("it is nested more than %d levels deep", b.depth)
			}
			array[depth], items[depth] = raw[i] == '[', 0
			values++
		case ']', '}':
			depth = max(depth-1, 0)
		case ',':
			values++
			if items[depth]++; array[depth] && items[depth] >= b.items {
				return fmt.Errorf("a list in it has more than %d items", b.items)
			}
		}
		if values > b.values {
			return fmt.Errorf("it has more than %d values", b.values)
		}
	}
	return nil
}
