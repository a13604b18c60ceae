package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Wait reads a deployment at once, and then at increasing intervals, until done returns true. It returns the last read
// result, which is first when there was none, and why it ended: nil, [ErrNotFound] when the deployment was listed and
// no longer is, the [Error] of a request that the service rejects permanently, or of a response that could not be
// decoded for Config.ConsistencyTimeout, or the error of ctx, with that of the last read if it failed.
//
// Transient failures are ignored, because they do not affect the deployment. A deployment that was just created may not
// be listed yet.
func (c *Client) Wait(ctx context.Context, first *Deployment, done func(*Deployment) bool) (*Deployment, error) {
	listed := false
	return c.poll(ctx, ctx, first, func(d *Deployment, notFound error) (bool, error) {
		if d == nil {
			return listed, notFound
		}
		listed = true
		return done(d), nil
	})
}

// WaitConsistent reads a deployment after a write, until done reports that it shows the write, but for at most
// Config.ConsistencyTimeout, and returns the last read result. It is an error if no read succeeds, or if the deployment
// is no longer listed ([ErrNotFound]).
func (c *Client) WaitConsistent(ctx context.Context, first *Deployment, done func(*Deployment) bool) (
	*Deployment, error,
) {
	waiting, cancel := context.WithTimeout(ctx, c.config.ConsistencyTimeout)
	defer cancel()
	limit := c.config.ConsistencyTimeout + c.config.RequestTimeout // for the last read
	reading, cancelRead := context.WithTimeout(ctx, limit)
	defer cancelRead()
	read := false
	last, err := c.poll(reading, waiting, first, func(d *Deployment, notFound error) (bool, error) {
		if d == nil {
			return true, notFound
		}
		read = true
		return done(d), nil
	})
	if read && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return last, nil
	}
	return last, err
}

// ConsistencyTimeout returns Config.ConsistencyTimeout, or its default.
func (c *Client) ConsistencyTimeout() time.Duration { return c.config.ConsistencyTimeout }

// WaitDeleted reads a deployment like [Client.Wait], until the service no longer lists it. If after
// Config.ConsistencyTimeout it is still listed and not being deleted (AWAITING_DELETE), the deletion is requested
// again: what seemed to be the response to it may not have been the service's. It returns the last read result, which
// is first when there was none, and the error of ctx, of [Client.DeleteDeployment], or of a read that the service
// rejects permanently.
func (c *Client) WaitDeleted(ctx context.Context, first *Deployment) (*Deployment, error) {
	requested := time.Now()
	return c.poll(ctx, ctx, first, func(d *Deployment, _ error) (bool, error) {
		if d == nil {
			return true, nil
		}
		if d.Status == StatusAwaitingDelete || time.Since(requested) < c.config.ConsistencyTimeout {
			return false, nil
		}
		requested = time.Now()
		err := c.DeleteDeployment(ctx, d.ID)
		failed, ok := errors.AsType[*Error](err)
		if ok && (failed.Status == http.StatusConflict || failed.Status == http.StatusNotFound) {
			err = nil // it is under way, or done, whatever the list shows
		}
		return permanentlyRejected(err) || errors.Is(err, ErrNotSupported), err
	})
}

// poll reads a deployment with ctx until visit returns true. Visit gets the deployment, or nil and [ErrNotFound] while
// the service does not list it; its error counts only with true. Poll returns the last read result, and the error of
// visit, or why it ends earlier, such as the end of waiting.
func (c *Client) poll(ctx, waiting context.Context, first *Deployment,
	visit func(d *Deployment, notFound error) (ended bool, why error),
) (*Deployment, error) {
	last := first
	var undecodable time.Time // since when no response could be decoded
	var failure error         // that of the last read, if it failed
	for interval := c.config.PollInterval; ; interval = min(interval*3/2, c.config.PollIntervalMax) {
		d, err := c.DeploymentNow(ctx, first.ID)
		if ctx.Err() != nil && err != nil {
			return last, withFailure(ctx.Err(), failure)
		}
		failure = err
		switch {
		case err == nil || errors.Is(err, ErrNotFound):
			failure, undecodable = nil, time.Time{}
			if d != nil {
				last = d
			}
			ended, why := visit(d, err)
			if ended {
				return last, why
			}
		case permanentlyRejected(err):
			return last, err
		case isMalformed(err) && undecodable.IsZero():
			undecodable = time.Now()
		case isMalformed(err) && time.Since(undecodable) >= c.config.ConsistencyTimeout:
			return last, err
		}
		// At a multiple of the interval, so that concurrent polls share requests.
		ended := sleep(waiting, time.Until(time.Now().Add(interval).Round(c.config.PollInterval)))
		if ended != nil {
			return last, withFailure(ended, failure)
		}
	}
}

// withFailure adds to why a wait ended how the last read failed, if it did.
func withFailure(ended, failure error) error {
	if failure == nil {
		return ended
	}
	return fmt.Errorf("%w; the last read failed: %w", ended, failure)
}
