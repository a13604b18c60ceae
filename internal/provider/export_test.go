package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// AttributePatterns are patterns of the innermost attributes that a
// configuration of a deployment can set. Init containers are omitted: they
// are described by the same fields as sidecars.
func AttributePatterns(quote func(string) string) []string {
	var patterns []string
	var walk func(prefix string, fields field.Fields)
	walk = func(prefix string, fields field.Fields) {
		for _, f := range fields.Without("init_containers") {
			if f.Access == field.ReadOnly {
				continue
			}
			here := prefix + quote(f.Name)
			switch f.Kind.(type) {
			case field.Object:
				walk(here+`\.`, f.Fields())
			case field.ObjectList:
				walk(here+`\.\d+\.`, f.Fields())
			case field.List:
				patterns = append(patterns, here+`\.\d+$`)
			case field.StringMap:
				patterns = append(patterns, here+`\.%$`)
			default:
				patterns = append(patterns, here+`$`)
			}
		}
	}
	walk("^", deploymentFields)
	return patterns
}

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
