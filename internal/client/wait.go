package client

import (
	"context"
	"errors"
	"net/http"
)

// Wait reads a deployment at once and then again and again, less and less
// often, until done says so. It returns the last reading, which is first when
// there was none, and why it ended: nil, an [ErrNotFound] when the deployment
// was listed and no longer is, the error of a request that the service refuses
// for good, or the error of ctx.
//
// A reading that fails for now is passed over, as the deployment is none the
// worse for it; so is a service that does not list yet what it has just made.
func (c *Client) Wait(ctx context.Context, first *Deployment, done func(*Deployment) bool) (*Deployment, error) {
	return c.watch(ctx, first, false, done)
}

// WaitGone reads a deployment like [Client.Wait], until the service lists it no
// more. It returns the last reading, which is first when there was none, and
// the error of ctx, or of a request that the service refuses for good.
func (c *Client) WaitGone(ctx context.Context, first *Deployment) (*Deployment, error) {
	last, err := c.watch(ctx, first, true, func(*Deployment) bool { return false })
	if errors.Is(err, ErrNotFound) {
		return last, nil
	}
	return last, err
}

// watch is the loop of both. Listed says that the deployment is known to have
// been listed, so that it is gone once it is not.
func (c *Client) watch(ctx context.Context, first *Deployment, listed bool, done func(*Deployment) bool) (*Deployment, error) {
	last := first
	patience := c.reader.gathering // at once, but not to be answered from what was read ahead
	for interval := c.config.PollInterval; ; interval = min(interval*3/2, c.config.PollIntervalMax) {
		d, err := c.reader.read(ctx, first.ID, patience)
		switch {
		case err == nil:
			last, listed = d, true
			if done(d) {
				return d, nil
			}
		case ctx.Err() != nil:
			return last, ctx.Err()
		case errors.Is(err, ErrNotFound):
			if listed {
				return last, err
			}
		case refusedForGood(err):
			return last, err
		}
		// Not sleeping but waiting with the request lets waits share it.
		patience = interval*3/4 + jitter(interval/4)
	}
}

// refusedForGood reports whether the service answered that a request cannot
// succeed, now or later.
func refusedForGood(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Status >= http.StatusBadRequest && failed.Status < http.StatusInternalServerError &&
		!temporaryStatus(failed.Status)
}
