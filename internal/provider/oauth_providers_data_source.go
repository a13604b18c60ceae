package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// oauthProviderFields are section 2.7.
var oauthProviderFields = field.Fields{
	{Name: "id", Kind: field.String{}, Description: "ID of the record."},
	{Name: "organization_id", Kind: field.String{}, Description: "Organization that the provider is configured for."},
	{Name: "provider_id", Kind: field.String{}, Description: "ID of the provider."},
	{Name: "name", Kind: field.String{}, Description: "Name of the provider."},
	{Name: "client_id", Kind: field.String{}, Description: "OAuth client ID."},
	{Name: "auth_url", Kind: field.String{}, Description: "URL of the authorization endpoint."},
	{Name: "token_url", Kind: field.String{}, Description: "URL of the token endpoint."},
	{Name: "uses_pkce", Kind: field.Bool{}, Description: "Whether PKCE is used."},
	{Name: "code_challenge_method", Kind: field.String{},
		Description: "Code challenge method of PKCE; null if none is used."},
	{Name: "created_at", Kind: field.Time{}, Description: "Time of creation, in RFC 3339 format."},
	{Name: "updated_at", Kind: field.Time{}, Description: "Time of the last update, in RFC 3339 format."},
	{Name: "provider_type", Kind: field.String{}, Description: "Type of the provider, if it has one."},
	{Name: "mcp_server_url", Kind: field.String{}, Description: "URL of the MCP server, if there is one."},
	{Name: "token_endpoint_auth_method", Kind: field.String{},
		Description: "How the client authenticates at the token endpoint; `client_secret_post` if the service does " +
			"not report it."},
	{Name: "is_dynamic_client", Kind: field.Bool{},
		Description: "Whether the client was registered dynamically; `false` if the service does not report it."},
}

// newOAuthProvidersDataSource returns the data source graphdeploy_oauth_providers.
func newOAuthProvidersDataSource() datasource.DataSource {
	return &dataSource{
		name: "oauth_providers", description: "Lists the OAuth providers of the organization.",
		attributes: func() map[string]schema.Attribute {
			return map[string]schema.Attribute{
				"provider_id": schema.StringAttribute{Optional: true,
					MarkdownDescription: "Filter by `provider_id` (exact match)."},
				"oauth_providers": listAttribute(oauthProviderFields, "The OAuth providers, in the order of the service."),
			}
		},
		read: func(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) field.Values {
			all, err := p.client.OAuthProviders(ctx, oauthProviderFields.Check)
			if err != nil {
				p.report(diags).failure("Cannot list OAuth providers", err, nil)
			}
			wanted := where(all, func(provider client.Tree) bool {
				return config["provider_id"].IsNull() || provider["provider_id"] == config.text("provider_id")
			})
			return field.Values{"oauth_providers": p.showList(oauthProviderFields, wanted, diags)}
		},
	}
}
