package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var (
	_ datasource.DataSourceWithConfigure        = (*deploymentDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*deploymentDataSource)(nil)
)

// deploymentDataSource is graphdeploy_deployment.
type deploymentDataSource struct{ dataSource }

func newDeploymentDataSource() datasource.DataSource { return &deploymentDataSource{} }

func (d *deploymentDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = deploymentType
}

func (d *deploymentDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := shownFields.DataSourceAttributes()
	attributes["id"] = schema.StringAttribute{Optional: true, Computed: true, Validators: []validator.String{field.UUIDString()},
		MarkdownDescription: "ID of the deployment, a UUID. Exactly one of `id` and `name` must be set."}
	attributes["name"] = schema.StringAttribute{Optional: true, Computed: true, Validators: []validator.String{field.NotEmpty()},
		MarkdownDescription: "Exact name of the deployment (case-sensitive). Exactly one of `id` and `name` must be set."}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads one deployment, by its ID or its exact name. No match, or several, is an error.",
		Attributes:          attributes,
	}
}

func (d *deploymentDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("name"))}
}

func (d *deploymentDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	if !d.ready(req, resp) {
		return
	}
	config, diags := attributesOf(req.Config.Raw), &resp.Diagnostics
	id, name := config.text("id"), config.text("name")
	var found *client.Deployment
	switch {
	case (id == "") == (name == ""): // values that were unknown when the configuration was validated
		diags.AddError("Invalid attribute combination", "Exactly one of id and name must be set.")
		return
	case id != "":
		var err error
		if found, err = d.client.Deployment(ctx, id); errors.Is(err, client.ErrNotFound) {
			diags.AddAttributeError(path.Root("id"), "No such deployment", noSuchID(id))
			return
		} else if err != nil {
			d.access.addFailure(diags, fmt.Sprintf("Cannot read deployment %s", id), err, nil)
			return
		}
	default:
		named, err := d.client.DeploymentsNamed(ctx, name)
		if err != nil {
			d.access.addFailure(diags, fmt.Sprintf("Cannot look up deployment %q", name), err, nil)
			return
		}
		if len(named) != 1 {
			summary, detail := noUniqueName(name, named)
			diags.AddAttributeError(path.Root("name"), summary, detail)
			return
		}
		found = named[0]
	}
	shown := showDeployment(found, diags)
	if diags.HasError() {
		return
	}
	resp.State.Raw = shown
	for _, argument := range []string{"id", "name"} { // Terraform expects an argument back as it was written
		if !config[argument].IsNull() {
			resp.State.Raw = field.With(resp.State.Raw, field.Values{argument: config[argument]})
		}
	}
}
