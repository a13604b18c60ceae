package provider

import (
	"bytes"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// results gathers what a data source has found, each item packed as Terraform
// gets it. The framework would hold the whole list in four forms at once, each
// many times as large as this one, and would look up the schema for every
// attribute that is null: of 10,000 deployments, more than the service takes to
// list them. So it gets to see an empty list, and listing puts the items there.
type results struct {
	fields field.Fields
	packed [][]byte
	name   string // the attribute that they are saved as
}

// add takes a value of a client type.
func (r *results) add(value any, diags *diag.Diagnostics) {
	item, err := r.fields.Decode(value)
	var packed tfprotov6.DynamicValue
	if err == nil {
		packed, err = tfprotov6.NewDynamicValue(r.fields.Type(), item)
	}
	if err != nil {
		addMistake(diags, "An answer of the service cannot be shown", err)
		return
	}
	r.packed = append(r.packed, packed.MsgPack)
	if len(r.packed) == longList {
		limitGrowth(growthWithLongLists)
	}
}

// save makes the results the list of that name in the state, beside the
// arguments.
func (r *results) save(ctx context.Context, resp *datasource.ReadResponse, config tftypes.Value, name string) {
	none := tftypes.NewValue(tftypes.List{ElementType: r.fields.Type()}, []tftypes.Value{})
	resp.State.Raw = field.With(config, field.Values{name: none})
	if past, ok := ctx.Value(pastKey{}).(*results); ok {
		r.name = name
		*past = *r
	}
}

// listing is the framework's server, with the results of data sources put into
// its answers.
type listing struct{ frameworkServer }

// pastKey is of the results that are handed past the framework.
type pastKey struct{}

func (s listing) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	var past results
	resp, err := s.frameworkServer.ReadDataSource(context.WithValue(ctx, pastKey{}, &past), req)
	if err != nil || resp.State == nil || past.name == "" {
		return resp, err
	}
	resp.State.MsgPack, err = past.into(resp.State.MsgPack)
	return resp, err
}

// into puts the results in the place of the empty list in a packed state.
func (r *results) into(state []byte) ([]byte, error) {
	size := len(state) + 8
	for _, item := range r.packed {
		size += len(item)
	}
	all := bytes.NewBuffer(make([]byte, 0, size))
	in, out := msgpack.NewDecoder(bytes.NewReader(state)), msgpack.NewEncoder(all)
	attributes, err := in.DecodeMapLen()
	if err == nil {
		err = out.EncodeMapLen(attributes)
	}
	for ; err == nil && attributes > 0; attributes-- {
		err = r.copyAttribute(in, out, all)
	}
	return all.Bytes(), err
}

func (r *results) copyAttribute(in *msgpack.Decoder, out *msgpack.Encoder, all *bytes.Buffer) error {
	name, err := in.DecodeString()
	if err != nil {
		return err
	}
	value, err := in.DecodeRaw()
	if err != nil {
		return err
	}
	if err := out.EncodeString(name); err != nil {
		return err
	}
	if name != r.name {
		return out.Encode(value)
	}
	if err := out.EncodeArrayLen(len(r.packed)); err != nil {
		return err
	}
	for i, item := range r.packed {
		all.Write(item)
		r.packed[i] = nil
	}
	return nil
}
