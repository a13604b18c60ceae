package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var _ datasource.DataSourceWithConfigure = (*oauthProvidersDataSource)(nil)

// oauthProviderFields are section 2.7.
var oauthProviderFields = field.Fields{
	{Name: "id", Kind: field.String, Description: "ID of the record."},
	{Name: "organization_id", Kind: field.String, Description: "Organization that the provider is configured for."},
	{Name: "provider_id", Kind: field.String, Description: "ID of the provider."},
	{Name: "name", Kind: field.String, Description: "Name of the provider."},
	{Name: "client_id", Kind: field.String, Description: "OAuth client ID."},
	{Name: "auth_url", Kind: field.String, Description: "URL of the authorization endpoint."},
	{Name: "token_url", Kind: field.String, Description: "URL of the token endpoint."},
	{Name: "uses_pkce", Kind: field.Bool, Description: "Whether PKCE is used."},
	{Name: "code_challenge_method", Kind: field.String, Description: "Code challenge method of PKCE; null if none is used."},
	{Name: "created_at", Kind: field.Time, Description: "Time of creation, in RFC 3339 format."},
	{Name: "updated_at", Kind: field.Time, Description: "Time of the last update, in RFC 3339 format."},
	{Name: "provider_type", Kind: field.String, Description: "Type of the provider, if it has one."},
	{Name: "mcp_server_url", Kind: field.String, Description: "URL of the MCP server, if there is one."},
	{Name: "token_endpoint_auth_method", Kind: field.String, Description: "How the client authenticates at the token endpoint; " +
		"`client_secret_post` if the service does not report it."},
	{Name: "is_dynamic_client", Kind: field.Bool, Description: "Whether the client was registered dynamically; `false` if the service does " +
		"not report it."},
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
		MarkdownDescription: "Lists the OAuth providers of the organization.",
		Attributes: map[string]schema.Attribute{
			"provider_id": schema.StringAttribute{Optional: true, MarkdownDescription: "Filter by `provider_id` (exact match)."},
			"oauth_providers": schema.ListNestedAttribute{Computed: true, MarkdownDescription: "The OAuth providers, in the order of the service.",
				NestedObject: schema.NestedAttributeObject{Attributes: oauthProviderFields.DataSourceAttributes()}},
		},
	}
}

func (d *oauthProvidersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	if !d.ready(req, resp) {
		return
	}
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
	found := []tftypes.Value{}
	for _, p := range all {
		if model.ProviderID.IsNull() || p.ProviderID == model.ProviderID.ValueString() {
			found = append(found, decodeShown(oauthProviderFields, p, &resp.Diagnostics))
		}
	}
	if !resp.Diagnostics.HasError() {
		setList(resp, req.Config.Raw, "oauth_providers", oauthProviderFields, found)
	}
}
