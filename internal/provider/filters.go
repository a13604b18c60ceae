package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// The filters of List Deployments (section 4.2), which the data source and the
// list resource share.
var (
	stringFilters   = []string{"name_contains", "status", "image_version", "deployment_type"}
	deploymentTypes = []string{"dev_free", "dev", "prod"}

	filterDescriptions = map[string]string{
		"name_contains":     "Filter by part of the name. The service decides how it matches, for example whether it is case-sensitive.",
		"status":            "Filter by status, for example `READY`.",
		"remote_reconciled": "Filter by remote reconciliation.",
		"tag_value_ids":     "Filter by IDs of tag values, which the API does not list. An empty value matches nothing.",
		"image_version":     "Filter by image version.",
		"deployment_type":   "Filter by deployment type. Valid values are " + field.Quoted(deploymentTypes) + ".",
		"deployment_ids":    "Filter by deployment IDs, which are UUIDs. An empty value matches nothing.",
	}
)

func filterValidators(name string) []validator.String {
	if name == "deployment_type" {
		return []validator.String{field.OneOf(deploymentTypes...)}
	}
	return nil
}

// filterModel are the filters that are single values.
type filterModel struct {
	NameContains     types.String `tfsdk:"name_contains"`
	Status           types.String `tfsdk:"status"`
	RemoteReconciled types.Bool   `tfsdk:"remote_reconciled"`
	ImageVersion     types.String `tfsdk:"image_version"`
	DeploymentType   types.String `tfsdk:"deployment_type"`
}

// collection is a list or a set.
type collection interface {
	IsNull() bool
	ElementsAs(ctx context.Context, target any, allowUnhandled bool) diag.Diagnostics
}

// filter is what the arguments ask the service for. None means that an empty
// collection matches nothing, whatever the service has.
func (m filterModel) filter(ctx context.Context, tags, ids collection, diags *diag.Diagnostics) (filter client.DeploymentFilter, none bool) {
	filter = client.DeploymentFilter{
		NameContains:     m.NameContains.ValueStringPointer(),
		Status:           m.Status.ValueStringPointer(),
		RemoteReconciled: m.RemoteReconciled.ValueBoolPointer(),
		ImageVersion:     m.ImageVersion.ValueStringPointer(),
		DeploymentType:   m.DeploymentType.ValueStringPointer(),
	}
	for _, c := range []struct {
		from collection
		into *[]string
	}{{tags, &filter.TagValueIDs}, {ids, &filter.DeploymentIDs}} {
		if !c.from.IsNull() {
			diags.Append(c.from.ElementsAs(ctx, c.into, false)...)
			none = none || len(*c.into) == 0
		}
	}
	return filter, none
}
