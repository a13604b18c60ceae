package field

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// everyKind is kinds as JSON, as a client would type it.
type everyKind struct {
	Text   *string           `json:"text,omitzero"`
	UUID   *string           `json:"uuid,omitzero"`
	Time   *string           `json:"time,omitzero"`
	Whole  *int64            `json:"whole,omitzero"`
	Number *float64          `json:"number,omitzero"`
	Flag   *bool             `json:"flag,omitzero"`
	JSON   json.RawMessage   `json:"json,omitzero"`
	Map    map[string]string `json:"map,omitzero"`
	Texts  []string          `json:"texts,omitzero"`
	UUIDs  []string          `json:"uuids,omitzero"`
	Times  []string          `json:"times,omitzero"`
	JSONs  []json.RawMessage `json:"jsons,omitzero"`
	Object *everyObject      `json:"object,omitzero"`
}

type everyObject struct {
	Inner *struct {
		Text *string `json:"text,omitzero"`
	} `json:"inner,omitzero"`
	Ref *string `json:"ref,omitzero"`
}

func TestEveryKindThereAndBack(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"text":                        `{"text":"<é&>\n"}`,
		"empty text":                  `{"text":""}`,
		"uuid":                        `{"uuid":"123E4567-e89b-12d3-a456-426614174000"}`,
		"time":                        `{"time":"2025-01-02T03:04:05Z"}`,
		"zero":                        `{"whole":0,"number":0,"flag":false}`,
		"least and most":              `{"whole":-9223372036854775808,"number":1.7976931348623157e+308}`,
		"most and least":              `{"whole":9223372036854775807,"number":5e-324}`,
		"true":                        `{"flag":true}`,
		"JSON with what HTML escapes": `{"json":{"a":"<&>","b":[1,1.50,1e3,null,{}],"c":12345678901234567890.0}}`,
		"empty JSON":                  `{"json":{}}`,
		"map":                         `{"map":{"":"","a":"1"}}`,
		"empty map":                   `{"map":{}}`,
		"lists":                       `{"texts":["a",""],"uuids":["x"],"times":["y"],"jsons":[{"a":1},{}]}`,
		"empty lists":                 `{"texts":[],"uuids":[],"times":[],"jsons":[]}`,
		"empty object":                `{"object":{}}`,
		"nested empty object":         `{"object":{"inner":{}}}`,
		"nested":                      `{"object":{"inner":{"text":"a"},"ref":"b"}}`,
		"nothing":                     `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent, back everyKind
			if err := json.Unmarshal([]byte(text), &sent); err != nil {
				t.Fatal(err)
			}
			v, err := kinds.Decode(sent)
			if err != nil {
				t.Fatal(err)
			}
			if !v.Type().Equal(kinds.Type()) || !v.IsFullyKnown() {
				t.Errorf("decoded to %s", v)
			}
			if err := kinds.Encode(v, &back); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, back); !reflect.DeepEqual(got, readTree(t, []byte(text))) {
				t.Errorf("%s came back as %v", text, got)
			}
		})
	}
}

func TestEncodeLeavesOutWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	v := With(of(t, kinds, object{"text": "a", "object": object{"inner": object{}}}), Values{
		"whole": tftypes.NewValue(tftypes.Number, tftypes.UnknownValue),
		"json":  tftypes.NewValue(tftypes.String, tftypes.UnknownValue),
	})
	var got everyKind
	if err := kinds.Encode(v, &got); err != nil {
		t.Fatal(err)
	}
	if want := readTree(t, []byte(`{"text":"a","object":{"inner":{}}}`)); !reflect.DeepEqual(tree(t, got), want) {
		t.Errorf("got %v", tree(t, got))
	}
}

func TestEncodeKeepsTheNamesOfTheWire(t *testing.T) {
	t.Parallel()
	v := of(t, deployment, object{"source_config": object{"resource_spec": object{"volumes": []any{object{"downwardAPI": object{}, "emptyDir": object{}}}}}})
	var got any
	if err := deployment.Encode(v, &got); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(got)
	if want := `{"source_config":{"resource_spec":{"volumes":[{"downwardAPI":{},"emptyDir":{}}]}}}`; string(text) != want {
		t.Errorf("got %s", text)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field Field
		value any
		says  string
	}{
		"attribute that the client type does not have": {Field{Name: "other", Kind: Text}, "a", "other"},
		"fraction of a whole number":                   {Field{Name: "whole", Kind: Whole}, big.NewFloat(1.5), "1.5 is not a whole number"},
		"whole number beyond 64 bits":                  {Field{Name: "whole", Kind: Whole}, new(big.Float).SetInt(new(big.Int).Lsh(big.NewInt(1), 63)), "9223372036854775808"},
		"number beyond 64 bits":                        {Field{Name: "number", Kind: Number}, new(big.Float).SetMantExp(big.NewFloat(1), 2000), "number: 1.14813"},
		"text that is not JSON":                        {Field{Name: "json", Kind: JSON}, "{", "json: not JSON"},
		"text in a list that is not JSON":              {Field{Name: "jsons", Kind: List, Elem: JSON}, []tftypes.Value{str("}")}, "jsons: not JSON"},
		"text in an object that is not JSON": {Field{Name: "object", Kind: Object, Fields: Fields{{Name: "inner", Kind: JSON}}},
			Values{"inner": str("")}, "inner: not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := Fields{c.field}
			err := fs.Encode(tftypes.NewValue(fs.Type(), Values{c.field.Name: tftypes.NewValue(c.field.Type(), c.value)}), &everyKind{})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %v, want one that says %q", err, c.says)
			}
		})
	}
}

func TestDecodeOfOddTrees(t *testing.T) {
	t.Parallel()
	odd := []any{"text", 1, 1.5, true, []any{}, []any{"a"}, []any{1}, []any{nil}, []any{[]any{}}, []any{map[string]any{}}, map[string]any{}, map[string]any{"a": 1},
		map[string]any{"a": "b"}, map[string]any{"inner": 1}, map[string]any{"name": []any{}}}
	fits := map[Kind]func(any) bool{
		Text: isA[string], UUID: isA[string], Time: isA[string], Flag: isA[bool],
		Whole: isNumber, Number: isNumber, JSON: func(any) bool { return true },
	}
	for _, f := range kinds {
		for _, value := range odd {
			v, err := kinds.Decode(map[string]any{f.Name: value})
			if err == nil && !v.Type().Equal(kinds.Type()) {
				t.Errorf("%s of %v: decoded to %s", f.Name, value, v)
			}
			if fit := fits[f.Kind]; fit != nil && fit(value) != (err == nil) {
				t.Errorf("%s of %v: error is %v", f.Name, value, err)
			}
			if err != nil && !strings.Contains(err.Error(), ": ") {
				t.Errorf("%s of %v: the error names no attribute: %v", f.Name, value, err)
			}
		}
	}
	for name, value := range map[string]any{
		"list instead of an object": []any{}, "text instead of an object": "a",
		"channel": make(chan int), "not a number": math.NaN(), "broken JSON": json.RawMessage("{"), "number without end": map[string]any{"whole": json.Number("1e99999999999")},
	} {
		if _, err := kinds.Decode(value); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if v, err := kinds.Decode(nil); err != nil || !v.IsNull() {
		t.Errorf("nothing decodes to %s, %v", v, err)
	}
}

func isA[T any](v any) bool { _, ok := v.(T); return ok }

func isNumber(v any) bool { return isA[int](v) || isA[float64](v) }

// TestNumbersEqualThoseOfTheConfiguration: Terraform parses a number at 512
// bits, and compares it so with the one of the service.
func TestNumbersEqualThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "v", Kind: Number}}
	for _, number := range []float64{0.1, 0.2, 0.25, 1.0 / 3, 1e-7, 1e21, 2048} {
		v := of(t, fs, object{"v": number})
		text, _ := json.Marshal(number)
		if !members(v)["v"].Equal(num(string(text))) {
			t.Errorf("%s decodes to %s", text, v)
		}
	}
}

func TestGeneratedResponsesSurvive(t *testing.T) {
	t.Parallel()
	start := rand.Uint64()
	for seed := start; seed < start+25 && !t.Failed(); seed++ {
		generated := tftypes.NewValue(deployment.Type(), seeded(seed).answers(deployment, members(seeded(seed).config(deployment))))
		var response client.Deployment
		if err := deployment.Encode(generated, &response); err != nil {
			t.Fatal(err)
		}
		response.Secrets = []client.Secret{{Name: "never in the state"}}
		assertRoundTrip(t, response)
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}
}

// assertRoundTrip follows a response into the state and from there into a
// request: nothing is lost and nothing changed.
func assertRoundTrip(t testing.TB, response client.Deployment) {
	t.Helper()
	state, err := deployment.Decode(response)
	if err != nil {
		t.Fatalf("%+v: %v", response, err)
	}
	var back client.Deployment
	if err := deployment.Encode(state, &back); err != nil {
		t.Fatalf("%s: %v", state, err)
	}
	response.Secrets = nil
	want, got := tree(t, response), tree(t, back)
	dropNulls(want, deployment)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("came back changed:\n%v\n%v", want, got)
	}
	var request client.DeploymentRequest
	shown := deployment.Without("id", "tenant_id", "created_at", "updated_at", "status", "latest_revision_id", "active_revision_id", "image_version")
	if err := shown.Encode(state, &request); err != nil {
		t.Fatalf("as a request: %v", err)
	}
	sent := tree(t, request).(map[string]any)
	for _, f := range shown {
		asked, ok := want.(map[string]any)[f.wire()]
		if ok && !reflect.DeepEqual(sent[f.wire()], asked) {
			t.Errorf("%s is requested as %v instead of %v", f.Name, sent[f.wire()], asked)
		}
	}
}

// dropNulls takes out what is null on the wire, as a RawMessage may be: null
// and absent are the same. What is null within JSON stays.
func dropNulls(tree any, fs Fields) {
	object, _ := tree.(map[string]any)
	for _, f := range fs {
		value, ok := object[f.wire()]
		if ok && value == nil {
			delete(object, f.wire())
		}
		if list, ok := value.([]any); ok && f.Kind == Objects {
			for _, item := range list {
				dropNulls(item, f.Fields)
			}
		}
		if f.Kind == Object {
			dropNulls(value, f.Fields)
		}
	}
}

func tree(t testing.TB, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return readTree(t, text)
}

func readTree(t testing.TB, text []byte) any {
	t.Helper()
	tree, err := readJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestPathOfAPlaceInTheBody(t *testing.T) {
	t.Parallel()
	spec := path.Root("source_config").AtName("resource_spec")
	for name, c := range map[string]struct {
		loc  []any
		want path.Path
		ok   bool
	}{
		"attribute":                       {[]any{"name"}, path.Root("name"), true},
		"nested attribute":                {[]any{"source_config", "resource_spec", "memory_mb"}, spec.AtName("memory_mb"), true},
		"item":                            {[]any{"secret_references", 1}, path.Root("secret_references").AtListIndex(1), true},
		"attribute of an item":            {[]any{"source_config", "resource_spec", "sidecars", 0, "envFrom"}, spec.AtName("sidecars").AtListIndex(0).AtName("env_from"), true},
		"nested item":                     {[]any{"source_config", "resource_spec", "sidecars", 0, "env", 2, "value"}, spec.AtName("sidecars").AtListIndex(0).AtName("env").AtListIndex(2).AtName("value"), true},
		"item of a list of texts":         {[]any{"source_config", "resource_spec", "sidecars", 0, "command", 3}, spec.AtName("sidecars").AtListIndex(0).AtName("command").AtListIndex(3), true},
		"beyond an item of a list":        {[]any{"source_config", "resource_spec", "sidecars", 0, "command", 3, "x"}, spec.AtName("sidecars").AtListIndex(0).AtName("command").AtListIndex(3), true},
		"name of HCL instead of the wire": {[]any{"source_config", "resource_spec", "volumes", 0, "config_map"}, spec.AtName("volumes").AtListIndex(0).AtName("config_map"), true},
		"name on the wire":                {[]any{"source_config", "resource_spec", "volumes", 0, "configMap"}, spec.AtName("volumes").AtListIndex(0).AtName("config_map"), true},
		"member of JSON":                  {[]any{"source_config", "resource_spec", "volumes", 0, "configMap", "items", 0}, spec.AtName("volumes").AtListIndex(0).AtName("config_map"), true},
		"member of a map":                 {[]any{"source_config", "resource_spec", "labels", "a.b/c"}, spec.AtName("labels").AtMapKey("a.b/c"), true},
		"index in a map":                  {[]any{"source_config", "resource_spec", "labels", 0}, spec.AtName("labels"), true},
		"unknown member at the top":       {[]any{"nonsense"}, path.Empty(), false},
		"unknown member within":           {[]any{"source_config", "nonsense", "more"}, path.Root("source_config"), true},
		"unknown member of an item":       {[]any{"secret_references", 1, "nonsense"}, path.Root("secret_references").AtListIndex(1), true},
		"index where an object is":        {[]any{"source_config", 1}, path.Root("source_config"), true},
		"index at the top":                {[]any{0}, path.Empty(), false},
		"name where a list is":            {[]any{"secret_references", "name"}, path.Root("secret_references"), true},
		"below a text":                    {[]any{"name", "x"}, path.Root("name"), true},
		"index in a text":                 {[]any{"name", 0}, path.Root("name"), true},
		"nowhere":                         {nil, path.Empty(), false},
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
