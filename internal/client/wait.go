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
	last, listed := first, false
	for interval := c.config.PollInterval; ; interval = min(interval*3/2, c.config.PollIntervalMax) {
		d, err := c.Deployment(ctx, first.ID)
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
		if err := sleep(ctx, interval*3/4+jitter(interval/4)); err != nil {
			return last, err
		}
	}
}

// refusedForGood reports whether the service answered that a request cannot
// succeed, now or later.
func refusedForGood(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Status >= http.StatusBadRequest && failed.Status < http.StatusInternalServerError &&
		!temporaryStatus(failed.Status)
}
