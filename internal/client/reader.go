package client

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// batchWindow is how long a read waits for another one to share its request. Each one that joins starts it again:
	// Terraform's reads come one after the other, a few milliseconds apart, as each takes processor time.
	batchWindow = 20 * time.Millisecond
	// batchSize is how many reads a request serves at most. Terraform has as many operations under way by default: once they
	// all wait, no more will come. (Half of it would be faster for few of many deployments, with twice as many requests.)
	batchSize = 10
)

// A reader reads single deployments with few requests: concurrent reads share one (a batch). Reads that follow one upon the
// other, such as those of resources that depend on each other, do not wait. A read is only served by a request that begins
// after it.
type reader struct {
	list     func(ctx context.Context, ids []string) map[string]readResult // ids in lower case; an entry for each
	ahead    *readAhead
	disabled bool // each read is a request

	mu       sync.Mutex
	waiting  map[string][]*waiter // for a request that is not sent yet, by id in lower case
	timer    *time.Timer          // ends the batch window
	underWay int                  // reads in requests under way
	last     int                  // reads in the last request
}

type readResult struct {
	deployment *Deployment
	err        error
}

// waiter is one caller of read.
type waiter struct {
	result chan readResult // of capacity 1
	batch  *batch          // once the request is sent
}

// batch is a request under way. It is canceled when no caller waits for it any longer.
type batch struct {
	callers int
	cancel  context.CancelFunc
}

func newReader(c *Client) *reader {
	fetch := func(ctx context.Context, offset int64) (listPage, error) {
		return c.fetchPage(ctx, DeploymentFilter{}.query(offset), true)
	}
	return &reader{list: c.lookUpIDs, ahead: newReadAhead(fetch, c.config.DisableBatching), disabled: c.config.DisableBatching,
		waiting: map[string][]*waiter{}}
}

// read reads one deployment.
func (r *reader) read(ctx context.Context, id string) (*Deployment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id = strings.ToLower(id)
	w := &waiter{result: make(chan readResult, 1)}
	r.join(ctx, id, w)
	select {
	case got := <-w.result:
		return got.deployment, got.err
	case <-ctx.Done():
		r.leave(id, w)
		return nil, ctx.Err()
	}
}

// join adds a read to the next batch, and sends that when nothing is gained by waiting.
func (r *reader) join(ctx context.Context, id string, w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[id] = append(r.waiting[id], w)
	n := len(r.waiting)
	alone := n == 1 && r.underWay == 0 && r.last <= 1
	// If all reads that Terraform has under way are in two groups, the smaller one waits for the larger one to come back.
	all := n >= batchSize || n+r.underWay >= batchSize && n > r.underWay
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.disabled || alone || all {
		r.send(ctx)
		return
	}
	r.timer = time.AfterFunc(batchWindow, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.send(ctx)
	})
}

// send requests what waits. Of ctx only the values are used, for logs. The lock is held.
func (r *reader) send(ctx context.Context) {
	if len(r.waiting) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &batch{cancel: cancel}
	sent := r.waiting
	r.waiting = map[string][]*waiter{}
	var ids []string
	for id, waiters := range sent {
		ids = append(ids, id)
		for _, w := range waiters {
			w.batch = b
			b.callers++
		}
	}
	r.underWay += len(ids)
	r.last = len(ids)
	r.ahead.batch()
	go func() {
		defer cancel()
		results := r.readBatch(ctx, ids)
		r.mu.Lock()
		r.underWay -= len(ids)
		r.mu.Unlock()
		for id, waiters := range sent {
			for _, w := range waiters {
				w.result <- results[id]
			}
		}
	}()
}

// leave withdraws a read that its caller no longer wants.
func (r *reader) leave(id string, w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.batch != nil {
		if w.batch.callers--; w.batch.callers == 0 {
			w.batch.cancel()
		}
		return
	}
	others := r.waiting[id][:0]
	for _, other := range r.waiting[id] {
		if other != w {
			others = append(others, other)
		}
	}
	if r.waiting[id] = others; len(others) == 0 {
		delete(r.waiting, id)
	}
}

// readBatch reads deployments by id. What the response to several ids lacks is requested again before it counts as not listed;
// what may have failed because of one of the ids is requested for each alone.
func (r *reader) readBatch(ctx context.Context, ids []string) map[string]readResult {
	results := r.list(ctx, ids)
	if len(ids) == 1 {
		return results
	}
	matching := func(matches func(error) bool) (found []string) {
		for _, id := range ids {
			if matches(results[id].err) {
				found = append(found, id)
			}
		}
		return found
	}
	if missing := matching(func(err error) bool { return errors.Is(err, ErrNotFound) }); len(missing) > 0 {
		maps.Copy(results, r.list(ctx, missing))
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, id := range matching(dueToOne) {
		group.Go(func() {
			alone := r.list(ctx, []string{id})
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(results, alone)
		})
	}
	group.Wait()
	return results
}

// dueToOne reports whether the error of a request for several deployments may be due to one of them: it was rejected as it
// is, whoever sends it, or the response cannot be used.
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
	return failed.Malformed || errors.Is(err, errBodyTooLarge)
}
