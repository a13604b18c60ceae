package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// dataSource is what all data sources share.
type dataSource struct{ *providerData }

func (d *dataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

// ready reports whether the data source can be read now; otherwise the read is deferred, or fails.
func (d *dataSource) ready(req datasource.ReadRequest, resp *datasource.ReadResponse) bool {
	if d.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &datasource.Deferred{Reason: datasource.DeferredReasonProviderConfigUnknown}
		resp.State.Raw = tftypes.NewValue(resp.State.Raw.Type(), tftypes.UnknownValue)
		return false
	}
	return d.requireClient(&resp.Diagnostics, "Reading a data source")
}

// setList sets the state of a data source: its arguments and a list of objects.
func setList(resp *datasource.ReadResponse, config tftypes.Value, name string, fields field.Fields, items []tftypes.Value) {
	list := tftypes.NewValue(tftypes.List{ElementType: fields.Type()}, items)
	resp.State.Raw = field.With(config, field.Values{name: list})
}

// listDataSource lists what an operation without query parameters returns, and filters it here.
type listDataSource struct {
	dataSource

	name, description         string
	arguments                 map[string]schema.Attribute
	result, resultDescription string
	fields                    field.Fields
	list                      func(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) []client.Tree
	wanted                    func(config attributes, item client.Tree) bool
}

func (d *listDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "graphdeploy_" + d.name
}

func (d *listDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: d.description, Attributes: maps.Clone(d.arguments)}
	resp.Schema.Attributes[d.result] = schema.ListNestedAttribute{Computed: true, MarkdownDescription: d.resultDescription,
		NestedObject: schema.NestedAttributeObject{Attributes: d.fields.DataSourceAttributes()}}
}

func (d *listDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	if !d.ready(req, resp) {
		return
	}
	config, found := attributesOf(req.Config.Raw), []tftypes.Value{}
	for _, item := range d.list(ctx, d.providerData, config, &resp.Diagnostics) {
		if d.wanted(config, item) {
			found = append(found, decodeShown(d.fields, item, &resp.Diagnostics))
		}
	}
	if !resp.Diagnostics.HasError() {
		setList(resp, req.Config.Raw, d.result, d.fields, found)
	}
}

// decodeShown decodes a checked response for a data source.
func decodeShown(fields field.Fields, tree client.Tree, diags *diag.Diagnostics) tftypes.Value {
	decoded, err := fields.Decode(sanitized(tree))
	if err != nil {
		addBug(diags, "A response of the service cannot be shown", err)
	}
	return decoded
}

// sanitized is a tree whose strings are fit for a terminal. Lines and tabs stay.
func sanitized(tree map[string]any) map[string]any {
	shown := make(map[string]any, len(tree))
	for name, value := range tree {
		shown[name] = sanitizeTree(value)
	}
	return shown
}

func sanitizeTree(tree any) any {
	switch tree := tree.(type) {
	case string:
		return client.SanitizeLines(tree)
	case map[string]any:
		return sanitized(tree)
	case []any:
		shown := make([]any, len(tree))
		for i, item := range tree {
			shown[i] = sanitizeTree(item)
		}
		return shown
	default:
		return tree
	}
}

// shownFields are a deployment as data sources show it: of secrets, only the names.
var shownFields = slices.Concat(deploymentFields, field.Fields{
	{Name: "secret_names", Kind: field.List, Elem: field.String, Access: field.ReadOnly,
		Description: "Names of the secrets that the service returns."},
	{Name: additionalField.Name, Kind: field.JSON, Access: field.ReadOnly,
		Description: "Properties of the deployment that this provider does not know, for example the URL of the application, if the service " +
			"reports it."},
})

// showDeployment is a deployment as data sources show it.
func showDeployment(d *client.Deployment, diags *diag.Diagnostics) tftypes.Value {
	tree, names := maps.Clone(d.Tree), []any{}
	for _, s := range d.Secrets {
		names = append(names, s.Name)
	}
	delete(tree, "secrets")
	_, additional := deploymentFields.Split(tree)
	if additional == nil {
		additional = map[string]any{}
	}
	tree["secret_names"], tree[additionalField.Name] = names, additional
	return decodeShown(shownFields, tree, diags)
}
