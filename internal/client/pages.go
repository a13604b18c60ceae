package client

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// maxIdlePages bounds how many pages in a row may repeat what came before: a
// service that ignores the offset would never come to an end.
const maxIdlePages = 20

var errEndlessList = fmt.Errorf("list deployments failed: %d pages in a row repeat what came before", maxIdlePages)

// pages walks a list page by page, from offset 0 on. A short page is not the
// end: the end is an empty page, or a returned offset that does not advance.
// An item whose key came before is left out, so that pages which overlap, or
// shift while they are read, give each item once.
func pages[T any](fetch func(offset int64) (items []T, next int64, err error), key func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]bool{}
		idle := 0 // pages in a row that brought nothing new
		for offset := int64(0); ; {
			items, next, err := fetch(offset)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			idle++
			for _, item := range items {
				k := key(item)
				if seen[k] {
					continue
				}
				seen[k] = true
				idle = 0
				if !yield(item, nil) {
					return
				}
			}
			if len(items) == 0 || next <= offset {
				return
			}
			if idle >= maxIdlePages {
				var none T
				yield(none, errEndlessList)
				return
			}
			offset = next
		}
	}
}

// idSet is a set of deployment ids, which are equal whatever their case.
type idSet map[string]bool

func newIDSet(ids []string) idSet {
	set := idSet{}
	for _, id := range ids {
		set[strings.ToLower(id)] = true
	}
	return set
}

// uniqueIDs returns ids with each of them once.
func uniqueIDs(ids []string) []string {
	seen := idSet{}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		again := seen.has(id)
		seen[strings.ToLower(id)] = true
		return again
	})
}

func (s idSet) has(id string) bool { return s[strings.ToLower(id)] }
func (s idSet) remove(id string)   { delete(s, strings.ToLower(id)) }
func (s idSet) empty() bool        { return len(s) == 0 }
