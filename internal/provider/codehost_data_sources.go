package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var (
	_ datasource.DataSourceWithConfigure = (*codehostReposDataSource)(nil)
	_ datasource.DataSourceWithConfigure = (*codehostRepoDataSource)(nil)
)

// repositoryFields are section 2.6.
var repositoryFields = field.Fields{
	{Name: "host_integration_id", Kind: field.UUID, Doc: "Integration that the repository belongs to, for `source_config.integration_id` of a deployment."},
	{Name: "id", Kind: field.Whole, Doc: "Id of the repository, a whole number."},
	{Name: "name", Kind: field.Text, Doc: "Name of the repository."},
	{Name: "owner", Kind: field.Text, Doc: "Owner of the repository."},
	{Name: "url", Kind: field.Text, Doc: "URL of the repository, for `source_config.repo_url` of a deployment."},
	{Name: "default_branch", Kind: field.Text, Doc: "Default branch, for `source_revision_config.repo_ref` of a deployment."},
}

var integrationIDAttribute = schema.StringAttribute{Required: true, Validators: []validator.String{field.UUIDText()},
	MarkdownDescription: "Id of the code-host integration, a UUID."}

// codehostReposDataSource is graphdeploy_codehost_repos.
type codehostReposDataSource struct{ dataSource }

func newCodehostReposDataSource() datasource.DataSource { return &codehostReposDataSource{} }

type codehostReposModel struct {
	IntegrationID types.String `tfsdk:"integration_id"`
	Owner         types.String `tfsdk:"owner"`
	NameContains  types.String `tfsdk:"name_contains"`
	Repos         types.List   `tfsdk:"repos"`
}

func (d *codehostReposDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "graphdeploy_codehost_repos"
}

func (d *codehostReposDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Repositories of a code-host integration that can be deployed, in the service's order.",
		Attributes: map[string]schema.Attribute{
			"integration_id": integrationIDAttribute,
			"owner":          schema.StringAttribute{Optional: true, MarkdownDescription: "Only repositories of this owner, exactly; case-sensitive."},
			"name_contains":  schema.StringAttribute{Optional: true, MarkdownDescription: "Only repositories whose name contains this; case-sensitive."},
			"repos": schema.ListNestedAttribute{Computed: true, MarkdownDescription: "The repositories found.",
				NestedObject: schema.NestedAttributeObject{Attributes: repositoryFields.DataSourceAttributes()}},
		},
	}
}

func (d *codehostReposDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model codehostReposModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	all, err := d.client.Repositories(ctx, model.IntegrationID.ValueString())
	if err != nil {
		d.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot list the repositories of integration %s", model.IntegrationID.ValueString()), err, nil)
		return
	}
	found := results{fields: repositoryFields}
	for _, repo := range all {
		if (model.Owner.IsNull() || repo.Owner == model.Owner.ValueString()) && strings.Contains(repo.Name, model.NameContains.ValueString()) {
			found.add(repo, &resp.Diagnostics)
		}
	}
	found.save(ctx, resp, req.Config.Raw, "repos")
}

// codehostRepoDataSource is graphdeploy_codehost_repo.
type codehostRepoDataSource struct{ dataSource }

func newCodehostRepoDataSource() datasource.DataSource { return &codehostRepoDataSource{} }

func (d *codehostRepoDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "graphdeploy_codehost_repo"
}

func (d *codehostRepoDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := repositoryFields.DataSourceAttributes()
	attributes["integration_id"] = integrationIDAttribute
	notEmpty := []validator.String{field.NotEmpty()}
	attributes["owner"] = schema.StringAttribute{Required: true, Validators: notEmpty, MarkdownDescription: "Owner of the repository, exactly; case-sensitive."}
	attributes["name"] = schema.StringAttribute{Required: true, Validators: notEmpty, MarkdownDescription: "Name of the repository, exactly; case-sensitive."}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One repository of a code-host integration, by owner and name. It is an error if there is none, or if there are several.",
		Attributes:          attributes,
	}
}

func (d *codehostRepoDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	config := attributesOf(req.Config.Raw)
	integration, owner, name := config.text("integration_id"), config.text("owner"), config.text("name")
	all, err := d.client.Repositories(ctx, integration)
	if err != nil {
		d.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot list the repositories of integration %s", integration), err, nil)
		return
	}
	var found, alike []client.Repository
	for _, repo := range all {
		switch {
		case repo.Owner == owner && repo.Name == name:
			found = append(found, repo)
		case strings.EqualFold(repo.Owner, owner) && strings.EqualFold(repo.Name, name):
			alike = append(alike, repo)
		}
	}
	switch {
	case len(found) > 1:
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Several repositories of that name", fmt.Sprintf(
			"Integration %s has %d repositories %s/%s. Use graphdeploy_codehost_repos, and choose one by its id.", integration, len(found), owner, name))
		return
	case len(found) == 0:
		at, hint := nearest(owner, alike, all)
		resp.Diagnostics.AddAttributeError(at, "No such repository", fmt.Sprintf(
			"Integration %s has no repository %s/%s that can be deployed. %s", integration, owner, name, hint))
		return
	}
	answer, err := repositoryFields.Decode(found[0])
	if err != nil {
		addMistake(&resp.Diagnostics, fmt.Sprintf("Repository %s/%s cannot be shown", owner, name), err)
		return
	}
	values := attributesOf(answer)
	values["integration_id"] = config["integration_id"]
	resp.State.Raw = newObject(resp.State.Raw.Type(), values)
}

// nearest says which repositories there are in place of one that is not: those
// that differ in upper and lower case alone, else those of the same owner, else
// any; and which argument is most likely at fault.
func nearest(owner string, alike, all []client.Repository) (at path.Path, hint string) {
	if len(all) == 0 {
		return path.Root("integration_id"), "It has none at all. Check integration_id, and what the integration was given access to."
	}
	if len(alike) > 0 {
		return path.Root("name"), "Upper and lower case count. Write it as the service does:\n" + listed(repositoryNames(alike))
	}
	var theirs []client.Repository
	for _, repo := range all {
		if strings.EqualFold(repo.Owner, owner) {
			theirs = append(theirs, repo)
		}
	}
	if len(theirs) > 0 {
		return path.Root("name"), fmt.Sprintf("Check the name, and what the integration was given access to. Of this owner there are:\n%s", listed(repositoryNames(theirs)))
	}
	return path.Root("owner"), fmt.Sprintf("Check the owner, and what the integration was given access to. There are:\n%s", listed(repositoryNames(all)))
}

func repositoryNames(of []client.Repository) []string {
	var names []string
	for _, repo := range of {
		names = append(names, ofTheService(repo.Owner+"/"+repo.Name))
	}
	return names
}
