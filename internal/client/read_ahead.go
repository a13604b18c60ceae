package client

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// readAheadMaxAge is how old a page may be that serves a read. Terraform reads each deployment once, in no order, and
	// takes minutes for thousands: a page of which most have not been read by then was in vain.
	readAheadMaxAge = 5 * time.Minute
	// A run that has read readAheadAfter deployments by id may read many more: then there are trialPages, which may serve
	// no read at all. They are all that reading ahead may cost more than batching alone.
	readAheadAfter = 30
	trialPages     = 8
	// readAheadMaxBytes bounds what is kept for reads to come.
	readAheadMaxBytes = 32 << 20
)

// readAhead reads pages of the plain list for reads to come, one page at a time, as long as they save as many requests
// by id as they cost. What was read ahead is used once, while it is fresh, and never after a write of this client
// to the deployment. When it gets too old, the list is read again from its beginning.
type readAhead struct {
	fetch func(ctx context.Context, offset int64) (listPage, error)

	mu       sync.Mutex
	found    map[string]aheadItem
	bytes    int             // of what was found
	written  map[string]bool // the deployments that this client has written to
	reads    int             // reads that no page has served
	batches  int             // requests by id, for these
	served   int             // reads that a page has served
	pages    int             // pages requested
	offset   int64           // of the next page
	fetching bool            // a page is under way
	ended    bool            // there are no more pages, or one could not be read
}

type aheadItem struct {
	listItem
	requested time.Time // when its page was
}

func newReadAhead(fetch func(ctx context.Context, offset int64) (listPage, error)) *readAhead {
	return &readAhead{fetch: fetch, found: map[string]aheadItem{}, written: map[string]bool{}}
}

// take returns what was read ahead for a read, if it can be used.
func (a *readAhead) take(ctx context.Context, id string) (listItem, bool) {
	id = strings.ToLower(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	item, ok := a.found[id]
	delete(a.found, id)
	a.bytes -= len(item.raw)
	tooOld := ok && time.Since(item.requested) > readAheadMaxAge
	if tooOld && a.ended {
		a.offset, a.ended = 0, false
	}
	usable := ok && !tooOld && !a.written[id]
	if usable {
		a.served++
	} else {
		a.reads++
	}
	a.next(context.WithoutCancel(ctx))
	return item.listItem, usable
}

// countBatch records a request by id.
func (a *readAhead) countBatch() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.batches++
}

// wrote records that this client is about to write to a deployment: pages may show it as it was before.
func (a *readAhead) wrote(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written[strings.ToLower(id)] = true
}

// next requests the next page if it is likely to pay. The lock is held.
func (a *readAhead) next(ctx context.Context) {
	if a.fetching || a.ended || a.reads < readAheadAfter || a.bytes > readAheadMaxBytes {
		return
	}
	saved := a.served * a.batches / a.reads
	if a.pages >= trialPages+saved {
		return
	}
	a.fetching = true
	a.pages++
	offset, requested := a.offset, time.Now()
	go func() {
		page, err := a.fetch(ctx, offset) // reads by id report what is wrong
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, item := range page.items {
			a.bytes += len(item.raw) - len(a.found[item.id].raw)
			a.found[item.id] = aheadItem{item, requested}
		}
		a.fetching, a.offset = false, page.next
		a.ended = err != nil || len(page.items) == 0 || page.next <= offset
		a.next(ctx)
	}()
}
