package field

import (
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Each check says what is wrong and where, and lets pass what is right, and
// what is not known yet.
func TestChecks(t *testing.T) {
	t.Parallel()
	at := path.Root("a").AtListIndex(1).AtName("b")
	ofText := func(v validator.String) func(attr.Value) diag.Diagnostics {
		return func(value attr.Value) diag.Diagnostics {
			var resp validator.StringResponse
			v.ValidateString(t.Context(), validator.StringRequest{Path: at, ConfigValue: value.(types.String)}, &resp)
			return resp.Diagnostics
		}
	}
	ofNumber := func(v validator.Number) func(attr.Value) diag.Diagnostics {
		return func(value attr.Value) diag.Diagnostics {
			var resp validator.NumberResponse
			v.ValidateNumber(t.Context(), validator.NumberRequest{Path: at, ConfigValue: value.(types.Number)}, &resp)
			return resp.Diagnostics
		}
	}
	nulls := func(value attr.Value) diag.Diagnostics {
		switch value := value.(type) {
		case types.List:
			var resp validator.ListResponse
			NoNulls().ValidateList(t.Context(), validator.ListRequest{Path: at, ConfigValue: value}, &resp)
			return resp.Diagnostics
		case types.Set:
			var resp validator.SetResponse
			NoNulls().ValidateSet(t.Context(), validator.SetRequest{Path: at, ConfigValue: value}, &resp)
			return resp.Diagnostics
		default:
			var resp validator.MapResponse
			NoNulls().ValidateMap(t.Context(), validator.MapRequest{Path: at, ConfigValue: value.(types.Map)}, &resp)
			return resp.Diagnostics
		}
	}
	names := func(value attr.Value) diag.Diagnostics {
		var resp validator.MapResponse
		Named().ValidateMap(t.Context(), validator.MapRequest{Path: at, ConfigValue: value.(types.Map)}, &resp)
		return resp.Diagnostics
	}
	text, null := types.StringValue, types.StringNull()
	number := func(digits string) types.Number {
		f, _, err := big.ParseFloat(digits, 10, numberPrecision, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		return types.NumberValue(f)
	}
	list := func(items ...attr.Value) types.List { return types.ListValueMust(types.StringType, items) }
	set := func(items ...attr.Value) types.Set { return types.SetValueMust(types.StringType, items) }
	mapOf := func(members map[string]attr.Value) types.Map { return types.MapValueMust(types.StringType, members) }
	for name, c := range map[string]struct {
		check func(attr.Value) diag.Diagnostics
		value attr.Value
		want  string // in the detail; "" when nothing is wrong
	}{
		"one of":                {ofText(OneOf("x", "y")), text("x"), ""},
		"none of":               {ofText(OneOf("x", "y")), text("z"), `a[1].b is "z". It can be one of: x, y.`},
		"one of; null":          {ofText(OneOf("x")), null, ""},
		"one of; unknown":       {ofText(OneOf("x")), types.StringUnknown(), ""},
		"empty":                 {ofText(NotEmpty()), text(""), "a[1].b is empty"},
		"not empty":             {ofText(NotEmpty()), text(" "), ""},
		"duration":              {ofText(Duration()), text("1h30m"), ""},
		"no time at all":        {ofText(Duration()), text("0s"), ""},
		"less than no time":     {ofText(Duration()), text("-1s"), `a[1].b is "-1s"`},
		"duration without unit": {ofText(Duration()), text("30"), `a[1].b is "30"`},
		"UUID":                  {ofText(UUIDText()), text(ExampleUUID), ""},
		"no UUID":               {ofText(UUIDText()), text("x"), `a[1].b is "x"`},
		"JSON":                  {ofText(JSONObject()), text(`{"a": 1e9999}`), ""},
		"no JSON":               {ofText(JSONObject()), text(`{"planted`), "a[1].b has to be a JSON object"},
		"JSON list":             {ofText(JSONObject()), text("[]"), "a[1].b is a list"},
		"JSON text":             {ofText(JSONObject()), text(`"planted"`), "a[1].b is a text"},
		"JSON number":           {ofText(JSONObject()), text("1"), "a[1].b is a number"},
		"JSON boolean":          {ofText(JSONObject()), text("true"), "a[1].b is a boolean"},
		"JSON null":             {ofText(JSONObject()), text("null"), "a[1].b is null"},
		"whole":                 {ofNumber(WholeNumber()), number("2048.0"), ""},
		"whole; unknown":        {ofNumber(WholeNumber()), types.NumberUnknown(), ""},
		"whole; null":           {ofNumber(WholeNumber()), types.NumberNull(), ""},
		"fraction":              {ofNumber(WholeNumber()), number("1.5"), "a[1].b is 1.5"},
		"largest":               {ofNumber(WholeNumber()), number("9223372036854775807"), ""},
		"too large":             {ofNumber(WholeNumber()), number("9223372036854775808"), "a[1].b is 9.223372037e+18"},
		"within bounds":         {ofNumber(WholeBetween(0, 100)), number("100"), ""},
		"above bounds":          {ofNumber(WholeBetween(0, 100)), number("101"), "a[1].b is 101. It can be from 0 to 100."},
		"below bounds":          {ofNumber(WholeBetween(0, 100)), number("-1"), "a[1].b is -1"},
		"far above bounds":      {ofNumber(WholeBetween(0, 100)), number("1e30"), "It can be from 0 to 100."},
		"list":                  {nulls, list(text("")), ""},
		"list with null":        {nulls, list(text("x"), null), "a[1].b[1] holds null"},
		"list; unknown":         {nulls, types.ListUnknown(types.StringType), ""},
		"set with null":         {nulls, set(text("x"), null), "a[1].b holds null"},
		"map with null":         {nulls, mapOf(map[string]attr.Value{"x": null}), `a[1].b["x"] holds null`},
		"map with an unknown":   {nulls, mapOf(map[string]attr.Value{"x": types.StringUnknown()}), ""},
		"map with names":        {names, mapOf(map[string]attr.Value{"x": null}), ""},
		"map without a name":    {names, mapOf(map[string]attr.Value{"": text("planted")}), "a[1].b has a member whose name is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diags := c.check(c.value)
			switch {
			case c.want == "":
				if len(diags) > 0 {
					t.Errorf("refused: %v", diags)
				}
			case len(diags) != 1 || !strings.Contains(diags[0].Detail(), c.want) || strings.Contains(diags[0].Detail(), "planted"):
				t.Errorf("told %v, want one that says %q", diags, c.want)
			}
		})
	}
}

func TestUUIDIsCheckedAtPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value types.String
		valid bool
	}{
		"usual form":        {types.StringValue("123e4567-e89b-12d3-a456-426614174000"), true},
		"capitals":          {types.StringValue("123E4567-E89B-12D3-A456-426614174000"), true},
		"nil UUID":          {types.StringValue("00000000-0000-0000-0000-000000000000"), true},
		"null":              {types.StringNull(), true},
		"not known":         {types.StringUnknown(), true},
		"empty":             {types.StringValue(""), false},
		"without hyphens":   {types.StringValue("123e4567e89b12d3a456426614174000"), false},
		"in braces":         {types.StringValue("{123e4567-e89b-12d3-a456-426614174000}"), false},
		"as a URN":          {types.StringValue("urn:uuid:123e4567-e89b-12d3-a456-426614174000"), false},
		"one digit short":   {types.StringValue("123e4567-e89b-12d3-a456-42661417400"), false},
		"not hexadecimal":   {types.StringValue("123e4567-e89b-12d3-a456-42661417400g"), false},
		"hyphens elsewhere": {types.StringValue("123e45678-e89-12d3-a456-426614174000"), false},
		"with a space":      {types.StringValue("123e4567-e89b-12d3-a456-426614174000 "), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var resp validator.StringResponse
			UUIDText().ValidateString(t.Context(), validator.StringRequest{Path: path.Root("id"), ConfigValue: c.value}, &resp)
			if resp.Diagnostics.HasError() == c.valid {
				t.Errorf("diagnostics: %s", resp.Diagnostics)
			}
			for _, d := range resp.Diagnostics {
				if !strings.Contains(d.Detail(), c.value.String()) {
					t.Errorf("%q does not name %s", d.Detail(), c.value)
				}
			}
		})
	}
}
