package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var _ datasource.DataSourceWithConfigure = (*deploymentsDataSource)(nil)

// deploymentsDataSource is graphdeploy_deployments.
type deploymentsDataSource struct{ dataSource }

func newDeploymentsDataSource() datasource.DataSource { return &deploymentsDataSource{} }

// dataSource is what all data sources share.
type dataSource struct{ *providerData }

func (d *dataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

// shownDeploymentFields are a deployment as data sources show it: of secrets,
// only the names.
var shownDeploymentFields = append(deploymentFields[:len(deploymentFields):len(deploymentFields)],
	field.Field{Name: "secret_names", Kind: field.List, Elem: field.Text, Access: field.ReadOnly, Doc: "Names of the secrets, as far as the service shows them."})

// shownDeployment is the wire form of shownDeploymentFields.
type shownDeployment struct {
	*client.Deployment
	SecretNames []string `json:"secret_names"`
}

func show(d *client.Deployment) shownDeployment {
	shown := shownDeployment{Deployment: d, SecretNames: []string{}}
	for _, s := range d.Secrets {
		shown.SecretNames = append(shown.SecretNames, s.Name)
	}
	return shown
}

// deploymentTypes are the values of the filter deployment_type (section 4.2).
var deploymentTypes = []string{"dev_free", "dev", "prod"}

// The filters of List Deployments, in words; the data source and the list
// resource have them all.
const (
	docNameContains     = "Only deployments whose name contains this. How it is matched, upper and lower case for example, is not documented: the service decides."
	docStatus           = "Only deployments of this status. The values that the service accepts here are not documented."
	docRemoteReconciled = "Only deployments that are, or are not, reconciled remotely."
	docTagValueIDs      = "Only deployments with these tag values, by id. Empty means none of them: the result is empty."
	docImageVersion     = "Only deployments of this image version."
	docDeploymentIDs    = "Only these deployments, by id, UUIDs; any number, asked for 100 at a time. Empty means none of them: the result is empty."
)

// mostResults is more than any service has.
const mostResults = 1_000_000_000

var docDeploymentType = "Only deployments of this type: " + field.Quoted(deploymentTypes) + "."

// deploymentFilterModel are the filters that are single values.
type deploymentFilterModel struct {
	NameContains     types.String `tfsdk:"name_contains"`
	Status           types.String `tfsdk:"status"`
	RemoteReconciled types.Bool   `tfsdk:"remote_reconciled"`
	ImageVersion     types.String `tfsdk:"image_version"`
	DeploymentType   types.String `tfsdk:"deployment_type"`
}

// collection is a list or a set.
type collection interface {
	IsNull() bool
	ElementsAs(ctx context.Context, target any, allowUnhandled bool) diag.Diagnostics
}

// filter is what the arguments ask the service for. None says that an empty
// collection lets nothing through, whatever the service has.
func (m deploymentFilterModel) filter(ctx context.Context, tags, ids collection, diags *diag.Diagnostics) (filter client.DeploymentFilter, none bool) {
	filter = client.DeploymentFilter{
		NameContains:     m.NameContains.ValueStringPointer(),
		Status:           m.Status.ValueStringPointer(),
		RemoteReconciled: m.RemoteReconciled.ValueBoolPointer(),
		ImageVersion:     m.ImageVersion.ValueStringPointer(),
		DeploymentType:   m.DeploymentType.ValueStringPointer(),
	}
	if !tags.IsNull() {
		diags.Append(tags.ElementsAs(ctx, &filter.TagValueIDs, false)...)
		none = none || len(filter.TagValueIDs) == 0
	}
	if !ids.IsNull() {
		diags.Append(ids.ElementsAs(ctx, &filter.DeploymentIDs, false)...)
		none = none || len(filter.DeploymentIDs) == 0
	}
	return filter, none
}

type deploymentsModel struct {
	deploymentFilterModel
	TagValueIDs   types.Set    `tfsdk:"tag_value_ids"`
	DeploymentIDs types.Set    `tfsdk:"deployment_ids"`
	MaxResults    types.Number `tfsdk:"max_results"`
	Deployments   types.List   `tfsdk:"deployments"`
}

func (d *deploymentsDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "graphdeploy_deployments"
}

func (d *deploymentsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Deployments that the service lists, in its order. Filters that are left out do not filter; all that are set must fit.",
		Attributes: map[string]schema.Attribute{
			"name_contains":     schema.StringAttribute{Optional: true, MarkdownDescription: docNameContains},
			"status":            schema.StringAttribute{Optional: true, MarkdownDescription: docStatus},
			"remote_reconciled": schema.BoolAttribute{Optional: true, MarkdownDescription: docRemoteReconciled},
			"tag_value_ids": schema.SetAttribute{Optional: true, ElementType: types.StringType,
				Validators:          []validator.Set{field.NoNulls(), setvalidator.ValueStringsAre(field.NotEmpty())},
				MarkdownDescription: docTagValueIDs},
			"image_version": schema.StringAttribute{Optional: true, MarkdownDescription: docImageVersion},
			"deployment_type": schema.StringAttribute{Optional: true, Validators: []validator.String{field.OneOf(deploymentTypes...)},
				MarkdownDescription: docDeploymentType},
			"deployment_ids": schema.SetAttribute{Optional: true, ElementType: types.StringType,
				Validators:          []validator.Set{field.NoNulls(), setvalidator.ValueStringsAre(field.UUIDText())},
				MarkdownDescription: docDeploymentIDs},
			"max_results": schema.NumberAttribute{Optional: true, Validators: []validator.Number{field.WholeBetween(1, mostResults)},
				MarkdownDescription: "Maximum number of deployments to return, at least 1. Left out, all are returned."},
			"deployments": schema.ListNestedAttribute{Computed: true, MarkdownDescription: "The deployments found.",
				NestedObject: schema.NestedAttributeObject{Attributes: shownDeploymentFields.DataSourceAttributes()}},
		},
	}
}

func (d *deploymentsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model deploymentsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	shown := results{fields: shownDeploymentFields}
	filter, none := model.filter(ctx, model.TagValueIDs, model.DeploymentIDs, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	most := int64(mostResults)
	if !model.MaxResults.IsNull() {
		most, _ = model.MaxResults.ValueBigFloat().Int64()
	}
	filter.PageSize = int(min(most, client.MaxPageSize))
	if !none {
		for found, err := range d.client.Deployments(ctx, filter) {
			if err != nil {
				d.access.addFailure(&resp.Diagnostics, "Cannot list deployments", err, nil)
				return
			}
			shown.add(show(found), &resp.Diagnostics)
			if int64(len(shown.packed)) >= most {
				break
			}
		}
	}
	shown.save(ctx, resp, req.Config.Raw, "deployments")
}
