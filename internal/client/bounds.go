package client

import (
	"fmt"
	"math"
	"time"
)

const (
	maxDepth = 64
	// maxPageItems bounds one page of a list, and maxListItems all of it.
	maxPageItems = 1000
	maxListItems = 100_000
	// maxMemory bounds what the responses to the requests of one operation take when they are decoded, at valueMemory for
	// each value and the length of the text.
	maxMemory   = 256 << 20
	valueMemory = 64
	// maxListTime bounds a list as a whole.
	maxListTime = 15 * time.Minute
	// maxPauses bounds how long one operation waits, in all, because of Retry-After.
	maxPauses = 5 * time.Minute
)

// budget is what one operation has cost, however many requests it takes.
type budget struct {
	began  time.Time // for a list
	memory int
	paused time.Duration
}

func newBudget() *budget { return &budget{began: time.Now()} }

// spend records a response, before it is decoded.
func (b *budget) spend(raw []byte) error {
	values, err := responseBounds.check(raw)
	if err != nil {
		return err
	}
	b.memory += len(raw) + values*valueMemory
	if b.memory > maxMemory {
		return fmt.Errorf("with those before, it takes more than %d MiB", maxMemory>>20)
	}
	return nil
}

// bounds limits what decoding JSON can cost. A few bytes, such as {}, may decode into hundreds, so the size of the
// text bounds too little.
type bounds struct {
	items  int // in one array
	values int // in all, counted as commas and opening brackets
	depth  int // of arrays and objects within each other
}

var (
	responseBounds   = bounds{items: math.MaxInt, values: 500_000, depth: maxDepth + 2}
	deploymentBounds = bounds{items: 1000, values: 50_000, depth: maxDepth}
)

// check rejects JSON beyond the bounds, and counts its values. It scans raw once, without an allocation, and does not
// check that raw is JSON.
func (b bounds) check(raw []byte) (values int, err error) {
	var (
		array [maxDepth + 3]bool // by depth: whether an array is open, not an object
		items [maxDepth + 3]int  // by depth: commas so far
		depth int
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
			depth++
			if depth > b.depth {
				return 0, fmt.Errorf("it is nested more than %d levels deep", b.depth)
			}
			array[depth], items[depth] = raw[i] == '[', 0
			values++
		case ']', '}':
			depth = max(depth-1, 0)
		case ',':
			values++
			items[depth]++
			if array[depth] && items[depth] >= b.items {
				return 0, fmt.Errorf("a list in it has more than %d items", b.items)
			}
		}
		if values > b.values {
			return 0, fmt.Errorf("it has more than %d values", b.values)
		}
	}
	return values, nil
}
