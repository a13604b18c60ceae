// Package fastpath serves a provider of terraform-plugin-framework, and bypasses
// the framework where it costs most and adds nothing. The provider does not
// know of it: its resources are ordinary resources of the framework. The
// environment variable GRAPHDEPLOY_FRAMEWORK_ONLY=1 switches all of it off;
// everything works the same then, only slower.
//
// The framework goes over the schema of a resource several times for each
// request, attribute by attribute, and looks up a logger in a chain of contexts
// at each (terraform-plugin-framework #721 and #775 are about that). With a
// schema as wide as that of a deployment, this is most of a plan's time, and
// most deployments of a large state have not changed. The layers:
//
//   - unchanged.go: a resource of which nothing is new is refreshed and planned by
//     calling the resource's own Read and ModifyPlan, and the state of the request
//     is the response. It relies on ModifyPlan planning everything itself (no
//     attribute has a default), and on how the framework packs private state. A
//     read that fails is not repeated by the framework.
//   - datasource.go: a data source is read by calling its own Read, and its state is
//     packed. The framework would convert a list of thousands several times.
//   - context.go: the framework keeps the context of each request until it is
//     stopped (for its Stop), and with it what gRPC and the loggers attached.
//     Requests are handled with a context that becomes empty afterwards.
//   - serve.go: the loggers of the libraries are switched off unless somebody
//     asked for logs.
//
// What they save is in BENCHMARKS.md. The tests compare the responses with those
// of the framework, request by request; the acceptance suite also passes with
// GRAPHDEPLOY_FRAMEWORK_ONLY=1. At TRACE, the log names each request that took the
// fast path.
package fastpath

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// EnvFrameworkOnly is the environment variable that switches the fast path off.
const EnvFrameworkOnly = "GRAPHDEPLOY_FRAMEWORK_ONLY"

// frameworkServer is what the framework's server implements.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
}

// NewServer serves a provider, with the fast path unless the environment
// switches it off.
func NewServer(p provider.Provider) tfprotov6.ProviderServer {
	observed := &observedProvider{Provider: p}
	framework := newFrameworkServer(observed)
	if os.Getenv(EnvFrameworkOnly) == "1" {
		return framework
	}
	return layers(framework, observed)
}

func layers(framework frameworkServer, p *observedProvider) frameworkServer {
	return contexts{unchanged{newDataSources(framework, p), newResourceTypes(p)}}
}

func newFrameworkServer(p provider.Provider) frameworkServer {
	server, _ := providerserver.NewProtocol6(p)().(frameworkServer) // it is both, or every test fails
	return server
}

// observedProvider is a provider whose data for resources and data sources the
// layers get to see.
type observedProvider struct {
	provider.Provider
	configured atomic.Pointer[provider.ConfigureResponse]
}

var (
	_ provider.ProviderWithListResources  = (*observedProvider)(nil)
	_ provider.ProviderWithValidateConfig = (*observedProvider)(nil)
)

func (p *observedProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	p.configured.Store(nil)
	if p.Provider.Configure(ctx, req, resp); !resp.Diagnostics.HasError() && resp.Deferred == nil {
		p.configured.Store(resp)
	}
}

func (p *observedProvider) ListResources(ctx context.Context) []func() list.ListResource {
	if with, ok := p.Provider.(provider.ProviderWithListResources); ok {
		return with.ListResources(ctx)
	}
	return nil
}

func (p *observedProvider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	if with, ok := p.Provider.(provider.ProviderWithValidateConfig); ok {
		with.ValidateConfig(ctx, req, resp)
	}
}
