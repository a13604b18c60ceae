package provider

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// described are the descriptions and the client types that they are of.
var described = map[string]struct {
	fields field.Fields
	of     reflect.Type
	but    []string // not part of the description
}{
	"deployment":     {deploymentFields, reflect.TypeFor[client.Deployment](), []string{"secrets"}},
	"repository":     {repositoryFields, reflect.TypeFor[client.Repository](), nil},
	"OAuth provider": {oauthProviderFields, reflect.TypeFor[client.OAuthProvider](), nil},
}

// TestDescriptions_fitTheClient verifies that the client reads what is described,
// under the same name and in a type that fits the kind, and nothing else.
func TestDescriptions_fitTheClient(t *testing.T) {
	t.Parallel()
	for name, d := range described {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertFit(t, name, d.fields, d.of, d.but...)
		})
	}
}

func assertFit(t *testing.T, at string, fields field.Fields, of reflect.Type, but ...string) {
	t.Helper()
	byWire := map[string]field.Field{}
	for _, f := range fields {
		wire := f.Wire
		if wire == "" {
			wire = f.Name
		}
		if _, twice := byWire[wire]; twice {
			t.Errorf("%s: %s is described twice", at, wire)
		}
		byWire[wire] = f
	}
	for i := range of.NumField() {
		wire, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if wire == "-" {
			continue // the complete response
		}
		f, found := byWire[wire]
		delete(byWire, wire)
		switch {
		case wire == "":
			t.Errorf("%s: the client's %s has no name on the wire", at, of.Field(i).Name)
		case slices.Contains(but, wire):
		case !found:
			t.Errorf("%s: the client's %s is not described", at, wire)
		default:
			assertKind(t, at+"."+f.Name, f, of.Field(i).Type)
		}
	}
	for wire := range byWire {
		t.Errorf("%s: %s is described, but the client does not have it", at, wire)
	}
}

func assertKind(t *testing.T, at string, f field.Field, typ reflect.Type) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	fits := false
	switch f.Kind {
	case field.String, field.UUID, field.Time:
		fits = typ.Kind() == reflect.String
	case field.Int64:
		fits = typ == reflect.TypeFor[client.Int64]()
	case field.Float64:
		fits = typ.Kind() == reflect.Float64
	case field.Bool:
		fits = typ.Kind() == reflect.Bool
	case field.JSON:
		fits = typ == reflect.TypeFor[json.RawMessage]()
	case field.StringMap:
		fits = typ == reflect.TypeFor[client.StringMap]()
	case field.List:
		fits = typ == reflect.TypeFor[[]string]() && f.Elem == field.String || typ == reflect.TypeFor[[]json.RawMessage]() && f.Elem == field.JSON
	case field.Object:
		if fits = typ.Kind() == reflect.Struct; fits {
			assertFit(t, at, f.Fields, typ)
		}
	case field.ObjectList:
		if fits = typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct; fits {
			assertFit(t, at, f.Fields, typ.Elem())
		}
	}
	if !fits {
		t.Errorf("%s: kind %d does not fit the client's %s", at, f.Kind, typ)
	}
}

// TestDescriptions_areValid verifies what package field and Terraform require.
func TestDescriptions_areValid(t *testing.T) {
	t.Parallel()
	for name, d := range described {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertValid(t, name, d.fields)
		})
	}
}

func assertValid(t *testing.T, at string, fields field.Fields) {
	t.Helper()
	byName := map[string]field.Field{}
	for _, f := range fields {
		byName[f.Name] = f
	}
	for _, f := range fields {
		here := at + "." + f.Name
		if f.Name != strings.ToLower(f.Name) || strings.Contains(f.Name, "-") {
			t.Errorf("%s is not in snake_case", here)
		}
		if !strings.HasSuffix(f.Description, ".") || strings.HasSuffix(f.Description, "..") {
			t.Errorf("%s: the description does not end with a period: %q", here, f.Description)
		}
		if (f.Kind == field.Object || f.Kind == field.ObjectList) != (len(f.Fields) > 0) {
			t.Errorf("%s: kind %d has %d fields", here, f.Kind, len(f.Fields))
		}
		if to, ok := byName[f.ResolvesTo]; f.ResolvesTo != "" && (!ok || to.Access != field.ReadOnly || to.Kind != f.Kind) {
			t.Errorf("%s resolves to %q, which is not a read-only sibling", here, f.ResolvesTo)
		}
		for _, key := range f.Key {
			if !slices.ContainsFunc(f.Fields, func(child field.Field) bool { return child.Name == key && child.Kind == field.String }) {
				t.Errorf("%s: the key %q is not a string of its items", here, key)
			}
		}
		assertValid(t, here, f.Fields)
	}
}

// TestDescriptions_namesAreThoseOfTheAPI verifies that the name of an attribute is
// the API's in snake_case.
func TestDescriptions_namesAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	var check func(fields field.Fields)
	check = func(fields field.Fields) {
		for _, f := range fields {
			if f.Wire != "" && !strings.EqualFold(f.Wire, strings.ReplaceAll(f.Name, "_", "")) {
				t.Errorf("%s is not %s in snake_case", f.Name, f.Wire)
			}
			check(f.Fields)
		}
	}
	for _, d := range described {
		check(d.fields)
	}
}

// TestDescriptions_completeResponseRoundTrips verifies that every field of a
// response survives the way to a Terraform value and back.
func TestDescriptions_completeResponseRoundTrips(t *testing.T) {
	t.Parallel()
	for name, d := range described {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full := reflect.New(d.of)
			fill(full.Elem())
			text, err := json.Marshal(full.Interface())
			if err != nil {
				t.Fatal(err)
			}
			v, err := d.fields.Decode(readTree(text))
			if err != nil {
				t.Fatal(err)
			}
			tree, err := d.fields.Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			back := reflect.New(d.of)
			if text, err = json.Marshal(tree); err == nil {
				err = strictUnmarshal(text, back.Interface())
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range d.of.NumField() {
				wire, _, _ := strings.Cut(d.of.Field(i).Tag.Get("json"), ",")
				if got, want := back.Elem().Field(i).Interface(), full.Elem().Field(i).Interface(); wire != "-" && !slices.Contains(d.but, wire) && !reflect.DeepEqual(got, want) {
					t.Errorf("%s came back as %#v", wire, got)
				}
			}
		})
	}
}

// fill sets everything in v to something.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":1}`))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case v.Kind() == reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"a": "b"}).Convert(v.Type()))
	case v.Kind() == reflect.String:
		v.SetString("a")
	case v.CanInt():
		v.SetInt(2)
	case v.CanFloat():
		v.SetFloat(0.1)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	}
}
