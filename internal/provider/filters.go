package provider

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var (
	deploymentTypes = []string{"dev_free", "dev", "prod"}
	statuses        = []string{client.StatusAwaitingDatabase, client.StatusReady, client.StatusUnused,
		client.StatusAwaitingDelete, client.StatusUnknown}
)

// filterAttributes describes the filters of List Deployments (section 4.2), in the schema of a data source or a list
// resource, which takes the attributes of a resource as well.
func filterAttributes[Attribute any]() map[string]Attribute {
	ids := func(description string, rules ...validator.String) schema.Attribute {
		return schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description,
			Validators: []validator.Set{field.NoNulls(), setvalidator.ValueStringsAre(rules...)}}
	}
	attributes := map[string]Attribute{}
	for name, attribute := range map[string]schema.Attribute{
		"name_contains": schema.StringAttribute{Optional: true,
			MarkdownDescription: "Filter by part of the name. The service decides how it matches, for example whether it is " +
				"case-sensitive."},
		"status": schema.StringAttribute{Optional: true, Validators: []validator.String{field.OneOf(statuses...)},
			MarkdownDescription: "Filter by status. Valid values are " + field.Quoted(statuses) + "."},
		"remote_reconciled": schema.BoolAttribute{Optional: true,
			MarkdownDescription: "Filter by whether the deployment was reconciled with its cluster. Valid values are `true` " +
				"and `false`."},
		"tag_value_ids": ids("Filter by IDs of tag values, which the API does not list. An empty value matches nothing.",
			field.NotEmpty(), field.NoCommas()),
		"image_version": schema.StringAttribute{Optional: true, MarkdownDescription: "Filter by image version."},
		"deployment_type": schema.StringAttribute{Optional: true,
			Validators:          []validator.String{field.OneOf(deploymentTypes...)},
			MarkdownDescription: "Filter by deployment type. Valid values are " + field.Quoted(deploymentTypes) + "."},
		"deployment_ids": ids("Filter by deployment IDs, which are UUIDs. An empty value matches nothing.",
			field.UUIDString()),
	} {
		attributes[name], _ = attribute.(Attribute) // the interfaces are the same
	}
	return attributes
}

// matching yields the deployments that the filters in a configuration match, at most limit; 0 means all.
func (p *providerData) matching(ctx context.Context, config attributes, limit int64,
) iter.Seq2[*client.Deployment, error] {
	filter := client.DeploymentFilter{NameContains: config.optional("name_contains"), Status: config.optional("status"),
		ImageVersion: config.optional("image_version"), DeploymentType: config.optional("deployment_type"),
		TagValueIDs: config.texts("tag_value_ids"), DeploymentIDs: config.texts("deployment_ids"),
		PageSize: int(min(limit, client.MaxPageSize))}
	if name := "remote_reconciled"; !config[name].IsNull() {
		filter.RemoteReconciled = new(config.boolean(name))
	}
	matchesNothing := filter.TagValueIDs != nil && len(filter.TagValueIDs) == 0
	return func(yield func(*client.Deployment, error) bool) {
		if matchesNothing {
			return
		}
		var n int64
		for found, err := range p.client.Deployments(ctx, filter) {
			n++
			if !yield(found, err) || n == limit {
				return
			}
		}
	}
}
