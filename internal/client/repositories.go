package client

import (
	"context"
	"errors"
	"fmt"
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

// check refuses what cannot be told from others, or not be deployed.
func (r *Repository) check() error {
	if r == nil {
		return errors.New("null instead of a repository")
	}
	if r.Owner == "" || r.Name == "" || r.URL == "" {
		return errors.New("a repository without owner, name or url")
	}
	return nil
}

// list reads an endpoint whose answer is a plain array. Null is not one: an
// answer that says nothing must not pass for an empty list.
func list[T any, P interface {
	*T
	check() error
}](ctx context.Context, c *Client, operation, path string) ([]T, error) {
	var items *[]P
	if err := c.call(ctx, request{operation: operation, method: http.MethodGet, path: path}, &items); err != nil {
		return nil, err
	}
	if items == nil {
		return nil, c.malformed(operation, http.MethodGet, path, errNullList)
	}
	all := make([]T, 0, len(*items))
	for i, item := range *items {
		if err := item.check(); err != nil {
			return nil, c.malformed(operation, http.MethodGet, path, fmt.Errorf("[%d]: %w", i, err))
		}
		all = append(all, *item)
	}
	return all, nil
}
