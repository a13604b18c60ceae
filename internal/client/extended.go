package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// The operations of this file are not in the interface document, which says
// only that changes exist ("need a new revision when modified", section 2.1).
// Services of this family offer them as they stand here; they are called only
// when the user says that this one does.

// ErrNotOffered says that the service does not have an operation: it answered
// 404, 405 or 501 about a deployment that it lists.
var ErrNotOffered = errors.New("the service does not offer this operation")

// DeploymentChange is the body of a change: members that stay are left out,
// at every level, in the wire's names. Secrets nil stay as they are.
type DeploymentChange struct {
	SourceConfig         map[string]any `json:"source_config,omitzero"`
	SourceRevisionConfig map[string]any `json:"source_revision_config,omitzero"`
	Secrets              []Secret       `json:"secrets,omitzero"`
	SecretReferences     []any          `json:"secret_references,omitzero"`
}

// UpdateDeployment changes a deployment with one PATCH, and sends that again
// when its answer is lost: it sets values, and to set them twice comes to the
// same. It returns what the service answers about the deployment, or nil when
// it answers nothing: whether the change took is for a reading to say. The
// errors are [ErrNotOffered], [ErrNotFound], and those of a request.
func (c *Client) UpdateDeployment(ctx context.Context, id string, change DeploymentChange) (*Deployment, error) {
	c.reader.ahead.wrote(id)
	defer c.reader.ahead.wrote(id)
	call := request{operation: "update deployment", method: http.MethodPatch, path: deploymentsPath + "/" + url.PathEscape(id), body: change}
	c.hideSecrets(change.Secrets)
	seenThrough := context.WithoutCancel(ctx)
	for attempt := 0; ; attempt++ {
		var changed Deployment
		err := c.call(seenThrough, call, &changed)
		var failed *Error
		switch {
		case err == nil && changed.check() == nil:
			return &changed, nil
		case err == nil:
			return nil, nil
		case !errors.As(err, &failed):
			return nil, err
		case failed.Malformed:
			return nil, nil
		case retryable(err):
			if attempt < c.config.MaxRetries && c.pause(ctx, attempt, failed) == nil {
				continue
			}
			return nil, err
		}
		return nil, c.notOffered(seenThrough, id, failed)
	}
}

// Settled reads a deployment until holds says that it shows a change, at the
// latest for Config.ConsistencyTimeout, and returns the last reading. Where the service
// already answered the change without it (written is that answer), it is not
// waited for.
func (c *Client) Settled(ctx context.Context, last, written *Deployment, holds func(*Deployment) bool) (*Deployment, error) {
	if holds(last) || written != nil && !holds(written) {
		return last, nil
	}
	waiting, cancel := context.WithTimeout(ctx, c.config.ConsistencyTimeout)
	defer cancel()
	last, err := c.watch(waiting, last, true, holds)
	if errors.Is(err, context.DeadlineExceeded) {
		return last, nil
	}
	return last, err
}

// DeleteDeployment asks the service to delete a deployment, and returns when
// it has agreed to, which need not be the end of it: see [Client.WaitGone].
// That it is gone already is no error. The errors are [ErrNotOffered] and those
// of a request.
func (c *Client) DeleteDeployment(ctx context.Context, id string) error {
	c.reader.ahead.wrote(id)
	defer c.reader.ahead.wrote(id)
	call := request{operation: "delete deployment", method: http.MethodDelete, path: deploymentsPath + "/" + url.PathEscape(id)}
	seenThrough := context.WithoutCancel(ctx)
	for attempt := 0; ; attempt++ {
		err := c.call(seenThrough, call, nil)
		var failed *Error
		if err == nil || !errors.As(err, &failed) {
			return err
		}
		// To delete once more what is deleted does no harm.
		if retryable(err) {
			if attempt < c.config.MaxRetries && c.pause(ctx, attempt, failed) == nil {
				continue
			}
			return err
		}
		if err := c.notOffered(seenThrough, id, failed); !errors.Is(err, ErrNotFound) {
			return err
		}
		return nil
	}
}

// notOffered finds out what a 404, 405 or 501 means: that the service lacks the
// operation, when it still lists the deployment, or that the deployment is
// gone. Any other refusal it returns as it is.
func (c *Client) notOffered(ctx context.Context, id string, failed *Error) error {
	switch failed.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
	default:
		return failed
	}
	_, err := c.reader.read(ctx, id, 0)
	if err == nil {
		return fmt.Errorf("%w: %w", ErrNotOffered, failed)
	}
	return err
}
