package client

import (
	"iter"
	"strings"
)

// pages walks a list page by page, from offset 0 on. A short page is not the
// end: the end is an empty page, or a returned offset that does not advance.
// An item whose key came before is left out, so that pages which overlap, or
// shift while they are read, give each item once.
func pages[T any](fetch func(offset int64) (items []T, next int64, err error), key func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]bool{}
		for offset := int64(0); ; {
			items, next, err := fetch(offset)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				k := key(item)
				if seen[k] {
					continue
				}
				seen[k] = true
				if !yield(item, nil) {
					return
				}
			}
			if len(items) == 0 || next <= offset {
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

func (s idSet) has(id string) bool { return s[strings.ToLower(id)] }
func (s idSet) remove(id string)   { delete(s, strings.ToLower(id)) }
func (s idSet) empty() bool        { return len(s) == 0 }
