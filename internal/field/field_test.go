package field

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestWithout(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "a", Kind: String{}}, {Name: "b", Kind: String{}}, {Name: "c", Kind: String{}}}
	for want, got := range map[string]Fields{"a c": fs.Without("b"), "a b c": fs.Without("d"),
		"": fs.Without("a", "b", "c")} {
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

func TestByName(t *testing.T) {
	t.Parallel()
	if f, ok := mountFields.ByName("mount_path"); !ok || f.Wire != "mountPath" {
		t.Errorf("got %v, %t", f, ok)
	}
	if f, ok := mountFields.ByName("mountPath"); ok {
		t.Errorf("got %v", f)
	}
}

func TestType(t *testing.T) {
	t.Parallel()
	nested := Fields{{Name: "a", Kind: Bool{}}}
	inner := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": tftypes.Bool}}
	for name, c := range map[string]struct {
		field Field
		want  tftypes.Type
	}{
		"string":      {Field{Kind: String{}}, tftypes.String},
		"UUID":        {Field{Kind: UUID{}}, tftypes.String},
		"time":        {Field{Kind: Time{}}, tftypes.String},
		"JSON":        {Field{Kind: JSON{}}, tftypes.String},
		"int64":       {Field{Kind: Int64{}}, tftypes.Number},
		"float64":     {Field{Kind: Float64{}}, tftypes.Number},
		"bool":        {Field{Kind: Bool{}}, tftypes.Bool},
		"map":         {Field{Kind: StringMap{}}, tftypes.Map{ElementType: tftypes.String}},
		"list":        {Field{Kind: List{Of: JSON{}}}, tftypes.List{ElementType: tftypes.String}},
		"object":      {Field{Kind: Object{Fields: nested}}, inner},
		"object list": {Field{Kind: ObjectList{Fields: nested}}, tftypes.List{ElementType: inner}},
		"no fields":   {Field{Kind: Object{}}, tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}},
	} {
		if got := c.field.Kind.Type(); !got.Equal(c.want) {
			t.Errorf("%s has type %s", name, got)
		}
	}
}

func TestWith_keepsTheRestAndTheOriginal(t *testing.T) {
	t.Parallel()
	original := decoded(t, Fields{{Name: "a", Kind: String{}}, {Name: "b", Kind: String{}}}, object{"a": "1", "b": "2"})
	before := original.Copy()
	if got := With(original, Values{"a": str("3")}); !at(got, "a").Equal(str("3")) || !at(got, "b").Equal(str("2")) {
		t.Errorf("got %s", got)
	}
	if !original.Equal(before) {
		t.Errorf("the original is now %s", original)
	}
}

func TestValuesOfAnotherTypeReadAsZero(t *testing.T) {
	t.Parallel()
	for _, v := range []tftypes.Value{{}, tftypes.NewValue(tftypes.Bool, true), tftypes.NewValue(tftypes.String, nil),
		tftypes.NewValue(tftypes.String, tftypes.UnknownValue)} {
		if Text(v) != "" || len(Members(v)) > 0 || len(Items(v)) > 0 {
			t.Errorf("%s reads as a value", v)
		}
	}
}
