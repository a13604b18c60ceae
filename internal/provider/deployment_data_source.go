package provider

import (
	"context"

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
		found = d.byID(ctx, id, false, path.Root("id"), diags)
	default:
		found = d.byName(ctx, name, path.Root("name"), diags)
	}
	if found == nil {
		return
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
