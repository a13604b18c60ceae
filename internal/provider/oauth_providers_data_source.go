package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var _ datasource.DataSourceWithConfigure = (*oauthProvidersDataSource)(nil)

// oauthProviderFields are section 2.7.
var oauthProviderFields = field.Fields{
	{Name: "id", Kind: field.Text, Doc: "Id of the record."},
	{Name: "organization_id", Kind: field.Text, Doc: "Organization that the provider is configured for."},
	{Name: "provider_id", Kind: field.Text, Doc: "Id of the provider."},
	{Name: "name", Kind: field.Text, Doc: "Name of the provider."},
	{Name: "client_id", Kind: field.Text, Doc: "OAuth client id."},
	{Name: "auth_url", Kind: field.Text, Doc: "URL of the authorization endpoint."},
	{Name: "token_url", Kind: field.Text, Doc: "URL of the token endpoint."},
	{Name: "uses_pkce", Kind: field.Flag, Doc: "Whether PKCE is used."},
	{Name: "code_challenge_method", Kind: field.Text, Doc: "Code challenge method of PKCE; null when none is used."},
	{Name: "created_at", Kind: field.Time, Doc: "When the record was created, in RFC 3339."},
	{Name: "updated_at", Kind: field.Time, Doc: "When the record was last changed, in RFC 3339."},
	{Name: "provider_type", Kind: field.Text, Doc: "Type of the provider, where it has one."},
	{Name: "mcp_server_url", Kind: field.Text, Doc: "URL of the MCP server, where there is one."},
	{Name: "token_endpoint_auth_method", Kind: field.Text, Doc: "How the client authenticates at the token endpoint; `client_secret_post` where the service does not say."},
	{Name: "is_dynamic_client", Kind: field.Flag, Doc: "Whether the client was registered dynamically; false where the service does not say."},
}

// oauthProvidersDataSource is graphdeploy_oauth_providers.
type oauthProvidersDataSource struct{ dataSource }

func newOAuthProvidersDataSource() datasource.DataSource { return &oauthProvidersDataSource{} }

type oauthProvidersModel struct {
	ProviderID     types.String `tfsdk:"provider_id"`
	OAuthProviders types.List   `tfsdk:"oauth_providers"`
}

func (d *oauthProvidersDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "graphdeploy_oauth_providers"
}

func (d *oauthProvidersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "OAuth providers that are configured for the organization, in the service's order.",
		Attributes: map[string]schema.Attribute{
			"provider_id": schema.StringAttribute{Optional: true, MarkdownDescription: "Only providers of this `provider_id`, exactly."},
			"oauth_providers": schema.ListNestedAttribute{Computed: true, MarkdownDescription: "The OAuth providers found.",
				NestedObject: schema.NestedAttributeObject{Attributes: oauthProviderFields.DataSourceAttributes()}},
		},
	}
}

func (d *oauthProvidersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model oauthProvidersModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	all, err := d.client.OAuthProviders(ctx)
	if err != nil {
		d.access.addFailure(&resp.Diagnostics, "Cannot list OAuth providers", err, nil)
		return
	}
	found := results{fields: oauthProviderFields}
	for _, p := range all {
		if model.ProviderID.IsNull() || p.ProviderID == model.ProviderID.ValueString() {
			found.add(p, &resp.Diagnostics)
		}
	}
	found.save(ctx, resp, req.Config.Raw, "oauth_providers")
}
