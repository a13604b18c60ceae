package field

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// configFields have one attribute of each sort; their object is at the root, as
// source_config is.
var configFields = Fields{
	{Name: "string", Kind: String},
	{Name: "int", Kind: Int64},
	{Name: "float", Kind: Float64},
	{Name: "bool", Kind: Bool},
	{Name: "uuid", Kind: UUID},
	{Name: "time", Kind: Time},
	{Name: "labels", Kind: StringMap},
	{Name: "json", Kind: JSON},
	{Name: "args", Kind: List, Elem: String},
	{Name: "env_from", Kind: List, Elem: JSON},
	{Name: "spec", Kind: Object, Fields: Fields{{Name: "a", Kind: String}, {Name: "b", Kind: Int64}, {Name: "labels", Kind: StringMap}}},
	{Name: "volumes", Kind: ObjectList, Key: []string{"name"}, Fields: append(Fields{{Name: "size", Kind: Int64}, {Name: "json", Kind: JSON}}, volumeFields...)},
	{Name: "mounts", Kind: ObjectList, Key: []string{"name", "mount_path"}, Fields: mountFields},
	{Name: "env", Kind: ObjectList, Key: []string{"name"}, Ordered: true, Fields: Fields{
		{Name: "name", Kind: String}, {Name: "value", Kind: String, Exclusive: true}, {Name: "value_from", Wire: "valueFrom", Kind: JSON, Exclusive: true},
	}},
	{Name: "url", Kind: String, Access: Computed},
	{Name: "ref", Kind: String, ResolvesTo: "commit"},
	{Name: "image", Kind: String, Access: Computed, BuiltFor: "codehost"},
	{Name: "commit", Kind: String, Access: ReadOnly},
}

var resourceFields = Fields{{Name: "source_config", Kind: Object, Fields: configFields}}

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
	planned := With(s.config(config), resourceFields.Plan(s.config(config), s.state, s.record))
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
	s.record = resourceFields.NewRecord(s.config(config), s.state)
}

func (s *stage) refresh(live string) {
	s.Helper()
	values, record, err := resourceFields.Refresh(s.state, s.live(live), s.source, s.record)
	if err != nil {
		s.Fatal(err)
	}
	s.state, s.record = With(s.state, values), record
}

func (s *stage) importIt(live string) {
	s.Helper()
	s.state, s.record = s.config(""), nil
	s.refresh(live)
}

// compare compares the service with a plan.
func (s *stage) compare(config string, planned tftypes.Value, live string) Comparison {
	s.Helper()
	want, applied := resourceFields.Wanted(s.config(config), planned), resourceFields.Applied(s.state, s.record)
	resourceFields.TakeRefs(applied, want, s.state, s.record)
	return resourceFields.Compare(s.live(live), want, applied, s.source)
}

// body is what a PATCH of a comparison sends, as JSON; "" if it sends nothing.
func body(c Comparison) string {
	patch := patchOf(c.Merged, slices.Concat(c.Set, c.Dropped))
	if len(patch) == 0 {
		return ""
	}
	return jsonOf(patch["source_config"])
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
	tree, err := resourceFields.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return jsonOf(tree["source_config"])
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
		"other string":                             {`{"string":"x"}`, `{"string":"y"}`, `{"string":"y"}`, "string"},
		"other case":                               {`{"string":"x"}`, `{"string":"X"}`, `{"string":"X"}`, "string"},
		"string removed":                           {`{"string":"x"}`, `{}`, `{}`, "string"},
		"number":                                   {`{"int":9007199254740993}`, `{"int":9007199254740992}`, `{"int":9007199254740992}`, "int"},
		"null instead of zero":                     {`{"int":0}`, `{"int":null}`, `{}`, "int"},
		"null instead of false":                    {`{"bool":false}`, `{}`, `{}`, "bool"},
		"other instant":                            {`{"time":"2025-01-02T03:04:05Z"}`, `{"time":"2025-01-02T03:04:05+01:00"}`, `{"time":"2025-01-02T03:04:05+01:00"}`, "time"},
		"invalid time":                             {`{"time":"2025-01-02T03:04:05Z"}`, `{"time":"yesterday"}`, `{"time":"yesterday"}`, "time"},
		"label changed":                            {`{"labels":{"a":"1","b":"2"}}`, `{"labels":{"a":"3","b":"2","c":"4"}}`, `{"labels":{"a":"3","b":"2"}}`, `labels["a"]`},
		"label removed":                            {`{"labels":{"a":"1","b":"2"}}`, `{"labels":{"b":"2"}}`, `{"labels":{"b":"2"}}`, `labels["a"]`},
		"labels removed":                           {`{"labels":{"a":"1"}}`, `{}`, `{}`, `labels["a"]`},
		"JSON member changed":                      {`{"json":{"a":{"b":1},"c":2}}`, `{"json":{"a":{"b":3,"d":4},"c":2,"e":5}}`, `{"json":{"a":{"b":3},"c":2}}`, "json (a.b)"},
		"JSON member with another type":            {`{"json":{"a":{"b":1}}}`, `{"json":{"a":["b"]}}`, `{"json":{"a":["b"]}}`, "json (a)"},
		"JSON list reordered":                      {`{"json":{"a":[1,2]}}`, `{"json":{"a":[2,1]}}`, `{"json":{"a":[2,1]}}`, "json (a.[0]), json (a.[1])"},
		"JSON list longer":                         {`{"json":{"a":[1]}}`, `{"json":{"a":[1,2]}}`, `{"json":{"a":[1,2]}}`, "json (a)"},
		"list longer":                              {`{"args":["a"]}`, `{"args":["a","b"]}`, `{"args":["a","b"]}`, "args"},
		"list reordered":                           {`{"args":["a","b"]}`, `{"args":["b","a"]}`, `{"args":["b","a"]}`, "args"},
		"empty item of a list changed":             {`{"args":["a",""]}`, `{"args":["a","b"]}`, `{"args":["a","b"]}`, "args"},
		"JSON item of a list changed":              {`{"env_from":[{"a":1}]}`, `{"env_from":[{"a":2,"b":3}]}`, `{"env_from":[{"a":2,"b":3}]}`, "env_from"},
		"items where the configuration has []":     {`{"volumes":[]}`, `{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"x"}]}`, "volumes (only in the service: x)"},
		"strings where the configuration has []":   {`{"args":[]}`, `{"args":["x"]}`, `{"args":["x"]}`, "args"},
		"member of an object":                      {`{"spec":{"a":"x","b":1}}`, `{"spec":{"a":"y","b":1}}`, `{"spec":{"a":"y","b":1}}`, "spec.a"},
		"object removed":                           {`{"spec":{"a":"x"}}`, `{}`, `{"spec":{}}`, "spec.a"},
		"all removed":                              {`{"spec":{"a":"x"}}`, ``, `{"spec":{}}`, "spec.a"},
		"item changed and moved":                   {`{"volumes":[{"name":"x","size":1},{"name":"y","size":1}]}`, `{"volumes":[{"name":"y","size":1},{"name":"x","size":2}]}`, `{"volumes":[{"name":"x","size":2},{"name":"y","size":1}]}`, "volumes[0].size"},
		"item renamed":                             {`{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"z"}]}`, `{"volumes":[{"name":"z"}]}`, "volumes (missing in the service: x; only in the service: z)"},
		"item added, last":                         {`{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"a"},{"name":"x"}]}`, `{"volumes":[{"name":"x"},{"name":"a"}]}`, "volumes (only in the service: a)"},
		"item removed":                             {`{"volumes":[{"name":"x"},{"name":"y"}]}`, `{"volumes":[{"name":"y"}]}`, `{"volumes":[{"name":"y"}]}`, "volumes (missing in the service: x)"},
		"items removed":                            {`{"volumes":[{"name":"x"}]}`, `{}`, `{"volumes":[]}`, "volumes (missing in the service: x)"},
		"mount at another path":                    {`{"mounts":[{"name":"x","mountPath":"/a"}]}`, `{"mounts":[{"name":"x","mountPath":"/b"}]}`, `{"mounts":[{"name":"x","mountPath":"/b"}]}`, "mounts (missing in the service: x /a; only in the service: x /b)"},
		"ordered items reordered":                  {`{"env":[{"name":"x"},{"name":"y"}]}`, `{"env":[{"name":"y"},{"name":"x"}]}`, `{"env":[{"name":"y"},{"name":"x"}]}`, "env (order)"},
		"duplicate item changed":                   {`{"volumes":[{"name":"x","size":1},{"name":"x","size":2}]}`, `{"volumes":[{"name":"x","size":1},{"name":"x","size":3}]}`, `{"volumes":[{"name":"x","size":1},{"name":"x","size":3}]}`, "volumes[1].size"},
		"duplicate item removed":                   {`{"volumes":[{"name":"x"},{"name":"x"}]}`, `{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"x"}]}`, "volumes (missing in the service: x, x; only in the service: x)"},
		"chosen value that was set":                {`{"url":"a"}`, `{"url":"b"}`, `{"url":"b"}`, "url"},
		"other ref":                                {`{"ref":"main"}`, `{"ref":"develop","commit":"` + commitOne + `"}`, `{"commit":"` + commitOne + `","ref":"develop"}`, "ref"},
		"commit that the service does not explain": {`{"ref":"main"}`, `{"ref":"` + commitOne + `"}`, `{"ref":"` + commitOne + `"}`, "ref"},
		"other commit than the pinned one":         {`{"ref":"` + commitOne + `"}`, `{"ref":"` + commitTwo + `","commit":"` + commitTwo + `"}`, `{"commit":"` + commitTwo + `","ref":"` + commitTwo + `"}`, "ref"},
		"image, not built":                         {`{"image":"a"}`, `{"image":"b"}`, `{"image":"b"}`, "image"},

		"UUID in another case":            {`{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, `{"uuid":"ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"}`, "", ""},
		"time in another zone":            {`{"time":"2025-01-02T03:04:05Z"}`, `{"time":"2025-01-02T04:04:05.000+01:00"}`, "", ""},
		"integer with a fraction of zero": {`{"int":2048}`, `{"int":2048.0}`, "", ""},
		"shorter number":                  {`{"float":0.33333333333333333333333}`, `{"float":0.3333333333333333}`, "", ""},
		"JSON in a string, laid out":      {`{"string":"{\"a\": [1]}"}`, `{"string":"{\"a\":[1.0]}"}`, "", ""},
		"null for an empty string":        {`{"string":""}`, `{"string":null}`, "", ""},
		"value for an empty string":       {`{"string":""}`, `{"string":"x"}`, "", ""},
		"null for empty ones":             {`{"labels":{},"json":{},"args":[],"volumes":[],"spec":{}}`, `{"labels":null,"json":null,"spec":null}`, "", ""},
		"empty for omitted ones":          {`{}`, `{"labels":{},"json":{},"args":[],"volumes":[],"spec":{}}`, "", ""},
		"omitted ones filled in":          {`{}`, `{"string":"x","int":1,"labels":{"a":"1"},"json":{"a":1},"args":["x"],"volumes":[{"name":"x"}],"spec":{"a":"x"}}`, "", ""},
		"config object filled in":         {``, `{"string":"x","labels":{"a":"1"}}`, "", ""},
		"members of an object filled in":  {`{"spec":{"a":"x"}}`, `{"spec":{"a":"x","b":1,"labels":{"a":"1"},"new":1}}`, "", ""},
		"empty object filled in":          {`{"spec":{}}`, `{"spec":{"a":"x"}}`, "", ""},
		"labels added":                    {`{"labels":{"a":"1"}}`, `{"labels":{"a":"1","b":"2"}}`, "", ""},
		"labels added to none":            {`{"labels":{}}`, `{"labels":{"b":"2"}}`, "", ""},
		"label that is a number":          {`{"labels":{"a":"8080","b":"true"}}`, `{"labels":{"a":8080,"b":true}}`, "", ""},
		"empty label dropped":             {`{"labels":{"a":"1","b":""}}`, `{"labels":{"a":"1"}}`, "", ""},
		"JSON members added":              {`{"json":{"a":{"b":1},"c":[{"d":1}]}}`, `{"json":{"a":{"b":1,"x":2},"c":[{"d":1.0,"y":3}],"z":4}}`, "", ""},
		"empty JSON members dropped":      {`{"json":{"a":[],"b":{"c":""},"d":1,"e":null}}`, `{"json":{"d":1}}`, "", ""},
		"JSON null filled in":             {`{"json":{"a":null}}`, `{"json":{"a":1}}`, "", ""},
		"members of JSON items added":     {`{"env_from":[{"a":1}]}`, `{"env_from":[{"a":1,"b":2}]}`, "", ""},
		"members of items added":          {`{"volumes":[{"name":"x"}]}`, `{"volumes":[{"name":"x","size":1,"json":{"a":1},"new":2}]}`, "", ""},
		"items reordered":                 {`{"volumes":[{"name":"x","size":1},{"name":"y"}]}`, `{"volumes":[{"name":"y"},{"name":"x","size":1}]}`, "", ""},
		"mounts reordered":                {`{"mounts":[{"name":"x","mountPath":"/a"},{"name":"x","mountPath":"/b","readOnly":true}]}`, `{"mounts":[{"name":"x","mountPath":"/b","readOnly":true},{"name":"x","mountPath":"/a"}]}`, "", ""},
		"nameless items filled in":        {`{"volumes":[{"size":1},{"size":2}]}`, `{"volumes":[{"size":1,"json":{}},{"size":2}]}`, "", ""},
		"nameless items named":            {`{"volumes":[{"size":1},{"size":2}]}`, `{"volumes":[{"size":1,"name":"x"},{"size":2,"name":"y"}]}`, "", ""},
		"path of a mount filled in":       {`{"mounts":[{"name":"x"}]}`, `{"mounts":[{"name":"x","mountPath":"/x"}]}`, "", ""},
		"duplicate items":                 {`{"volumes":[{"name":"x","size":1},{"name":"x","size":2}]}`, `{"volumes":[{"name":"x","size":1},{"name":"x","size":2}]}`, "", ""},
		"ref resolved":                    {`{"ref":"main"}`, `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`, `{"commit":"` + commitOne + `","ref":"main"}`, ""},
		"ref kept, commit beside it":      {`{"ref":"main"}`, `{"ref":"main","commit":"` + commitOne + `"}`, `{"commit":"` + commitOne + `","ref":"main"}`, ""},
		"pinned commit in another case":   {`{"ref":"` + strings.ToUpper(commitTwo) + `"}`, `{"ref":"` + commitTwo + `","commit":"` + commitTwo + `"}`, `{"commit":"` + commitTwo + `","ref":"` + strings.ToUpper(commitTwo) + `"}`, ""},
		"omitted ref":                     {`{}`, `{"ref":"main"}`, "", ""},
		"chosen value that was omitted":   {`{}`, `{"url":"b"}`, `{"url":"b"}`, ""},
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
			asked, err := resourceFields.Encode(s.config(c.config))
			if satisfied := resourceFields.Satisfies(s.live(c.live), asked, ""); err != nil || satisfied != (c.at == "") {
				t.Errorf("satisfied: %t, %v", satisfied, err)
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
	if found := s.compare(`{"image":"b"}`, s.plan(`{"image":"b"}`), `{"image":"built:1"}`); body(found) != `{"image":"b"}` {
		t.Errorf("a change sends %s", body(found))
	}
	if found := s.compare(`{}`, s.plan(`{}`), `{"image":"built:1"}`); body(found) != "" { // the built image is nothing that was set
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
		"set":                                  {`{}`, `{}`, `{"string":"x"}`, "", `{"string":"x"}`, "string", ""},
		"set to what the service has":          {`{}`, `{"string":"x","labels":{"a":"1","b":"2"},"spec":{"a":"x","b":1}}`, `{"string":"x","labels":{"a":"1"},"spec":{"a":"x"}}`, "", "", "", ""},
		"set to an empty string":               {`{}`, `{"string":"x"}`, `{"string":""}`, "", "", "", ""},
		"set to an empty map":                  {`{}`, `{"labels":{"a":"1"}}`, `{"labels":{}}`, "", "", "", ""},
		"set to an empty list":                 {`{}`, `{"args":["x"]}`, `{"args":[]}`, "", `{"args":[]}`, "args", ""},
		"set to an empty JSON object":          {`{}`, `{}`, `{"json":{}}`, "", `{"json":{}}`, "json", ""},
		"set to JSON that the service has":     {`{}`, `{"json":{"a":1}}`, `{"json":{}}`, "", "", "", ""},
		"changed":                              {`{"string":"x","int":1}`, `{"string":"x","int":1}`, `{"string":"y","int":1}`, "", `{"string":"y"}`, "string", ""},
		"changed to what the service has":      {`{"string":"x"}`, `{"string":"y"}`, `{"string":"y"}`, "", "", "", ""},
		"written in another form":              {`{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, `{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, `{"uuid":"ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"}`, `{"uuid":"abcdefab-cdef-abcd-efab-cdefabcdefab"}`, "", "", ""},
		"removed":                              {`{"string":"x","int":1}`, `{"string":"x","int":1}`, `{"int":1}`, "", `{"string":null}`, "", "string"},
		"changed to an empty string":           {`{"string":"x"}`, `{"string":"x"}`, `{"string":""}`, "", `{"string":null}`, "", "string"},
		"empty string removed":                 {`{"string":""}`, `{"string":"x"}`, `{}`, "", "", "", ""},
		"removed where the service has none":   {`{"string":"x"}`, `{}`, `{}`, "", "", "", ""},
		"label changed":                        {`{"labels":{"a":"1"}}`, `{"labels":{"a":"1","x":"9"}}`, `{"labels":{"a":"2"}}`, "", `{"labels":{"a":"2","x":"9"}}`, `labels["a"]`, ""},
		"label removed":                        {`{"labels":{"a":"1","b":"2"}}`, `{"labels":{"a":"1","b":"2","x":"9"}}`, `{"labels":{"a":"1"}}`, "", `{"labels":{"a":"1","x":"9"}}`, "", `labels["b"]`},
		"label with dots removed":              {`{"labels":{"a.b/c":"1"}}`, `{"labels":{"a.b/c":"1","x":"9"}}`, `{"labels":{}}`, "", `{"labels":{"x":"9"}}`, "", `labels["a.b/c"]`},
		"last label removed":                   {`{"labels":{"a":"1"}}`, `{"labels":{"a":"1"}}`, `{"labels":{}}`, "", `{"labels":{}}`, "", `labels["a"]`},
		"labels removed":                       {`{"labels":{"a":"1"}}`, `{"labels":{"a":"1","x":"9"}}`, `{}`, "", `{"labels":{"x":"9"}}`, "", `labels["a"]`},
		"all labels removed":                   {`{"labels":{"a":"1"}}`, `{"labels":{"a":"1"}}`, `{}`, "", `{"labels":{}}`, "", `labels["a"]`},
		"empty labels removed":                 {`{"labels":{}}`, `{"labels":{"x":"9"}}`, `{}`, "", "", "", ""},
		"empty label set":                      {`{"labels":{"a":"1"}}`, `{"labels":{"a":"1"}}`, `{"labels":{"a":"2","b":""}}`, "", `{"labels":{"a":"2","b":""}}`, `labels["a"]`, ""},
		"JSON member removed":                  {`{"json":{"a":{"b":1,"c":2},"d":3}}`, `{"json":{"a":{"b":1,"c":2,"x":9},"d":3}}`, `{"json":{"a":{"b":1}}}`, "", `{"json":{"a":{"b":1,"x":9}}}`, "", "json (a.c), json (d)"},
		"JSON object removed":                  {`{"json":{"a":{"b":1},"c":2}}`, `{"json":{"a":{"b":1,"x":9},"c":2}}`, `{"json":{"c":2}}`, "", `{"json":{"a":{"x":9},"c":2}}`, "", "json (a.b)"},
		"empty JSON member removed":            {`{"json":{"a":{},"b":1}}`, `{"json":{"a":{"x":9},"b":1}}`, `{"json":{"b":1}}`, "", "", "", ""},
		"JSON removed":                         {`{"json":{"a":1}}`, `{"json":{"a":1}}`, `{}`, "", `{"json":null}`, "", "json (a)"},
		"JSON removed beside others":           {`{"json":{"a":1}}`, `{"json":{"a":1,"x":9}}`, `{}`, "", `{"json":{"x":9}}`, "", "json (a)"},
		"empty JSON removed":                   {`{"json":{}}`, `{"json":{}}`, `{}`, "", `{"json":null}`, "", "json"},
		"JSON list shorter":                    {`{"json":{"a":[1,2]}}`, `{"json":{"a":[1,2],"x":9}}`, `{"json":{"a":[1]}}`, "", `{"json":{"a":[1],"x":9}}`, "json (a)", ""},
		"member of an item of a JSON list":     {`{"json":{"a":[{"b":1,"c":2}]}}`, `{"json":{"a":[{"b":1,"c":2,"x":9}]}}`, `{"json":{"a":[{"b":1}]}}`, "", `{"json":{"a":[{"b":1,"x":9}]}}`, "", "json (a.[0].c)"},
		"string to an empty one in a list":     {`{"args":["a","b"]}`, `{"args":["a","b"]}`, `{"args":["a",""]}`, "", `{"args":["a",""]}`, "args", ""},
		"list removed":                         {`{"args":["a"]}`, `{"args":["a"]}`, `{}`, "", `{"args":null}`, "", "args"},
		"last item removed":                    {`{"args":["a"]}`, `{"args":["a"]}`, `{"args":[]}`, "", `{"args":[]}`, "args", ""},
		"item added":                           {`{"volumes":[{"name":"a"}]}`, `{"volumes":[{"name":"a","size":9,"new":1}]}`, `{"volumes":[{"name":"b"},{"name":"a"}]}`, "", `{"volumes":[{"name":"b"},{"name":"a","new":1,"size":9}]}`, "volumes (missing in the service: b)", ""},
		"item removed":                         {`{"volumes":[{"name":"a"},{"name":"b"}]}`, `{"volumes":[{"name":"a"},{"name":"b","new":1}]}`, `{"volumes":[{"name":"b"}]}`, "", `{"volumes":[{"name":"b","new":1}]}`, "volumes (only in the service: a)", ""},
		"last object removed":                  {`{"volumes":[{"name":"a"}]}`, `{"volumes":[{"name":"a"}]}`, `{"volumes":[]}`, "", `{"volumes":[]}`, "volumes (only in the service: a)", ""},
		"list of objects removed":              {`{"volumes":[{"name":"a"}]}`, `{"volumes":[{"name":"a","size":9}]}`, `{}`, "", `{"volumes":null}`, "", "volumes"},
		"items reordered":                      {`{"volumes":[{"name":"a"},{"name":"b"}]}`, `{"volumes":[{"name":"a"},{"name":"b"}]}`, `{"volumes":[{"name":"b"},{"name":"a"}]}`, `{"volumes":[{"name":"a"},{"name":"b"}]}`, "", "", ""},
		"ordered items reordered":              {`{"env":[{"name":"a"},{"name":"b"}]}`, `{"env":[{"name":"a"},{"name":"b"}]}`, `{"env":[{"name":"b"},{"name":"a"}]}`, "", `{"env":[{"name":"b"},{"name":"a"}]}`, "env (order)", ""},
		"member of an item removed":            {`{"volumes":[{"name":"a","size":1}]}`, `{"volumes":[{"name":"a","size":1,"json":{"x":9}}]}`, `{"volumes":[{"name":"a"}]}`, "", `{"volumes":[{"json":{"x":9},"name":"a"}]}`, "", "volumes[0].size"},
		"JSON member of an item removed":       {`{"volumes":[{"name":"a","json":{"b":1,"c":2}}]}`, `{"volumes":[{"name":"a","json":{"b":1,"c":2,"x":9}}]}`, `{"volumes":[{"name":"a","json":{"b":1}}]}`, "", `{"volumes":[{"json":{"b":1,"x":9},"name":"a"}]}`, "", "volumes[0].json (c)"},
		"member of an object removed":          {`{"spec":{"a":"x","b":1}}`, `{"spec":{"a":"x","b":1,"new":9}}`, `{"spec":{"b":1}}`, "", `{"spec":{"a":null,"b":1,"new":9}}`, "", "spec.a"},
		"object removed":                       {`{"spec":{"a":"x","labels":{"a":"1"}}}`, `{"spec":{"a":"x","b":9,"labels":{"a":"1","x":"9"}}}`, `{}`, "", `{"spec":{"a":null,"b":9,"labels":{"x":"9"}}}`, "", `spec.a, spec.labels["a"]`},
		"empty object removed":                 {`{"spec":{}}`, `{"spec":{"b":9}}`, `{}`, "", "", "", ""},
		"everything removed":                   {`{"string":"x","labels":{"a":"1"},"volumes":[{"name":"a"}]}`, `{"string":"x","int":9,"labels":{"a":"1","x":"9"},"volumes":[{"name":"a"}]}`, ``, `{}`, `{"labels":{"x":"9"},"string":null,"volumes":null}`, "", `string, labels["a"], volumes`},
		"chosen value removed":                 {`{"url":"a"}`, `{"url":"a"}`, `{}`, `{"url":"?"}`, `{"url":null}`, "", "url"},
		"value to value_from":                  {`{"env":[{"name":"a","value":"x"}]}`, `{"env":[{"name":"a","value":"x"}]}`, `{"env":[{"name":"a","valueFrom":{"b":1}}]}`, "", `{"env":[{"name":"a","valueFrom":{"b":1}}]}`, "env[0].value_from (b)", "env[0].value"},
		"volume to an empty directory":         {`{"volumes":[{"name":"a","configMap":{"b":1}}]}`, `{"volumes":[{"name":"a","configMap":{"b":1,"x":9},"new":9}]}`, `{"volumes":[{"name":"a","emptyDir":{}}]}`, "", `{"volumes":[{"emptyDir":{},"name":"a","new":9}]}`, "volumes[0].empty_dir", "volumes[0].config_map (b)"},
		"empty directory to a volume":          {`{"volumes":[{"name":"a","emptyDir":{}}]}`, `{"volumes":[{"name":"a","emptyDir":{"x":9}}]}`, `{"volumes":[{"name":"a","configMap":{"b":1}}]}`, "", `{"volumes":[{"configMap":{"b":1},"name":"a"}]}`, "volumes[0].config_map (b)", "volumes[0].empty_dir"},
		"ref":                                  {`{"ref":"main"}`, `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`, `{"ref":"develop"}`, `{"ref":"develop","commit":"` + commitOne + `"}`, `{"ref":"develop"}`, "ref", ""},
		"ref pinned to its commit":             {`{"ref":"main"}`, `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`, `{"ref":"` + commitOne + `"}`, `{"ref":"` + commitOne + `","commit":"` + commitOne + `"}`, "", "", ""},
		"drift beside a change":                {`{"string":"x","int":1}`, `{"string":"x","int":2}`, `{"string":"y","int":1}`, "", `{"int":1,"string":"y"}`, "string, int", ""},
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
