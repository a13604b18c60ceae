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

var _ datasource.DataSourceWithConfigValidators = (*dataSource)(nil)

// dataSource is a data source: what distinguishes one from another is in its members.
type dataSource struct {
	*providerData

	name, description string
	attributes        func() map[string]schema.Attribute
	validators        []datasource.ConfigValidator
	// read returns the values of attributes. Those of arguments are not used: Terraform expects an argument back as it was
	// written.
	read func(ctx context.Context, p *providerData, config attributes, diags *diag.Diagnostics) field.Values
}

func (d *dataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "graphdeploy_" + d.name
}

func (d *dataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: d.description, Attributes: d.attributes()}
}

func (d *dataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return d.validators
}

func (d *dataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

func (d *dataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	if d.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &datasource.Deferred{Reason: datasource.DeferredReasonProviderConfigUnknown}
		resp.State.Raw = tftypes.NewValue(resp.State.Raw.Type(), tftypes.UnknownValue)
		return
	}
	if !d.requireClient(&resp.Diagnostics, "Reading a data source") {
		return
	}
	config := attributesOf(req.Config.Raw)
	values := maps.Clone(d.read(ctx, d.providerData, config, &resp.Diagnostics))
	maps.DeleteFunc(values, func(name string, _ tftypes.Value) bool { return !config[name].IsNull() })
	if !resp.Diagnostics.HasError() {
		resp.State.Raw = field.With(req.Config.Raw, values)
	}
}

// listAttribute describes a list of objects.
func listAttribute(fields field.Fields, description string) schema.Attribute {
	return schema.ListNestedAttribute{Computed: true, MarkdownDescription: description,
		NestedObject: schema.NestedAttributeObject{Attributes: fields.DataSourceAttributes()}}
}

func listOf(fields field.Fields, items []tftypes.Value) tftypes.Value {
	return tftypes.NewValue(tftypes.List{ElementType: fields.Type()}, items)
}

// where returns the items of a response for which a condition holds.
func where(all []client.Tree, holds func(client.Tree) bool) []client.Tree {
	return slices.DeleteFunc(slices.Clone(all), func(item client.Tree) bool { return !holds(item) })
}

// showList decodes the items of a checked response for a data source.
func (p *providerData) showList(fields field.Fields, all []client.Tree, diags *diag.Diagnostics) tftypes.Value {
	items := []tftypes.Value{}
	for _, item := range all {
		items = append(items, p.decodeShown(fields, item, diags))
	}
	return listOf(fields, items)
}

// decodeShown decodes a checked response for a data source.
func (p *providerData) decodeShown(fields field.Fields, tree client.Tree, diags *diag.Diagnostics) tftypes.Value {
	decoded, err := fields.Decode(sanitized(sanitizeChosen(fields, tree)))
	if err != nil {
		p.report(diags).bug("A response of the service cannot be shown", err)
	}
	return decoded
}

// sanitized returns a tree whose names and strings are fit for a terminal. Line breaks and tabs of strings stay.
func sanitized(tree map[string]any) map[string]any {
	rename := func(name string) (string, bool) { return client.Sanitize(name), true }
	shown, _ := field.Rewrite(tree, rename, func(leaf any) any {
		if text, ok := leaf.(string); ok {
			return client.SanitizeLines(text)
		}
		return leaf
	}).(map[string]any)
	return shown
}
