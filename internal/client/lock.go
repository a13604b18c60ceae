package client

import (
	"context"
	"sync"
)

// lock is a mutex for which a caller waits no longer than its context.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) acquire(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) release() { <-l }

// nameLocks makes creates of one name wait for each other: they would take each other's deployment for their own.
type nameLocks struct{ locks sync.Map }

func (n *nameLocks) of(name string) lock {
	l, _ := n.locks.LoadOrStore(name, newLock())
	return l.(lock) //nolint:forcetypeassert // it has nothing else
}
