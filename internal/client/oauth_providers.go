package client

import (
	"context"
	"encoding/json"
)

// OAuthProvider is an OAuth provider of the organization (section 2.7).
type OAuthProvider struct {
	ID                      string  `json:"id"`
	OrganizationID          string  `json:"organization_id"`
	ProviderID              string  `json:"provider_id"`
	Name                    string  `json:"name"`
	ClientID                string  `json:"client_id"`
	AuthURL                 string  `json:"auth_url"`
	TokenURL                string  `json:"token_url"`
	UsesPKCE                bool    `json:"uses_pkce"`
	CodeChallengeMethod     *string `json:"code_challenge_method,omitzero"`
	CreatedAt               string  `json:"created_at"`
	UpdatedAt               string  `json:"updated_at"`
	ProviderType            *string `json:"provider_type,omitzero"`
	MCPServerURL            *string `json:"mcp_server_url,omitzero"`
	TokenEndpointAuthMethod string  `json:"token_endpoint_auth_method"`
	IsDynamicClient         bool    `json:"is_dynamic_client"`
}

// UnmarshalJSON fills in the defaults of section 2.7 for what is omitted.
func (p *OAuthProvider) UnmarshalJSON(data []byte) error {
	type plain OAuthProvider
	filled := plain{TokenEndpointAuthMethod: "client_secret_post"}
	if err := json.Unmarshal(data, &filled); err != nil {
		return err
	}
	*p = OAuthProvider(filled)
	return nil
}

// OAuthProviders lists the OAuth providers, in the service's order (section 4.4). The error is an [Error], or that of ctx.
func (c *Client) OAuthProviders(ctx context.Context) ([]OAuthProvider, error) {
	return list[OAuthProvider](ctx, c, "list OAuth providers", "/v2/auth/providers")
}
