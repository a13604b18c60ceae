package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var (
	_ datasource.DataSourceWithConfigure      = (*deploymentDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*deploymentDataSource)(nil)
)

// deploymentDataSource is graphdeploy_deployment.
type deploymentDataSource struct{ dataSource }

func newDeploymentDataSource() datasource.DataSource { return &deploymentDataSource{} }

func (d *deploymentDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = deploymentType
}

func (d *deploymentDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := shownDeploymentFields.DataSourceAttributes()
	attributes["id"] = schema.StringAttribute{Optional: true, Computed: true, Validators: []validator.String{field.UUIDText()},
		MarkdownDescription: "Id of the deployment, a UUID. Give this or `name`."}
	attributes["name"] = schema.StringAttribute{Optional: true, Computed: true,
		MarkdownDescription: "Exact name of the deployment. Give this or `id`."}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One deployment, by its id or its exact name. It is an error if there is none, or if several have the name.",
		Attributes:          attributes,
	}
}

func (d *deploymentDataSource) ValidateConfig(_ context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	config := attributesOf(req.Config.Raw)
	id, name := config["id"], config["name"]
	switch {
	case !id.IsKnown() || !name.IsKnown(): // it may turn out to be null
	case id.IsNull() && (name.IsNull() || config.text("name") == ""):
		resp.Diagnostics.AddError("Neither id nor name", "Nothing says which deployment is meant. Set id, or name.")
	case !id.IsNull() && !name.IsNull():
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Both id and name", "Each of the two says which deployment is meant. Set only one of them.")
	}
}

func (d *deploymentDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	config := attributesOf(req.Config.Raw)
	var found *client.Deployment
	if id := config.text("id"); id != "" {
		one, err := d.client.Deployment(ctx, id)
		if errors.Is(err, client.ErrNotFound) {
			resp.Diagnostics.AddAttributeError(path.Root("id"), "No such deployment", noSuchID(id))
			return
		}
		if err != nil {
			d.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot read deployment %s", id), err, nil)
			return
		}
		found = one
	} else {
		name := config.text("name")
		named, err := d.client.DeploymentsNamed(ctx, name)
		if err != nil {
			d.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot look for deployment %q", name), err, nil)
			return
		}
		if len(named) != 1 {
			summary, detail := notOne(name, named)
			resp.Diagnostics.AddAttributeError(path.Root("name"), summary, detail)
			return
		}
		found = named[0]
	}
	answer, err := shownDeploymentFields.Decode(show(found))
	if err != nil {
		addMistake(&resp.Diagnostics, fmt.Sprintf("Deployment %q (%s) cannot be shown", found.Name, found.ID), err)
		return
	}
	resp.State.Raw = answer
	if id := config.text("id"); id != "" {
		// Terraform expects an argument back as it was written.
		resp.State.Raw = field.With(answer, field.Values{"id": config["id"]})
	}
}
