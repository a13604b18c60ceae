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

// readAhead reads pages of the plain list for reads to come, one page at a time, as long as they serve as many reads
// each as requests by id do. What was read ahead is used once, while it is fresh, and not after a write of this
// client to the deployment. When it gets too old, the list is read again from its beginning.
type readAhead struct {
	fetch func(ctx context.Context, offset int64) (listPage, error)

	mu      sync.Mutex
	found   map[string]aheadItem
	bytes   int                  // of what was found
	written map[string]time.Time // when this client last wrote to a deployment
	reads   int                  // reads that no page has served
	batches int                  // requests by id, for these
	served  int                  // reads that a page has served
	pages   int                  // pages requested
	offset  int64
	busy    bool // a page is under way, or there are no more
	ended   bool // there are no more
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
	a.bytes -= len(item.raw)
	tooOld := ok && time.Since(item.requested) > readAheadMaxAge
	if tooOld && a.ended {
		a.offset, a.busy, a.ended = 0, false, false
	}
	if ok = ok && !tooOld && item.requested.After(a.written[id]); ok {
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

// wrote records a write to a deployment. It is called before and after each: a page requested in between may be of
// before.
func (a *readAhead) wrote(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written[strings.ToLower(id)] = time.Now()
}

// next requests the next page if it is likely to pay. The lock is held.
func (a *readAhead) next(ctx context.Context) {
	pays := a.reads >= readAheadAfter && (a.pages-trialPages)*a.reads < a.served*a.batches
	if a.busy || !pays || a.bytes > readAheadMaxBytes {
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
			a.bytes += len(item.raw) - len(a.found[item.id].raw)
			a.found[item.id] = aheadItem{item, requested}
		}
		switch {
		case err != nil: // it stays busy: reads by id report what is wrong
		case len(page.items) == 0 || page.next <= offset:
			a.ended = true
		default:
			a.busy, a.offset = false, page.next
			a.next(ctx)
		}
	}()
}
