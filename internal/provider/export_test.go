package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// DeploymentFields are the description that the resource follows from.
var DeploymentFields = deploymentFields

// DeploymentSchema is the schema of the resource.
func DeploymentSchema() schema.Schema {
	var resp resource.SchemaResponse
	(&deploymentResource{}).Schema(context.Background(), resource.SchemaRequest{}, &resp)
	return resp.Schema
}

// KindOf returns the kind of a field if it is a K, and the zero value of K otherwise.
func KindOf[K field.Kind](f field.Field) K {
	kind, _ := f.Kind.(K)
	return kind
}

// Is reports whether the kind of a field is a K.
func Is[K field.Kind](f field.Field) bool {
	_, ok := f.Kind.(K)
	return ok
}
