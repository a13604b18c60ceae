package client

import (
	"context"
	"errors"
	"net/http"
)

// list reads an endpoint whose response is a plain array. Null is an error, as it must not pass for an empty list.
func list[T any](ctx context.Context, c *Client, operation, path string) ([]T, error) {
	r := request{operation: operation, method: http.MethodGet, path: path}
	var items []T
	if err := c.call(ctx, r, &items); err != nil {
		return nil, err
	}
	if items == nil {
		return nil, c.malformed(r, errors.New("got null instead of a list"))
	}
	return items, nil
}
