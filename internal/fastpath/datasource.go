package fastpath

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// dataSources reads data sources: it calls the data source's own Read, and packs
// its state. Where Read reports anything but a state, the framework handles the
// request.
type dataSources struct {
	frameworkServer
	provider *observedProvider
	byName   func() map[string]*dataSourceType
}

// dataSourceType is what requests need of a type of data source.
type dataSourceType struct {
	create func() datasource.DataSource
	schema schema.Schema
	object tftypes.Type
}

func newDataSources(framework frameworkServer, p *observedProvider) dataSources {
	return dataSources{framework, p, sync.OnceValue(func() map[string]*dataSourceType {
		ctx := context.Background()
		types := map[string]*dataSourceType{}
		for _, create := range p.DataSources(ctx) {
			var meta datasource.MetadataResponse
			var described datasource.SchemaResponse
			d := create()
			d.Metadata(ctx, datasource.MetadataRequest{}, &meta)
			d.Schema(ctx, datasource.SchemaRequest{}, &described)
			types[meta.TypeName] = &dataSourceType{create, described.Schema, described.Schema.Type().TerraformType(ctx)}
		}
		return types
	})}
}

func (s dataSources) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	if resp := s.read(ctx, req); resp != nil {
		return resp, nil
	}
	return s.frameworkServer.ReadDataSource(ctx, req)
}

// read is nil where the framework has to handle the request.
func (s dataSources) read(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) *tfprotov6.ReadDataSourceResponse {
	data, t := s.provider.configured.Load(), s.byName()[req.TypeName]
	if data == nil || t == nil || req.Config == nil {
		return nil
	}
	config, err := req.Config.Unmarshal(t.object)
	if err != nil {
		return nil
	}
	d := t.create()
	var configured datasource.ConfigureResponse
	if with, ok := d.(datasource.DataSourceWithConfigure); ok {
		with.Configure(ctx, datasource.ConfigureRequest{ProviderData: data.DataSourceData}, &configured)
	}
	response := datasource.ReadResponse{State: tfsdk.State{Schema: t.schema, Raw: tftypes.NewValue(t.object, nil)}}
	if !configured.Diagnostics.HasError() {
		request := datasource.ReadRequest{Config: tfsdk.Config{Schema: t.schema, Raw: config}}
		if req.ClientCapabilities != nil {
			request.ClientCapabilities.DeferralAllowed = req.ClientCapabilities.DeferralAllowed
		}
		d.Read(ctx, request, &response)
	}
	if len(configured.Diagnostics) > 0 || response.Deferred != nil {
		return nil
	}
	if len(response.Diagnostics) > 0 {
		if errors, ok := plainErrors(response.Diagnostics); ok {
			return &tfprotov6.ReadDataSourceResponse{Diagnostics: errors}
		}
		return nil
	}
	packed, ok := pack(t.object, response.State.Raw)
	if !ok {
		return nil
	}
	tflog.Trace(ctx, "Read a data source on the fast path")
	return &tfprotov6.ReadDataSourceResponse{State: packed}
}
