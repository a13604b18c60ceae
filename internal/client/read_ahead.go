package client

import (
	"context"
	"strings"
	"sync"
	"time"
)

// readAhead reads pages of the plain list for reads that have not come yet. It
// spends at most as many requests as reads have taken, or have been saved by
// merging them and by reading ahead, and waits while some of its pages have
// answered no read, so that neither a small state in a large service pays for
// the large service, nor one of which all is on the first pages.
type readAhead struct {
	page   func(ctx context.Context, offset int64) (deployments []*Deployment, next int64, err error)
	maxAge time.Duration
	now    func() time.Time
	arrive func(ctx context.Context) // called when a page has come

	mu       sync.Mutex
	found    map[string]aheadReading
	written  map[string]time.Time // when this client wrote to a deployment
	asks     int                  // requests by id
	reads    int                  // deployments asked for in them
	pages    int                  // pages asked for
	hits     int                  // reads answered from pages
	unused   int                  // pages that have answered none
	offset   int64
	finished bool // there is nothing more to read ahead, or no sense in it
	running  bool
}

type aheadReading struct {
	deployment *Deployment
	of         *aheadPage
}

type aheadPage struct {
	asked time.Time
	used  bool
}

const (
	aheadAfterAsks  = 2  // reading ahead begins after so many requests by id
	aheadAfterReads = 25 // for so many deployments
	aheadOnTrial    = 3  // so many pages at most have answered no read yet
)

// take hands out what was read ahead of a deployment, once, as long as it is
// fresh and this client has not written to that deployment since.
func (a *readAhead) take(ctx context.Context, id string) *Deployment {
	id = strings.ToLower(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.found[id]
	if !ok {
		return nil
	}
	delete(a.found, id)
	if a.now().Sub(r.of.asked) > a.maxAge || !r.of.asked.After(a.written[id]) {
		return nil
	}
	a.hits++
	if !r.of.used {
		r.of.used = true
		a.unused--
		a.next(context.WithoutCancel(ctx))
	}
	return r.deployment
}

// wrote is told of each write to a deployment, before it and after it: what was
// asked for in between may be of before.
func (a *readAhead) wrote(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written[strings.ToLower(id)] = a.now()
}

// asked is told of each request by id, and reads a page if it is time.
func (a *readAhead) asked(ctx context.Context, reads int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asks++
	a.reads += reads
	a.next(context.WithoutCancel(ctx))
}

// next reads the next page in the background, if the budget allows. The lock
// is held.
func (a *readAhead) next(ctx context.Context) {
	if a.running || a.finished || a.asks < aheadAfterAsks || a.reads < aheadAfterReads ||
		a.pages >= a.reads+a.hits || a.unused >= aheadOnTrial {
		return
	}
	a.running = true
	a.pages++
	a.unused++
	offset, page := a.offset, &aheadPage{asked: a.now()}
	go func() {
		deployments, next, err := a.page(ctx, offset)
		a.keep(deployments, page)
		a.arrive(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.running = false
		if err != nil || len(deployments) == 0 || next <= offset {
			a.finished = true // whatever is wrong, reads by id will tell
			return
		}
		a.offset = next
		a.next(ctx)
	}()
}

func (a *readAhead) keep(deployments []*Deployment, page *aheadPage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range deployments {
		a.found[strings.ToLower(d.ID)] = aheadReading{d, page}
	}
}

// useful reports whether a page is under way that is likely to answer a read.
func (a *readAhead) useful() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running && a.hits > a.pages
}
