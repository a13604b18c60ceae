package field

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestCodec_roundTrip(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"string":                    `{"string":"<é&>\n"}`,
		"empty string":              `{"string":""}`,
		"uuid":                      `{"uuid":"123E4567-e89b-12d3-a456-426614174000"}`,
		"time":                      `{"time":"2025-01-02T03:04:05Z"}`,
		"zero":                      `{"int64":0,"float64":0,"bool":false}`,
		"least and most":            `{"int64":-9223372036854775808,"float64":1.7976931348623157e+308}`,
		"most and least":            `{"int64":9223372036854775807,"float64":5e-324}`,
		"true":                      `{"bool":true}`,
		"JSON with HTML characters": `{"json":{"a":"<&>","b":[1,1.50,1e3,null,{}],"c":12345678901234567890.0}}`,
		"empty JSON":                `{"json":{}}`,
		"map":                       `{"map":{"":"","a":"1"}}`,
		"empty map":                 `{"map":{}}`,
		"lists":                     `{"strings":["a",""],"uuids":["x"],"times":["y"],"jsons":[{"a":1},{}]}`,
		"empty lists":               `{"strings":[],"uuids":[],"times":[],"jsons":[],"keyed":[]}`,
		"empty object":              `{"object_config":{}}`,
		"nested empty object":       `{"object_config":{"inner":{}}}`,
		"nested":                    `{"object_config":{"inner":{"string":"a"},"ref":"b"}}`,
		"items":                     `{"keyed":[{"name":"a","inner":[{"at":"b"}]},{}]}`,
		"nothing":                   `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertRoundTrip(t, allKinds, readObject(t, text))
		})
	}
}

func readObject(t testing.TB, text string) object {
	t.Helper()
	tree, err := ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tree.(object)
}

// assertRoundTrip decodes and encodes a tree: nothing is lost or changed.
func assertRoundTrip(t testing.TB, fs Fields, tree object) {
	t.Helper()
	v, err := fs.Decode(tree)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Type().Equal(fs.Type()) || !v.IsFullyKnown() {
		t.Errorf("%s decodes to %s", jsonOf(tree), v)
	}
	back := fs.Encode(v)
	if !reflect.DeepEqual(back, tree) {
		t.Errorf("%s came back as %s", jsonOf(tree), jsonOf(back))
	}
}

func TestDecode_otherForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tree, want string }{
		"null and absent members":         {`{"string":null,"other":1}`, `{}`},
		"integer with a fraction of zero": {`{"int64":2048.0}`, `{"int64":2048}`},
		"integer with an exponent":        {`{"int64":2.048e3}`, `{"int64":2048}`},
		"label that is not a string": {
			`{"map":{"a":8080,"b":true,"c":{"d":[1.50]}}}`, `{"map":{"a":"8080","b":"true","c":"{\"d\":[1.50]}"}}`,
		},
		"label that is null":                 {`{"map":{"a":"1","b":null}}`, `{"map":{"a":"1"}}`},
		"unknown members of an item":         {`{"keyed":[{"name":"a","other":1}]}`, `{"keyed":[{"name":"a"}]}`},
		"fraction that is not representable": {`{"float64":0.10000000000000000001}`, `{"float64":0.1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := jsonOf(allKinds.Encode(decoded(t, allKinds, readObject(t, c.tree)))); got != c.want {
				t.Errorf("got %s; want %s", got, c.want)
			}
		})
	}
}

func TestDecode_mismatch(t *testing.T) {
	t.Parallel()
	fits := func(f Field) []any {
		switch f.Kind.(type) {
		case String, UUID, Time:
			return []any{"text"}
		case Bool:
			return []any{true}
		case Int64, Float64:
			return []any{json.Number("1")}
		case StringMap, Object:
			return []any{object{}, object{"a": object{}}}
		default:
			return []any{[]any{}}
		}
	}
	odd := []any{"text", json.Number("1"), true, []any{}, []any{true}, object{}, object{"a": object{}}}
	for _, f := range allKinds {
		if is[JSON](f) {
			continue
		}
		for _, value := range odd {
			_, err := allKinds.Decode(object{f.Name: value})
			fit := slices.ContainsFunc(fits(f), func(v any) bool { return reflect.DeepEqual(v, value) })
			switch {
			case fit != (err == nil) && !is[JSON](f.item()):
				t.Errorf("%s of %v: error is %v", f.Name, value, err)
			case err != nil && !strings.HasPrefix(err.Error(), f.wire()):
				t.Errorf("%s of %v: the error names another attribute: %v", f.Name, value, err)
			}
		}
	}
	for _, tree := range []object{{"int64": json.Number("1e99999999999")},
		{"object_config": object{"inner": object{"string": true}}}, {"keyed": []any{object{"name": true}}}} {
		if _, err := allKinds.Decode(tree); err == nil {
			t.Errorf("%v: no error", tree)
		}
	}
}

// TestCheck_namesTheMember verifies that an error names the member at its place, and shows no text.
func TestCheck_namesTheMember(t *testing.T) {
	t.Parallel()
	number := func(text string) json.Number { return json.Number(text) }
	for name, c := range map[string]struct {
		tree object
		want string
	}{
		"fraction":         {object{"int64": number("1.5")}, "int64 is 1.5, not an integer of at most 64 bits"},
		"text for integer": {object{"int64": "hush"}, "int64 is a string, not an integer of at most 64 bits"},
		"huge exponent": {object{"int64": number("1e999999999")},
			"int64 is 1e999999999, not an integer of at most 64 bits"},
		"tiny exponent": {object{"int64": number("1e-999999999")},
			"int64 is 1e-999999999, not an integer of at most 64 bits"},
		"zero": {object{"int64": number("0e-999999999"), "float64": number("-0.0")}, ""},
		"endless number": {object{"int64": number(strings.Repeat("7", 5000))},
			"int64 is a number, not an integer of at most 64 bits"},
		"beyond 64 bits": {object{"int64": number("9223372036854775808")},
			"int64 is 9223372036854775808, not an integer of at most 64 bits"},
		"integer as float": {object{"int64": number("2048.0")}, ""},
		"with an exponent": {object{"int64": number("2.048e3")}, ""},
		"huge float": {object{"float64": number("1e400")},
			"float64 is 1e400, not a number in the range of a 64-bit float"},
		"object for integer": {object{"int64": object{"hush": true}},
			"int64 is an object, not an integer of at most 64 bits"},
		"number for text":  {object{"string": number("5")}, "string is a number, not a string"},
		"text for boolean": {object{"bool": "hush"}, "bool is a string, not a boolean"},
		"list for object":  {object{"object_config": []any{"hush"}}, "object_config is a list, not an object"},
		"in an object": {object{"object_config": object{"inner": object{"string": true}}},
			"object_config.inner.string is a boolean, not a string"},
		"in an item": {object{"keyed": []any{object{}, object{"name": true}}},
			"keyed.name is a boolean, not a string"},
		"huge number in JSON": {object{"json": object{"a": []any{object{"b": number("1e5000000")}}}},
			"json.a.b is 1e5000000, not a number in the range of a 64-bit float"},
		"tiny number in JSON": {object{"json": object{"a": number("1e-5000000")}},
			"json.a is 1e-5000000, not a number in the range of a 64-bit float"},
		"huge number in a map": {object{"map": object{"a": number("1e400")}},
			"map.a is 1e400, not a number in the range of a 64-bit float"},
		"huge number in an item": {object{"jsons": []any{number("1e400")}},
			"jsons is 1e400, not a number in the range of a 64-bit float"},
		"item": {object{"keyed": []any{"hush"}}, "keyed is a string, not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			if err := allKinds.Check(c.tree); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if _, err := allKinds.Decode(c.tree); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("Decode reports %v, Check %q", err, got)
			}
		})
	}
}

// TestCheck_undescribedMembers: what no field describes is read, too.
func TestCheck_undescribedMembers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"new":{"a":[1,2]},"object_config":{"new":1e300}}`: "",
		`{"new":{"a":[1e400]}}`:                             "new.a is 1e400, not a number in the range of a 64-bit float",
		`{"object_config":{"inner":{"new":1e-400}}}`: "object_config.inner.new is 1e-400, not a number in the range " +
			"of a 64-bit float",
		`{"UUID":"x"}`:            "uuid is in the response with other capital letters, not with exactly this name",
		`{"uuid":"x","Uuid":"x"}`: "uuid is in the response with other capital letters, not with exactly this name",
		`{"object_config":{"Ref":"x"}}`: "object_config.ref is in the response with other capital letters, not with " +
			"exactly this name",
		`{"keyed":[{"Json":1}]}`: "keyed.json is in the response with other capital letters, not with " +
			"exactly this name",
		`{"json":{"UUID":1,"uuid":1}}`: "",
	} {
		var got string
		if err := allKinds.Check(readObject(t, text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestEncode_unknown(t *testing.T) {
	t.Parallel()
	v := With(decoded(t, allKinds, object{"string": "a", "map": object{"a": "1"}}), Values{
		"int64": tftypes.NewValue(tftypes.Number, tftypes.UnknownValue),
		"map": tftypes.NewValue(tftypes.Map{ElementType: tftypes.String},
			Values{"a": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}),
	})
	got := allKinds.Encode(v)
	if want := (object{"string": "a", "int64": Unknown, "map": object{"a": Unknown}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
}

func TestEncode_stringThatIsNotJSONCountsAsItsText(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "v", Kind: JSON{}}}
	if got := fs.Encode(tftypes.NewValue(fs.Type(), Values{"v": str("{")})); !reflect.DeepEqual(got, object{"v": "{"}) {
		t.Errorf("got %v", got)
	}
}

// Terraform reads a number with a precision of 512 bits, and compares it so with
// that of the service.
func TestDecode_numbersEqualThoseOfConfigurations(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "v", Kind: Float64{}}}
	for _, number := range []string{"0.1", "0.2", "0.25", "0.3333333333333333", "1e-7", "1e21", "2048"} {
		if v := decoded(t, fs, object{"v": json.Number(number)}); !at(v, "v").Equal(num(number)) {
			t.Errorf("%s decodes to %s", number, v)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "a", Kind: String{}}, {Name: "o", Kind: Object{Fields: Fields{{Name: "a", Kind: String{}}}}},
		{Name: "l", Kind: ObjectList{Fields: Fields{{Name: "a", Kind: String{}}, {Name: "b_c", Wire: "bC", Kind: String{}}}}}}
	for name, c := range map[string]struct{ tree, undescribed, described string }{
		"nothing": {
			`{"a":"x","o":{"a":"x"},"l":[{"a":"x","bC":"x"}]}`, `null`, `{"a":"x","l":[{"a":"x","bC":"x"}],"o":{"a":"x"}}`,
		},
		"member":              {`{"a":"x","new":1}`, `{"new":1}`, `{"a":"x"}`},
		"member of an object": {`{"o":{"a":"x","new":1}}`, `{"o":{"new":1}}`, `{"o":{"a":"x"}}`},
		"member of an item": {
			`{"l":[{"a":"x"},{"bC":"x","new":1},null]}`, `{"l":[{},{"new":1},{}]}`, `{"l":[{"a":"x"},{"bC":"x"},null]}`,
		},
		"another type":         {`{"a":{"b":1},"o":[1],"l":{"c":1}}`, `null`, `{"a":{"b":1},"l":{"c":1},"o":[1]}`},
		"null beside it":       {`{"o":{"new":1,"a":null,"more":null}}`, `{"o":{"new":1}}`, `{"o":{"a":null}}`},
		"HCL name is not wire": {`{"l":[{"b_c":1}]}`, `{"l":[{"b_c":1}]}`, `{"l":[{}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			described, rest := fs.Split(readObject(t, c.tree))
			if got := jsonOf(rest); got != c.undescribed {
				t.Errorf("undescribed is %s, want %s", got, c.undescribed)
			}
			if got := jsonOf(described); got != c.described {
				t.Errorf("described is %s, want %s", got, c.described)
			}
		})
	}
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tree object
		want string
	}{
		"nothing known":       {object{"new": 1, "source_config": object{"new": object{"cpu": 1}}}, ""},
		"attribute":           {object{"name": "x", "new": 1}, "name"},
		"another case":        {object{"ID": "x", "Source_Config": object{"new": 1}}, "id source_config"},
		"read-only attribute": {object{"id": "x"}, "id"},
		"nested attributes": {
			object{"source_config": object{"build_on_push": true, "resource_spec": object{"cpu": 1}}},
			"source_config.build_on_push source_config.resource_spec.cpu",
		},
		"no object where one must": {object{"source_config": nil}, "source_config"},
		"list":                     {object{"secret_references": []any{}}, "secret_references"},
	} {
		paths := slices.Sorted(maps.Keys(deployment.Conflicts(c.tree)))
		if got := strings.Join(paths, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	spec := path.Root("source_config").AtName("resource_spec")
	sidecar := spec.AtName("sidecars").AtListIndex(0)
	volume := spec.AtName("volumes").AtListIndex(0)
	within := func(loc ...any) []any { return append([]any{"source_config", "resource_spec"}, loc...) }
	for name, c := range map[string]struct {
		loc  []any
		want path.Path
		ok   bool
	}{
		"attribute":            {[]any{"name"}, path.Root("name"), true},
		"nested attribute":     {within("memory_mb"), spec.AtName("memory_mb"), true},
		"item":                 {[]any{"secret_references", 1}, path.Root("secret_references").AtListIndex(1), true},
		"attribute of an item": {within("sidecars", 0, "envFrom"), sidecar.AtName("env_from"), true},
		"nested item": {
			within("sidecars", 0, "env", 2, "value"), sidecar.AtName("env").AtListIndex(2).AtName("value"), true,
		},
		"item of a list of strings": {within("sidecars", 0, "command", 3), sidecar.AtName("command").AtListIndex(3),
			true},
		"beyond an item of a list": {within("sidecars", 0, "command", 3, "x"), sidecar.AtName("command").AtListIndex(3),
			true},
		"name in JSON":                   {within("volumes", 0, "configMap"), volume.AtName("config_map"), true},
		"name in HCL":                    {within("volumes", 0, "config_map"), volume, true},
		"member of JSON":                 {within("volumes", 0, "configMap", "items", 0), volume.AtName("config_map"), true},
		"label":                          {within("labels", "a.b/c"), spec.AtName("labels").AtMapKey("a.b/c"), true},
		"index in a map":                 {within("labels", 0), spec.AtName("labels"), true},
		"unknown member at the root":     {[]any{"nonsense"}, path.Empty(), false},
		"unknown member within":          {[]any{"source_config", "nonsense", "more"}, path.Root("source_config"), true},
		"index of an object":             {[]any{"source_config", 1}, path.Root("source_config"), true},
		"index at the root":              {[]any{0}, path.Empty(), false},
		"name in a list":                 {[]any{"secret_references", "name"}, path.Root("secret_references"), true},
		"below a string":                 {[]any{"name", "x"}, path.Root("name"), true},
		"empty location":                 {nil, path.Empty(), false},
		"step that is no name, no index": {[]any{"name", 1.5}, path.Root("name"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := deployment.Path(c.loc)
			if got.String() != c.want.String() || ok != c.ok {
				t.Errorf("%v is at %s, %t; want %s, %t", c.loc, got, ok, c.want, c.ok)
			}
		})
	}
}
