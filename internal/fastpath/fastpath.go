// Package fastpath serves a provider of terraform-plugin-framework, and bypasses the framework where it costs most and
// adds nothing. The provider does not know of it: its resources are ordinary resources of the framework. The
// environment variable GRAPHDEPLOY_FRAMEWORK_ONLY=1 switches all of it off; everything works the same then, only
// slower.
//
// The framework goes over the schema of a resource several times for each request, attribute by attribute, and looks up
// a logger in a chain of contexts at each (terraform-plugin-framework #721 and #775 are about that). With a schema as
// wide as that of a deployment, this is most of a plan's time, and most deployments of a large state have not changed.
// The layers:
//
//   - resources.go: where Terraform proposes the prior state, a resource is refreshed and planned by calling the
//     resource's own Read and ModifyPlan. It relies on ModifyPlan planning everything itself (no attribute has a
//     default), and on how the framework packs private state. What has sent requests is not repeated by the framework.
//   - datasources.go: a data source is read by calling its own Read, and its state is packed. The framework would
//     convert a list of thousands several times.
//   - serve.go: the loggers of the libraries are switched off, each at its own level, unless somebody asked for logs.
//
// What they save is in BENCHMARKS.md. The tests compare the responses with those of the framework, request by request;
// the acceptance suite also passes with GRAPHDEPLOY_FRAMEWORK_ONLY=1. At TRACE, the log names each request that took
// the fast path.
package fastpath

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// EnvFrameworkOnly is the environment variable that switches the fast path off.
const EnvFrameworkOnly = "GRAPHDEPLOY_FRAMEWORK_ONLY"

// Provider is what a provider has to implement to be served.
type Provider interface {
	provider.ProviderWithActions
	provider.ProviderWithListResources
	provider.ProviderWithValidateConfig
}

// frameworkServer is what the framework's server implements.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// NewServer serves a provider, with the fast path unless the environment switches it off.
func NewServer(p Provider) tfprotov6.ProviderServer {
	observed := &observedProvider{Provider: p}
	framework, _ := providerserver.NewProtocol6(observed)().(frameworkServer) // it is both, or every test fails
	if os.Getenv(EnvFrameworkOnly) == "1" {
		return framework
	}
	return resources{dataSources{framework, observed, dataSourceTypes(p)}, resourceTypes(p)}
}

// observedProvider shows the layers what a provider gives its resources and data sources when it is configured.
type observedProvider struct {
	Provider
	configured atomic.Pointer[provider.ConfigureResponse]
}

func (p *observedProvider) Configure(ctx context.Context, req provider.ConfigureRequest,
	resp *provider.ConfigureResponse,
) {
	p.configured.Store(nil)
	p.Provider.Configure(ctx, req, resp)
	if !resp.Diagnostics.HasError() && resp.Deferred == nil {
		p.configured.Store(resp)
	}
}

// unpack returns an object; not ok if it is absent or null.
func unpack(typ tftypes.Type, packed *tfprotov6.DynamicValue) (tftypes.Value, bool) {
	if packed == nil {
		return tftypes.Value{}, false
	}
	value, err := packed.Unmarshal(typ)
	return value, err == nil && !value.IsNull()
}

func pack(typ tftypes.Type, value tftypes.Value) *tfprotov6.DynamicValue {
	packed, _ := tfprotov6.NewDynamicValue(typ, value) // fails for a value of another type only
	return &packed
}

// protocolDiagnostics returns diagnostics in the form of the protocol.
func protocolDiagnostics(diags diag.Diagnostics) (converted []*tfprotov6.Diagnostic) {
	for _, d := range diags {
		one := &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Summary: d.Summary(), Detail: d.Detail()}
		if d.Severity() == diag.SeverityWarning {
			one.Severity = tfprotov6.DiagnosticSeverityWarning
		}
		if placed, hasPath := d.(diag.DiagnosticWithPath); hasPath {
			one.Attribute = protocolPath(placed.Path())
		}
		converted = append(converted, one)
	}
	return converted
}

// protocolPath returns a path in the form of the protocol. The provider reports nothing at an element of a set.
func protocolPath(at path.Path) *tftypes.AttributePath {
	var steps []tftypes.AttributePathStep
	for _, step := range at.Steps() {
		switch step := step.(type) {
		case path.PathStepAttributeName:
			steps = append(steps, tftypes.AttributeName(step))
		case path.PathStepElementKeyInt:
			steps = append(steps, tftypes.ElementKeyInt(step))
		case path.PathStepElementKeyString:
			steps = append(steps, tftypes.ElementKeyString(step))
		}
	}
	return tftypes.NewAttributePathWithSteps(steps)
}
