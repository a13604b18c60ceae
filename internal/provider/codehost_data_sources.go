package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// repositoryFields are section 2.6.
var repositoryFields = field.Fields{
	{Name: "host_integration_id", Kind: field.UUID{},
		Description: "ID of the integration that the repository belongs to, for `source_config.integration_id` of a " +
			"deployment."},
	{Name: "id", Kind: field.Int64{}, Description: "ID of the repository, an integer."},
	{Name: "name", Kind: field.String{}, Description: "Name of the repository."},
	{Name: "owner", Kind: field.String{}, Description: "Owner of the repository."},
	{Name: "url", Kind: field.String{},
		Description: "URL of the repository, for `source_config.repo_url` of a deployment."},
	{Name: "default_branch", Kind: field.String{},
		Description: "Default branch, for example for `source_revision_config.repo_ref` of a deployment."},
}

var integrationIDAttribute = schema.StringAttribute{Required: true, Validators: []validator.String{field.UUIDString()},
	MarkdownDescription: "ID of the code-host integration, a UUID."}

// repositories lists the repositories of an integration.
func repositories(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) []client.Tree {
	integration := config.text("integration_id")
	all, err := p.client.Repositories(ctx, integration, repositoryFields.Check)
	if err != nil {
		p.report(diags).failure("Cannot list the repositories of integration "+integration, err, nil)
	}
	return all
}

// newCodehostReposDataSource returns the data source graphdeploy_codehost_repos.
func newCodehostReposDataSource() datasource.DataSource {
	return &dataSource{
		name: "codehost_repos", description: "Lists the repositories of a code-host integration that can be deployed.",
		attributes: func() map[string]schema.Attribute {
			return map[string]schema.Attribute{
				"integration_id": integrationIDAttribute,
				"owner":          schema.StringAttribute{Optional: true, MarkdownDescription: "Filter by owner (case-sensitive)."},
				"name_contains": schema.StringAttribute{Optional: true,
					MarkdownDescription: "Filter by part of the name (case-sensitive)."},
				"repos": listAttribute(repositoryFields, "The repositories, in the order of the service."),
			}
		},
		read: func(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) field.Values {
			wanted := where(repositories(ctx, p, config, diags), func(repo client.Tree) bool {
				ofOwner := config["owner"].IsNull() || repo["owner"] == config.text("owner")
				return ofOwner && strings.Contains(textIn(repo, "name"), config.text("name_contains"))
			})
			return field.Values{"repos": p.showList(repositoryFields, wanted, diags)}
		},
	}
}

// newCodehostRepoDataSource returns the data source graphdeploy_codehost_repo.
func newCodehostRepoDataSource() datasource.DataSource {
	return &dataSource{
		name: "codehost_repo", description: "Reads one repository of a code-host integration, by owner and name. No match, " +
			"or several, is an error.",
		attributes: func() map[string]schema.Attribute {
			all, notEmpty := repositoryFields.DataSourceAttributes(), []validator.String{field.NotEmpty()}
			all["integration_id"] = integrationIDAttribute
			all["owner"] = schema.StringAttribute{Required: true, Validators: notEmpty,
				MarkdownDescription: "Owner of the repository (case-sensitive)."}
			all["name"] = schema.StringAttribute{Required: true, Validators: notEmpty,
				MarkdownDescription: "Name of the repository (case-sensitive)."}
			return all
		},
		read: readRepository,
	}
}

func readRepository(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) field.Values {
	integration, owner, name := config.text("integration_id"), config.text("owner"), config.text("name")
	all := repositories(ctx, p, config, diags)
	found := where(all, func(repo client.Tree) bool { return repo["owner"] == owner && repo["name"] == name })
	switch {
	case diags.HasError():
	case len(found) == 1:
		return field.Members(p.decodeShown(repositoryFields, found[0], diags))
	case len(found) > 1:
		p.report(diags).errorf(path.Root("name"), "Multiple repositories with that name",
			"Integration %s has %d repositories %s/%s. Use graphdeploy_codehost_repos, and select one of them by ID.",
			integration, len(found), owner, name)
	default:
		at, hint := p.nearest(owner, name, all)
		p.report(diags).errorf(at, "No such repository", "Integration %s has no repository %s/%s that can be deployed. %s",
			integration, owner, name, hint)
	}
	return nil
}

// nearest suggests repositories in place of one that does not exist: those that differ in case only, else those of the
// same owner, else any; and the argument that is most likely wrong.
func (p *providerData) nearest(owner, name string, all []client.Tree) (at path.Path, hint trusted) {
	theirs := where(all, func(repo client.Tree) bool { return strings.EqualFold(textIn(repo, "owner"), owner) })
	alike := where(theirs, func(repo client.Tree) bool { return strings.EqualFold(textIn(repo, "name"), name) })
	switch {
	case len(all) == 0:
		return path.Root("integration_id"), "It has no repositories. Check integration_id, and which repositories the " +
			"integration may access."
	case len(alike) > 0:
		return path.Root("name"), p.format("Names are case-sensitive. Did you mean:%s", repositoryNames(alike))
	case len(theirs) > 0:
		return path.Root("name"),
			p.format("Check the name, and which repositories the integration may access. Repositories owned by %s:%s",
				textIn(theirs[0], "owner"), repositoryNames(theirs))
	default:
		return path.Root("owner"),
			p.format("Check the owner, and which repositories the integration may access. Repositories:%s",
				repositoryNames(all))
	}
}

func repositoryNames(of []client.Tree) []string {
	var names []string
	for _, repo := range of {
		names = append(names, textIn(repo, "owner")+"/"+textIn(repo, "name"))
	}
	return names
}

// textIn returns a member of a tree; "" if it is null.
func textIn(tree client.Tree, name string) string {
	text, _ := tree[name].(string)
	return text
}
