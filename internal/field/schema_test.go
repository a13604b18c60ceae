package field

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestSchemas_typeOfTheDescription(t *testing.T) {
	t.Parallel()
	for name, fs := range map[string]Fields{"deployment": deployment, "every kind": allKinds} {
		if got := fs.AttrType().TerraformType(t.Context()); !got.Equal(fs.Type()) {
			t.Errorf("%s: AttrType is %s", name, got)
		}
		of := resource.Schema{Attributes: fs.ResourceAttributes()}
		if got := of.Type().TerraformType(t.Context()); !got.Equal(fs.Type()) {
			t.Errorf("%s: resource schema is %s", name, got)
		}
		if diags := of.ValidateImplementation(t.Context()); diags.HasError() {
			t.Errorf("%s: resource schema: %s", name, diags)
		}
		shown := datasource.Schema{Attributes: fs.DataSourceAttributes()}
		if got := shown.Type().TerraformType(t.Context()); !got.Equal(fs.Type()) {
			t.Errorf("%s: data source schema is %s", name, got)
		}
		if diags := shown.ValidateImplementation(t.Context()); diags.HasError() {
			t.Errorf("%s: data source schema: %s", name, diags)
		}
		assertBools(t, fs, fs.attributes(ofResource), fs.attributes(ofDataSource))
	}
}

func assertBools(t *testing.T, fs Fields, inResource, inDataSource map[string]resource.Attribute) {
	t.Helper()
	plain := func(k Kind) attr.Type {
		switch k.(type) {
		case String, UUID, Time, JSON:
			return types.StringType
		case Int64, Float64:
			return types.NumberType
		case Bool:
			return types.BoolType
		default:
			return nil
		}
	}
	if len(inResource) != len(fs) || len(inDataSource) != len(fs) {
		t.Fatalf("%d and %d attributes for %d fields", len(inResource), len(inDataSource), len(fs))
	}
	for _, f := range fs {
		set, shown := inResource[f.Name], inDataSource[f.Name]
		required, computed := f.Access == Required, f.Access != Required
		optional := f.Access == Optional || f.Access == OptionalComputed
		if set.IsRequired() != required || set.IsOptional() != optional || set.IsComputed() != computed || set.IsSensitive() {
			t.Errorf("%s of a resource: required %t, optional %t, computed %t", f.Name, set.IsRequired(), set.IsOptional(),
				set.IsComputed())
		}
		if shown.IsRequired() || shown.IsOptional() || !shown.IsComputed() {
			t.Errorf("%s of a data source is not just computed", f.Name)
		}
		if want := plain(f.Kind); want != nil && (!set.GetType().Equal(want) || !shown.GetType().Equal(want)) {
			t.Errorf("%s is of type %s and %s, want %s", f.Name, set.GetType(), shown.GetType(), want)
		}
		if is[List](f) {
			want := types.ListType{ElemType: plain(kind[List](f).Of)}
			if !set.GetType().Equal(want) || !shown.GetType().Equal(want) {
				t.Errorf("%s is of type %s and %s, want %s", f.Name, set.GetType(), shown.GetType(), want)
			}
		}
		switch set := set.(type) {
		case resource.SingleNestedAttribute:
			assertBools(t, f.Fields(), set.Attributes, shown.(resource.SingleNestedAttribute).Attributes)
		case resource.ListNestedAttribute:
			assertBools(t, f.Fields(), set.NestedObject.Attributes, shown.(resource.ListNestedAttribute).NestedObject.Attributes)
		}
	}
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field                Field
		resource, dataSource string
	}{
		"plain": {Field{Kind: String{}, Description: "A."}, "A.", "A."},
		"JSON": {Field{Kind: JSON{}, Description: "A."}, "A. A JSON object, written with `jsonencode`.",
			"A. A JSON object."},
		"list of JSON": {
			Field{Kind: List{Of: JSON{}}, Description: "A."}, "A. Each item is a JSON object, written with `jsonencode`.",
			"A. Each item is a JSON object.",
		},
		"usage": {Field{Kind: String{}, Description: "A.", Usage: "B."}, "A. B.", "A."},
		"enum": {Field{Kind: String{OneOf: []string{"x", "y"}}, Description: "A."},
			"A. Valid values are `x` and `y`.", "A."},
		"enum, listed": {
			Field{Kind: String{OneOf: []string{"x", "y"}}, Description: "A. Valid values are `x`."}, "A. Valid values are `x`.",
			"A. Valid values are `x`.",
		},
		"immutable": {Field{Kind: String{Immutable: true}, Description: "A."},
			"A. Changing this forces a new resource.", "A."},
		"both of these": {
			Field{Kind: String{Immutable: true, OneOf: []string{"x"}}, Description: "A."},
			"A. Valid values are `x`. Changing this forces a new resource.", "A.",
		},
	} {
		c.field.Name = "v"
		if got := (Fields{c.field}).ResourceAttributes()["v"].GetMarkdownDescription(); got != c.resource {
			t.Errorf("%s in a resource: %q", name, got)
		}
		if got := (Fields{c.field}).DataSourceAttributes()["v"].GetMarkdownDescription(); got != c.dataSource {
			t.Errorf("%s in a data source: %q", name, got)
		}
	}
	for _, f := range allKinds {
		f.Description = "What it is."
		if got := (Fields{f}).ResourceAttributes()[f.Name].GetMarkdownDescription(); !strings.HasPrefix(got, "What it is.") {
			t.Errorf("%s is described by %q", f.Name, got)
		}
	}
}

func TestImmutableFields_replace(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "name", Kind: String{Immutable: true}}, {Name: "other", Kind: String{}}}
	attributes := fs.ResourceAttributes()
	if modifiers := attributes["other"].(resource.StringAttribute).PlanModifiers; len(modifiers) > 0 {
		t.Errorf("modifiers of another: %v", modifiers)
	}
	modifiers := attributes["name"].(resource.StringAttribute).PlanModifiers
	if len(modifiers) != 1 {
		t.Fatalf("modifiers: %v", modifiers)
	}
	raw := decoded(t, fs, object{"name": "a"})
	for name, c := range map[string]struct {
		planned  types.String
		replaces bool
	}{"same": {types.StringValue("a"), false}, "changed": {types.StringValue("b"), true},
		"unknown": {types.StringUnknown(), false}} {
		var resp planmodifier.StringResponse
		modifiers[0].PlanModifyString(t.Context(), planmodifier.StringRequest{Path: path.Root("name"), PlanValue: c.planned,
			ConfigValue: c.planned, StateValue: types.StringValue("a"), State: tfsdk.State{Raw: raw},
			Plan: tfsdk.Plan{Raw: raw}}, &resp)
		if resp.RequiresReplace != c.replaces {
			t.Errorf("%s: replaces %t", name, resp.RequiresReplace)
		}
	}
}

func TestStringValidators(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind     Kind
		value    types.String
		rejected bool
	}{
		"empty":                      {String{}, types.StringValue(""), false},
		"UUID":                       {UUID{}, types.StringValue(ExampleUUID), false},
		"no UUID":                    {UUID{}, types.StringValue("x"), true},
		"empty where it must not be": {String{NotEmpty: true}, types.StringValue(""), true},
		"not empty":                  {String{NotEmpty: true}, types.StringValue("x"), false},
		"one of the valid values":    {String{OneOf: []string{"x"}}, types.StringValue("x"), false},
		"none of the valid values":   {String{OneOf: []string{"x"}}, types.StringValue("X"), true},
		"unknown":                    {String{OneOf: []string{"x"}, NotEmpty: true}, types.StringUnknown(), false},
		"JSON object":                {JSON{}, types.StringValue(" \n{\"a\": 1}"), false},
		"JSON list":                  {JSON{}, types.StringValue("[]"), true},
		"JSON string":                {JSON{}, types.StringValue(`"{}"`), true},
		"JSON null":                  {JSON{}, types.StringValue("null"), true},
		"invalid JSON":               {JSON{}, types.StringValue("{"), true},
		"JSON of a huge number":      {JSON{}, types.StringValue(`{"a": 1e9999}`), true},
		"JSON of a tiny number":      {JSON{}, types.StringValue(`{"a": [1e-9999]}`), true},
		"more after JSON":            {JSON{}, types.StringValue(`{} x`), true},
		"JSON unknown":               {JSON{}, types.StringUnknown(), false},
		"JSON null value":            {JSON{}, types.StringNull(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rejected := false
			attributes := Fields{{Name: "v", Kind: c.kind}}.ResourceAttributes()
			for _, v := range attributes["v"].(resource.StringAttribute).Validators {
				if v.Description(t.Context()) == "" || v.MarkdownDescription(t.Context()) == "" {
					t.Errorf("%T has no description", v)
				}
				var resp validator.StringResponse
				v.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("v"), ConfigValue: c.value}, &resp)
				rejected = rejected || resp.Diagnostics.HasError()
			}
			if rejected != c.rejected {
				t.Errorf("rejected: %t", rejected)
			}
		})
	}
}

func TestListValidators(t *testing.T) {
	t.Parallel()
	stringsOf := func(values ...attr.Value) types.List { return types.ListValueMust(types.StringType, values) }
	for name, c := range map[string]struct {
		field    Field
		value    types.List
		rejected bool
	}{
		"strings":            {Field{Kind: List{Of: String{}}}, stringsOf(types.StringValue("x")), false},
		"null among strings": {Field{Kind: List{Of: String{}}}, stringsOf(types.StringNull()), true},
		"JSON objects":       {Field{Kind: List{Of: JSON{}}}, stringsOf(types.StringValue("{}")), false},
		"JSON list among them": {Field{Kind: List{Of: JSON{}}}, stringsOf(types.StringValue("{}"), types.StringValue("[]")),
			true},
		"no UUID among UUIDs":  {Field{Kind: List{Of: UUID{}}}, stringsOf(types.StringValue("x")), true},
		"null among objects":   {Field{Kind: ObjectList{}}, stringsOf(types.StringNull()), true},
		"list that is unknown": {Field{Kind: List{Of: JSON{}}}, types.ListUnknown(types.StringType), false},
	} {
		var validators []validator.List
		c.field.Name = "v"
		switch a := (Fields{c.field}).ResourceAttributes()["v"].(type) {
		case resource.ListAttribute:
			validators = a.Validators
		case resource.ListNestedAttribute:
			validators = a.Validators
		}
		rejected := false
		for _, v := range validators {
			var resp validator.ListResponse
			v.ValidateList(t.Context(), validator.ListRequest{Path: path.Root("v"), ConfigValue: c.value}, &resp)
			rejected = rejected || resp.Diagnostics.HasError()
		}
		if rejected != c.rejected {
			t.Errorf("%s: rejected: %t", name, rejected)
		}
	}
	var resp validator.MapResponse
	attributes := Fields{{Name: "v", Kind: StringMap{}}}.ResourceAttributes()
	for _, v := range attributes["v"].(resource.MapAttribute).Validators {
		v.ValidateMap(t.Context(), validator.MapRequest{Path: path.Root("v"),
			ConfigValue: types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringNull()})}, &resp)
	}
	if !resp.Diagnostics.HasError() {
		t.Error("null in a map is not rejected")
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for want, values := range map[string][]string{"``": nil, "`a`": {"a"}, "`a` and `b`": {"a", "b"},
		"`a`, `b` and `c`": {"a", "b", "c"}} {
		if got := Quoted(values); got != want {
			t.Errorf("%v: %s", values, got)
		}
	}
}
