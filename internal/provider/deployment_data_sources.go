package provider

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// shownFields are a deployment as data sources show it: of secrets, only the names.
var shownFields = slices.Concat(deploymentFields, field.Fields{
	{Name: "secret_names", Kind: field.List{Of: field.String{}}, Access: field.ReadOnly,
		Description: "Names of the secrets that the service returns."},
	{Name: additionalField.Name, Kind: field.JSON{}, Access: field.ReadOnly,
		Description: "Properties of the deployment without an attribute, for example the URL of the application, if the " +
			"service reports it."},
})

// withoutSecrets returns a tree without the members that have secrets in them, whatever the service calls them within
// others.
func withoutSecrets(tree any) any {
	isOther := func(name string) (string, bool) { return name, !strings.EqualFold(name, "secrets") }
	return field.Rewrite(tree, isOther, field.Same)
}

// showDeployment returns a deployment as data sources show it.
func (p *providerData) showDeployment(d *client.Deployment, diags *diag.Diagnostics) tftypes.Value {
	tree, names := maps.Clone(d.Tree), []any{}
	for _, s := range d.Secrets {
		names = append(names, s.Name)
	}
	delete(tree, "secrets")
	_, additional := deploymentFields.Split(tree)
	tree["secret_names"], tree[additionalField.Name] = names, withoutSecrets(additional)
	return p.decodeShown(shownFields, tree, diags)
}

// newDeploymentDataSource returns the data source graphdeploy_deployment.
func newDeploymentDataSource() datasource.DataSource {
	return &dataSource{
		name: "deployment", description: "Reads one deployment, by its ID or its exact name. No match, or several, " +
			"is an error.",
		attributes: func() map[string]schema.Attribute {
			all := shownFields.DataSourceAttributes()
			all["id"] = schema.StringAttribute{Optional: true, Computed: true,
				Validators: []validator.String{field.UUIDString()}, MarkdownDescription: "ID of the deployment to read, a UUID. " +
					"Exactly one of `id` and `name` must be set."}
			all["name"] = schema.StringAttribute{Optional: true, Computed: true,
				Validators:          []validator.String{field.NotEmpty()},
				MarkdownDescription: "Exact name of the deployment (case-sensitive). Exactly one of `id` and `name` must be set."}
			return all
		},
		validators: []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"),
			path.MatchRoot("name"))},
		read: func(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) field.Values {
			var found *client.Deployment
			switch id, name := config.text("id"), config.text("name"); {
			case (id == "") == (name == ""): // values that were unknown when the configuration was validated
				p.report(diags).errorf(path.Empty(), "Invalid attribute combination", "Exactly one of id and name must be set.")
			case id != "":
				found = p.byID(ctx, id, path.Root("id"), diags)
			default:
				found = p.byName(ctx, name, path.Root("name"), diags)
			}
			if found == nil {
				return nil
			}
			return field.Members(p.showDeployment(found, diags))
		},
	}
}

// maxMaxResults is more than any service has.
const maxMaxResults = 1_000_000_000

// newDeploymentsDataSource returns the data source graphdeploy_deployments.
func newDeploymentsDataSource() datasource.DataSource {
	return &dataSource{
		name: "deployments", description: "Lists deployments. Filters are combined with AND. No match is an empty list, " +
			"not an error.",
		attributes: func() map[string]schema.Attribute {
			all := filterAttributes[schema.Attribute]()
			all["max_results"] = schema.NumberAttribute{Optional: true,
				Validators:          []validator.Number{field.Integer(1, maxMaxResults)},
				MarkdownDescription: "Maximum number of deployments to return, at least 1. If omitted, all are returned."}
			all["deployments"] = listAttribute(shownFields, "The deployments, in the order of the service.")
			return all
		},
		read: readDeployments,
	}
}

func readDeployments(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) field.Values {
	shown := []tftypes.Value{}
	for found, err := range p.matching(ctx, config, config.integer("max_results", 0)) {
		if err != nil {
			p.report(diags).failure("Cannot list deployments", err, nil)
			break
		}
		shown = append(shown, p.showDeployment(found, diags))
	}
	return field.Values{"deployments": listOf(shownFields, shown)}
}
