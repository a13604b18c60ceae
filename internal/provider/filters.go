package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// The filters of List Deployments (section 4.2), which the data source and the list resource share.
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

// newFilter is what the arguments ask the service for. None means that an empty list or set matches nothing, whatever the
// service has.
func newFilter(config attributes) (filter client.DeploymentFilter, none bool) {
	filter = client.DeploymentFilter{NameContains: config.optional("name_contains"), Status: config.optional("status"),
		ImageVersion: config.optional("image_version"), DeploymentType: config.optional("deployment_type")}
	if value := config["remote_reconciled"]; !value.IsNull() {
		filter.RemoteReconciled = new(bool)
		_ = value.As(filter.RemoteReconciled)
	}
	for name, into := range map[string]*[]string{"tag_value_ids": &filter.TagValueIDs, "deployment_ids": &filter.DeploymentIDs} {
		if config[name].IsNull() {
			continue
		}
		*into = []string{}
		for _, item := range field.Items(config[name]) {
			*into = append(*into, field.Text(item))
		}
		none = none || len(*into) == 0
	}
	return filter, none
}
