package field

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Each validator reports what is wrong and where, and accepts valid, null and
// unknown values.
func TestValidators(t *testing.T) {
	t.Parallel()
	at := path.Root("a").AtListIndex(1).AtName("b")
	ofString := func(v validator.String) func(attr.Value) diag.Diagnostics {
		return func(value attr.Value) diag.Diagnostics {
			var resp validator.StringResponse
			v.ValidateString(t.Context(), validator.StringRequest{Path: at, ConfigValue: value.(types.String)}, &resp)
			return resp.Diagnostics
		}
	}
	inSet := func(value attr.Value) diag.Diagnostics {
		var resp validator.StringResponse
		NoCommas().ValidateString(t.Context(),
			validator.StringRequest{Path: at.AtSetValue(value), ConfigValue: value.(types.String)}, &resp)
		return resp.Diagnostics
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
		validate func(attr.Value) diag.Diagnostics
		value    attr.Value
		want     string // the detail; "" when the value is valid
	}{
		"one of":           {ofString(OneOf("x", "y")), text("x"), ""},
		"none of":          {ofString(OneOf("x", "y")), text("z"), `a[1].b must be one of: x, y; got "z".`},
		"one of; null":     {ofString(OneOf("x")), null, ""},
		"one of; unknown":  {ofString(OneOf("x")), types.StringUnknown(), ""},
		"empty":            {ofString(NotEmpty()), text(""), "a[1].b must not be empty."},
		"not empty":        {ofString(NotEmpty()), text(" "), ""},
		"duration":         {ofString(Duration()), text("1h30m"), ""},
		"duration of zero": {ofString(Duration()), text("0s"), ""},
		"negative duration": {ofString(Duration()), text("-1s"),
			`a[1].b must be a duration such as 45s, 30m or 1h30m, and not negative; got "-1s".`},
		"duration without unit": {ofString(Duration()), text("30"),
			`a[1].b must be a duration such as 45s, 30m or 1h30m, and not negative; got "30".`},
		"UUID":    {ofString(UUIDString()), text(ExampleUUID), ""},
		"no UUID": {ofString(UUIDString()), text("x"), `a[1].b must be a UUID such as ` + ExampleUUID + `; got "x".`},
		"JSON":    {ofString(JSONObject()), text(`{"a": 1e300}`), ""},
		"JSON with a huge number": {
			ofString(JSONObject()), text(`{"a": 1e9999}`), "a[1].b must not contain a number outside the range of a " +
				"64-bit float.",
		},
		"no JSON": {
			ofString(JSONObject()), text(`{"planted`), "a[1].b must be a JSON object. Write it with jsonencode({ … }).",
		},
		"two JSON objects": {
			ofString(JSONObject()), text(`{}{"planted": 1}`), "a[1].b must be a JSON object. Write it with jsonencode({ … }).",
		},
		"JSON list": {
			ofString(JSONObject()), text("[]"), "a[1].b must be a JSON object. Write it with jsonencode({ … }).",
		},
		"JSON string": {
			ofString(JSONObject()), text(`"planted"`), "a[1].b must be a JSON object. Write it with jsonencode({ … }).",
		},
		"JSON number": {
			ofString(JSONObject()), text("1"), "a[1].b must be a JSON object. Write it with jsonencode({ … }).",
		},
		"JSON boolean": {
			ofString(JSONObject()), text("true"), "a[1].b must be a JSON object. Write it with jsonencode({ … }).",
		},
		"JSON null": {
			ofString(JSONObject()), text("null"), "a[1].b must be a JSON object. Write it with jsonencode({ … }).",
		},
		"comma": {
			ofString(NoCommas()), text("a,b"), `a[1].b must not contain a value with a comma: write "a,b" as separate values.`,
		},
		"comma in a set": {inSet, text("a,b"),
			`a[1].b must not contain a value with a comma: write "a,b" as separate values.`},
		"no comma":         {ofString(NoCommas()), text("a"), ""},
		"integer":          {ofNumber(Integer(math.MinInt64, math.MaxInt64)), number("2048.0"), ""},
		"integer; unknown": {ofNumber(Integer(math.MinInt64, math.MaxInt64)), types.NumberUnknown(), ""},
		"integer; null":    {ofNumber(Integer(math.MinInt64, math.MaxInt64)), types.NumberNull(), ""},
		"fraction": {ofNumber(Integer(math.MinInt64, math.MaxInt64)), number("1.5"),
			"a[1].b must be an integer, got 1.5."},
		"largest": {ofNumber(Integer(math.MinInt64, math.MaxInt64)), number("9223372036854775807"), ""},
		"too large": {
			ofNumber(Integer(math.MinInt64, math.MaxInt64)), number("9223372036854775808"),
			"a[1].b must be at most 9223372036854775807, got 9223372036854775808.",
		},
		"fraction of a float": {ofNumber(Float()), number("0.1"), ""},
		"zero":                {ofNumber(Float()), number("0"), ""},
		"overflow": {ofNumber(Float()), number("-1e400"),
			"a[1].b must be in the range of a 64-bit float, got -1e+400."},
		"underflow": {ofNumber(Float()), number("1e-400"),
			"a[1].b must be in the range of a 64-bit float, got 1e-400."},
		"within bounds":       {ofNumber(Integer(0, 100)), number("100"), ""},
		"above bounds":        {ofNumber(Integer(0, 100)), number("101"), "a[1].b must be at most 100, got 101."},
		"below bounds":        {ofNumber(Integer(0, 100)), number("-1"), "a[1].b must be at least 0, got -1."},
		"far above bounds":    {ofNumber(Integer(0, 100)), number("1e30"), "a[1].b must be at most 100, got 1e+30."},
		"list":                {nulls, list(text("")), ""},
		"list with null":      {nulls, list(text("x"), null), "a[1].b[1] must not be null."},
		"list; unknown":       {nulls, types.ListUnknown(types.StringType), ""},
		"set with null":       {nulls, set(text("x"), null), "a[1].b must not contain null."},
		"map with null":       {nulls, mapOf(map[string]attr.Value{"x": null}), `a[1].b["x"] must not be null.`},
		"map with an unknown": {nulls, mapOf(map[string]attr.Value{"x": types.StringUnknown()}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switch diags := c.validate(c.value); {
			case c.want == "" && len(diags) > 0:
				t.Errorf("rejected: %v", diags)
			case c.want != "" && (len(diags) != 1 || diags[0].Detail() != c.want):
				t.Errorf("reported %v, want %q", diags, c.want)
			}
		})
	}
}

func TestUUIDString(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value types.String
		valid bool
	}{
		"usual form":        {types.StringValue("123e4567-e89b-12d3-a456-426614174000"), true},
		"upper case":        {types.StringValue("123E4567-E89B-12D3-A456-426614174000"), true},
		"nil UUID":          {types.StringValue("00000000-0000-0000-0000-000000000000"), true},
		"null":              {types.StringNull(), true},
		"unknown":           {types.StringUnknown(), true},
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
			UUIDString().ValidateString(t.Context(), validator.StringRequest{Path: path.Root("id"), ConfigValue: c.value}, &resp)
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
