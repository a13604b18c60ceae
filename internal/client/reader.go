package client

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// batchWindow is how long a read waits for others to share its request. Each read that joins restarts the window,
// because Terraform's reads arrive a few milliseconds apart: each takes CPU time.
const batchWindow = 20 * time.Millisecond

// A reader reads single deployments with few requests: concurrent reads share one (a batch). Sequential reads, such
// as those of resources that depend on each other, do not wait. A read is only served by a request that begins after
// it.
type reader struct {
	client *Client
	ahead  *readAhead

	mu       sync.Mutex
	next     *batch      // not sent yet; nil if there is none
	timer    *time.Timer // ends the batch window
	underWay int         // ids in requests under way
	last     int         // ids in the last request
}

// batch is the reads that share a request.
type batch struct {
	ids     map[string]bool // in lower case
	done    chan struct{}   // closed when results is set
	results map[string]readResult
}

type readResult struct {
	deployment *Deployment
	err        error
}

func newReader(c *Client) *reader {
	ahead := newReadAhead(func(ctx context.Context, offset int64) (listPage, error) {
		return c.pages(ctx, listOnce, DeploymentFilter{})(offset)
	})
	ahead.ended = c.config.BatchSize == 1
	return &reader{client: c, ahead: ahead}
}

// read reads one deployment.
func (r *reader) read(ctx context.Context, id string) (*Deployment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id = strings.ToLower(id)
	b := r.join(ctx, id)
	select {
	case <-b.done:
		return b.results[id].deployment, b.results[id].err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join adds a read to the next batch, and sends that when nothing is gained by waiting.
func (r *reader) join(ctx context.Context, id string) *batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &batch{ids: map[string]bool{}, done: make(chan struct{})}
	}
	b := r.next
	b.ids[id] = true
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.complete(len(b.ids)) {
		r.send(ctx, b)
		return b
	}
	r.timer = time.AfterFunc(batchWindow, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.next == b {
			r.send(ctx, b)
		}
	})
	return b
}

// complete reports whether no other reads are likely to join a batch of so many soon.
func (r *reader) complete(ids int) bool {
	size := r.client.config.BatchSize
	alone := ids == 1 && r.underWay == 0 && r.last <= 1
	// If two groups contain all reads that Terraform has under way, the smaller group waits for the larger one to finish.
	allUnderWay := ids+r.underWay >= size && ids > r.underWay
	return alone || ids >= size || allUnderWay
}

// send requests what is in the next batch. Of ctx only the values are used, for logs. The lock is held.
func (r *reader) send(ctx context.Context, b *batch) {
	ctx = context.WithoutCancel(ctx)
	r.next = nil
	r.underWay += len(b.ids)
	r.last = len(b.ids)
	r.ahead.countBatch()
	go func() {
		b.results = r.readBatch(ctx, slices.Collect(maps.Keys(b.ids)))
		r.mu.Lock()
		r.underWay -= len(b.ids)
		r.mu.Unlock()
		close(b.done)
	}()
}

// readBatch reads deployments by id. What the response to several ids lacks is requested again before it counts as
// not listed; what may have failed because of one of the ids is requested for each alone.
func (r *reader) readBatch(ctx context.Context, ids []string) map[string]readResult {
	results := r.client.lookUpIDs(ctx, ids)
	if len(ids) == 1 {
		return results
	}
	missing := failedWith(results, func(err error) bool { return errors.Is(err, ErrNotFound) })
	if len(missing) > 0 {
		maps.Copy(results, r.client.lookUpIDs(ctx, missing))
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, id := range failedWith(results, dueToOne) {
		group.Go(func() {
			alone := r.client.lookUpIDs(ctx, []string{id})
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(results, alone)
		})
	}
	group.Wait()
	return results
}

// failedWith returns the ids whose reads failed with such an error.
func failedWith(results map[string]readResult, matches func(error) bool) (ids []string) {
	for id, result := range results {
		if matches(result.err) {
			ids = append(ids, id)
		}
	}
	return ids
}

// dueToOne reports whether one deployment may have caused the error of a request for several: the service rejected
// the request itself (not the credential), or the response cannot be used.
func dueToOne(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	switch failed.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnprocessableEntity, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return failed.Cause == CauseMalformed
}
