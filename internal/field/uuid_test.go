package field

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func uuidOf(s string) UUIDValue { return UUIDValue{StringValue: types.StringValue(s)} }

func TestUUIDIsCheckedAtPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value UUIDValue
		valid bool
	}{
		"usual form":        {uuidOf("123e4567-e89b-12d3-a456-426614174000"), true},
		"capitals":          {uuidOf("123E4567-E89B-12D3-A456-426614174000"), true},
		"nil UUID":          {uuidOf("00000000-0000-0000-0000-000000000000"), true},
		"null":              {UUIDValue{StringValue: types.StringNull()}, true},
		"not known":         {UUIDValue{StringValue: types.StringUnknown()}, true},
		"empty":             {uuidOf(""), false},
		"without hyphens":   {uuidOf("123e4567e89b12d3a456426614174000"), false},
		"in braces":         {uuidOf("{123e4567-e89b-12d3-a456-426614174000}"), false},
		"as a URN":          {uuidOf("urn:uuid:123e4567-e89b-12d3-a456-426614174000"), false},
		"one digit short":   {uuidOf("123e4567-e89b-12d3-a456-42661417400"), false},
		"not hexadecimal":   {uuidOf("123e4567-e89b-12d3-a456-42661417400g"), false},
		"hyphens elsewhere": {uuidOf("123e45678-e89-12d3-a456-426614174000"), false},
		"with a space":      {uuidOf("123e4567-e89b-12d3-a456-426614174000 "), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var resp xattr.ValidateAttributeResponse
			c.value.ValidateAttribute(t.Context(), xattr.ValidateAttributeRequest{Path: path.Root("id")}, &resp)
			if resp.Diagnostics.HasError() == c.valid {
				t.Errorf("diagnostics: %s", resp.Diagnostics)
			}
			var item validator.StringResponse
			UUIDValidator().ValidateString(t.Context(), validator.StringRequest{Path: path.Root("ids"), ConfigValue: c.value.StringValue}, &item)
			if item.Diagnostics.HasError() == c.valid {
				t.Errorf("as an item: %s", item.Diagnostics)
			}
			for _, d := range resp.Diagnostics {
				if !strings.Contains(d.Detail(), c.value.String()) {
					t.Errorf("%q does not name %s", d.Detail(), c.value)
				}
			}
		})
	}
}

func TestUUIDEqualsWhateverItsCase(t *testing.T) {
	t.Parallel()
	lower, upper, other := uuidOf(uuids[1]), uuidOf(strings.ToUpper(uuids[1])), uuidOf(uuids[0])
	for name, c := range map[string]struct {
		a    UUIDValue
		b    basetypes.StringValuable
		same bool
	}{
		"itself":        {lower, lower, true},
		"capitals":      {lower, upper, true},
		"another":       {lower, other, false},
		"text, no UUID": {lower, types.StringValue(uuids[1]), false},
	} {
		if same, diags := c.a.StringSemanticEquals(t.Context(), c.b); same != c.same || diags.HasError() {
			t.Errorf("%s: same %t, %s", name, same, diags)
		}
	}
	if lower.Equal(upper) || !lower.Equal(uuidOf(uuids[1])) || lower.Equal(types.StringValue(uuids[1])) {
		t.Error("Equal is not of letters and type")
	}
}

func TestUUIDTypeMakesUUIDs(t *testing.T) {
	t.Parallel()
	typ := UUIDType{}
	if !typ.Equal(UUIDType{}) || typ.Equal(types.StringType) || typ.String() != "field.UUIDType" {
		t.Errorf("%s is not itself", typ)
	}
	if _, ok := typ.ValueType(t.Context()).(UUIDValue); !ok || !uuidOf("").Type(t.Context()).Equal(typ) {
		t.Error("type and value are not of each other")
	}
	for name, in := range map[string]tftypes.Value{"value": str(uuids[0]), "null": tftypes.NewValue(tftypes.String, nil), "not known": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)} {
		v, err := typ.ValueFromTerraform(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		back, err := v.ToTerraformValue(t.Context())
		if _, ok := v.(UUIDValue); !ok || err != nil || !back.Equal(in) {
			t.Errorf("%s: %s came back as %s, %v", name, in, back, err)
		}
	}
	if _, err := typ.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.Bool, true)); err == nil {
		t.Error("a flag passes for a UUID")
	}
	if v, diags := typ.ValueFromString(t.Context(), types.StringValue(uuids[0])); diags.HasError() || !v.Equal(uuidOf(uuids[0])) {
		t.Errorf("%s, %s", v, diags)
	}
}
