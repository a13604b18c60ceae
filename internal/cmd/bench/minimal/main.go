// Command minimal is a provider like the scaffolding provider of the plugin framework. The benchmark compares start-up
// with it, and CPU time with its resource of nine attributes, which sends no requests.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	err := providerserver.Serve(context.Background(), func() provider.Provider { return minimal{} },
		providerserver.ServeOpts{Address: "registry.terraform.io/graphdeploy/minimal"})
	if err != nil {
		log.Fatal(err)
	}
}

type minimal struct{}

func (minimal) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "minimal"
}

func (minimal) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerschema.Schema{Attributes: map[string]providerschema.Attribute{
		"endpoint": providerschema.StringAttribute{Optional: true, MarkdownDescription: "An example."},
	}}
}

func (minimal) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (minimal) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return thing{} }}
}

func (minimal) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return example{} }}
}

// thing is a resource that exists in the state only.
type thing struct{}

type thingModel struct {
	ID types.String `tfsdk:"id"`
	A  types.String `tfsdk:"a"`
	B  types.String `tfsdk:"b"`
	C  types.String `tfsdk:"c"`
	D  types.String `tfsdk:"d"`
	E  types.Int64  `tfsdk:"e"`
	F  types.Int64  `tfsdk:"f"`
	G  types.Bool   `tfsdk:"g"`
	H  types.Bool   `tfsdk:"h"`
}

func (thing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "minimal_thing"
}

func (thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	text, number := schema.StringAttribute{Optional: true}, schema.Int64Attribute{Optional: true}
	flag := schema.BoolAttribute{Optional: true}
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"a": text, "b": text, "c": text, "d": text, "e": number, "f": number, "g": flag, "h": flag,
	}}
}

func (thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	model.ID = model.A
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (thing) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

func (thing) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// example is a data source.
type example struct{}

func (example) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "minimal_example"
}

func (example) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = dataschema.Schema{Attributes: map[string]dataschema.Attribute{
		"id":           dataschema.StringAttribute{Computed: true},
		"configurable": dataschema.StringAttribute{Optional: true, MarkdownDescription: "An example."},
	}}
}

func (example) Read(_ context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	resp.State.Raw = req.Config.Raw
}
