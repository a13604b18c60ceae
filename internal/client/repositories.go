package client

import (
	"context"
	"net/url"
)

// Repository is a code-host repository that can be deployed (section 2.6).
type Repository struct {
	HostIntegrationID string `json:"host_integration_id"`
	ID                Int64  `json:"id"`
	Name              string `json:"name"`
	Owner             string `json:"owner"`
	URL               string `json:"url"`
	DefaultBranch     string `json:"default_branch"`
}

// Repositories lists the repositories of a code-host integration, in the service's order (section 4.3). One with empty fields
// is returned as it is, so that it does not make the others unreadable. The error is an [Error], or that of ctx.
func (c *Client) Repositories(ctx context.Context, integrationID string) ([]Repository, error) {
	path := "/v1/integrations/forge/codehost/" + url.PathEscape(integrationID) + "/repos"
	return list[Repository](ctx, c, "list repositories", path)
}
