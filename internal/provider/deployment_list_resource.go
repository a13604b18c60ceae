package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var _ list.ListResourceWithConfigure = (*deploymentListResource)(nil)

// deploymentListResource lists deployments for terraform query (Terraform
// 1.14).
type deploymentListResource struct{ deploymentResource }

func newDeploymentListResource() list.ListResource { return &deploymentListResource{} }

func (r *deploymentListResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Deployments that the service lists, in its order. Filters that are left out do not filter; all that are set must fit.",
		Attributes: map[string]schema.Attribute{
			"name_contains":     schema.StringAttribute{Optional: true, MarkdownDescription: docNameContains},
			"status":            schema.StringAttribute{Optional: true, MarkdownDescription: docStatus},
			"remote_reconciled": schema.BoolAttribute{Optional: true, MarkdownDescription: docRemoteReconciled},
			"tag_value_ids": schema.ListAttribute{Optional: true, ElementType: types.StringType,
				Validators:          []validator.List{field.NoNulls(), listvalidator.ValueStringsAre(field.NotEmpty())},
				MarkdownDescription: docTagValueIDs},
			"image_version": schema.StringAttribute{Optional: true, MarkdownDescription: docImageVersion},
			"deployment_type": schema.StringAttribute{Optional: true, Validators: []validator.String{field.OneOf(deploymentTypes...)},
				MarkdownDescription: docDeploymentType},
			"deployment_ids": schema.ListAttribute{Optional: true, ElementType: types.StringType,
				Validators:          []validator.List{field.NoNulls(), listvalidator.ValueStringsAre(field.UUIDText())},
				MarkdownDescription: docDeploymentIDs},
		},
	}
}

// List streams deployments page by page, no more than Terraform asks for.
func (r *deploymentListResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var model struct {
		deploymentFilterModel
		TagValueIDs   types.List `tfsdk:"tag_value_ids"`
		DeploymentIDs types.List `tfsdk:"deployment_ids"`
	}
	diags := req.Config.Get(ctx, &model)
	filter, none := model.filter(ctx, model.TagValueIDs, model.DeploymentIDs, &diags)
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	if none {
		stream.Results = list.NoListResults
		return
	}
	if req.Limit > 0 {
		filter.PageSize = int(min(req.Limit, client.MaxPageSize))
	}
	stream.Results = func(push func(list.ListResult) bool) {
		var n int64
		for found, err := range r.client.Deployments(ctx, filter) {
			result := req.NewListResult(ctx)
			if err != nil {
				r.access.addFailure(&result.Diagnostics, "Cannot list deployments", err, nil)
				push(list.ListResult{Diagnostics: result.Diagnostics})
				return
			}
			r.fill(ctx, &result, found, req.IncludeResource)
			if n++; !push(result) || req.Limit > 0 && n >= req.Limit {
				return
			}
		}
	}
}

// fill writes a deployment into a result: its name, its identity, and, where
// asked for, what the service says of it. Secrets are left out, as ever.
func (r *deploymentListResource) fill(ctx context.Context, result *list.ListResult, found *client.Deployment, whole bool) {
	result.DisplayName = found.Name
	answer, err := deploymentFields.Decode(found)
	if err != nil {
		addMistake(&result.Diagnostics, fmt.Sprintf("Deployment %q (%s) cannot be shown", found.Name, found.ID), err)
		return
	}
	identify(ctx, result.Identity, answer, &result.Diagnostics)
	if whole {
		// As an import reads it: what is generated from it is to plan empty.
		blank := emptyObject(result.Resource.Raw)
		result.Resource.Raw = field.With(blank, deploymentFields.Refresh(blank, answer, nil))
	}
}

// emptyObject is an object of null's type whose attributes are all null.
func emptyObject(null tftypes.Value) tftypes.Value {
	values := attributes{}
	for name, typ := range null.Type().(tftypes.Object).AttributeTypes { //nolint:forcetypeassert // a resource is an object
		values[name] = tftypes.NewValue(typ, nil)
	}
	return newObject(null.Type(), values)
}
