package field

import "testing"

// TestDifference_forMessages: how a difference is named, and which values a
// message may show.
func TestDifference_forMessages(t *testing.T) {
	t.Parallel()
	fs := append(Fields{
		{Name: "shown", Kind: String{Shown: true}},
		{Name: "enum", Kind: String{OneOf: []string{"a", "b"}}},
		{Name: "keyless", Kind: ObjectList{Fields: Fields{{Name: "name", Kind: String{}}}}},
	}, configFields...)
	for name, c := range map[string]struct {
		live, want string
		message    string // name: want | has
	}{
		"number":       {`{"float":0.2}`, `{"float":0.1}`, `float: 0.1 | 0.2`},
		"not set":      {`{}`, `{"int":1}`, `int: 1 | not set`},
		"boolean":      {`{"bool":false}`, `{"bool":true}`, `bool: true | false`},
		"UUID":         {`{"uuid":"a"}`, `{"uuid":"b"}`, `uuid: "b" | "a"`},
		"enum":         {`{"enum":"a"}`, `{"enum":"b"}`, `enum: "b" | "a"`},
		"shown string": {`{"shown":"a\"<b"}`, `{"shown":"c"}`, `shown: "c" | "a\"<b"`},
		"URL with user info": {
			`{"shown":"https://u:p@example.com/a"}`, `{"shown":"https://example.com/b"}`,
			`shown: "https://example.com/b" | "https://example.com/a"`,
		},
		"free text": {`{"string":"a"}`, `{"string":"b"}`, `string`},
		"label":     {`{"labels":{"a.b/c":"1"}}`, `{"labels":{"a.b/c":"2"}}`, `labels["a.b/c"]`},
		"JSON":      {`{"json":{"a":{"b":1}}}`, `{"json":{"a":{"b":2}}}`, `json (a.b)`},
		"list":      {`{"args":["a"]}`, `{"args":["b"]}`, `args`},
		"member of an item": {`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[{"name":"x","size":2}]}`,
			`volumes[0].size: 2 | 1`},
		"items": {
			`{"mounts":[{"name":"a","mountPath":"/a"}]}`, `{"mounts":[{"name":"a","mountPath":"/b"}]}`,
			`mounts (missing in the service: a /b; only in the service: a /a)`,
		},
		"items without keys": {
			`{"keyless":[{"name":"a"}]}`, `{"keyless":[{"name":"a"},{}]}`,
			`keyless (missing in the service: [0], [1]; only in the service: [0])`,
		},
		"unknown member": {`{"new":{"a":1}}`, `{"new":{"a":2}}`, `new.a`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := fs.Missing(readObject(t, c.live), readObject(t, c.want), "")
			if len(found) != 1 {
				t.Fatalf("found %v", found)
			}
			message := found[0].String()
			if want, has, ok := found[0].Values(); ok {
				message += ": " + want + " | " + has
			}
			if message != c.message {
				t.Errorf("got %s, want %s", message, c.message)
			}
		})
	}
}

func TestWithoutUserInfo(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://user:secret@example.com/a?b": "https://example.com/a?b",
		"https://token@example.com/a":         "https://example.com/a",
		"user:secret@registry.example.com/a":  "registry.example.com/a",
		"user:secret@registry":                "registry",
		"ssh://us er:secret@host/a":           "ssh://host/a",
		"registry/a@sha256:1234":              "registry/a@sha256:1234",
		"app:1@sha256:1234":                   "app:1@sha256:1234",
		"git@example.com:a/b":                 "git@example.com:a/b",
		"https://example.com?at=a@b":          "https://example.com?at=a@b",
		"https://u:p@w@example.com":           "https://example.com",
		"registry.example.com/shop:1.0":       "registry.example.com/shop:1.0",
	} {
		if got := withoutUserInfo(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestDifference_Key(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		live, want  object
		object, key string
	}{
		"attribute":        {object{}, object{"name": "x"}, "name", ""},
		"list at the root": {object{}, object{"secret_references": []any{object{"name": "x"}}}, "secret_references", ""},
		"item at the root": {
			object{"secret_references": []any{object{"name": "x"}}},
			object{"secret_references": []any{object{"name": "x", "secret_key": "y"}}}, "secret_references", "",
		},
		"member": {
			object{}, object{"source_config": object{"build_on_push": true}}, "source_config", "build_on_push",
		},
		"nested member": {
			object{}, object{"source_config": object{"resource_spec": object{"labels": object{"a.b": "1"}}}}, "source_config",
			"resource_spec",
		},
		"unknown member":             {object{}, object{"source_config": object{"new.one": "1"}}, "source_config", "new.one"},
		"unknown member at the root": {object{}, object{"new": object{"a": "1"}}, "new", ""},
		"unknown config object":      {object{}, object{"new_config": object{"a": object{"b": "1"}}}, "new_config", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := deployment.Missing(c.live, c.want, "")
			if len(found) != 1 {
				t.Fatalf("found %v", found)
			}
			if object, key := found[0].Key(); object != c.object || key != c.key {
				t.Errorf("%s belongs to %q, %q", found[0], object, key)
			}
		})
	}
}
