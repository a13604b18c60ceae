package field

import (
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestChangesSendWhatDiffersAndNoMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wanted, has object
		want        string
	}{
		"nothing":                     {object{"text": "a", "map": object{"a": "1"}}, object{"text": "a", "map": object{"a": "1", "b": "2"}, "flag": true}, `{}`},
		"a text":                      {object{"text": "a", "flag": true}, object{"text": "b", "flag": true}, `{"text":"a"}`},
		"within an object":            {object{"object": object{"ref": "a", "inner": object{"text": "b"}}}, object{"object": object{"ref": "a", "inner": object{"text": "c"}}}, `{"object":{"inner":{"text":"b"}}}`},
		"an object that is not there": {object{"object": object{"ref": "a"}}, object{}, `{"object":{"ref":"a"}}`},
		"another ref than a commit":   {object{"object": object{"ref": "main"}}, object{"object": object{"ref": commitOne, "commit": commitOne}}, `{"object":{"ref":"main"}}`},
		"a map, with what was added":  {object{"map": object{"a": "1"}}, object{"map": object{"a": "2", "b": "2"}}, `{"map":{"a":"1","b":"2"}}`},
		"JSON, with what was added":   {object{"json": object{"a": object{"b": 1}}}, object{"json": object{"a": object{"b": 2, "c": 3}, "d": 4}}, `{"json":{"a":{"b":1,"c":3},"d":4}}`},
		"a list":                      {object{"texts": []any{"a"}}, object{"texts": []any{"b", "c"}}, `{"texts":["a"]}`},
		"a list to be empty":          {object{"texts": []any{}}, object{"texts": []any{"b"}}, `{}`},
		"an empty item of a list":     {object{"texts": []any{"a", ""}}, object{"texts": []any{"a", "b"}}, `{"texts":["a",""]}`},
		"items of which one is empty": {object{"ordered": []any{object{"name": "x", "text": ""}, object{"name": "y", "text": "1"}}}, object{"ordered": []any{object{"name": "x", "text": "its own"}, object{"name": "y", "text": "2"}}}, `{"ordered":[{"name":"x","text":"its own"},{"name":"y","text":"1"}]}`},
		"items, with what was added":  {object{"keyed": []any{object{"name": "x", "number": 1}, object{"name": "z"}}}, object{"keyed": []any{object{"name": "y"}, object{"name": "x", "number": 2, "map": object{"a": "1"}}}}, `{"keyed":[{"map":{"a":"1"},"name":"x","number":1},{"name":"z"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes, err := kinds.Changes(of(t, kinds, c.wanted), of(t, kinds, c.has))
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := json.Marshal(changes); string(got) != c.want {
				t.Errorf("would send %s, want %s", got, c.want)
			}
		})
	}
}

func TestUnknownSparesWhatIsConfigured(t *testing.T) {
	t.Parallel()
	planned := members(of(t, kinds, object{"text": "a", "shown": "b", "object": object{"ref": "c", "commit": "d"}}))
	config := members(of(t, kinds, object{"text": "a", "object": object{"ref": "c"}}))
	got := kinds.Unknown(planned, config, []string{"text"}, []string{"shown"}, []string{"object", "ref"}, []string{"object", "commit"}, []string{"json"}, []string{"nonsense"})
	inner := members(got["object"])
	for name, c := range map[string]struct {
		value tftypes.Value
		known bool
	}{"text": {got["text"], true}, "shown": {got["shown"], false}, "ref": {inner["ref"], true}, "commit": {inner["commit"], false}, "json": {got["json"], false}, "flag": {got["flag"], true}} {
		if c.value.IsKnown() != c.known {
			t.Errorf("%s: %s", name, c.value)
		}
	}
	if !planned["shown"].IsKnown() || !members(planned["object"])["commit"].IsKnown() {
		t.Error("the plan itself was changed")
	}
}
