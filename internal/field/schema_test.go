package field

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestSchemasHaveTheTypeOfTheDescription(t *testing.T) {
	t.Parallel()
	for name, fs := range map[string]Fields{"deployment": deployment, "every kind": kinds} {
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
		assertFlags(t, fs, fs.ResourceAttributes(), fs.DataSourceAttributes())
	}
}

// attribute is what the attributes of both kinds of schema have in common.
type attribute interface {
	GetType() attr.Type
	IsRequired() bool
	IsOptional() bool
	IsComputed() bool
	IsSensitive() bool
}

func assertFlags(t *testing.T, fs Fields, inResource map[string]resource.Attribute, inDataSource map[string]datasource.Attribute) {
	t.Helper()
	plain := map[Kind]attr.Type{UUID: types.StringType, Time: types.StringType, JSON: types.StringType, Text: types.StringType, Whole: types.NumberType, Number: types.NumberType, Flag: types.BoolType}
	if len(inResource) != len(fs) || len(inDataSource) != len(fs) {
		t.Fatalf("%d and %d attributes for %d fields", len(inResource), len(inDataSource), len(fs))
	}
	for _, f := range fs {
		var set, shown attribute = inResource[f.Name], inDataSource[f.Name]
		required, optional, computed := f.Access == Required, f.Access == Shared, f.Access != Required
		if set.IsRequired() != required || set.IsOptional() != optional || set.IsComputed() != computed || set.IsSensitive() {
			t.Errorf("%s of a resource: required %t, optional %t, computed %t", f.Name, set.IsRequired(), set.IsOptional(), set.IsComputed())
		}
		if shown.IsRequired() || shown.IsOptional() || !shown.IsComputed() {
			t.Errorf("%s of a data source is not just computed", f.Name)
		}
		if want := plain[f.Kind]; want != nil && (!set.GetType().Equal(want) || !shown.GetType().Equal(want)) {
			t.Errorf("%s is of type %s and %s, want %s", f.Name, set.GetType(), shown.GetType(), want)
		}
		if f.Kind == List {
			if want := (types.ListType{ElemType: plain[f.Elem]}); !set.GetType().Equal(want) || !shown.GetType().Equal(want) {
				t.Errorf("%s is of type %s and %s, want %s", f.Name, set.GetType(), shown.GetType(), want)
			}
		}
		switch set := set.(type) {
		case resource.SingleNestedAttribute:
			assertFlags(t, f.Fields, set.Attributes, shown.(datasource.SingleNestedAttribute).Attributes)
		case resource.ListNestedAttribute:
			assertFlags(t, f.Fields, set.NestedObject.Attributes, shown.(datasource.ListNestedAttribute).NestedObject.Attributes)
		}
	}
}

func TestDescriptionsSayWhatFollows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field           Field
		resource, shown string
	}{
		"plain":         {Field{Doc: "A."}, "A.", "A."},
		"JSON":          {Field{Kind: JSON, Doc: "A."}, "A. A JSON object, written with `jsonencode`.", "A. A JSON object, written with `jsonencode`."},
		"list of JSON":  {Field{Kind: List, Elem: JSON, Doc: "A."}, "A. Each item is a JSON object, written with `jsonencode`.", "A. Each item is a JSON object, written with `jsonencode`."},
		"one of a few":  {Field{Doc: "A.", OneOf: []string{"x", "y"}}, "A. One of `x`, `y`.", "A."},
		"immutable":     {Field{Doc: "A.", Immutable: true}, "A. A change replaces the deployment.", "A."},
		"both of these": {Field{Doc: "A.", Immutable: true, OneOf: []string{"x"}}, "A. One of `x`. A change replaces the deployment.", "A."},
	} {
		c.field.Name = "v"
		if got := (Fields{c.field}).ResourceAttributes()["v"].GetMarkdownDescription(); got != c.resource {
			t.Errorf("%s in a resource: %q", name, got)
		}
		if got := (Fields{c.field}).DataSourceAttributes()["v"].GetMarkdownDescription(); got != c.shown {
			t.Errorf("%s in a data source: %q", name, got)
		}
	}
	for _, f := range kinds {
		f.Doc = "What it is."
		if got := f.resourceAttribute().GetMarkdownDescription(); !strings.HasPrefix(got, "What it is.") {
			t.Errorf("%s is described by %q", f.Name, got)
		}
	}
}

func TestImmutableFieldsReplace(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "name", Immutable: true}, {Name: "other"}}
	of := fs.ResourceAttributes()
	if modifiers := of["name"].(resource.StringAttribute).PlanModifiers; len(modifiers) != 1 || !strings.Contains(modifiers[0].Description(t.Context()), "destroy and recreate") {
		t.Errorf("modifiers of an immutable field: %v", modifiers)
	}
	if modifiers := of["other"].(resource.StringAttribute).PlanModifiers; len(modifiers) > 0 {
		t.Errorf("modifiers of another: %v", modifiers)
	}
}

func TestValidatorsOfTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field   Field
		value   types.String
		refused bool
	}{
		"empty, which may be":     {Field{}, types.StringValue(""), false},
		"empty, which may not be": {Field{NotEmpty: true}, types.StringValue(""), true},
		"not empty":               {Field{NotEmpty: true}, types.StringValue("x"), false},
		"one of a few":            {Field{OneOf: []string{"x"}}, types.StringValue("x"), false},
		"none of a few":           {Field{OneOf: []string{"x"}}, types.StringValue("X"), true},
		"not known":               {Field{OneOf: []string{"x"}, NotEmpty: true}, types.StringUnknown(), false},
		"JSON object":             {Field{Kind: JSON}, types.StringValue(" \n{\"a\": 1}"), false},
		"JSON list":               {Field{Kind: JSON}, types.StringValue("[]"), true},
		"JSON text":               {Field{Kind: JSON}, types.StringValue(`"{}"`), true},
		"JSON null":               {Field{Kind: JSON}, types.StringValue("null"), true},
		"no JSON":                 {Field{Kind: JSON}, types.StringValue("{"), true},
		"JSON of a huge number":   {Field{Kind: JSON}, types.StringValue(`{"a": 1e9999}`), false},
		"JSON not known":          {Field{Kind: JSON}, types.StringUnknown(), false},
		"JSON left out":           {Field{Kind: JSON}, types.StringNull(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.field.Name = "v"
			refused := false
			for _, v := range (Fields{c.field}).ResourceAttributes()["v"].(resource.StringAttribute).Validators {
				if v.Description(t.Context()) == "" || v.MarkdownDescription(t.Context()) == "" {
					t.Errorf("%T does not say what it wants", v)
				}
				var resp validator.StringResponse
				v.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("v"), ConfigValue: c.value}, &resp)
				refused = refused || resp.Diagnostics.HasError()
			}
			if refused != c.refused {
				t.Errorf("refused: %t", refused)
			}
		})
	}
}

func TestValidatorsOfLists(t *testing.T) {
	t.Parallel()
	texts := func(values ...attr.Value) types.List { return types.ListValueMust(types.StringType, values) }
	for name, c := range map[string]struct {
		field   Field
		value   types.List
		refused bool
	}{
		"texts":                  {Field{Kind: List}, texts(types.StringValue("x")), false},
		"null among texts":       {Field{Kind: List}, texts(types.StringNull()), true},
		"JSON objects":           {Field{Kind: List, Elem: JSON}, texts(types.StringValue("{}")), false},
		"JSON list among them":   {Field{Kind: List, Elem: JSON}, texts(types.StringValue("{}"), types.StringValue("[]")), true},
		"null among objects":     {Field{Kind: Objects}, texts(types.StringNull()), true},
		"list that is not known": {Field{Kind: List, Elem: JSON}, types.ListUnknown(types.StringType), false},
	} {
		var validators []validator.List
		c.field.Name = "v"
		switch a := (Fields{c.field}).ResourceAttributes()["v"].(type) {
		case resource.ListAttribute:
			validators = a.Validators
		case resource.ListNestedAttribute:
			validators = a.Validators
		}
		refused := false
		for _, v := range validators {
			var resp validator.ListResponse
			v.ValidateList(t.Context(), validator.ListRequest{Path: path.Root("v"), ConfigValue: c.value}, &resp)
			refused = refused || resp.Diagnostics.HasError()
		}
		if refused != c.refused {
			t.Errorf("%s: refused: %t", name, refused)
		}
	}
	var resp validator.MapResponse
	for _, v := range (Fields{{Name: "v", Kind: TextMap}}).ResourceAttributes()["v"].(resource.MapAttribute).Validators {
		v.ValidateMap(t.Context(), validator.MapRequest{Path: path.Root("v"), ConfigValue: types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringNull()})}, &resp)
	}
	if !resp.Diagnostics.HasError() {
		t.Error("null in a map is not refused")
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for want, got := range map[string]Fields{"a c": fs.Without("b"), "a b c": fs.Without("d"), "": fs.Without("a", "b", "c")} {
		var names []string
		for _, f := range got {
			names = append(names, f.Name)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("got %v, want %s", names, want)
		}
	}
	if len(fs) != 3 || fs[1].Name != "b" {
		t.Errorf("the original is now %v", fs)
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	nested := Fields{{Name: "a", Kind: Flag}}
	for name, c := range map[string]struct {
		field Field
		want  tftypes.Type
	}{
		"text":         {Field{Kind: Text}, tftypes.String},
		"UUID":         {Field{Kind: UUID}, tftypes.String},
		"time":         {Field{Kind: Time}, tftypes.String},
		"JSON":         {Field{Kind: JSON}, tftypes.String},
		"whole":        {Field{Kind: Whole}, tftypes.Number},
		"number":       {Field{Kind: Number}, tftypes.Number},
		"flag":         {Field{Kind: Flag}, tftypes.Bool},
		"map":          {Field{Kind: TextMap}, tftypes.Map{ElementType: tftypes.String}},
		"list":         {Field{Kind: List, Elem: JSON}, tftypes.List{ElementType: tftypes.String}},
		"object":       {Field{Kind: Object, Fields: nested}, tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": tftypes.Bool}}},
		"several ones": {Field{Kind: Objects, Fields: nested}, tftypes.List{ElementType: tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": tftypes.Bool}}}},
	} {
		if got := c.field.Type(); !got.Equal(c.want) {
			t.Errorf("%s is of type %s", name, got)
		}
	}
}

func TestValuesOfAnotherTypeReadAsNothing(t *testing.T) {
	t.Parallel()
	flag := tftypes.NewValue(tftypes.Bool, true)
	for _, v := range []tftypes.Value{{}, flag, tftypes.NewValue(tftypes.String, nil), tftypes.NewValue(tftypes.String, tftypes.UnknownValue)} {
		if text(v) != "" || number(v).Sign() != 0 || len(members(v)) > 0 || len(items(v)) > 0 {
			t.Errorf("%s reads as something", v)
		}
	}
	if !reflect.DeepEqual(Quoted([]string{"a", "b"}), "`a`, `b`") {
		t.Error(Quoted([]string{"a", "b"}))
	}
}
