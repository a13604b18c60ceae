package client

import (
	"fmt"
	"iter"
)

// maxPages bounds a list, and maxUselessPages how many of its pages may bring nothing new that is wanted: a service
// that ignores the offset or the filter, or invents deployments, would never come to an end.
const (
	maxPages        = 10_000
	maxUselessPages = 20
)

var (
	errTooManyPages = fmt.Errorf("%s failed: the list has too many pages", listOperation)
	errTooManyItems = fmt.Errorf("%s failed: the list has more than %d items", listOperation, maxListItems)
	errListTooSlow  = fmt.Errorf("%s failed: the list takes more than %v", listOperation, maxListTime)
	errUselessPages = fmt.Errorf("%s failed: %d pages in a row contain nothing new that was requested",
		listOperation, maxUselessPages)
)

// pageFetcher requests the page at an offset.
type pageFetcher func(offset int64) (listPage, error)

// walkPages lists the wanted items, page by page from offset 0 on, always passing the returned offset (section 4.2).
// A short page is not the end: the end is an empty page, or a returned offset that does not advance. Items whose id
// was on an earlier page are skipped. After most pages, an error ends the list.
func walkPages(fetch pageFetcher, most int, wanted func(listItem) bool) iter.Seq2[listItem, error] {
	return func(yield func(listItem, error) bool) {
		seen := map[string]bool{}
		var offset int64
		for pages, useless := 1, 0; ; pages++ {
			page, err := fetch(offset)
			if err != nil {
				yield(listItem{}, err)
				return
			}
			useless++
			for _, item := range page.items {
				if !wanted(item) || item.id != "" && seen[item.id] {
					continue
				}
				if item.id != "" {
					seen[item.id] = true
					useless = 0
				}
				if !yield(item, nil) {
					return
				}
			}
			switch {
			case len(page.items) == 0 || page.next <= offset:
				return
			case useless >= maxUselessPages:
				yield(listItem{}, errUselessPages)
				return
			case pages >= most:
				yield(listItem{}, errTooManyPages)
				return
			case len(seen) > maxListItems:
				yield(listItem{}, errTooManyItems)
				return
			}
			offset = page.next
		}
	}
}
