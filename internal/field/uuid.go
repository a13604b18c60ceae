package field

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ExampleUUID shows in messages what a UUID looks like.
const ExampleUUID = "123e4567-e89b-12d3-a456-426614174000"

// IsUUID reports whether s is a UUID in the usual form of 36 characters.
func IsUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// UUIDType is the attribute type of a UUID: checked at plan, equal whatever
// the case of its letters.
type UUIDType struct{ basetypes.StringType }

var _ basetypes.StringTypable = UUIDType{}

// Equal reports whether o is a UUIDType too.
func (t UUIDType) Equal(o attr.Type) bool {
	_, ok := o.(UUIDType)
	return ok
}

// String names the type.
func (t UUIDType) String() string { return "field.UUIDType" }

// ValueType returns the zero value of the type.
func (t UUIDType) ValueType(context.Context) attr.Value { return UUIDValue{} }

// ValueFromString makes a UUID of a string value.
func (t UUIDType) ValueFromString(_ context.Context, in basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return UUIDValue{StringValue: in}, nil
}

// ValueFromTerraform makes a UUID of what Terraform sends.
func (t UUIDType) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	value, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, err
	}
	text, ok := value.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("a %T is no string", value)
	}
	return UUIDValue{StringValue: text}, nil
}

// UUIDValue is a UUID, null or unknown.
type UUIDValue struct{ basetypes.StringValue }

var (
	_ basetypes.StringValuableWithSemanticEquals = UUIDValue{}
	_ xattr.ValidateableAttribute                = UUIDValue{}
)

// Type returns UUIDType.
func (v UUIDValue) Type(context.Context) attr.Type { return UUIDType{} }

// Equal reports whether o is the same UUID in the same letters.
func (v UUIDValue) Equal(o attr.Value) bool {
	other, ok := o.(UUIDValue)
	return ok && v.StringValue.Equal(other.StringValue)
}

// StringSemanticEquals reports whether o is the same UUID, whatever its case.
func (v UUIDValue) StringSemanticEquals(_ context.Context, o basetypes.StringValuable) (bool, diag.Diagnostics) {
	other, ok := o.(UUIDValue)
	return ok && strings.EqualFold(v.ValueString(), other.ValueString()), nil
}

// ValidateAttribute refuses what is not a UUID, at the attribute.
func (v UUIDValue) ValidateAttribute(_ context.Context, req xattr.ValidateAttributeRequest, resp *xattr.ValidateAttributeResponse) {
	uuidCheck.check(v.StringValue, req.Path, &resp.Diagnostics)
}
