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

// dataSources reads data sources: it calls the data source's own Read, and packs its state. Where that is deferred, the
// framework handles the request.
type dataSources struct {
	frameworkServer
	provider *observedProvider
	types    func() map[string]*dataSourceType
}

// dataSourceType is what requests need of a type of data source.
type dataSourceType struct {
	create func() datasource.DataSource
	schema schema.Schema
	object tftypes.Type
}

func dataSourceTypes(p Provider) func() map[string]*dataSourceType {
	return sync.OnceValue(func() map[string]*dataSourceType {
		ctx := context.Background()
		types := map[string]*dataSourceType{}
		for _, create := range p.DataSources(ctx) {
			d := create()
			var named datasource.MetadataResponse
			var described datasource.SchemaResponse
			d.Metadata(ctx, datasource.MetadataRequest{}, &named)
			d.Schema(ctx, datasource.SchemaRequest{}, &described)
			types[named.TypeName] = &dataSourceType{create, described.Schema, described.Schema.Type().TerraformType(ctx)}
		}
		return types
	})
}

func (s dataSources) ReadDataSource(ctx context.Context,
	req *tfprotov6.ReadDataSourceRequest,
) (*tfprotov6.ReadDataSourceResponse, error) {
	if resp := s.read(ctx, req); resp != nil {
		tflog.Trace(ctx, "Read a data source on the fast path")
		return resp, nil
	}
	return s.frameworkServer.ReadDataSource(ctx, req)
}

// read returns nil where the framework has to handle the request.
func (s dataSources) read(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) *tfprotov6.ReadDataSourceResponse {
	data, t := s.provider.configured.Load(), s.types()[req.TypeName]
	if data == nil || t == nil {
		return nil
	}
	config, ok := unpack(t.object, req.Config)
	if !ok {
		return nil
	}
	d := t.create()
	if with, needs := d.(datasource.DataSourceWithConfigure); needs {
		var configured datasource.ConfigureResponse
		with.Configure(ctx, datasource.ConfigureRequest{ProviderData: data.DataSourceData}, &configured)
		if len(configured.Diagnostics) > 0 {
			return nil
		}
	}
	request := datasource.ReadRequest{Config: tfsdk.Config{Schema: t.schema, Raw: config}}
	response := datasource.ReadResponse{State: tfsdk.State{Schema: t.schema, Raw: tftypes.NewValue(t.object, nil)}}
	if req.ClientCapabilities != nil {
		request.ClientCapabilities.DeferralAllowed = req.ClientCapabilities.DeferralAllowed
	}
	d.Read(ctx, request, &response)
	if response.Deferred != nil {
		return nil
	}
	read := &tfprotov6.ReadDataSourceResponse{Diagnostics: protocolDiagnostics(response.Diagnostics)}
	if !response.Diagnostics.HasError() {
		read.State = pack(t.object, response.State.Raw)
	}
	return read
}
