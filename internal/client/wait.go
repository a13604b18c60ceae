package client

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Wait reads a deployment at once, and then at increasing intervals, until done returns true. It returns the last read result,
// which is first when there was none, and why it ended: nil, [ErrNotFound] when the deployment was listed and no longer is, the
// [Error] of a request that the service rejects permanently, or the error of ctx.
//
// Transient failures are ignored, because they do not affect the deployment. A deployment that was just created may not be
// listed yet.
func (c *Client) Wait(ctx context.Context, first *Deployment, done func(*Deployment) bool) (*Deployment, error) {
	return c.poll(ctx, first, false, func(d *Deployment) (bool, error) { return done(d), nil })
}

// WaitConsistent reads a deployment until done reports that it shows a change, at most for Config.ConsistencyTimeout, and
// returns the last read result, which is last when there was none. If the service's own response to the change (written, if
// there is one) does not show it, it is not waited for.
func (c *Client) WaitConsistent(ctx context.Context, last, written *Deployment, done func(*Deployment) bool) (*Deployment, error) {
	if done(last) || written != nil && !done(written) {
		return last, nil
	}
	waiting, cancel := context.WithTimeout(ctx, c.config.ConsistencyTimeout)
	defer cancel()
	last, err := c.poll(waiting, last, true, func(d *Deployment) (bool, error) { return done(d), nil })
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return last, nil
	}
	return last, err
}

// WaitDeleted reads a deployment like [Client.Wait], until the service no longer lists it. If after Config.ConsistencyTimeout
// it is still listed and not being deleted (AWAITING_DELETE), the deletion is requested again: what seemed to be the response
// to it may not have been the service's. It returns the last read result, which is first when there was none, and the error of
// ctx, of [Client.DeleteDeployment], or of a read that the service rejects permanently.
func (c *Client) WaitDeleted(ctx context.Context, first *Deployment) (*Deployment, error) {
	requested := time.Now()
	last, err := c.poll(ctx, first, true, func(d *Deployment) (bool, error) {
		if d.Status == StatusAwaitingDelete || time.Since(requested) < c.config.ConsistencyTimeout {
			return false, nil
		}
		requested = time.Now()
		err := c.DeleteDeployment(ctx, d.ID)
		if failed, ok := errors.AsType[*Error](err); ok && failed.Status == http.StatusConflict {
			err = nil // it may be under way, whatever the status
		}
		return false, err
	})
	if errors.Is(err, ErrNotFound) {
		return last, nil
	}
	return last, err
}

// poll is the loop of the functions above. Listed means that the service has listed the deployment before: if it is no longer
// listed, it no longer exists.
func (c *Client) poll(ctx context.Context, first *Deployment, listed bool, done func(*Deployment) (bool, error)) (*Deployment, error) {
	last := first
	for interval := c.config.PollInterval; ; interval = min(interval*3/2, c.config.PollIntervalMax) {
		d, err := c.DeploymentNow(ctx, first.ID)
		switch {
		case err == nil:
			last, listed = d, true
			finished, err := done(d)
			if finished || permanentlyRejected(err) || errors.Is(err, ErrNotSupported) {
				return d, err
			}
		case ctx.Err() != nil:
			return last, ctx.Err()
		case errors.Is(err, ErrNotFound):
			if listed {
				return last, err
			}
		case permanentlyRejected(err):
			return last, err
		}
		// At a multiple of the interval, so that concurrent polls share requests.
		if err := sleep(ctx, time.Until(time.Now().Add(interval).Round(c.config.PollInterval))); err != nil {
			return last, err
		}
	}
}

// permanentlyRejected reports whether the service responded that a request cannot succeed, now or later.
func permanentlyRejected(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Status >= http.StatusBadRequest && failed.Status < http.StatusInternalServerError && !temporaryStatus(failed.Status)
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
