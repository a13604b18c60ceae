package client

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// retryWait returns how long to wait before a request that failed with err is sent again: as long as the service asks
// for, else longer each time.
func (c *Client) retryWait(attempt int, err error) time.Duration {
	if failed, ok := errors.AsType[*Error](err); ok && failed.retryAfterSet {
		return failed.retryAfter + jitter(min(failed.retryAfter/10, time.Second))
	}
	return backoff(c.config.RetryWait, c.config.RetryWaitMax, attempt)
}

// pause waits for [Client.retryWait]. It returns an error, at once, when ctx would end first, or the service has
// asked for more time than the operation has.
func (c *Client) pause(ctx context.Context, b *budget, attempt int, err error) error {
	wait := c.retryWait(attempt, err)
	if failed, ok := errors.AsType[*Error](err); ok && failed.retryAfterSet {
		if b.paused >= maxPauses {
			return context.DeadlineExceeded
		}
		wait = min(wait, maxPauses-b.paused)
		b.paused += wait
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return context.DeadlineExceeded
	}
	return sleep(ctx, wait)
}

// backoff returns how long to wait before attempt+1: twice as long each time, up to longest, with jitter so that many
// clients do not come back together.
func backoff(shortest, longest time.Duration, attempt int) time.Duration {
	wait := min(shortest, longest)
	for range attempt {
		wait = 2 * min(wait, longest/2)
	}
	return wait/2 + jitter(wait/2)
}

// jitter returns a random duration from 0 to d.
func jitter(d time.Duration) time.Duration { return rand.N(max(d, 0) + 1) }

// retryAfter reads the Retry-After header of a response: seconds or a date.
func retryAfter(header http.Header, now time.Time) (wait time.Duration, ok bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(seconds) {
		wait = time.Duration(min(seconds, maxPauses.Seconds()) * float64(time.Second))
	} else if date, err := http.ParseTime(text); err == nil {
		wait = date.Sub(now)
	} else {
		return 0, false
	}
	return min(max(wait, 0), maxPauses), true
}

// sleep waits for d, or returns the error of ctx once that ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
