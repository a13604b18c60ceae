package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Repositories lists the repositories of a code-host integration, in the service's order (sections 2.6 and 4.3).
// Check reports what is wrong with one, such as a member of another type: then the list cannot be used. The error is
// an [Error], or that of ctx.
func (c *Client) Repositories(ctx context.Context, integrationID string, check func(Tree) error) ([]Tree, error) {
	path := "/v1/integrations/forge/codehost/" + url.PathEscape(integrationID) + "/repos"
	return c.list(ctx, "list repositories", path, check)
}

// OAuthProviders lists the OAuth providers, in the service's order (sections 2.7 and 4.4), with the defaults of
// section 2.7 for what is omitted. Otherwise it is like [Client.Repositories].
func (c *Client) OAuthProviders(ctx context.Context, check func(Tree) error) ([]Tree, error) {
	providers, err := c.list(ctx, "list OAuth providers", "/v2/auth/providers", check)
	defaults := Tree{"token_endpoint_auth_method": "client_secret_post", "is_dynamic_client": false}
	for _, p := range providers {
		for name, value := range defaults {
			if p[name] == nil {
				p[name] = value
			}
		}
	}
	return providers, err
}

// list reads an endpoint whose response is a plain array. Null is an error, as it must not pass for an empty list.
func (c *Client) list(ctx context.Context, operation, path string, check func(Tree) error) ([]Tree, error) {
	r := request{operation: operation, method: http.MethodGet, path: path}
	var items []json.RawMessage
	if err := c.call(ctx, r, &items); err != nil {
		return nil, err
	}
	if items == nil {
		return nil, c.malformed(r, errors.New("got null instead of a list"))
	}
	trees := make([]Tree, len(items))
	for i, raw := range items {
		tree, err := decodeTree(raw)
		if err == nil {
			err = check(tree)
		}
		if err != nil {
			return nil, c.malformed(r, fmt.Errorf("[%d]: %w", i, err))
		}
		trees[i] = tree
	}
	return trees, nil
}
