package field

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestDifferencesSayBothValuesShortly(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	fs := append(Fields{
		{Name: "keyless", Kind: Objects, Fields: Fields{{Name: "name", Kind: Text}}},
		{Name: "mounts", Kind: Objects, Key: []string{"name", "path"}, Fields: Fields{{Name: "name", Kind: Text}, {Name: "path", Kind: Text}}},
		{Name: "hidden", Kind: Text, Hidden: true},
		{Name: "numbers", Kind: Object, Fields: Fields{{Name: "number", Kind: Number}}},
	}, kinds...)
	for name, c := range map[string]struct {
		wanted, has object
		want        string // wanted | has
	}{
		"a text":                         {object{"text": "a\"<b"}, object{"text": "c"}, `"a\"<b" | "c"`},
		"nothing":                        {object{"text": "a"}, object{}, `"a" | not set`},
		"numbers":                        {object{"number": 0.1, "whole": 2048}, object{"number": 0.2, "whole": 2048}, `0.1 | 0.2`},
		"within an object":               {object{"numbers": object{"number": 1}}, object{}, `1 | not set`},
		"a flag":                         {object{"flag": true}, object{"flag": false}, `true | false`},
		"of a map what differs":          {object{"map": object{"a": "1", "b": "2", "c": ""}}, object{"map": object{"a": "1", "b": "3", "d": "4"}}, `{"b":"2"} | {"b":"3"}`},
		"of a map what is not there":     {object{"map": object{"a": "1"}}, object{"map": object{"d": "4"}}, `{"a":"1"} | {}`},
		"of JSON what differs":           {object{"json": object{"a": object{"b": 1, "c": 2}, "d": []any{1}}}, object{"json": object{"a": object{"b": 1.0, "c": 3}, "d": []any{1}}}, `{"a":{"c":2}} | {"a":{"c":3}}`},
		"JSON that is not there":         {object{"json": object{"a": 1}}, object{}, `{"a":1} | not set`},
		"a list":                         {object{"texts": []any{"a", "b"}}, object{"texts": []any{"a"}}, `["a","b"] | ["a"]`},
		"items by their keys":            {object{"keyed": []any{object{"name": "a", "number": 1}}}, object{"keyed": []any{object{"name": "a"}, object{"name": "b"}}}, `["a"] | ["a","b"]`},
		"items by two keys":              {object{"mounts": []any{object{"name": "a", "path": "/a"}}}, object{"mounts": []any{object{"name": "a", "path": "/b"}}}, `["a /a"] | ["a /b"]`},
		"items without keys are counted": {object{"keyless": []any{object{"name": "a"}}}, object{"keyless": []any{object{"name": "a"}, object{"name": "b"}}}, `{"items":1} | {"items":2}`},
		"within an item":                 {object{"keyed": []any{object{"name": "a", "number": 1}}}, object{"keyed": []any{object{"name": "a", "number": 2}}}, `1 | 2`},
		"what is hidden":                 {object{"hidden": "a"}, object{"hidden": "b"}, `another value | another value`},
		"a long text":                    {object{"text": long + "a" + long}, object{"text": long + "b"}, `…` + long[:80] + `a` + long[:78] + `… | …` + long[:156] + `b"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := fs.Differences(of(t, fs, c.wanted), of(t, fs, c.has))
			if len(found) != 1 || found[0].Wanted+" | "+found[0].Has != c.want {
				t.Errorf("%q, want %s", found, c.want)
			}
		})
	}
	t.Run("not known yet", func(t *testing.T) {
		t.Parallel()
		wanted := With(of(t, kinds, object{}), Values{"texts": tftypes.NewValue(tftypes.List{ElementType: tftypes.String},
			[]tftypes.Value{tftypes.NewValue(tftypes.String, tftypes.UnknownValue), tftypes.NewValue(tftypes.String, "b")})})
		found := kinds.Differences(wanted, of(t, kinds, object{"texts": []any{"a", "c"}}))
		if len(found) != 1 || found[0].Wanted != `["(not known yet)","b"]` {
			t.Errorf("%q", found)
		}
	})
}
