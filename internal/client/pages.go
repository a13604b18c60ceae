package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
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

// listItem is an item of a page of which only the id and the name have been looked at.
type listItem struct {
	id, name string // empty if they cannot be read; the id is in lower case, because ids are case-insensitive
	raw      json.RawMessage
	index    int // in the page
}

// listPage is a page of List Deployments.
type listPage struct {
	items []listItem
	next  int64     // the returned offset
	date  time.Time // the service's time of the response; zero if it did not send it
}

// pageFetcher requests the page at an offset.
type pageFetcher func(offset int64) (listPage, error)

// pages returns a function that requests the pages of one list, with listRequest or listOnce.
func (c *Client) pages(ctx context.Context, r request, filter DeploymentFilter) pageFetcher {
	if r.budget == nil {
		r.budget = newBudget()
	}
	return func(offset int64) (listPage, error) {
		r.query = filter.query(offset)
		return c.fetchPage(ctx, r)
	}
}

func (c *Client) fetchPage(ctx context.Context, r request) (listPage, error) {
	if time.Since(r.budget.began) > maxListTime {
		return listPage{}, errListTooSlow
	}
	var header http.Header
	var body map[string]json.RawMessage // by their exact names
	r.header = &header
	if err := c.call(ctx, r, &body); err != nil {
		return listPage{}, err
	}
	var items []json.RawMessage
	var offset float64
	err := cmp.Or(decodeMember(body, "resources", &items), decodeMember(body, "offset", &offset))
	switch {
	case err != nil:
		return listPage{}, c.malformed(r, err)
	case len(items) > maxPageItems:
		return listPage{}, c.malformed(r, fmt.Errorf("the page has more than %d items", maxPageItems))
	case offset != math.Trunc(offset) || math.Abs(offset) >= 1<<53: // beyond that, it is not exact
		return listPage{}, c.malformed(r, fmt.Errorf("the offset %v is not an integer", offset))
	}
	page := listPage{next: int64(offset)}
	page.date, _ = http.ParseTime(header.Get("Date"))
	for i, raw := range items {
		if raw[0] != '{' {
			return listPage{}, c.malformed(r, fmt.Errorf("resources[%d] is not an object", i))
		}
		d := summary(raw)
		item := listItem{name: d.Name, raw: raw, index: i}
		if IsUUID(d.ID) {
			item.id = strings.ToLower(d.ID)
		}
		page.items = append(page.items, item)
	}
	return page, nil
}

// decodeMember decodes a required member of a response.
func decodeMember(body map[string]json.RawMessage, name string, value any) error {
	raw, ok := body[name]
	if !ok || string(raw) == "null" {
		return fmt.Errorf("the response has no %q", name)
	}
	return decodeAs(name, raw, value)
}

// decodeItem decodes an item that is wanted.
func (c *Client) decodeItem(item listItem) (*Deployment, error) {
	d, err := c.readDeployment(item.raw)
	if err != nil {
		return nil, c.malformed(listRequest, fmt.Errorf("resources[%d]: %w", item.index, err))
	}
	return d, nil
}

// walkPages lists items, page by page from offset 0 on, always passing the returned offset (section 4.2). A short page
// is not the end: the end is an empty page, or a returned offset that does not advance. After most pages, an error ends
// the list. It skips items whose id was on an earlier page, and, unless wanted is nil, those with another id than the
// wanted ones: the service may ignore the filter. An item without a usable id may be any of them.
func walkPages(fetch pageFetcher, most int, wanted []string) iter.Seq2[listItem, error] {
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
				if item.id != "" {
					unwanted := wanted != nil && !slices.Contains(wanted, item.id)
					if unwanted || seen[item.id] {
						continue
					}
					seen[item.id] = true
					useless = 0
				}
				if !yield(item, nil) {
					return
				}
				if wanted != nil && len(seen) == len(wanted) {
					return // the empty page at the end is not needed
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
