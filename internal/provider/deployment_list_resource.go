package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var _ list.ListResourceWithConfigure = (*deploymentListResource)(nil)

// deploymentListResource lists deployments for terraform query (Terraform 1.14).
type deploymentListResource struct{ deploymentResource }

func newDeploymentListResource() list.ListResource { return &deploymentListResource{} }

func (r *deploymentListResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest,
	resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{MarkdownDescription: "Lists deployments. Filters are combined with AND.",
		Attributes: filterAttributes[schema.Attribute]()}
}

// List streams deployments page by page, no more than Terraform asks for.
func (r *deploymentListResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var diags diag.Diagnostics
	if !r.requireClient(&diags, "Listing deployments") {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		for found, err := range r.matching(ctx, attributesOf(req.Config.Raw), req.Limit) {
			result := req.NewListResult(ctx)
			if err != nil {
				r.report(&result.Diagnostics).failure("Cannot list deployments", err, nil)
				push(list.ListResult{Diagnostics: result.Diagnostics})
				return
			}
			r.fill(ctx, &result, found, req.IncludeResource)
			if !push(result) {
				return
			}
		}
	}
}

// fill writes a deployment into a result: its name, its identity, and, if requested, its attributes. Secrets are
// omitted.
func (r *deploymentListResource) fill(ctx context.Context, result *list.ListResult, found *client.Deployment,
	complete bool,
) {
	result.DisplayName = client.Sanitize(found.Name)
	blank := emptyObject(result.Resource.Raw)
	// The same values as after an import: generated configuration must plan empty.
	values, err := resourceFields.Refresh(blank, liveTree(found), found.Source, nil)
	if err != nil {
		r.report(&result.Diagnostics).bug(r.format("Deployment %q (%s) cannot be shown", found.Name, found.ID), err)
		return
	}
	resource := field.With(blank, values)
	identify(ctx, result.Identity, resource, &result.Diagnostics)
	if complete {
		result.Resource.Raw = resource
	}
}

// emptyObject returns an object of the type of null whose attributes are all null.
func emptyObject(null tftypes.Value) tftypes.Value {
	values := map[string]tftypes.Value{}
	for name, typ := range null.Type().(tftypes.Object).AttributeTypes { //nolint:forcetypeassert // resources are objects
		values[name] = tftypes.NewValue(typ, nil)
	}
	return tftypes.NewValue(null.Type(), values)
}
