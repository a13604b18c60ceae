package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

var errNullList = errors.New("null instead of a list")

// list reads an endpoint whose response is a plain array. Null is an error, as
// it must not pass for an empty list; so is an item that check rejects.
func list[T any](ctx context.Context, c *Client, operation, path string, check func(*T) error) ([]T, error) {
	var items *[]*T
	if err := c.call(ctx, request{operation: operation, method: http.MethodGet, path: path}, &items); err != nil {
		return nil, err
	}
	if items == nil {
		return nil, c.malformed(operation, http.MethodGet, path, errNullList)
	}
	for i, item := range *items {
		if err := check(item); err != nil {
			return nil, c.malformed(operation, http.MethodGet, path, fmt.Errorf("[%d]: %w", i, err))
		}
	}
	all := make([]T, len(*items))
	for i, item := range *items {
		all[i] = *item
	}
	return all, nil
}
