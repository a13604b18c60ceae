package field

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// configFields have one attribute of each sort; their object is at the root, as
// source_config is.
var configFields = Fields{
	{Name: "string", Kind: String{}},
	{Name: "int", Kind: Int64{}},
	{Name: "float", Kind: Float64{}},
	{Name: "bool", Kind: Bool{}},
	{Name: "uuid", Kind: UUID{}},
	{Name: "time", Kind: Time{}},
	{Name: "labels", Kind: StringMap{}},
	{Name: "json", Kind: JSON{}},
	{Name: "args", Kind: List{Of: String{}}},
	{Name: "env_from", Kind: List{Of: JSON{}}},
	{Name: "spec", Kind: Object{Fields: Fields{{Name: "a", Kind: String{}}, {Name: "b", Kind: Int64{}},
		{Name: "labels", Kind: StringMap{}}}}},
	{Name: "volumes", Kind: ObjectList{Key: []string{"name"},
		Fields: append(Fields{{Name: "size", Kind: Int64{}}, {Name: "json", Kind: JSON{}}}, volumeFields...)}},
	{Name: "mounts", Kind: ObjectList{Key: []string{"name", "mount_path"}, Fields: mountFields}},
	{Name: "env", Kind: ObjectList{Key: []string{"name"}, Ordered: true, Fields: Fields{
		{Name: "name", Kind: String{}}, {Name: "value", Kind: String{}, Exclusive: true},
		{Name: "value_from", Wire: "valueFrom", Kind: JSON{}, Exclusive: true},
	}}},
	{Name: "url", Kind: String{}, Access: OptionalComputed},
	{Name: "ref", Kind: String{ResolvesTo: "commit"}},
	{Name: "image", Kind: String{BuiltFor: "codehost"}, Access: OptionalComputed},
	{Name: "commit", Kind: String{}, Access: ReadOnly},
}

var resourceFields = Fields{{Name: "source_config", Kind: Object{Present: true, Fields: configFields}}}

// stage is a resource between two steps of its life; trees are those of
// source_config, written as JSON.
type stage struct {
	*testing.T
	source string
	state  tftypes.Value
	record Record
}

// config is a configuration of source_config; "" omits it.
func (s *stage) config(text string) tftypes.Value {
	s.Helper()
	if text == "" {
		return resourceValue(s.T, resourceFields, object{})
	}
	return resourceValue(s.T, resourceFields, object{"source_config": readObject(s, text)})
}

func (s *stage) live(text string) object {
	s.Helper()
	if text == "" {
		return object{}
	}
	return object{"source_config": readObject(s, text)}
}

// create applies a configuration to a service that takes it as it is, and adds
// nothing.
func (s *stage) create(config string) {
	s.Helper()
	s.state = tftypes.NewValue(resourceType(resourceFields), nil)
	s.apply(config, s.plan(config), config)
}

func (s *stage) plan(config string) tftypes.Value {
	s.Helper()
	planned := planOf(resourceFields, s.config(config), s.state, s.record)
	assertPlanValid(s, resourceFields, s.config(config), s.state, planned)
	return planned
}

// apply saves a plan, of which the service has made live.
func (s *stage) apply(config string, planned tftypes.Value, live string) {
	s.Helper()
	values, err := resourceFields.AfterApply(planned, s.live(live))
	if err != nil {
		s.Fatal(err)
	}
	s.state = With(planned, values)
	assertApplyValid(s, planned, s.state)
	s.record = resourceFields.Record(s.config(config), s.state)
}

func (s *stage) refresh(live string) {
	s.Helper()
	values, err := resourceFields.Refresh(s.state, s.live(live), s.source, s.record)
	if err != nil {
		s.Fatal(err)
	}
	s.state = With(s.state, values)
}

func (s *stage) importIt(live string) {
	s.Helper()
	s.state, s.record = s.config(""), nil
	s.refresh(live)
}

// compare compares the service with a plan.
func (s *stage) compare(config string, planned tftypes.Value, live string) Comparison {
	s.Helper()
	return s.change(config, planned).Compare(s.live(live))
}

func (s *stage) change(config string, planned tftypes.Value) *Change {
	s.Helper()
	return resourceFields.NewChange(s.config(config), planned, s.state, s.record, s.source)
}

// owned returns the values in the state that the last apply set, as JSON.
func (s *stage) owned() string {
	return jsonOf(resourceFields.owned(resourceFields.Encode(s.state), s.record)["source_config"])
}

// body returns the source_config that the PATCH of a comparison sends, as JSON; "" if it sends nothing.
func body(c Comparison) string {
	if len(c.Body) == 0 {
		return ""
	}
	return jsonOf(c.Body["source_config"])
}

// shown is source_config of a plan or state, as JSON; an unknown value is "?".
func shown(t testing.TB, v tftypes.Value) string {
	t.Helper()
	v, err := tftypes.Transform(v, func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if !v.IsKnown() && v.Type().Is(tftypes.String) {
			return str("?"), nil
		}
		return v, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return jsonOf(resourceFields.Encode(v)["source_config"])
}

// sorted is JSON with sorted members.
func sorted(t testing.TB, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	return jsonOf(readObject(t, text))
}

func differences(all []Difference) string {
	var names []string
	for _, d := range all {
		names = append(names, strings.TrimPrefix(d.String(), "source_config."))
	}
	return strings.Join(names, ", ")
}

// TestDrift has a service that reports something else than what was applied.
func TestDrift(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config, live string
		refreshed    string // "": no drift
		at           string // the difference
	}{
		"other string":   {`{"string":"x"}`, `{"string":"y"}`, `{"string":"y"}`, "string"},
		"other case":     {`{"string":"x"}`, `{"string":"X"}`, `{"string":"X"}`, "string"},
		"string removed": {`{"string":"x"}`, `{}`, `{}`, "string"},
		"number": {
			`{"int":9007199254740993}`, `{"int":9007199254740992}`, `{"int":9007199254740992}`, "int",
		},
		"null instead of zero":  {`{"int":0}`, `{"int":null}`, `{}`, "int"},
		"null instead of false": {`{"bool":false}`, `{}`, `{}`, "bool"},
		"other instant": {
			`{"time":"2025-01-02T03:04:05Z"}`, `{"time":"2025-01-02T03:04:05+01:00"}`, `{"time":"2025-01-02T03:04:05+01:00"}`,
			"time",
		},
		"invalid time": {
			`{"time":"2025-01-02T03:04:05Z"}`, `{"time":"yesterday"}`, `{"time":"yesterday"}`, "time",
		},
		"label changed": {
			`{"labels":{"a":"1","b":"2"}}`, `{"labels":{"a":"3","b":"2","c":"4"}}`, `{"labels":{"a":"3","b":"2"}}`,
			`labels["a"]`,
		},
		"label removed": {
			`{"labels":{"a":"1","b":"2"}}`, `{"labels":{"b":"2"}}`, `{"labels":{"b":"2"}}`, `labels["a"]`,
		},
		"labels removed": {`{"labels":{"a":"1"}}`, `{}`, `{}`, `labels["a"]`},
		"string that is JSON in another form": {
			`{"string":"{\"a\": [1]}"}`, `{"string":"{\"a\":[1.0]}"}`, `{"string":"{\"a\":[1.0]}"}`, "string",
		},
		"string that begins with JSON": {`{"string":"{}-blue"}`, `{"string":"{}-green"}`,
			`{"string":"{}-green"}`, "string"},
		"list of strings that begin with JSON": {`{"args":["[]-blue"]}`, `{"args":["[]-green"]}`,
			`{"args":["[]-green"]}`, "args"},
		"JSON member changed": {
			`{"json":{"a":{"b":1},"c":2}}`, `{"json":{"a":{"b":3,"d":4},"c":2,"e":5}}`, `{"json":{"a":{"b":3},"c":2}}`,
			"json (a.b)",
		},
		"JSON member with another type": {
			`{"json":{"a":{"b":1}}}`, `{"json":{"a":["b"]}}`, `{"json":{"a":["b"]}}`, "json (a)",
		},
		"JSON list reordered": {
			`{"json":{"a":[1,2]}}`, `{"json":{"a":[2,1]}}`, `{"json":{"a":[2,1]}}`, "json (a)",
		},
		"JSON list longer":             {`{"json":{"a":[1]}}`, `{"json":{"a":[1,2]}}`, `{"json":{"a":[1,2]}}`, "json (a)"},
		"list longer":                  {`{"args":["a"]}`, `{"args":["a","b"]}`, `{"args":["a","b"]}`, "args"},
		"list reordered":               {`{"args":["a","b"]}`, `{"args":["b","a"]}`, `{"args":["b","a"]}`, "args"},
		"empty item of a list changed": {`{"args":["a",""]}`, `{"args":["a","b"]}`, `{"args":["a","b"]}`, "args"},
		"JSON item of a list changed": {
			`{"env_from":[{"a":1}]}`, `{"env_from":[{"a":2,"b":3}]}`, `{"env_from":[{"a":2}]}`, "env_from[0] (a)",
		},
		"items where the configuration has []": {
			`{"volumes":[]}`, `{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"x"}]}`, "volumes (only in the service: x)",
		},
		"strings where the configuration has []": {`{"args":[]}`, `{"args":["x"]}`, `{"args":["x"]}`, "args"},
		"member of an object": {
			`{"spec":{"a":"x","b":1}}`, `{"spec":{"a":"y","b":1}}`, `{"spec":{"a":"y","b":1}}`, "spec.a",
		},
		"object removed": {`{"spec":{"a":"x"}}`, `{}`, `{"spec":{}}`, "spec.a"},
		"all removed":    {`{"spec":{"a":"x"}}`, ``, `{"spec":{}}`, "spec.a"},
		"item changed and moved": {
			`{"volumes":[{"name":"x","size":1},{"name":"y","size":1}]}`,
			`{"volumes":[{"name":"y","size":1},{"name":"x","size":2}]}`,
			`{"volumes":[{"name":"x","size":2},{"name":"y","size":1}]}`, "volumes[0].size",
		},
		"item renamed": {
			`{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"z"}]}`, `{"volumes":[{"name":"z"}]}`,
			"volumes (missing in the service: x; only in the service: z)",
		},
		"item added, last": {
			`{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"a"},{"name":"x"}]}`, `{"volumes":[{"name":"x"},{"name":"a"}]}`,
			"volumes (only in the service: a)",
		},
		"item removed": {
			`{"volumes":[{"name":"x"},{"name":"y"}]}`, `{"volumes":[{"name":"y"}]}`, `{"volumes":[{"name":"y"}]}`,
			"volumes (missing in the service: x)",
		},
		"items removed": {
			`{"volumes":[{"name":"x"}]}`, `{}`, `{"volumes":[]}`, "volumes (missing in the service: x)",
		},
		"mount at another path": {
			`{"mounts":[{"name":"x","mountPath":"/a"}]}`, `{"mounts":[{"name":"x","mountPath":"/b"}]}`,
			`{"mounts":[{"name":"x","mountPath":"/b"}]}`, "mounts (missing in the service: x /a; only in the service: x /b)",
		},
		"ordered items reordered": {
			`{"env":[{"name":"x"},{"name":"y"}]}`, `{"env":[{"name":"y"},{"name":"x"}]}`, `{"env":[{"name":"y"},{"name":"x"}]}`,
			"env (order)",
		},
		"duplicate item changed": {
			`{"volumes":[{"name":"x","size":1},{"name":"x","size":2}]}`,
			`{"volumes":[{"name":"x","size":1},{"name":"x","size":3}]}`,
			`{"volumes":[{"name":"x","size":1},{"name":"x","size":3}]}`, "volumes[1].size",
		},
		"duplicate item removed": {
			`{"volumes":[{"name":"x"},{"name":"x"}]}`, `{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"x"}]}`,
			"volumes (missing in the service: x, x; only in the service: x)",
		},
		"chosen value that was set": {`{"url":"a"}`, `{"url":"b"}`, `{"url":"b"}`, "url"},
		"other ref": {
			`{"ref":"main"}`, `{"ref":"develop","commit":"` + commitOne + `"}`, `{"commit":"` + commitOne + `","ref":"develop"}`,
			"ref",
		},
		"commit that the service does not explain": {
			`{"ref":"main"}`, `{"ref":"` + commitOne + `"}`, `{"ref":"` + commitOne + `"}`, "ref",
		},
		"other commit than the pinned one": {
			`{"ref":"` + commitOne + `"}`, `{"ref":"` + commitTwo + `","commit":"` + commitTwo + `"}`,
			`{"commit":"` + commitTwo + `","ref":"` + commitTwo + `"}`, "ref",
		},
		"image, not built": {`{"image":"a"}`, `{"image":"b"}`, `{"image":"b"}`, "image"},

		"UUID in another case": {
			`{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, `{"uuid":"ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"}`, "", "",
		},
		"time in another zone": {`{"time":"2025-01-02T03:04:05Z"}`, `{"time":"2025-01-02T04:04:05.000+01:00"}`, "",
			""},
		"integer with a fraction of zero": {`{"int":2048}`, `{"int":2048.0}`, "", ""},
		"shorter number":                  {`{"float":0.33333333333333333333333}`, `{"float":0.3333333333333333}`, "", ""},
		"name and value in another Unicode form": {
			`{"string":"\u00e9","labels":{"\u00e9":"\u00e9"},"volumes":[{"name":"\u00e9"}],` +
				`"json":{"\u00e9":{"\u00e9":"\u00e9"}}}`,
			`{"string":"e\u0301","labels":{"e\u0301":"e\u0301"},"volumes":[{"name":"e\u0301"}],` +
				`"json":{"e\u0301":{"e\u0301":"e\u0301"}}}`, "", "",
		},
		"null for an empty string":  {`{"string":""}`, `{"string":null}`, "", ""},
		"value for an empty string": {`{"string":""}`, `{"string":"x"}`, "", ""},
		"null for empty ones": {
			`{"labels":{},"json":{},"args":[],"volumes":[],"spec":{}}`, `{"labels":null,"json":null,"spec":null}`, "", "",
		},
		"empty for omitted ones": {`{}`, `{"labels":{},"json":{},"args":[],"volumes":[],"spec":{}}`, "", ""},
		"omitted ones filled in": {
			`{}`, `{"string":"x","int":1,"labels":{"a":"1"},"json":{"a":1},"args":["x"],"volumes":[{"name":"x"}],` +
				`"spec":{"a":"x"}}`,
			"", "",
		},
		"config object filled in": {``, `{"string":"x","labels":{"a":"1"}}`, "", ""},
		"members of an object filled in": {`{"spec":{"a":"x"}}`, `{"spec":{"a":"x","b":1,"labels":{"a":"1"},"new":1}}`, "",
			""},
		"empty object filled in": {`{"spec":{}}`, `{"spec":{"a":"x"}}`, "", ""},
		"labels added":           {`{"labels":{"a":"1"}}`, `{"labels":{"a":"1","b":"2"}}`, "", ""},
		"labels added to none":   {`{"labels":{}}`, `{"labels":{"b":"2"}}`, "", ""},
		"label that is a number": {`{"labels":{"a":"8080","b":"true"}}`, `{"labels":{"a":8080,"b":true}}`, "", ""},
		"empty label dropped":    {`{"labels":{"a":"1","b":""}}`, `{"labels":{"a":"1"}}`, "", ""},
		"JSON members added": {
			`{"json":{"a":{"b":1},"c":[{"d":1}]}}`, `{"json":{"a":{"b":1,"x":2},"c":[{"d":1.0,"y":3}],"z":4}}`, "", "",
		},
		"empty JSON members dropped":  {`{"json":{"a":[],"b":{"c":""},"d":1,"e":null}}`, `{"json":{"d":1}}`, "", ""},
		"JSON null filled in":         {`{"json":{"a":null}}`, `{"json":{"a":1}}`, "", ""},
		"members of JSON items added": {`{"env_from":[{"a":1}]}`, `{"env_from":[{"a":1,"b":2}]}`, "", ""},
		"members of items added": {
			`{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"x","size":1,"json":{"a":1},"new":2}]}`, "", "",
		},
		"items reordered": {
			`{"volumes":[{"name":"x","size":1},{"name":"y"}]}`, `{"volumes":[{"name":"y"},{"name":"x","size":1}]}`, "", "",
		},
		"mounts reordered": {
			`{"mounts":[{"name":"x","mountPath":"/a"},{"name":"x","mountPath":"/b","readOnly":true}]}`,
			`{"mounts":[{"name":"x","mountPath":"/b","readOnly":true},{"name":"x","mountPath":"/a"}]}`, "", "",
		},
		"nameless items filled in": {
			`{"volumes":[{"size":1},{"size":2}]}`, `{"volumes":[{"size":1,"json":{}},{"size":2}]}`, "", "",
		},
		"nameless items named": {
			`{"volumes":[{"size":1},{"size":2}]}`, `{"volumes":[{"size":1,"name":"x"},{"size":2,"name":"y"}]}`, "", "",
		},
		"path of a mount filled in": {`{"mounts":[{"name":"x"}]}`, `{"mounts":[{"name":"x","mountPath":"/x"}]}`, "", ""},
		"duplicate items": {
			`{"volumes":[{"name":"x","size":1},{"name":"x","size":2}]}`,
			`{"volumes":[{"name":"x","size":1},{"name":"x","size":2}]}`,
			"", "",
		},
		"ref resolved": {
			`{"ref":"main"}`, `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`,
			`{"commit":"` + commitOne + `","ref":"main"}`, "",
		},
		"ref kept, commit beside it": {
			`{"ref":"main"}`, `{"ref":"main","commit":"` + commitOne + `"}`, `{"commit":"` + commitOne + `","ref":"main"}`, "",
		},
		"pinned commit in another case": {
			`{"ref":"` + strings.ToUpper(commitTwo) + `"}`, `{"ref":"` + commitTwo + `","commit":"` + commitTwo + `"}`,
			`{"commit":"` + commitTwo + `","ref":"` + strings.ToUpper(commitTwo) + `"}`, "",
		},
		"omitted ref":                   {`{}`, `{"ref":"main"}`, "", ""},
		"chosen value that was omitted": {`{}`, `{"url":"b"}`, `{"url":"b"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.config)
			created := s.state
			s.refresh(c.live)
			want := c.refreshed
			if want == "" {
				want = shown(t, created)
			}
			if got := shown(t, s.state); got != sorted(t, want) {
				t.Errorf("refreshed to %s, want %s", got, want)
			}
			planned := s.plan(c.config)
			found := s.compare(c.config, planned, c.live)
			if got := differences(found.Set); got != c.at || len(found.Dropped) > 0 {
				t.Errorf("differences: %q and %q, want %q", got, differences(found.Dropped), c.at)
			}
			if (c.at == "") != planned.Equal(s.state) {
				t.Errorf("planned %s", diff(s.state, planned))
			}
			asked := resourceFields.Encode(s.config(c.config))
			if satisfied := resourceFields.Satisfies(s.live(c.live), asked, ""); satisfied != (c.at == "") {
				t.Errorf("satisfied: %t", satisfied)
			}
		})
	}
}

// TestDrift_builtImage: the image of a deployment from a repository is the
// service's, whatever was configured.
func TestDrift_builtImage(t *testing.T) {
	t.Parallel()
	s := &stage{T: t, source: "codehost"}
	s.create(`{"image":"a"}`)
	s.refresh(`{"image":"built:1"}`)
	if got := shown(t, s.state); got != `{"image":"a"}` {
		t.Errorf("refreshed to %s", got)
	}
	if found := s.compare(`{"image":"b"}`, s.plan(`{"image":"b"}`),
		`{"image":"built:1"}`); body(found) != `{"image":"b"}` {
		t.Errorf("a change sends %s", body(found))
	}
	// the built image is nothing that was set
	if found := s.compare(`{}`, s.plan(`{}`), `{"image":"built:1"}`); body(found) != "" {
		t.Errorf("a removal sends %s", body(found))
	}
}

// TestChange has a configuration that changes while the service has what was
// applied, and what others have added.
func TestChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, live, config string
		planned              string // "": as configured
		body                 string // "": nothing is sent
		set, dropped         string
	}{
		"set": {`{}`, `{}`, `{"string":"x"}`, "", `{"string":"x"}`, "string", ""},
		"set to what the service has": {
			`{}`, `{"string":"x","labels":{"a":"1","b":"2"},"spec":{"a":"x","b":1}}`,
			`{"string":"x","labels":{"a":"1"},"spec":{"a":"x"}}`, "", "", "", "",
		},
		"set to an empty string":           {`{}`, `{"string":"x"}`, `{"string":""}`, "", "", "", ""},
		"set to an empty map":              {`{}`, `{"labels":{"a":"1"}}`, `{"labels":{}}`, "", "", "", ""},
		"set to an empty list":             {`{}`, `{"args":["x"]}`, `{"args":[]}`, "", `{"args":[]}`, "args", ""},
		"set to an empty JSON object":      {`{}`, `{}`, `{"json":{}}`, "", `{"json":{}}`, "json", ""},
		"set to JSON that the service has": {`{}`, `{"json":{"a":1}}`, `{"json":{}}`, "", "", "", ""},
		"changed": {
			`{"string":"x","int":1}`, `{"string":"x","int":1}`, `{"string":"y","int":1}`, "", `{"string":"y"}`, "string", "",
		},
		"changed to what the service has": {`{"string":"x"}`, `{"string":"y"}`, `{"string":"y"}`, "", "", "", ""},
		"written in another form": {
			`{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, `{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`,
			`{"uuid":"ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"}`, `{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, "", "", "",
		},
		"member of a JSON item removed": {
			`{"env_from":[{"a":1,"b":1}]}`, `{"env_from":[{"a":1,"b":1,"x":9}]}`, `{"env_from":[{"a":1}]}`, "",
			`{"env_from":[{"a":1,"x":9}]}`, "", "env_from[0] (b)",
		},
		"member of a JSON item removed, and an item added": {
			`{"env_from":[{"a":1,"b":1}]}`, `{"env_from":[{"a":1,"b":1,"x":9}]}`, `{"env_from":[{"a":1},{"c":1}]}`, "",
			`{"env_from":[{"a":1},{"c":1}]}`, "env_from", "",
		},
		"member of a JSON item removed, and the items reordered": {
			`{"json":{"l":[{"a":1,"x":1},{"b":1}]}}`, `{"json":{"l":[{"a":1,"x":1},{"b":1,"y":9}]}}`,
			`{"json":{"l":[{"b":1},{"a":1}]}}`, "",
			`{"json":{"l":[{"b":1},{"a":1}]}}`, "json (l)", "",
		},
		"JSON item added before others": {
			`{"env_from":[{"a":1}]}`, `{"env_from":[{"a":1,"x":9}]}`, `{"env_from":[{"b":1},{"a":1}]}`, "",
			`{"env_from":[{"b":1},{"a":1}]}`, "env_from", "",
		},
		"JSON items reordered": {
			`{"env_from":[{"a":1},{"b":1}]}`, `{"env_from":[{"a":1,"x":9},{"b":1,"y":9}]}`, `{"env_from":[{"b":1},{"a":1}]}`, "",
			`{"env_from":[{"b":1},{"a":1}]}`, "env_from", "",
		},
		"removed": {
			`{"string":"x","int":1}`, `{"string":"x","int":1}`, `{"int":1}`, "", `{"string":null}`, "", "string",
		},
		"changed to an empty string": {`{"string":"x"}`, `{"string":"x"}`, `{"string":""}`, "", `{"string":null}`,
			"", "string"},
		"empty string removed":               {`{"string":""}`, `{"string":"x"}`, `{}`, "", "", "", ""},
		"removed where the service has none": {`{"string":"x"}`, `{}`, `{}`, "", "", "", ""},
		"label changed": {
			`{"labels":{"a":"1"}}`, `{"labels":{"a":"1","x":"9"}}`, `{"labels":{"a":"2"}}`, "", `{"labels":{"a":"2","x":"9"}}`,
			`labels["a"]`, "",
		},
		"label removed": {
			`{"labels":{"a":"1","b":"2"}}`, `{"labels":{"a":"1","b":"2","x":"9"}}`, `{"labels":{"a":"1"}}`, "",
			`{"labels":{"a":"1","x":"9"}}`, "", `labels["b"]`,
		},
		"label in another Unicode form changed": {
			`{"labels":{"\u00e9":"1"}}`, `{"labels":{"e\u0301":"1","x":"9"}}`, `{"labels":{"\u00e9":"2"}}`, "",
			"{\"labels\":{\"e\u0301\":\"2\",\"x\":\"9\"}}", "labels[\"\u00e9\"]", "",
		},
		"label with dots removed": {
			`{"labels":{"a.b/c":"1"}}`, `{"labels":{"a.b/c":"1","x":"9"}}`, `{"labels":{}}`, "", `{"labels":{"x":"9"}}`, "",
			`labels["a.b/c"]`,
		},
		"last label removed": {
			`{"labels":{"a":"1"}}`, `{"labels":{"a":"1"}}`, `{"labels":{}}`, "", `{"labels":{}}`, "", `labels["a"]`,
		},
		"labels removed": {
			`{"labels":{"a":"1"}}`, `{"labels":{"a":"1","x":"9"}}`, `{}`, "", `{"labels":{"x":"9"}}`, "", `labels["a"]`,
		},
		"all labels removed": {
			`{"labels":{"a":"1"}}`, `{"labels":{"a":"1"}}`, `{}`, "", `{"labels":{}}`, "", `labels["a"]`,
		},
		"empty labels removed": {`{"labels":{}}`, `{"labels":{"x":"9"}}`, `{}`, "", "", "", ""},
		"empty label set": {
			`{"labels":{"a":"1"}}`, `{"labels":{"a":"1"}}`, `{"labels":{"a":"2","b":""}}`, "", `{"labels":{"a":"2","b":""}}`,
			`labels["a"]`, "",
		},
		"JSON member removed": {
			`{"json":{"a":{"b":1,"c":2},"d":3}}`, `{"json":{"a":{"b":1,"c":2,"x":9},"d":3}}`, `{"json":{"a":{"b":1}}}`, "",
			`{"json":{"a":{"b":1,"x":9}}}`, "", "json (a.c), json (d)",
		},
		"JSON object removed": {
			`{"json":{"a":{"b":1},"c":2}}`, `{"json":{"a":{"b":1,"x":9},"c":2}}`, `{"json":{"c":2}}`, "",
			`{"json":{"a":{"x":9},"c":2}}`, "", "json (a.b)",
		},
		"empty JSON member removed": {
			`{"json":{"a":{},"b":1}}`, `{"json":{"a":{"x":9},"b":1}}`, `{"json":{"b":1}}`, "", "", "", "",
		},
		"JSON removed": {`{"json":{"a":1}}`, `{"json":{"a":1}}`, `{}`, "", `{"json":null}`, "", "json (a)"},
		"JSON removed beside others": {
			`{"json":{"a":1}}`, `{"json":{"a":1,"x":9}}`, `{}`, "", `{"json":{"x":9}}`, "", "json (a)",
		},
		"empty JSON removed": {`{"json":{}}`, `{"json":{}}`, `{}`, "", `{"json":null}`, "", "json"},
		"JSON list shorter": {
			`{"json":{"a":[1,2]}}`, `{"json":{"a":[1,2],"x":9}}`, `{"json":{"a":[1]}}`, "", `{"json":{"a":[1],"x":9}}`,
			"json (a)", "",
		},
		"member of an item of a JSON list": {
			`{"json":{"a":[{"b":1,"c":2}]}}`, `{"json":{"a":[{"b":1,"c":2,"x":9}]}}`, `{"json":{"a":[{"b":1}]}}`, "",
			`{"json":{"a":[{"b":1,"x":9}]}}`, "", "json (a.[0].c)",
		},
		"string to an empty one in a list": {
			`{"args":["a","b"]}`, `{"args":["a","b"]}`, `{"args":["a",""]}`, "", `{"args":["a",""]}`, "args", "",
		},
		"list removed":      {`{"args":["a"]}`, `{"args":["a"]}`, `{}`, "", `{"args":null}`, "", "args"},
		"last item removed": {`{"args":["a"]}`, `{"args":["a"]}`, `{"args":[]}`, "", `{"args":[]}`, "args", ""},
		"item added": {
			`{"volumes":[{"name":"a"}]}`, `{"volumes":[{"name":"a","size":9,"new":1}]}`,
			`{"volumes":[{"name":"b"},{"name":"a"}]}`, "",
			`{"volumes":[{"name":"b"},{"name":"a","new":1,"size":9}]}`, "volumes (missing in the service: b)", "",
		},
		"item removed": {
			`{"volumes":[{"name":"a"},{"name":"b"}]}`, `{"volumes":[{"name":"a"},{"name":"b","new":1}]}`,
			`{"volumes":[{"name":"b"}]}`,
			"", `{"volumes":[{"name":"b","new":1}]}`, "volumes (only in the service: a)", "",
		},
		"last object removed": {
			`{"volumes":[{"name":"a"}]}`, `{"volumes":[{"name":"a"}]}`, `{"volumes":[]}`, "", `{"volumes":[]}`,
			"volumes (only in the service: a)", "",
		},
		"list of objects removed": {
			`{"volumes":[{"name":"a"}]}`, `{"volumes":[{"name":"a","size":9}]}`, `{}`, "", `{"volumes":null}`, "", "volumes",
		},
		"items reordered": {
			`{"volumes":[{"name":"a"},{"name":"b"}]}`, `{"volumes":[{"name":"a"},{"name":"b"}]}`,
			`{"volumes":[{"name":"b"},{"name":"a"}]}`, `{"volumes":[{"name":"a"},{"name":"b"}]}`, "", "", "",
		},
		"ordered items reordered": {
			`{"env":[{"name":"a"},{"name":"b"}]}`, `{"env":[{"name":"a"},{"name":"b"}]}`, `{"env":[{"name":"b"},{"name":"a"}]}`,
			"",
			`{"env":[{"name":"b"},{"name":"a"}]}`, "env (order)", "",
		},
		"member of an item removed": {
			`{"volumes":[{"name":"a","size":1}]}`, `{"volumes":[{"name":"a","size":1,"json":{"x":9}}]}`,
			`{"volumes":[{"name":"a"}]}`,
			"", `{"volumes":[{"json":{"x":9},"name":"a"}]}`, "", "volumes[0].size",
		},
		"JSON member of an item removed": {
			`{"volumes":[{"name":"a","json":{"b":1,"c":2}}]}`, `{"volumes":[{"name":"a","json":{"b":1,"c":2,"x":9}}]}`,
			`{"volumes":[{"name":"a","json":{"b":1}}]}`, "", `{"volumes":[{"json":{"b":1,"x":9},"name":"a"}]}`, "",
			"volumes[0].json (c)",
		},
		"member of an object removed": {
			`{"spec":{"a":"x","b":1}}`, `{"spec":{"a":"x","b":1,"new":9}}`, `{"spec":{"b":1}}`, "",
			`{"spec":{"a":null,"b":1,"new":9}}`, "", "spec.a",
		},
		"object removed": {
			`{"spec":{"a":"x","labels":{"a":"1"}}}`, `{"spec":{"a":"x","b":9,"labels":{"a":"1","x":"9"}}}`, `{}`, "",
			`{"spec":{"a":null,"b":9,"labels":{"x":"9"}}}`, "", `spec.a, spec.labels["a"]`,
		},
		"empty object removed": {`{"spec":{}}`, `{"spec":{"b":9}}`, `{}`, "", "", "", ""},
		"everything removed": {
			`{"string":"x","labels":{"a":"1"},"volumes":[{"name":"a"}]}`,
			`{"string":"x","int":9,"labels":{"a":"1","x":"9"},"volumes":[{"name":"a"}]}`, ``, `{}`,
			`{"labels":{"x":"9"},"string":null,"volumes":null}`, "", `string, labels["a"], volumes`,
		},
		"chosen value removed": {`{"url":"a"}`, `{"url":"a"}`, `{}`, `{"url":"?"}`, `{"url":null}`, "", "url"},
		"value to value_from": {
			`{"env":[{"name":"a","value":"x"}]}`, `{"env":[{"name":"a","value":"x"}]}`,
			`{"env":[{"name":"a","valueFrom":{"b":1}}]}`,
			"", `{"env":[{"name":"a","valueFrom":{"b":1}}]}`, "env[0].value_from (b)", "env[0].value",
		},
		"value_from to an empty value": {
			`{"env":[{"name":"a","valueFrom":{"b":1}}]}`, `{"env":[{"name":"a","valueFrom":{"b":1,"x":9}}]}`,
			`{"env":[{"name":"a","value":""}]}`, "", `{"env":[{"name":"a"}]}`, "", "env[0].value_from (b)",
		},
		"volume to an empty directory": {
			`{"volumes":[{"name":"a","configMap":{"b":1}}]}`, `{"volumes":[{"name":"a","configMap":{"b":1,"x":9},"new":9}]}`,
			`{"volumes":[{"name":"a","emptyDir":{}}]}`, "", `{"volumes":[{"emptyDir":{},"name":"a","new":9}]}`,
			"volumes[0].empty_dir",
			"volumes[0].config_map (b)",
		},
		"empty directory to a volume": {
			`{"volumes":[{"name":"a","emptyDir":{}}]}`, `{"volumes":[{"name":"a","emptyDir":{"x":9}}]}`,
			`{"volumes":[{"name":"a","configMap":{"b":1}}]}`, "", `{"volumes":[{"configMap":{"b":1},"name":"a"}]}`,
			"volumes[0].config_map (b)", "volumes[0].empty_dir",
		},
		"ref": {
			`{"ref":"main"}`, `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`, `{"ref":"develop"}`,
			`{"ref":"develop","commit":"` + commitOne + `"}`, `{"ref":"develop"}`, "ref", "",
		},
		"ref pinned to its commit": {
			`{"ref":"main"}`, `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`, `{"ref":"` + commitOne + `"}`,
			`{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`, "", "", "",
		},
		"drift beside a change": {
			`{"string":"x","int":1}`, `{"string":"x","int":2}`, `{"string":"y","int":1}`, "", `{"int":1,"string":"y"}`,
			"string, int",
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.before)
			s.refresh(c.live)
			planned := s.plan(c.config)
			want := c.planned
			if want == "" {
				want = c.config
			}
			if got := shown(t, planned); got != sorted(t, want) {
				t.Errorf("planned %s, want %s", got, want)
			}
			found := s.compare(c.config, planned, c.live)
			if got := body(found); got != c.body {
				t.Errorf("a change sends %s, want %s", got, c.body)
			}
			if set, dropped := differences(found.Set), differences(found.Dropped); set != c.set || dropped != c.dropped {
				t.Errorf("set %q and dropped %q, want %q and %q", set, dropped, c.set, c.dropped)
			}
		})
	}
}

// TestImport has a configuration that meets the state of an import: complete,
// and owned by nobody.
func TestImport(t *testing.T) {
	t.Parallel()
	commit := func(ref string) string { return `{"commit":"` + commitOne + `","ref":"` + ref + `"}` }
	for name, c := range map[string]struct {
		live, config string
		planned      string // "": the state
		body         string // "": nothing is sent
	}{
		"complete configuration": {`{"string":"x","labels":{"a":"1"},"json":{"a":1},"volumes":[{"name":"x","size":1}],` +
			`"spec":{"a":"x"}}`, `{"string":"x","labels":{"a":"1"},"json":{"a":1},"volumes":[{"name":"x","size":1}],` +
			`"spec":{"a":"x"}}`, "", ""},
		"no configuration": {
			`{"string":"x","labels":{"a":"1"},"json":{"a":1},"volumes":[{"name":"x","size":1}],"spec":{"a":"x"}}`, ``, "", "",
		},
		"trimmed configuration": {`{"string":"x","int":1,"labels":{"a":"1","b":"2"},"json":{"a":{"b":1,"c":2}},` +
			`"volumes":[{"name":"x","size":1,"json":{"a":1}}],"spec":{"a":"x","b":1}}`,
			`{"int":1,"labels":{"a":"1"},"json":{"a":{"b":1}},"volumes":[{"name":"x"}],"spec":{"b":1}}`, "", ""},
		"empty map and object": {`{"labels":{"a":"1"},"spec":{"a":"x"}}`, `{"labels":{},"spec":{}}`, "", ""},
		"other forms": {
			`{"uuid":"ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"}`, `{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, "", "",
		},
		"items in another order": {
			`{"volumes":[{"name":"x","size":1},{"name":"y"}]}`, `{"volumes":[{"name":"y"},{"name":"x","size":1}]}`, "", "",
		},
		"empty directory": {`{"volumes":[{"name":"x","emptyDir":{}}]}`, `{"volumes":[{"name":"x","emptyDir":{}}]}`, "",
			""},
		"branch as a commit": {commit(commitOne), `{"ref":"main"}`, commit("main"), ""},
		"pinned commit":      {commit(commitOne), `{"ref":"` + commitOne + `"}`, commit(commitOne), ""},
		"other commit": {commit(commitOne), `{"ref":"` + commitTwo + `"}`, commit(commitTwo),
			`{"ref":"` + commitTwo + `"}`},
		"omitted ref": {commit(commitOne), `{}`, "", ""},
		"changed argument": {
			`{"string":"x","int":1,"spec":{"a":"x","b":1}}`, `{"string":"y","spec":{"b":2}}`,
			`{"string":"y","int":1,"spec":{"a":"x","b":2}}`, `{"spec":{"a":"x","b":2},"string":"y"}`,
		},
		"changed label": {
			`{"labels":{"a":"1","b":"2"}}`, `{"labels":{"a":"3"}}`, `{"labels":{"a":"3"}}`, `{"labels":{"a":"3","b":"2"}}`,
		},
		"item added": {
			`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[{"name":"x"},{"name":"y"}]}`,
			`{"volumes":[{"name":"x","size":1},{"name":"y"}]}`, `{"volumes":[{"name":"x","size":1},{"name":"y"}]}`,
		},
		"item added before": {
			`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[{"name":"y"},{"name":"x"}]}`,
			`{"volumes":[{"name":"y"},{"name":"x","size":1}]}`, `{"volumes":[{"name":"y"},{"name":"x","size":1}]}`,
		},
		"item removed": {
			`{"volumes":[{"name":"x","size":1},{"name":"y"}]}`, `{"volumes":[{"name":"y"}]}`, `{"volumes":[{"name":"y"}]}`,
			`{"volumes":[{"name":"y"}]}`,
		},
		"list to none": {`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[]}`, `{"volumes":[]}`, `{"volumes":[]}`},
		"exclusive siblings": {
			`{"volumes":[{"name":"x","configMap":{"a":1}}]}`, `{"volumes":[{"name":"x","emptyDir":{}}]}`,
			`{"volumes":[{"name":"x","emptyDir":{}}]}`, `{"volumes":[{"emptyDir":{},"name":"x"}]}`,
		},
		"empty where there is nil": { // state-only
			`{}`, `{"labels":{},"args":[],"volumes":[],"spec":{},"string":""}`,
			`{"labels":{},"args":[],"volumes":[],"spec":{},"string":""}`, "",
		},
		"empty JSON where there is nil": {`{}`, `{"json":{}}`, `{"json":{}}`, ""}, // state-only
		"branch beside a change": {
			commit(commitOne), `{"ref":"main","string":"x"}`, `{"commit":"` + commitOne + `","ref":"main","string":"x"}`,
			`{"string":"x"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.importIt(c.live)
			imported := strings.ReplaceAll(c.live, `"ref":"`+commitOne+`"`, `"ref":null`) // nothing shows which ref it is of
			if got := shown(t, s.state); got != shown(t, s.config(imported)) {
				t.Errorf("imported as %s", got)
			}
			planned, want := s.plan(c.config), c.planned
			if want == "" {
				if want = shown(t, s.state); !planned.Equal(s.state) {
					t.Errorf("planned %s", diff(s.state, planned))
				}
			}
			if got := shown(t, planned); got != sorted(t, want) {
				t.Errorf("planned %s, want %s", got, want)
			}
			if got := body(s.compare(c.config, planned, c.live)); got != c.body {
				t.Errorf("sends %q, want %q", got, c.body)
			}
		})
	}
}

// TestImport_ownership: ownership begins with the first apply, and covers what
// the configuration sets then.
func TestImport_ownership(t *testing.T) {
	t.Parallel()
	const live = `{"string":"x","int":1,"labels":{"a":"1","b":"2"},"spec":{"a":"x","b":1},"volumes":[{"name":"x",` +
		`"size":1,"json":{"c":1,"d":2}}]}`
	const config = `{"string":"x","labels":{"a":"1"},"volumes":[{"name":"x","json":{"c":1}}]}`
	imported := func(t *testing.T) *stage {
		t.Helper()
		s := &stage{T: t}
		s.importIt(live)
		s.apply(config, s.plan(config), live)
		s.refresh(live)
		if got := shown(t, s.state); got != sorted(t, live) {
			t.Errorf("after the apply, the state is %s", got)
		}
		if planned := s.plan(config); !planned.Equal(s.state) {
			t.Errorf("after the apply, planned %s", diff(s.state, planned))
		}
		return s
	}
	t.Run("record", func(t *testing.T) {
		t.Parallel()
		if got := jsonOf(imported(t).record["source_config"]); got != sorted(t, config) {
			t.Errorf("the record is %s", got)
		}
	})
	t.Run("applied", func(t *testing.T) {
		t.Parallel()
		s := imported(t)
		if got := s.owned(); got != sorted(t, config) {
			t.Errorf("applied is %s", got)
		}
	})
	for name, c := range map[string]struct{ config, planned, body string }{
		"not owned, omitted again": {config, live, ""},
		"owned argument removed": {
			`{"labels":{"a":"1"},"volumes":[{"name":"x","json":{"c":1}}]}`,
			`{"int":1,"labels":{"a":"1","b":"2"},"spec":{"a":"x","b":1},"volumes":[{"name":"x","size":1,"json":{"c":1,"d":2}}]}`,
			`{"string":null}`,
		},
		"owned label removed": {
			`{"string":"x","labels":{},"volumes":[{"name":"x","json":{"c":1}}]}`,
			`{"string":"x","int":1,"labels":{},"spec":{"a":"x","b":1},"volumes":[{"name":"x","size":1,"json":{"c":1,"d":2}}]}`,
			`{"labels":{"b":"2"}}`,
		},
		"owned labels removed": {
			`{"string":"x","volumes":[{"name":"x","json":{"c":1}}]}`,
			`{"string":"x","int":1,"spec":{"a":"x","b":1},"volumes":[{"name":"x","size":1,"json":{"c":1,"d":2}}]}`,
			`{"labels":{"b":"2"}}`,
		},
		"owned JSON member removed": {
			`{"string":"x","labels":{"a":"1"},"volumes":[{"name":"x"}]}`,
			`{"string":"x","int":1,"labels":{"a":"1","b":"2"},"spec":{"a":"x","b":1},"volumes":[{"name":"x","size":1}]}`,
			`{"volumes":[{"json":{"d":2},"name":"x","size":1}]}`,
		},
		"member of an object that is not owned": {
			`{"string":"x","labels":{"a":"1"},"volumes":[{"name":"x","json":{"c":1}}],"spec":{"b":2}}`,
			`{"string":"x","int":1,"labels":{"a":"1","b":"2"},"spec":{"a":"x","b":2},"volumes":[{"name":"x","size":1,` +
				`"json":{"c":1,"d":2}}]}`,
			`{"spec":{"a":"x","b":2}}`,
		},
		"other value of what is not owned": {
			`{"string":"x","int":2,"labels":{"a":"1"},"volumes":[{"name":"x","json":{"c":1}}]}`,
			`{"string":"x","int":2,"labels":{"a":"1","b":"2"},"spec":{"a":"x","b":1},"volumes":[{"name":"x","size":1,` +
				`"json":{"c":1,"d":2}}]}`,
			`{"int":2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := imported(t)
			planned := s.plan(c.config)
			if got := shown(t, planned); got != sorted(t, c.planned) {
				t.Errorf("planned %s, want %s", got, sorted(t, c.planned))
			}
			if got := body(s.compare(c.config, planned, live)); got != c.body {
				t.Errorf("sends %s, want %s", got, c.body)
			}
		})
	}
	for name, c := range map[string]struct{ config, planned, body, left string }{
		"object removed": {
			`{}`, `{"int":1,"labels":{"a":"1","b":"2"},"string":"x","volumes":[{"name":"x","size":1,"json":{"c":1,"d":2}}]}`,
			`{"spec":{"a":null,"b":1}}`, "spec.b",
		},
		"everything removed": {
			``, `{}`, `{"spec":{"a":null,"b":1}}`, `string, int, labels["a"], labels["b"], spec.b, volumes`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.importIt(live)
			s.apply(`{"spec":{"a":"x"}}`, s.plan(`{"spec":{"a":"x"}}`), live)
			s.refresh(live)
			planned := s.plan(c.config)
			if got := shown(t, planned); got != sorted(t, c.planned) {
				t.Errorf("planned %s, want %s", got, sorted(t, c.planned))
			}
			found := s.compare(c.config, planned, live)
			if got, left := body(found), differences(found.Left); got != c.body || left != c.left {
				t.Errorf("sends %s and leaves %s, want %s and %s", got, left, c.body, c.left)
			}
			s.apply(c.config, planned, live)
			applied := s.state
			s.refresh(live)
			if !s.state.Equal(applied) {
				t.Errorf("a refresh brings back %s", diff(applied, s.state))
			}
			if planned := s.plan(c.config); !planned.Equal(s.state) {
				t.Errorf("planned %s", diff(s.state, planned))
			}
		})
	}
	t.Run("refresh follows the service", func(t *testing.T) {
		t.Parallel()
		s := imported(t)
		const now = `{"string":"x","int":5,"labels":{"a":"1","b":"5","c":"5"},"volumes":[{"name":"x","json":{"c":1,"d":5}}]}`
		s.refresh(now)
		if got := shown(t, s.state); got != sorted(t, now) {
			t.Errorf("refreshed to %s", got)
		}
		if planned := s.plan(config); !planned.Equal(s.state) {
			t.Errorf("planned %s", diff(s.state, planned))
		}
		if got := s.owned(); got != sorted(t, config) {
			t.Errorf("applied is %s", got)
		}
	})
	t.Run("drift of what is owned", func(t *testing.T) {
		t.Parallel()
		s := imported(t)
		const now = `{"string":"x","int":1,"labels":{"a":"5","b":"2"},"spec":{"a":"x","b":1},"volumes":[{"name":"x",` +
			`"size":1,"json":{"c":1,"d":2}}]}`
		s.refresh(now)
		if got := body(s.compare(config, s.plan(config), now)); got != `{"labels":{"a":"1","b":"2"}}` {
			t.Errorf("sends %s", got)
		}
	})
	t.Run("items that move are still owned as before", func(t *testing.T) {
		t.Parallel()
		s := &stage{T: t}
		const two, moved = `{"env":[{"name":"a"},{"name":"b","value":"1"}]}`,
			`{"env":[{"name":"b","value":"1"},{"name":"a"}]}`
		s.importIt(two)
		s.apply(`{"env":[{"name":"a"},{"name":"b"}]}`, s.plan(`{"env":[{"name":"a"},{"name":"b"}]}`), two)
		s.refresh(moved)
		if got := s.owned(); got != `{"env":[{"name":"b"},{"name":"a"}]}` {
			t.Errorf("applied is %s", got)
		}
	})
}

// TestNestedLists: the work does not double with each level.
func TestNestedLists(t *testing.T) {
	t.Parallel()
	config := `{"json":{"a":` + strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60) + `}}`
	s := &stage{T: t}
	s.create(config)
	s.refresh(strings.Replace(config, "1", "2", 1))
	if got := body(s.compare(config, s.plan(config), strings.Replace(config, "1", "2", 1))); got != config {
		t.Errorf("sends %s", got)
	}
}

// TestImport_ref: an imported commit is taken to be of the configured ref, also
// after an apply that changed only arguments that the service does not report.
func TestImport_ref(t *testing.T) {
	t.Parallel()
	t.Run("taken", testImportedRefTaken)
	t.Run("set later", func(t *testing.T) {
		t.Parallel()
		const live = `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`
		s := &stage{T: t}
		s.importIt(live)
		s.apply(`{}`, s.plan(`{}`), live)
		planned := s.plan(`{"ref":"main"}`)
		if got := shown(t, planned); got != `{"commit":"`+commitOne+`","ref":"main"}` {
			t.Errorf("planned %s", got)
		}
		if got := body(s.compare(`{"ref":"main"}`, planned, live)); got != `{"ref":"main"}` {
			t.Errorf("sends %q", got) // nothing shows which ref the service follows
		}
	})
}

func testImportedRefTaken(t *testing.T) {
	t.Parallel()
	const live, next = `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`,
		`{"ref":"` + commitTwo + `","commit":"` + commitTwo + `"}`
	s := &stage{T: t}
	s.importIt(live)
	s.apply(`{"ref":"main"}`, s.plan(`{"ref":"main"}`), live)
	for _, live := range []string{live, next} {
		s.refresh(live)
		if planned := s.plan(`{"ref":"main"}`); !planned.Equal(s.state) {
			t.Errorf("planned %s", diff(s.state, planned))
		}
	}
	if found := s.compare(`{"ref":"develop"}`, s.plan(`{"ref":"develop"}`), next); body(found) != `{"ref":"develop"}` {
		t.Errorf("another ref than the one taken sends %q", body(found))
	}
	planned := s.plan(`{"ref":"main","string":"x"}`)
	if found := s.compare(`{"ref":"main","string":"x"}`, planned, next); body(found) != `{"string":"x"}` {
		t.Errorf("sends %s", body(found))
	}
	s.apply(`{"ref":"main","string":"x"}`, planned, next)
	if got := shown(t, s.state); got != `{"commit":"`+commitTwo+`","ref":"main","string":"x"}` {
		t.Errorf("the state is %s", got)
	}
	const after = `{"ref":"` + commitTwo + `","commit":"` + commitTwo + `","string":"x"}`
	found := s.compare(`{"ref":"develop","string":"x"}`, s.plan(`{"ref":"develop","string":"x"}`), after)
	if body(found) != `{"ref":"develop"}` || !found.Set[0].ResolvedIn(s.live(after)) ||
		found.Set[0].ResolvedIn(s.live(`{"ref":"main"}`)) {
		t.Errorf("another ref sends %s", body(found))
	}
}

// TestIgnoreChanges: while planning, Terraform puts prior values into the
// configuration; at apply, it does not.
func TestIgnoreChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, configured, ignored, body string }{
		"changed argument": {
			`{"string":"x","spec":{"a":"x","b":1}}`, `{"string":"y","spec":{"a":"y","b":2}}`,
			`{"string":"x","spec":{"a":"x","b":2}}`,
			`{"spec":{"a":"x","b":2}}`,
		},
		"new argument": {`{"spec":{"b":1}}`, `{"spec":{"a":"y","b":2}}`, `{"spec":{"b":2}}`, `{"spec":{"b":2}}`},
		"new label": {
			`{"spec":{"b":1,"labels":{"a":"1"}}}`, `{"spec":{"b":2,"labels":{"a":"1","c":"2"}}}`,
			`{"spec":{"b":2,"labels":{"a":"1"}}}`, `{"spec":{"b":2,"labels":{"a":"1"}}}`,
		},
		"list": {
			`{"int":1,"volumes":[{"name":"x","size":1}]}`, `{"int":2,"volumes":[{"name":"y"}]}`,
			`{"int":2,"volumes":[{"name":"x","size":1}]}`, `{"int":2}`,
		},
		"attribute of an item": {
			`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[{"name":"x","size":2,"json":{"a":1}}]}`,
			`{"volumes":[{"name":"x","size":1,"json":{"a":1}}]}`, `{"volumes":[{"json":{"a":1},"name":"x","size":1}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.before)
			planned := s.plan(c.ignored)
			if got := body(s.compare(c.configured, planned, c.before)); got != sorted(t, c.body) {
				t.Errorf("sends %s, want %s", got, sorted(t, c.body))
			}
			s.apply(c.configured, planned, c.ignored)
			s.refresh(c.ignored)
			if planned := s.plan(c.ignored); !planned.Equal(s.state) {
				t.Errorf("the next plan is %s", diff(s.state, planned))
			}
			if planned := s.plan(c.configured); shown(t, planned) != sorted(t, c.configured) {
				t.Errorf("without ignore_changes, planned %s", shown(t, planned))
			}
		})
	}
}

// TestChange_onlyWhatThePlanChanges: where plan and state agree, the service's value of the moment of the apply is
// sent.
func TestChange_onlyWhatThePlanChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state, planned string // planned is the configuration, with prior values where ignore_changes puts them
		live           string // at apply
		body           string
		set, dropped   string
	}{
		"member": {`{"spec":{"a":"x","b":1}}`, `{"spec":{"a":"y","b":1}}`, `{"spec":{"a":"x","b":9}}`,
			`{"spec":{"a":"y","b":9}}`, "spec.a", ""},
		"member that is omitted, and not in the state": {
			`{"spec":{"a":"x"}}`, `{"spec":{"a":"y"}}`, `{"spec":{"a":"x","b":9}}`, `{"spec":{"a":"y","b":9}}`, "spec.a", "",
		},
		"member that is gone": {`{"spec":{"a":"x","b":1}}`, `{"spec":{"a":"y","b":1}}`, `{"spec":{"a":"x"}}`,
			`{"spec":{"a":"y"}}`, "spec.a", ""},
		"label": {
			`{"labels":{"a":"1","b":"1"}}`, `{"labels":{"a":"1","b":"2"}}`, `{"labels":{"a":"9","b":"1"}}`,
			`{"labels":{"a":"9","b":"2"}}`,
			`labels["b"]`, "",
		},
		"member of JSON": {
			`{"json":{"a":{"b":1},"c":1}}`, `{"json":{"a":{"b":1},"c":2}}`, `{"json":{"a":{"b":9},"c":1}}`,
			`{"json":{"a":{"b":9},"c":2}}`,
			"json (c)", "",
		},
		"item of JSON": {
			`{"env_from":[{"a":1},{"b":1}]}`, `{"env_from":[{"a":1},{"b":2}]}`, `{"env_from":[{"a":9},{"b":1}]}`,
			`{"env_from":[{"a":9},{"b":2}]}`,
			"env_from[1] (b)", "",
		},
		"lists of JSON that cannot be paired": {
			`{"env_from":[{"a":1},{"b":1}],"json":{"l":[1]}}`, `{"env_from":[{"a":1},{"b":2}],"json":{"l":[1]}}`,
			`{"env_from":[{"a":9}],"json":{"l":[1,2]}}`, `{"env_from":[{"a":1},{"b":2}]}`, "env_from", "",
		},
		"strings": {`{"spec":{"a":"x"},"args":["a"]}`, `{"spec":{"a":"y"},"args":["a"]}`, `{"spec":{"a":"x"},"args":["z"]}`,
			`{"spec":{"a":"y"}}`, "spec.a", ""},
		"member of an item": {
			`{"volumes":[{"name":"x","size":1},{"name":"y","size":1}]}`,
			`{"volumes":[{"name":"x","size":1},{"name":"y","size":2}]}`,
			`{"volumes":[{"name":"x","size":9},{"name":"y","size":1}]}`,
			`{"volumes":[{"name":"x","size":9},{"name":"y","size":2}]}`,
			"volumes[1].size", "",
		},
		"injected item": {
			`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[{"name":"x","size":2}]}`,
			`{"volumes":[{"name":"i"},{"name":"x","size":1},{"name":"j"}]}`,
			`{"volumes":[{"name":"i"},{"name":"x","size":2},{"name":"j"}]}`,
			"volumes[0].size", "",
		},
		"injected item beside one that is added": {
			`{"env":[{"name":"x"}]}`, `{"env":[{"name":"x"},{"name":"y"}]}`, `{"env":[{"name":"i"},{"name":"x"}]}`,
			`{"env":[{"name":"i"},{"name":"x"},{"name":"y"}]}`, "env (missing in the service: y)", "",
		},
		"injected item beside one that is removed": {
			`{"volumes":[{"name":"x"},{"name":"y"}]}`, `{"volumes":[{"name":"x"}]}`,
			`{"volumes":[{"name":"x"},{"name":"y"},{"name":"i"}]}`,
			`{"volumes":[{"name":"x"},{"name":"i"}]}`, "volumes (only in the service: y)", "",
		},
		"injected item where the list is removed": {
			`{"volumes":[{"name":"x"}]}`, `{}`, `{"volumes":[{"name":"x"},{"name":"i"}]}`, `{"volumes":[{"name":"i"}]}`,
			"", "volumes",
		},
		"item that is gone": {
			`{"volumes":[{"name":"x"},{"name":"y"}]}`, `{"volumes":[{"name":"x"},{"name":"y","size":1}]}`,
			`{"volumes":[{"name":"y"}]}`,
			`{"volumes":[{"name":"y","size":1}]}`, "volumes[1].size", "",
		},
		"items without names": {
			`{"volumes":[{"size":1}]}`, `{"volumes":[{"size":1},{"size":2}]}`, `{"volumes":[{"size":1},{"size":9},{"size":8}]}`,
			`{"volumes":[{"size":1},{"size":2}]}`, "volumes (missing in the service: [0], [1]; only in the service: " +
				"[0], [1], [2])", "",
		},
		"nothing": {`{"string":"x","volumes":[{"name":"x"}]}`,
			`{"string":"x","volumes":[{"name":"x"}]}`, `{"string":"y","volumes":[]}`, ``, "", ""},
		"removed, and replaced elsewhere": {`{"string":"x","int":1}`, `{"int":1}`, `{"string":"y","int":1}`, ``, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.state)
			planned := s.plan(c.planned)
			for _, configured := range []string{c.planned, `{}`} { // with {}, all of it is ignored
				found := s.compare(configured, planned, c.live)
				if got := body(found); got != sorted(t, c.body) {
					t.Errorf("sends %s, want %s", got, sorted(t, c.body))
				}
				if set, dropped := differences(found.Set), differences(found.Dropped); set != c.set || dropped != c.dropped {
					t.Errorf("set %q and dropped %q, want %q and %q", set, dropped, c.set, c.dropped)
				}
			}
		})
	}
}

// TestIgnoreChanges_removedFromTheConfiguration: what was ignored, is not in the configuration any more, and was never
// set is not dropped.
func TestIgnoreChanges_removedFromTheConfiguration(t *testing.T) {
	t.Parallel()
	const ignored = `{"spec":{"a":"x","b":9,"labels":{"a":"9"}}}`
	s := &stage{T: t}
	s.create(`{"spec":{"a":"x","b":1,"labels":{"a":"1"}}}`)
	s.refresh(ignored)
	if planned := s.plan(ignored); !planned.Equal(s.state) { // the configuration is {"spec":{"a":"x"}}
		t.Errorf("planned %s", diff(s.state, planned))
	}
	changed := strings.Replace(ignored, "x", "y", 1)
	planned := s.plan(changed)
	if got := body(s.compare(`{"spec":{"a":"y"}}`, planned, ignored)); got != sorted(t, changed) {
		t.Errorf("sends %s", got)
	}
	s.apply(`{"spec":{"a":"y"}}`, planned, changed)
	if got := s.owned(); got != `{"spec":{"a":"y"}}` {
		t.Errorf("%s is owned", got)
	}
}

// TestPlan_create: what is set is planned; of what is omitted, only what the
// service sets is unknown.
func TestPlan_create(t *testing.T) {
	t.Parallel()
	s := &stage{T: t, state: tftypes.NewValue(resourceType(resourceFields), nil)}
	for config, want := range map[string]string{
		``: `{"commit":"?","image":"?","url":"?"}`,
		`{"string":"","labels":{},"spec":{},"url":"a","volumes":[{"name":"x"}]}`: `{"commit":"?","image":"?","labels":{},` +
			`"spec":{},"string":"","url":"a","volumes":[{"name":"x"}]}`,
	} {
		if got := shown(t, s.plan(config)); got != want {
			t.Errorf("planned %s, want %s", got, want)
		}
	}
}

// TestAfterApply_unknowns: the response decides what the plan left open, and
// nothing else.
func TestAfterApply_unknowns(t *testing.T) {
	t.Parallel()
	s := &stage{T: t, state: tftypes.NewValue(resourceType(resourceFields), nil)}
	planned := s.plan(`{"string":"mine","volumes":[{"name":"x"}]}`)
	s.apply(`{}`, planned,
		`{"string":"theirs","int":1,"url":"u","commit":"c","image":"i","volumes":[{"name":"x","json":{"of":"x"}}]}`)
	want := `{"commit":"c","image":"i","string":"mine","url":"u","volumes":[{"name":"x"}]}`
	if got := shown(t, s.state); got != want {
		t.Errorf("the state is %s, want %s", got, want)
	}
	if _, err := resourceFields.AfterApply(planned, object{"source_config": object{"url": 1}}); err == nil {
		t.Error("no error")
	}
}

func (f Field) mustDecode(t testing.TB, tree any) tftypes.Value {
	t.Helper()
	tree = copyOf(t, tree)
	if err := f.check(tree); err != nil {
		t.Fatal(err)
	}
	return f.decode(tree)
}

// TestRefresh_mismatch: a response of another type is an error at every depth.
func TestRefresh_mismatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, live string }{
		"argument":        {`{"int":1}`, `{"int":"x"}`},
		"in an object":    {`{"spec":{"b":1}}`, `{"spec":{"b":"x"}}`},
		"in an item":      {`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[{"name":"x","size":"x"}]}`},
		"in another item": {`{"volumes":[]}`, `{"volumes":[{"name":"x","size":"x"}]}`},
		"chosen value":    {`{}`, `{"url":1}`},
		"list":            {`{"args":["a"]}`, `{"args":["a",1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.config)
			if _, err := resourceFields.Refresh(s.state, s.live(c.live), "", s.record); err == nil {
				t.Error("no error")
			}
		})
	}
}

// Of a map or of JSON, the members in the state are owned, also those that the service does not show.
func TestRefresh_emptyMembersThatAreNotReported(t *testing.T) {
	t.Parallel()
	const config, own = `{"labels":{"a":"","b":"1"}}`, `{"labels":{"b":"1","svc":"1"}}`
	s := &stage{T: t}
	s.create(config)
	s.refresh(`{"labels":{"b":"2","svc":"1"}}`) // drift, and back
	s.refresh(own)
	s.refresh(own)
	if got := shown(t, s.state); got != config {
		t.Errorf("refreshed to %s", got)
	}
}

// A value that the service chose after the configured one was lost is not owned.
func TestRefresh_chosenAfterTheConfiguredWasLost(t *testing.T) {
	t.Parallel()
	s := &stage{T: t}
	s.create(`{"url":"x"}`)
	s.refresh(`{}`)
	s.refresh(`{"url":"y"}`)
	if planned := s.plan(`{}`); !planned.Equal(s.state) {
		t.Errorf("planned %s", diff(s.state, planned))
	}
}

// Of JSON that is Partial, the state has what is set, whatever else the service reports.
func TestRefresh_partial(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "more", Kind: JSON{Partial: true}}}
	live := object{"more": object{"x": "1", "secrets": "hush"}}
	state := func(text string) tftypes.Value {
		return tftypes.NewValue(fs.Type(), map[string]tftypes.Value{"more": str(text)})
	}
	for name, record := range map[string]Record{"nothing applied": nil, "not set": {}, "less set": {"more": object{}},
		"set": {"more": object{"x": "1"}}} {
		values, err := fs.Refresh(state(`{"x":"1"}`), live, "", record)
		if err != nil || !With(state(""), values).Equal(state(`{"x":"1"}`)) {
			t.Errorf("%s: %v, %v", name, values, err)
		}
	}
}

// TestAdditionalMembers: the members of an attribute that is merged into requests are owned like other JSON.
func TestAdditionalMembers(t *testing.T) {
	t.Parallel()
	fs := append(Fields{{Name: "more", Kind: JSON{Partial: true}}}, resourceFields...)
	value := func(text string) tftypes.Value { return decoded(t, fs, readObject(t, text)) }
	state := value(`{"more":{"source_config":{"tier":{"a":"1","b":"1"},"old":"1"}},"source_config":{"string":"x"}}`)
	config := value(`{"more":{"tags":["b"],"source_config":{"tier":{"a":"2"},"none":{}}},"source_config":{"string":"x"}}`)
	record := fs.Record(state, state)
	live := readObject(t, `{"tags":["a"],"source_config":{"string":"x","tier":{"a":"1","x":"9"},"old":"1"}}`)
	c := fs.NewChange(config, planOf(fs, config, state, record), state, record, "").Compare(live)
	if set, dropped := differences(c.Set), differences(c.Dropped); set != "tier.a, tags.[0]" || dropped != "old" {
		t.Errorf("set %s, dropped %s", set, dropped)
	}
	if got := jsonOf(c.Body); got != `{"source_config":{"old":null,"tier":{"a":"2","x":"9"}},"tags":["b"]}` {
		t.Errorf("sends %s", got)
	}
	if merged := MergeDeep(object{"a": object{"b": "1"}, "c": "1"},
		object{"a": object{"d": "2"}, "c": object{}}); jsonOf(merged) != `{"a":{"b":"1","d":"2"},"c":{}}` {
		t.Errorf("merged to %s", jsonOf(merged))
	}
}

// TestNullify: what a service that merges deeply still has is set to null.
func TestNullify(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, live, after, nullified string }{
		"label": {
			`{"labels":{"a.b/c":"1"}}`, `{"labels":{"a.b/c":"1","x":"9"}}`, `{"labels":{}}`, `{"labels":{"a.b/c":null,"x":"9"}}`,
		},
		"label in another Unicode form": {
			`{"labels":{"\u00e9":"1"}}`, `{"labels":{"e\u0301":"1"}}`, `{"labels":{}}`, "{\"labels\":{\"e\u0301\":null}}",
		},
		"nested JSON member": {
			`{"json":{"a":{"b.c":1},"d":2}}`, `{"json":{"a":{"b.c":1},"d":2}}`, `{"json":{"d":2}}`,
			`{"json":{"a":{"b.c":null},"d":2}}`,
		},
		"argument": {`{"string":"x"}`, `{"string":"x"}`, `{}`, ``},
		"member of an item": {
			`{"volumes":[{"name":"x","json":{"a":1}}]}`, `{"volumes":[{"name":"x","json":{"a":1}}]}`,
			`{"volumes":[{"name":"x"}]}`, ``,
		},
		"item of JSON": {`{"json":{"a":[{"b":1,"c":1}]}}`, `{"json":{"a":[{"b":1,"c":1}]}}`, `{"json":{"a":[{"c":1}]}}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.before)
			s.refresh(c.live)
			change, live := s.change(c.after, s.plan(c.after)), s.live(c.live)
			dropped := change.Compare(live).Dropped
			if len(dropped) != 1 {
				t.Fatalf("dropped %s", differences(dropped))
			}
			var got string
			if sent := change.Nullify(live, dropped); len(sent) > 0 {
				got = jsonOf(sent["source_config"])
			}
			if got != c.nullified {
				t.Errorf("sends %s, want %s", got, c.nullified)
			}
			if want := s.live(c.live); !reflect.DeepEqual(live, want) {
				t.Errorf("the response was changed to %s", jsonOf(live))
			}
		})
	}
}

// TestSatisfies_agreesWithMissing: a service satisfies what is wanted if nothing is missing.
func TestSatisfies_agreesWithMissing(t *testing.T) {
	t.Parallel()
	some := 0
	for seed := range uint64(20_000) {
		g := seeded(seed)
		want, live := any(g.object(3)), any(g.object(3))
		if g.half() {
			live = g.reportedJSON(clone(want))
		}
		for _, k := range []Kind{JSON{}, StringMap{}} {
			fs := Fields{{Name: "v", Kind: k}}
			satisfied, missing := fs.Satisfies(object{"v": live}, object{"v": want}, ""),
				fs.Missing(object{"v": live}, object{"v": want}, "")
			if satisfied != (len(missing) == 0) {
				t.Fatalf("%s satisfies %s: %t, but %s are missing", jsonOf(live), jsonOf(want), satisfied, missing)
			}
			if satisfied {
				some++
			}
		}
	}
	if some == 0 || some == 40_000 {
		t.Errorf("%d of 40,000 are satisfied", some)
	}
}
