package client

import (
	"context"
	"net/http"
	"net/url"
)

// Repository is a code-host repository that can be deployed (section 2.6).
type Repository struct {
	HostIntegrationID string `json:"host_integration_id"`
	ID                Whole  `json:"id"`
	Name              string `json:"name"`
	Owner             string `json:"owner"`
	URL               string `json:"url"`
	DefaultBranch     string `json:"default_branch"`
}

// Repositories lists the repositories of a code-host integration, in the
// service's order (section 4.3).
func (c *Client) Repositories(ctx context.Context, integrationID string) ([]Repository, error) {
	path := "/v1/integrations/forge/codehost/" + url.PathEscape(integrationID) + "/repos"
	return list[Repository](ctx, c, "list repositories", path)
}

// list reads an endpoint whose answer is a plain array. Null is not one: an
// answer that says nothing must not pass for an empty list.
func list[T any](ctx context.Context, c *Client, operation, path string) ([]T, error) {
	var items *[]T
	if err := c.call(ctx, request{operation: operation, method: http.MethodGet, path: path}, &items); err != nil {
		return nil, err
	}
	if items == nil {
		return nil, c.malformed(operation, http.MethodGet, path, errNullList)
	}
	return *items, nil
}
