package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// A reader answers reads of single deployments with few requests. Reads that
// come together are merged into one request for up to 100 ids, and once a run
// has shown that it reads many, pages of the plain list are read ahead.
//
// (Batching libraries were looked at; they gather for a fixed time. Here a poll
// that can wait travels along with a read that cannot, and a read that is
// cancelled leaves the others alone.)
type reader struct {
	list      func(ctx context.Context, ids []string) (map[string]*Deployment, error)
	ahead     *readAhead
	gathering time.Duration // how long a read waits for another to travel with
	singly    bool

	mu      sync.Mutex
	pending map[string]*pendingRead // by id in lower case
	timer   *time.Timer
	live    int // callers of urgent reads
	peak    int // the most that there were at once
}

// pendingRead is a deployment that will be asked for.
type pendingRead struct {
	due     time.Time // when at the latest
	since   time.Time // when it became urgent
	urgent  bool      // its callers wait for it now, unlike those of a poll
	waiters map[*waiter]bool
}

// Terraform's reads come one after the other, as each takes the processor for a
// while. So each that comes has all of them wait anew, up to so many times
// gathering; and three times as long while there are fewer of them than half
// of what there were at once before.
const gatherings, gatheringsOfFew = 8, 3

// waiter is one caller of read.
type waiter struct {
	answer chan reading // of capacity 1
	batch  *batch       // once the request is under way
}

type reading struct {
	deployment *Deployment
	err        error
}

// batch is a request under way. It is cancelled when nobody waits for it.
type batch struct {
	waiting int
	cancel  context.CancelFunc
}

// read reads one deployment, in a request that is sent within patience: at
// once, but for a short while in which others may join, if that is 0.
func (r *reader) read(ctx context.Context, id string, patience time.Duration) (*Deployment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id = strings.ToLower(id)
	w := &waiter{answer: make(chan reading, 1)}
	r.add(ctx, id, w, patience)
	if patience == 0 {
		defer r.done()
	}
	select {
	case got := <-w.answer:
		return got.deployment, got.err
	case <-ctx.Done():
		r.leave(id, w)
		return nil, ctx.Err()
	}
}

func (r *reader) add(ctx context.Context, id string, w *waiter, patience time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	urgent := patience == 0
	if urgent && !r.singly {
		patience = r.gathering
		switch {
		case r.ahead.useful():
			patience *= gatherings // the page under way may answer it
		case 2*(r.urgent()+1) < r.peak:
			patience *= gatheringsOfFew
		}
	}
	now := time.Now()
	due := now.Add(patience)
	p := r.pending[id]
	if p == nil {
		p = &pendingRead{due: due, waiters: map[*waiter]bool{}}
		r.pending[id] = p
	}
	if due.Before(p.due) {
		p.due = due
	}
	p.waiters[w] = true
	if urgent {
		if !p.urgent {
			p.urgent, p.since = true, now
		}
		r.postpone(due)
		r.live++
		r.peak = max(r.peak, r.live)
	}

	values := context.WithoutCancel(ctx) // for logs; whose they are does not matter
	if r.singly && urgent || r.urgent() >= min(max(r.peak, usualParallelism), MaxPageSize) {
		r.send(values, true)
		return
	}
	r.schedule(values)
}

// postpone has the reads that somebody waits for now wait until due, as another
// has just come, but not forever. The lock is held.
func (r *reader) postpone(due time.Time) {
	for _, p := range r.pending {
		latest := p.since.Add(gatherings * r.gathering)
		if due.Before(latest) {
			latest = due
		}
		if p.urgent && p.due.Before(latest) {
			p.due = latest
		}
	}
}

func (r *reader) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live--
}

// usualParallelism is how many operations Terraform has under way at once,
// unless told otherwise. When as many reads wait, no more will come, and
// nothing is gained by waiting for them.
const usualParallelism = 10

// urgent counts the reads that somebody waits for now. The lock is held.
func (r *reader) urgent() int {
	n := 0
	for _, p := range r.pending {
		if p.urgent {
			n++
		}
	}
	return n
}

// schedule sets the timer for the read that is due first. The lock is held.
func (r *reader) schedule(ctx context.Context) {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	var first *pendingRead
	for _, p := range r.pending {
		if first == nil || p.due.Before(first.due) {
			first = p
		}
	}
	if first != nil {
		r.timer = time.AfterFunc(time.Until(first.due), func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.send(ctx, false)
		})
	}
}

// send asks for what is due, and for urgent reads even before when all is set,
// and takes along what is not due yet as far as there is room. The lock is held.
func (r *reader) send(ctx context.Context, all bool) {
	now := time.Now()
	var due, others []string
	for id, p := range r.pending {
		if !p.due.After(now) || all && p.urgent {
			due = append(due, id)
		} else {
			others = append(others, id)
		}
	}
	size := MaxPageSize
	if r.singly {
		size, others = 1, nil
	}
	for len(due) > 0 {
		n := min(size, len(due))
		ids := due[:n:n]
		due = due[n:]
		room := min(size-n, len(others))
		ids = append(ids, others[:room]...)
		others = others[room:]
		r.start(ctx, ids)
	}
	r.schedule(ctx)
}

// start sends one request and hands its answer to all who wait for it. The
// lock is held.
func (r *reader) start(ctx context.Context, ids []string) {
	ctx, cancel := context.WithCancel(ctx)
	b := &batch{cancel: cancel}
	waiters := map[string][]*waiter{}
	urgent := 0
	for _, id := range ids {
		if r.pending[id].urgent {
			urgent++
		}
		for w := range r.pending[id].waiters {
			w.batch = b
			b.waiting++
			waiters[id] = append(waiters[id], w)
		}
		delete(r.pending, id)
	}
	go func() {
		defer cancel()
		if urgent > 0 { // those who poll have no use for what is read ahead
			r.ahead.asked(ctx, urgent)
		}
		found, err := r.readAll(ctx, ids)
		for id, ws := range waiters {
			got := reading{deployment: found[id], err: err}
			if err == nil && got.deployment == nil {
				got.err = fmt.Errorf("deployment %s: %w", id, ErrNotFound)
			}
			for _, w := range ws {
				w.answer <- got
			}
		}
	}()
}

// readAll reads deployments by id. That one is gone is decided by a request
// that asks for little else: what an answer to many ids lacks is asked for
// again, and when the service refuses many ids together, one of them may be
// the reason, so that the others are asked for without it.
func (r *reader) readAll(ctx context.Context, ids []string) (map[string]*Deployment, error) {
	found, err := r.list(ctx, ids)
	if len(ids) == 1 {
		return found, err
	}
	if err != nil {
		if !refusedAsTheyAre(err) {
			return nil, err
		}
		first, err := r.readAll(ctx, ids[:len(ids)/2])
		if err != nil {
			return nil, err
		}
		second, err := r.readAll(ctx, ids[len(ids)/2:])
		for id, d := range second {
			first[id] = d
		}
		return first, err
	}
	var missing []string
	for _, id := range ids {
		if found[id] == nil {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		again, err := r.list(ctx, missing)
		if err != nil {
			return nil, err
		}
		for id, d := range again {
			found[id] = d
		}
	}
	return found, nil
}

// refusedAsTheyAre reports whether the service refused what was asked, not who
// asked it.
func refusedAsTheyAre(err error) bool {
	var failed *Error
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Status {
	case 400, 404, 413, 414, 422, 431:
		return true
	}
	return false
}

// answer hands out what was read ahead to those who wait for it already.
func (r *reader) answer(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, p := range r.pending {
		if !p.urgent {
			continue // a poll: it wants to know how things are by then
		}
		if d := r.ahead.take(ctx, id); d != nil {
			for w := range p.waiters {
				w.answer <- reading{deployment: d}
			}
			delete(r.pending, id)
		}
	}
}

// leave takes back a read that its caller no longer wants.
func (r *reader) leave(id string, w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.batch != nil {
		if w.batch.waiting--; w.batch.waiting == 0 {
			w.batch.cancel()
		}
		return
	}
	if p := r.pending[id]; p != nil {
		if delete(p.waiters, w); len(p.waiters) == 0 {
			delete(r.pending, id)
		}
	}
}
