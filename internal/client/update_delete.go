package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// The API does not document the operations of this file, only that changes exist ("need a new revision when
// modified", section 2.1). Similar services offer them in this form.

var (
	// ErrNotSupported reports that the service does not offer an operation: it responded 404, 405 or 501 about a
	// deployment that it lists.
	ErrNotSupported = errors.New("the service does not support this operation")
	// ErrNotAllowed reports that an operation was not sent because of Config.DocumentedOnly.
	ErrNotAllowed = errors.New("the API does not document this operation")
)

// Update is what [Client.UpdateDeployment] did.
type Update struct {
	Before  *Deployment // what the body was computed from
	Written *Deployment // the deployment in the response; nil if it has none that can be used, or was lost
	Sent    Tree        // the body that was sent; nil if nothing was sent
	Lost    error       // how the response was lost, if it was: a read shows whether the change took effect
}

// UpdateDeployment reads a deployment, asks body for the members to change, each with its complete value and secrets
// as []Secret, and sends them as one PATCH. An empty body sends nothing. Where the service certainly did not act, it
// reads again, asks again and sends again. A request whose response is lost is not repeated: others may have changed
// the deployment since.
//
// Its errors are [ErrNotFound], [ErrNotSupported], [ErrNotAllowed], [Error], those of body and of ctx, and one for an
// id that is not a UUID. Once the request is sent, ctx only ends the wait before it is repeated.
func (c *Client) UpdateDeployment(ctx context.Context, id string, body func(live *Deployment) (Tree, error)) (Update,
	error) {
	r, err := c.writeRequest("update deployment", http.MethodPatch, id)
	if err != nil {
		return Update{}, err
	}
	cost := newBudget()
	for attempt := 0; ; attempt++ {
		before, err := c.DeploymentNow(ctx, id)
		u := Update{Before: before}
		if err != nil {
			return u, err
		}
		change, err := body(before)
		if err != nil || len(change) == 0 {
			return u, err
		}
		c.hideSecrets(change)
		u.Sent, r.body = change, change
		response := writtenDeployment{client: c}
		err = c.write(ctx, id, r, &response)
		if err == nil {
			if isSame(response.deployment, before) {
				u.Written = response.deployment
			}
			return u, nil
		}
		failed, ok := errors.AsType[*Error](err)
		switch {
		case !ok || errors.Is(err, ErrNotSupported):
			return u, err
		case failed.Cause == CauseMalformed:
			return u, nil
		case failed.Outcome() == Unknown:
			u.Lost = failed
			return u, nil
		case failed.Outcome() == Rejected, attempt >= c.config.MaxRetries, c.pause(ctx, cost, attempt, failed) != nil:
			return u, err
		}
	}
}

// isSame reports whether the response to a change is about the deployment that was changed.
func isSame(written, changed *Deployment) bool {
	return written != nil && strings.EqualFold(written.ID, changed.ID) && written.Name == changed.Name &&
		written.Source == changed.Source
}

// DeleteDeployment asks the service to delete a deployment, and returns when the service has accepted that: see
// [Client.WaitDeleted]. It is no error if the deployment no longer exists. Its errors are [ErrNotSupported],
// [ErrNotAllowed] and [Error], and one for an id that is not a UUID.
func (c *Client) DeleteDeployment(ctx context.Context, id string) error {
	r, err := c.writeRequest("delete deployment", http.MethodDelete, id)
	if err != nil {
		return err
	}
	err = c.write(ctx, id, r, nil)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// writeRequest returns a request that changes or deletes a deployment, if it may be sent.
func (c *Client) writeRequest(operation, method, id string) (request, error) {
	switch {
	case c.config.DocumentedOnly:
		return request{}, fmt.Errorf("%s: %w", operation, ErrNotAllowed)
	case !IsUUID(id): // it becomes a part of the path
		return request{}, fmt.Errorf("%s: the id %.40q is not a UUID", operation, id)
	}
	return request{operation: operation, method: method, path: deploymentsPath + "/" + id}, nil
}

// write sends a request that changes or deletes a deployment. A 404, 405 or 501 means that the service does not
// support that, if it still lists the deployment, or that the deployment no longer exists.
func (c *Client) write(ctx context.Context, id string, r request, out any) error {
	c.reader.ahead.wrote(id)
	err := c.call(ctx, r, out)
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	switch failed.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		live, readErr := c.DeploymentNow(ctx, id)
		switch {
		case readErr == nil && r.method == http.MethodDelete && live.Status == StatusAwaitingDelete:
			return nil // an earlier request was accepted, this one is a repetition
		case readErr == nil:
			return fmt.Errorf("%w: %w", ErrNotSupported, failed)
		case errors.Is(readErr, ErrNotFound):
			return readErr
		}
	}
	return failed
}
