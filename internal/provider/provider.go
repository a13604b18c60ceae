// Package provider is the service as Terraform sees it: schemas, plans and state. It knows nothing of HTTP; that is
// package client.
package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var (
	_ provider.ProviderWithActions        = (*Provider)(nil)
	_ provider.ProviderWithListResources  = (*Provider)(nil)
	_ provider.ProviderWithValidateConfig = (*Provider)(nil)
)

// Provider is the provider graphdeploy.
type Provider struct {
	version string
	tune    func(*client.Config)
}

// New returns the provider of a version. If tune is not nil, it changes the client's configuration, for tests and
// benchmarks.
func New(version string, tune func(*client.Config)) *Provider {
	return &Provider{version: version, tune: tune}
}

// Metadata names the provider.
func (p *Provider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "graphdeploy"
	resp.Version = p.version
}

// Schema describes the provider block.
func (p *Provider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	or := func(attribute string) string {
		return fmt.Sprintf(" Can also be set with the environment variable `%s`.", variable(attribute))
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages deployments of hosted applications.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{Optional: true, MarkdownDescription: "Root URL of the API: an absolute http or " +
				"https URL. A path prefix is kept; a trailing slash is ignored. Required, here or in the environment variable `" +
				variable("base_url") + "`."},
			"api_key": schema.StringAttribute{Optional: true, Sensitive: true,
				MarkdownDescription: "Credential, sent in the header `api_key_header`. Omit it if the service authenticates " +
					"differently." + or("api_key")},
			"api_key_header": schema.StringAttribute{Optional: true, MarkdownDescription: "Header that carries `api_key`. For " +
				"bearer tokens, set it to `Authorization` and include the scheme in the key: `api_key = \"Bearer …\"`. " +
				"Defaults to `" + defaultAPIKeyHeader + "`." + or("api_key_header")},
			"headers": schema.MapAttribute{Optional: true, Sensitive: true, ElementType: types.StringType,
				MarkdownDescription: "Additional HTTP headers to send with every request, for example a tenant header. Names are " +
					"case-insensitive."},
			"hosting": schema.StringAttribute{Optional: true, Validators: []validator.String{field.OneOf(hostings...)},
				MarkdownDescription: "How the service is hosted. If set, the plan rejects sources that are not available with " +
					"this kind of hosting. Valid values are " + field.Quoted(hostings) + "." + or("hosting")},
			"documented_operations_only": schema.BoolAttribute{Optional: true,
				MarkdownDescription: "Whether to send only the operations that the API documents. Set it to `true` for a service " +
					"that supports neither `PATCH` nor `DELETE` for `/v2/deployments/{id}`: a plan that would update or delete a " +
					"deployment then fails. Defaults to `false`." + or("documented_operations_only")},
			"request_timeout": schema.StringAttribute{Optional: true, MarkdownDescription: fmt.Sprintf(
				"Timeout for a single HTTP attempt, such as `45s` or `2m`. Defaults to `%s`.", defaultRequestTimeout) +
				or("request_timeout")},
			"max_retries": schema.NumberAttribute{Optional: true,
				Validators: []validator.Number{field.Integer(0, maxMaxRetries)},
				MarkdownDescription: fmt.Sprintf("Maximum number of retries for transient failures (0-%d). Defaults to `%d`.",
					maxMaxRetries, defaultMaxRetries) + or("max_retries")},
			"ca_cert_file": schema.StringAttribute{Optional: true, MarkdownDescription: "Path to a PEM file with certificate " +
				"authorities to trust in addition to the system's." + or("ca_cert_file")},
			"client_cert_file": schema.StringAttribute{Optional: true,
				MarkdownDescription: "Path to a PEM client certificate for mutual TLS. Requires `client_key_file`." +
					or("client_cert_file")},
			"client_key_file": schema.StringAttribute{Optional: true, MarkdownDescription: "Path to the PEM private key of " +
				"`client_cert_file`." + or("client_key_file")},
		},
	}
}

// ValidateConfig reports invalid values, as in terraform validate: values may still be unknown, or be set in the
// environment later.
func (p *Provider) ValidateConfig(_ context.Context, req provider.ValidateConfigRequest,
	resp *provider.ValidateConfigResponse,
) {
	newProviderConfig(req.Config.Raw, &resp.Diagnostics).check()
}

// Configure sets up the client. While a value is unknown, there is no client: a plan that only creates works without
// one, and everything else reports which value is unknown.
func (p *Provider) Configure(_ context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	config := newProviderConfig(req.Config.Raw, &resp.Diagnostics)
	data := &providerData{unknown: config.unknown(), hosting: config.hosting(), documentedOnly: config.documentedOnly()}
	if len(data.unknown) > 0 {
		config.check() // what depends on unknown values is checked once they are known
	} else {
		var settings client.Config
		settings, data.access = config.client()
		if resp.Diagnostics.HasError() {
			return
		}
		settings.UserAgent = fmt.Sprintf("terraform-provider-graphdeploy/%s Terraform/%s", p.version, req.TerraformVersion)
		settings.Log = func(ctx context.Context, message string, fields map[string]any) { tflog.Debug(ctx, message, fields) }
		settings.DocumentedOnly = data.documentedOnly
		settings.CheckDeployment = documentedFields.Check
		if p.tune != nil {
			p.tune(&settings)
		}
		data.client, data.credentialKey = client.New(settings), credentialKey(settings)
	}
	resp.ResourceData, resp.DataSourceData, resp.ListResourceData, resp.ActionData = data, data, data, data
}

// Resources returns the resources.
func (p *Provider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newDeploymentResource}
}

// ListResources returns the resources that terraform query lists.
func (p *Provider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{newDeploymentListResource}
}

// Actions returns the actions, which Terraform 1.14 and later can invoke.
func (p *Provider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{newRedeployAction}
}

// DataSources returns the data sources.
func (p *Provider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newDeploymentsDataSource,
		newDeploymentDataSource,
		newCodehostReposDataSource,
		newCodehostRepoDataSource,
		newOAuthProvidersDataSource,
	}
}

// providerData is what resources and data sources get of the configured provider.
type providerData struct {
	client         *client.Client // nil while settings are unknown
	unknown        []string       // the attributes of the provider without which there is no client
	hosting        string         // hostingCloud, hostingSelfHosted, or "" if it is not set
	documentedOnly bool           // whether only operations of the document are allowed; false while that is unknown
	access         access
	credentialKey  []byte
	state          stateView
}

// configured returns what a resource or data source gets of the provider; nil before the provider is configured, as
// while a configuration is validated.
func configured(data any, diags *diag.Diagnostics) *providerData {
	if data == nil {
		return nil
	}
	shared, ok := data.(*providerData)
	if !ok {
		shared.report(diags).bug("The provider is not configured", fmt.Errorf("its data is a %T", data))
	}
	return shared
}

// requireClient returns whether the API can be used. If not, it reports which settings are unknown.
func (p *providerData) requireClient(diags *diag.Diagnostics, purpose string) bool {
	if p.client != nil {
		return true
	}
	p.report(diags).errorf(path.Empty(), "Provider configuration is unknown",
		"%s requires the API, but %s of the provider %s known only after apply. Options:\n"+
			"  - If the plan needs only deployments in the state, plan with -refresh=false.\n"+
			"  - First create the resources that the value depends on, with -target.\n"+
			"  - Use two configurations: one for the service, and one for its deployments.", purpose,
		strings.Join(p.unknown, ", "), isOrAre(p.unknown))
	return false
}

func isOrAre(names []string) string {
	if len(names) > 1 {
		return "are"
	}
	return "is"
}
