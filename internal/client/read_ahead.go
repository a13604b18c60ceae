package client

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// readAheadMaxAge is how old a page may be that serves a read.
	readAheadMaxAge = 30 * time.Second
	// A run that has read readAheadAfter deployments by id may read many more: then there is a trial page for each
	// readsForTrialPage reads, up to maxTrialPages. They are all that reading ahead may cost more than batching alone.
	readAheadAfter    = 15
	readsForTrialPage = 5
	maxTrialPages     = 8
)

// readAhead reads pages of the plain list for reads to come, one page at a time. Beyond the trial pages there are as many as
// the requests by id that pages have saved: a page is worth its request when it serves as many reads as an average batch. What
// was read ahead is used once, while it is fresh, and not after a write of this client to the deployment.
type readAhead struct {
	fetch func(ctx context.Context, offset int64) (listPage, error)

	mu      sync.Mutex
	found   map[string]aheadItem
	written map[string]time.Time // when this client last wrote to a deployment
	reads   int                  // reads that no page has served
	batches int                  // requests by id
	served  int                  // reads that a page has served
	pages   int                  // pages requested
	offset  int64
	busy    bool // a page is under way, or there are no more
}

type aheadItem struct {
	listItem
	requested time.Time // when its page was
}

func newReadAhead(fetch func(ctx context.Context, offset int64) (listPage, error), disabled bool) *readAhead {
	return &readAhead{fetch: fetch, found: map[string]aheadItem{}, written: map[string]time.Time{}, busy: disabled}
}

// take returns what was read ahead for a read, if it can be used.
func (a *readAhead) take(ctx context.Context, id string) (listItem, bool) {
	id = strings.ToLower(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	item, ok := a.found[id]
	delete(a.found, id)
	if ok = ok && time.Since(item.requested) <= readAheadMaxAge && item.requested.After(a.written[id]); ok {
		a.served++
	} else {
		a.reads++
	}
	a.next(context.WithoutCancel(ctx))
	return item.listItem, ok
}

// batch records a request by id.
func (a *readAhead) batch() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.batches++
}

// wrote records a write to a deployment. It is called before and after each: a page requested in between may be of before.
func (a *readAhead) wrote(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written[strings.ToLower(id)] = time.Now()
}

// next requests the next page if it is likely to pay. The lock is held.
func (a *readAhead) next(ctx context.Context) {
	trial := min(max(a.reads-readAheadAfter, 0)/readsForTrialPage, maxTrialPages)
	saved := a.served * a.batches / max(a.reads, 1)
	if a.busy || a.pages >= trial+saved {
		return
	}
	a.busy = true
	a.pages++
	offset, requested := a.offset, time.Now()
	go func() {
		page, err := a.fetch(ctx, offset)
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, item := range page.items {
			a.found[item.id] = aheadItem{item, requested}
		}
		if err != nil || len(page.items) == 0 || page.next <= offset {
			return // it stays busy: this is the end, or something is wrong, which reads by id report
		}
		a.busy = false
		a.offset = page.next
		a.next(ctx)
	}()
}
