package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var _ datasource.DataSourceWithConfigure = (*deploymentsDataSource)(nil)

// deploymentsDataSource is graphdeploy_deployments.
type deploymentsDataSource struct{ dataSource }

func newDeploymentsDataSource() datasource.DataSource { return &deploymentsDataSource{} }

func (d *deploymentsDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "graphdeploy_deployments"
}

// maxMaxResults is more than any service has.
const maxMaxResults = 1_000_000_000

func (d *deploymentsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := filterAttributes[schema.Attribute]()
	attributes["max_results"] = schema.NumberAttribute{Optional: true, Validators: []validator.Number{field.Integer(1, maxMaxResults)},
		MarkdownDescription: "Maximum number of deployments to return, at least 1. If omitted, all are returned."}
	attributes["deployments"] = schema.ListNestedAttribute{Computed: true, MarkdownDescription: "The deployments, in the order of the service.",
		NestedObject: schema.NestedAttributeObject{Attributes: shownFields.DataSourceAttributes()}}
	resp.Schema = schema.Schema{MarkdownDescription: "Lists deployments. Filters are combined with AND. No match is an empty list, not an error.", Attributes: attributes}
}

func (d *deploymentsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	if !d.ready(req, resp) {
		return
	}
	config := attributesOf(req.Config.Raw)
	filter, none := newFilter(config)
	maximum := config.integer("max_results", maxMaxResults)
	filter.PageSize = int(min(maximum, client.MaxPageSize))
	shown := []tftypes.Value{}
	if !none {
		for found, err := range d.client.Deployments(ctx, filter) {
			if err != nil {
				d.access.addFailure(&resp.Diagnostics, "Cannot list deployments", err, nil)
				return
			}
			shown = append(shown, showDeployment(found, &resp.Diagnostics))
			if int64(len(shown)) >= maximum {
				break
			}
		}
	}
	if !resp.Diagnostics.HasError() {
		setList(resp, req.Config.Raw, "deployments", shownFields, shown)
	}
}
