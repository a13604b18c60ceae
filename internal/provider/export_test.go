package provider

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// AttributePatterns are patterns of the innermost attributes that a
// configuration of a deployment can set. Init containers are left out: they
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
			switch f.Kind {
			case field.Object:
				walk(here+`\.`, f.Fields)
			case field.Objects:
				walk(here+`\.\d+\.`, f.Fields)
			case field.List:
				patterns = append(patterns, here+`\.\d+$`)
			case field.TextMap:
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

// Mistake is what is told of a mistake in the provider, of which no test should
// know one.
func Mistake() (diags diag.Diagnostics) {
	addMistake(&diags, `Deployment "shop" cannot be written to the state`, errors.New("name: float64 does not fit tftypes.String"))
	return diags
}

// DeploymentSchema is the schema of the resource.
func DeploymentSchema() schema.Schema { return shape().schema }
