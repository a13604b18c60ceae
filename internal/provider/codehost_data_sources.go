package provider

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var _ datasource.DataSourceWithConfigure = (*codehostRepoDataSource)(nil)

// repositoryFields are section 2.6.
var repositoryFields = field.Fields{
	{Name: "host_integration_id", Kind: field.UUID, Description: "ID of the integration that the repository belongs to, for " +
		"`source_config.integration_id` of a deployment."},
	{Name: "id", Kind: field.Int64, Description: "ID of the repository, an integer."},
	{Name: "name", Kind: field.String, Description: "Name of the repository."},
	{Name: "owner", Kind: field.String, Description: "Owner of the repository."},
	{Name: "url", Kind: field.String, Description: "URL of the repository, for `source_config.repo_url` of a deployment."},
	{Name: "default_branch", Kind: field.String, Description: "Default branch, for example for `source_revision_config.repo_ref` of a " +
		"deployment."},
}

var integrationIDAttribute = schema.StringAttribute{Required: true, Validators: []validator.String{field.UUIDString()},
	MarkdownDescription: "ID of the code-host integration, a UUID."}

// repositories lists the repositories of an integration.
func repositories(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) []client.Tree {
	integration := config.text("integration_id")
	all, err := p.client.Repositories(ctx, integration, repositoryFields.Check)
	if err != nil {
		p.access.addFailure(diags, fmt.Sprintf("Cannot list the repositories of integration %s", integration), err, nil)
	}
	return all
}

// newCodehostReposDataSource is graphdeploy_codehost_repos.
func newCodehostReposDataSource() datasource.DataSource {
	return &listDataSource{
		name: "codehost_repos", description: "Lists the repositories of a code-host integration that can be deployed.",
		arguments: map[string]schema.Attribute{
			"integration_id": integrationIDAttribute,
			"owner":          schema.StringAttribute{Optional: true, MarkdownDescription: "Filter by owner (case-sensitive)."},
			"name_contains":  schema.StringAttribute{Optional: true, MarkdownDescription: "Filter by part of the name (case-sensitive)."},
		},
		result: "repos", resultDescription: "The repositories, in the order of the service.", fields: repositoryFields,
		list: repositories,
		wanted: func(config attributes, repo client.Tree) bool {
			return (config["owner"].IsNull() || repo["owner"] == config.text("owner")) && strings.Contains(textIn(repo, "name"), config.text("name_contains"))
		},
	}
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
	attributes["owner"] = schema.StringAttribute{Required: true, Validators: notEmpty, MarkdownDescription: "Owner of the repository " +
		"(case-sensitive)."}
	attributes["name"] = schema.StringAttribute{Required: true, Validators: notEmpty, MarkdownDescription: "Name of the repository " +
		"(case-sensitive)."}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads one repository of a code-host integration, by owner and name. No match, or several, is an error.",
		Attributes:          attributes,
	}
}

func (d *codehostRepoDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	if !d.ready(req, resp) {
		return
	}
	config := attributesOf(req.Config.Raw)
	integration, owner, name := config.text("integration_id"), config.text("owner"), config.text("name")
	all := repositories(ctx, d.providerData, config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var found, alike []client.Tree
	for _, repo := range all {
		switch {
		case repo["owner"] == owner && repo["name"] == name:
			found = append(found, repo)
		case strings.EqualFold(textIn(repo, "owner"), owner) && strings.EqualFold(textIn(repo, "name"), name):
			alike = append(alike, repo)
		}
	}
	switch {
	case len(found) > 1:
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Several repositories of that name", fmt.Sprintf(
			"Integration %s has %d repositories %s/%s. Use graphdeploy_codehost_repos, and select one of them by ID.", integration, len(found),
			owner, name))
		return
	case len(found) == 0:
		at, hint := nearest(owner, alike, all)
		resp.Diagnostics.AddAttributeError(at, "No such repository", fmt.Sprintf(
			"Integration %s has no repository %s/%s that can be deployed. %s", integration, owner, name, hint))
		return
	}
	shown := maps.Clone(attributesOf(decodeShown(repositoryFields, found[0], &resp.Diagnostics)))
	if resp.Diagnostics.HasError() {
		return
	}
	for _, argument := range []string{"integration_id", "owner", "name"} { // Terraform expects an argument back as it was written
		shown[argument] = config[argument]
	}
	resp.State.Raw = tftypes.NewValue(resp.State.Raw.Type(), map[string]tftypes.Value(shown))
}

// nearest suggests repositories in place of one that does not exist: those that differ in case only, else those of the same
// owner, else any; and the argument that is most likely wrong.
func nearest(owner string, alike, all []client.Tree) (at path.Path, hint string) {
	if len(all) == 0 {
		return path.Root("integration_id"), "It has no repositories. Check integration_id, and which repositories the integration may access."
	}
	if len(alike) > 0 {
		return path.Root("name"), "Names are case-sensitive. Did you mean:" + listed(repositoryNames(alike))
	}
	var theirs []client.Tree
	for _, repo := range all {
		if strings.EqualFold(textIn(repo, "owner"), owner) {
			theirs = append(theirs, repo)
		}
	}
	if len(theirs) > 0 {
		return path.Root("name"), fmt.Sprintf("Check the name, and which repositories the integration may access. Repositories owned by %s:%s",
			client.Sanitize(textIn(theirs[0], "owner")), listed(repositoryNames(theirs)))
	}
	return path.Root("owner"), "Check the owner, and which repositories the integration may access. Repositories:" + listed(repositoryNames(all))
}

func repositoryNames(of []client.Tree) []string {
	var names []string
	for _, repo := range of {
		names = append(names, client.Sanitize(textIn(repo, "owner")+"/"+textIn(repo, "name")))
	}
	return names
}

// textIn is a member of a tree; "" if it is null.
func textIn(tree client.Tree, name string) string {
	text, _ := tree[name].(string)
	return text
}
