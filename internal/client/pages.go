package client

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// maxIdlePages bounds how many pages in a row may repeat what came before: a
// service that ignores the offset would never come to an end. It also bounds
// how often a list may turn out to have shrunk while it is read.
const maxIdlePages = 20

var (
	errEndlessList  = fmt.Errorf("list deployments failed: %d pages in a row repeat what came before", maxIdlePages)
	errRestlessList = fmt.Errorf("list deployments failed: deployments went away faster than the list could be read; after %d attempts "+
		"to find what had moved up, what was read may not be all. Try again when fewer are being deleted", maxIdlePages)
)

// pages walks a list page by page, from offset 0 on, with up to limit items to
// a page. A short page is not the end: the end is an empty page, or a returned
// offset that does not advance. An item whose key came before is left out, so
// that pages which overlap, or shift while they are read, give each item once.
//
// What is removed while the list is read has the items behind it move up, over
// the place where the last page ended, and nothing in the next page would tell
// that some were passed over. So what follows a full page is asked for from the
// last item of that page on, where the offset counts items. When the answer
// begins with an item that is not known, the walk goes back to where one is.
func pages[T any](limit int, fetch func(offset int64) (items []T, next int64, err error), key func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		fail := func(err error) {
			var none T
			yield(none, err)
		}
		seen := map[string]bool{}
		var (
			offset   int64
			overlaps bool // the page has to begin with an item that is known
			idle     int  // pages in a row that brought nothing new
			back     int  // how often the list turned out to have shrunk
		)
		for {
			items, next, err := fetch(offset)
			if err != nil {
				fail(err)
				return
			}
			if overlaps && (len(items) == 0 || !seen[key(items[0])]) {
				if back++; back > maxIdlePages {
					fail(errRestlessList)
					return
				}
				offset = max(0, offset-int64(limit))
				overlaps = offset > 0
				continue
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
				fail(errEndlessList)
				return
			}
			overlaps = len(items) >= limit && limit > 1 && next == offset+int64(len(items))
			offset = next
			if overlaps {
				offset--
			}
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
