package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// The API does not document the operations of this file, only that changes exist ("need a new revision when modified", section
// 2.1). Similar services offer them in this form. The provider calls them only with extended_operations.

// ErrNotSupported reports that the service does not offer an operation: it responded 404, 405 or 501 about a deployment that it
// lists.
var ErrNotSupported = errors.New("the service does not support this operation")

// UpdateDeployment changes a deployment with one PATCH that has some members of a deployment, each with its complete value, secrets
// as []Secret. It sends it again when the response is lost: setting the same values twice does no harm. It returns the deployment
// in the response, or nil without an error when there is none that can be used: then a read shows whether the change took effect.
// Its errors are [ErrNotSupported], [ErrNotFound] and [Error], and one for an id that is not a UUID.
func (c *Client) UpdateDeployment(ctx context.Context, id string, change Tree) (*Deployment, error) {
	c.hideSecrets(change)
	response := writtenDeployment{client: c}
	err := c.write(ctx, "update deployment", http.MethodPatch, id, change, &response)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Malformed {
		err = nil
	}
	return response.Deployment, err
}

// DeleteDeployment asks the service to delete a deployment, and returns when the service has accepted that: see
// [Client.WaitDeleted]. It is no error if the deployment no longer exists. Its errors are [ErrNotSupported] and [Error], and
// one for an id that is not a UUID.
func (c *Client) DeleteDeployment(ctx context.Context, id string) error {
	err := c.write(ctx, "delete deployment", http.MethodDelete, id, nil, nil)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// write sends a request that changes or deletes a deployment. A 404, 405 or 501 means that the service does not support that,
// if it still lists the deployment, or that the deployment no longer exists.
func (c *Client) write(ctx context.Context, operation, method, id string, body, out any) error {
	if !IsUUID(id) { // it becomes a part of the path
		return fmt.Errorf("%s: the id %.40q is not a UUID", operation, id)
	}
	c.reader.ahead.wrote(id)
	defer c.reader.ahead.wrote(id)
	err := c.call(ctx, request{operation: operation, method: method, path: deploymentsPath + "/" + id, body: body}, out)
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	switch failed.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		_, readErr := c.DeploymentNow(ctx, id)
		if readErr == nil {
			return fmt.Errorf("%w: %w", ErrNotSupported, failed)
		}
		if errors.Is(readErr, ErrNotFound) {
			return readErr
		}
	}
	return failed
}
