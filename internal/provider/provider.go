// Package provider is the service as Terraform sees it: schemas, plans and
// state. It knows nothing of HTTP; that is package client.
package provider

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
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
	_ provider.Provider                   = (*graphdeploy)(nil)
	_ provider.ProviderWithListResources  = (*graphdeploy)(nil)
	_ provider.ProviderWithValidateConfig = (*graphdeploy)(nil)
)

// graphdeploy is the provider.
type graphdeploy struct {
	version        string
	tune           []func(*client.Config)
	frameworkAlone bool
	configured     atomic.Pointer[providerData]
}

// Option changes the provider for tests and benchmarks. None is a user's.
type Option func(*graphdeploy)

// Tune changes the client's configuration, as to shorten its waits.
func Tune(change func(*client.Config)) Option {
	return func(p *graphdeploy) { p.tune = append(p.tune, change) }
}

// FrameworkAlone has the framework go over each deployment in full, to compare.
func FrameworkAlone() Option {
	return func(p *graphdeploy) { p.frameworkAlone = true }
}

func newProvider(version string, options ...Option) *graphdeploy {
	p := &graphdeploy{version: version}
	for _, option := range options {
		option(p)
	}
	return p
}

// providerData is what resources and data sources get of the configured
// provider.
type providerData struct {
	client  *client.Client
	hosting string // hostingCloud, hostingSelfHosted, or "" when not said
	// extended allows operations that the interface does not show.
	extended bool
	// access says in words how the service is reached, for messages.
	access access
	// kept are the deployments of the state, name to id, that a destroy would
	// leave running.
	kept sync.Map
}

func (p *graphdeploy) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "graphdeploy"
	resp.Version = p.version
}

func (p *graphdeploy) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages deployments of hosted applications.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Root of the service: an absolute http or https URL. A path prefix is kept; a trailing slash makes no difference. " + orEnvironment(envBaseURL) + " Required from one of the two.",
			},
			"api_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "Credential, sent in the header `api_key_header`. " + orEnvironment(envAPIKey) + " Leave it out where the service authenticates otherwise.",
			},
			"api_key_header": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: fmt.Sprintf("Header that carries `api_key`. Default `%s`; for `Authorization`, write the scheme into the key: `api_key = \"Bearer …\"`. %s", defaultAPIKeyHeader, orEnvironment(envAPIKeyHeader)),
			},
			"headers": schema.MapAttribute{
				Optional: true, Sensitive: true, ElementType: types.StringType,
				Validators:          []validator.Map{field.NoNulls()},
				MarkdownDescription: "More headers for every request, from name to value, for example one that names a tenant. Upper and lower case in names do not count.",
			},
			"hosting": schema.StringAttribute{
				Optional: true, Validators: []validator.String{field.OneOf(hostings...)},
				MarkdownDescription: "How the service is hosted: " + field.Quoted(hostings) + ". When set, a `source` that is not available there is refused at plan. " + orEnvironment(envHosting) + " Left out, it is not checked.",
			},
			"extended_operations": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether deployments are changed with `PATCH /v2/deployments/{id}` and deleted with `DELETE /v2/deployments/{id}`. The interface of the service does not show these operations; services of its family offer them. " +
					"Default `false`: only the documented operations are ever called, a plan that would change the service fails, and destroying takes a deployment out of the state only. " + orEnvironment(envExtended),
			},
			"request_timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: fmt.Sprintf("Time for one attempt of a request, from connecting to the end of the answer, such as `45s` or `2m`. More than zero. Default `%s`.", defaultRequestTimeout),
			},
			"max_retries": schema.NumberAttribute{
				Optional: true, Validators: []validator.Number{field.WholeBetween(0, maxMaxRetries)},
				MarkdownDescription: fmt.Sprintf("How often a request is sent again that failed for now, 0 to %d; 0 means never. Default %d. "+
					"Requests that read, change or delete are sent again after a lost connection, a timeout, 408, 429 and 5xx but 501. A create is sent again only where the service did nothing: after a refused connection, 429, or 503 with `Retry-After`. "+
					"The wait between is what `Retry-After` says, up to 5 minutes, or else begins at half a second and doubles, up to 30 seconds.", maxMaxRetries, defaultMaxRetries),
			},
			"ca_cert_file": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Path of a file of certificate authorities, in PEM, to trust besides the system's, for self-hosted services. Left out, only the system's are trusted.",
			},
		},
	}
}

func orEnvironment(name string) string {
	return fmt.Sprintf("May come from the environment variable `%s` instead.", name)
}

// ValidateConfig tells of mistakes before the provider is needed, and so before
// anything has to be known or set elsewhere.
func (p *graphdeploy) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var config providerConfig
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		config.check(&resp.Diagnostics)
	}
}

func (p *graphdeploy) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	p.configured.Store(nil)
	var config providerConfig
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	settings := config.settings(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	clientConfig := settings.clientConfig()
	clientConfig.UserAgent = fmt.Sprintf("terraform-provider-graphdeploy/%s Terraform/%s", p.version, req.TerraformVersion)
	configuring := context.WithoutCancel(ctx)
	clientConfig.Log = func(ctx context.Context, message string, fields map[string]any) {
		if requestIsDone(ctx) { // a page that is read ahead
			ctx = configuring
		}
		tflog.Debug(ctx, message, fields)
	}
	for _, tune := range p.tune {
		tune(&clientConfig)
	}
	data := &providerData{client: client.New(clientConfig), hosting: settings.hosting, extended: settings.extended, access: settings.access()}
	p.configured.Store(data)
	resp.ResourceData = data
	resp.DataSourceData = data
	resp.ListResourceData = data
}

func (p *graphdeploy) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newDeploymentResource}
}

func (p *graphdeploy) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{newDeploymentListResource}
}

func (p *graphdeploy) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newDeploymentsDataSource,
		newDeploymentDataSource,
		newCodehostReposDataSource,
		newCodehostRepoDataSource,
		newOAuthProvidersDataSource,
	}
}

// configured takes the provider's data for a resource or data source. It is
// nil before the provider is configured, as while a configuration is validated.
func configured(data any, diags *diag.Diagnostics) *providerData {
	if data == nil {
		return nil
	}
	shared, ok := data.(*providerData)
	if !ok {
		addMistake(diags, "The provider is not configured", fmt.Errorf("its data is a %T", data))
	}
	return shared
}
