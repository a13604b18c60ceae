package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// The model of a deployment that random lives play with, written from the API
// document and not from the provider's description of the arguments.

// A shape is how a value is chosen, changed and compared.
type shape struct {
	kind      string            // leaf, map, json, object or items
	wire      string            // the name in the API, if it is another
	choices   []any             // of a leaf
	fields    map[string]*shape // of an object, or of an item
	key       []string          // of an item
	kept      bool              // is always set
	fixed     bool              // is set when the deployment is created, and not changed
	exclusive bool              // excludes its siblings that are exclusive, too
}

func leaf(choices ...any) *shape { return &shape{kind: "leaf", choices: choices} }

// as is the shape with another name in the API.
func (s *shape) as(wire string) *shape {
	s.wire = wire
	return s
}

// always is the shape of what is always set.
func (s *shape) always() *shape {
	s.kept = true
	return s
}

// once is the shape of what is set when a deployment is created, and not changed.
func (s *shape) once() *shape {
	s.kept, s.fixed = true, true
	return s
}

// alone is the shape of what excludes its siblings that are alone, too.
func (s *shape) alone() *shape {
	s.exclusive = true
	return s
}

func aMap() *shape                         { return &shape{kind: "map"} }
func aJSON() *shape                        { return &shape{kind: "json"} }
func anObject(of map[string]*shape) *shape { return &shape{kind: "object", fields: of} }
func listOf(of map[string]*shape, key ...string) *shape {
	return &shape{kind: "items", fields: of, key: key}
}

func integer() *shape { return leaf(0, 1, 2, 1024) }
func cpu() *shape     { return leaf(0.5, 1, 2.5) }
func texts() *shape   { return leaf([]any{}, []any{"a"}, []any{"a", "-b=c d"}, []any{"{}-x", "b"}) }

func containers() *shape {
	return listOf(map[string]*shape{
		"name": leaf("main", "proxy", "init"), "image": leaf("i:1", "i:2"), "command": texts(), "args": texts(),
		"image_pull_policy": leaf("Always", "Never").as("imagePullPolicy"),
		"env": listOf(map[string]*shape{"name": leaf("A", "B", "C"), "value": leaf("1", "{}", "[1] x").alone(),
			"value_from": aJSON().as("valueFrom").alone()}, "name"),
		"resources":        anObject(map[string]*shape{"limits": aJSON(), "requests": aJSON()}),
		"volume_mounts":    mounts().as("volumeMounts"),
		"security_context": aJSON().as("securityContext"),
	}, "name")
}

func mounts() *shape {
	return listOf(map[string]*shape{"name": leaf("v", "w"), "mount_path": leaf("/a", "/b").as("mountPath"),
		"read_only": leaf(true, false).as("readOnly"), "sub_path": leaf("", "s").as("subPath")}, "name", "mount_path")
}

// sourceShapes are the arguments that a deployment of a source can have.
var sourceShapes = map[string]*shape{
	"external_docker": anObject(map[string]*shape{
		"source_config": anObject(map[string]*shape{
			"custom_url":  leaf("https://a.example.com", "https://b.example.com"),
			"listener_id": leaf("aaaaaaaa-bbbb-4ccc-8ddd-000000000001").once(),
			"resource_spec": anObject(map[string]*shape{
				"min_scale": integer(), "max_scale": integer(), "cpu": cpu(), "cpu_limit": cpu(), "memory_mb": integer(),
				"queue_cpu":     cpu(),
				"db_storage_gi": integer(), "labels": aMap(), "annotations": aMap(), "service_account_name": leaf("", "one", "two"),
				"image_pull_secrets": listOf(map[string]*shape{"name": leaf("x", "y", "z")}, "name"),
				"volumes": listOf(map[string]*shape{"name": leaf("v", "w", "u"), "config_map": aJSON().as("configMap").alone(),
					"secret": aJSON().alone(), "empty_dir": aJSON().as("emptyDir").alone()}, "name"),
				"volume_mounts": mounts(), "sidecars": containers(), "init_containers": containers(),
			}),
		}).always(),
		"source_revision_config": anObject(map[string]*shape{"image_uri": leaf("registry.example.com/app:1",
			"registry.example.com/app:2")}),
		"secret_references": listOf(map[string]*shape{"name": leaf("A", "B"), "secret_name": leaf("s", "t").always(),
			"secret_key": leaf("k", "l").always()},
			"name"),
		"secrets": aMap(),
	}),
	"codehost": anObject(map[string]*shape{
		"source_config": anObject(map[string]*shape{
			"repo_url": leaf("https://codehost.example/acme/app").once(), "build_on_push": leaf(true, false),
			"install_command": leaf("", "deps", "deps all"), "build_command": leaf("make", "make all"),
		}).always(),
		"source_revision_config": anObject(map[string]*shape{"repo_ref": leaf("main", "dev", "{}-x"),
			"graph_config_path": leaf("graph.json", "other.json").once()}).always(),
		"secrets": aMap(),
	}),
}

var mapKeys, mapValues = []string{"a", "b.c/d", "team"}, []any{"1", "2", "{}-blue", "{}-green"}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func (s *shape) names() []string { return slices.Sorted(maps.Keys(s.fields)) }

func (s *shape) wireOf(name string) string {
	if wire := s.fields[name].wire; wire != "" {
		return wire
	}
	return name
}

// choose returns a random value.
func (s *shape) choose(r *rand.Rand) any {
	switch s.kind {
	case "leaf":
		return pick(r, s.choices)
	case "map":
		m := map[string]any{}
		for range r.IntN(3) {
			m[pick(r, mapKeys)] = pick(r, mapValues)
		}
		return m
	case "json":
		return chooseJSON(r, 2)
	case "object":
		return s.chooseObject(r, nil)
	}
	list := []any{}
	for range r.IntN(3) {
		item := s.chooseObject(r, s.key)
		if s.indexOf(list, s.keyOf(item)) < 0 {
			list = append(list, item)
		}
	}
	return list
}

func (s *shape) chooseObject(r *rand.Rand, required []string) map[string]any {
	m := map[string]any{}
	for _, name := range s.names() {
		if s.fields[name].kept || slices.Contains(required, name) || r.IntN(3) == 0 {
			s.set(r, m, name)
		}
	}
	return m
}

// set sets a member to a random value, and removes what it excludes.
func (s *shape) set(r *rand.Rand, m map[string]any, name string) {
	for other, f := range s.fields {
		if s.fields[name].exclusive && f.exclusive {
			delete(m, other)
		}
	}
	m[name] = s.fields[name].choose(r)
}

func chooseJSON(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range 1 + r.IntN(2) {
		name := pick(r, []string{"x", "y", "z"})
		if m[name] = pick(r, []any{1, true, "v", "w", []any{"l", 2}}); depth > 0 && r.IntN(3) == 0 {
			m[name] = chooseJSON(r, depth-1)
		}
	}
	return m
}

// edit returns the value with one random change somewhere.
func (s *shape) edit(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := maps.Clone(v)
		if s.kind == "map" || s.kind == "json" {
			if len(m) > 0 && r.IntN(2) == 0 {
				delete(m, pick(r, slices.Sorted(maps.Keys(m))))
			} else {
				maps.Copy(m, s.choose(r).(map[string]any))
			}
			return m
		}
		return s.editObject(r, m)
	case []any:
		if s.kind != "items" {
			return s.choose(r)
		}
		list := slices.Clone(v)
		switch i := r.IntN(4); {
		case len(list) > 0 && i < 2:
			i = r.IntN(len(list))
			list[i] = s.editObject(r, maps.Clone(list[i].(map[string]any)))
		case len(list) > 0 && i == 2:
			i = r.IntN(len(list))
			list = slices.Delete(list, i, i+1)
		default:
			if item := s.chooseObject(r, s.key); s.indexOf(list, s.keyOf(item)) < 0 {
				list = append(list, item)
			}
		}
		return list
	}
	return s.choose(r)
}

func (s *shape) editObject(r *rand.Rand, m map[string]any) map[string]any {
	var able []string
	for _, name := range s.names() {
		if !s.fields[name].fixed && !slices.Contains(s.key, name) {
			able = append(able, name)
		}
	}
	if len(able) == 0 {
		return m
	}
	name := pick(r, able)
	switch old, set := m[name]; {
	case !set:
		s.set(r, m, name)
	case r.IntN(4) == 0 && !s.fields[name].kept:
		delete(m, name)
	default:
		m[name] = s.fields[name].edit(r, old)
	}
	return m
}

func (s *shape) keyOf(item any) string {
	var parts []string
	for _, name := range s.key {
		m, _ := item.(map[string]any)
		v, ok := m[name]
		if !ok {
			v = m[s.wireOf(name)]
		}
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, ":")
}

func (s *shape) indexOf(list []any, key string) int {
	return slices.IndexFunc(list, func(item any) bool { return s.keyOf(item) == key })
}

// arguments returns the value as a configuration has it: free-form JSON is text.
func (s *shape) arguments(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if s.kind == "json" {
			return inJSON(v)
		}
		m := maps.Clone(v)
		for name, inner := range m {
			if f := s.fields[name]; f != nil {
				m[name] = f.arguments(inner)
			}
		}
		return m
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, (&shape{kind: "object", fields: s.fields}).arguments(item))
		}
		return list
	}
	return v
}

// Leaves are the innermost values of a deployment, by their places. Empty values
// are omitted: for the service, they are the same as none.
type leaves map[string]any

// add adds the leaves of a value of a configuration.
func (l leaves) add(s *shape, at string, v any) { l.walk(s, at, v, false) }

// addWire adds the leaves of what the service has. Members that the API does not
// document have a "!" in their place.
func (l leaves) addWire(s *shape, at string, v any) { l.walk(s, at, v, true) }

func (l leaves) walk(s *shape, at string, v any, wire bool) {
	switch s.kind {
	case "leaf":
		l.addTree(at, v, false)
	case "map":
		for name, value := range asMap(v) {
			l.addTree(at+"["+name+"]", value, false)
		}
	case "json":
		l.addTree(at, v, true)
	case "object":
		l.walkObject(s, at, asMap(v), wire)
	case "items":
		list, set := v.([]any)
		if set && !wire {
			l[at] = "list"
		}
		for _, item := range list {
			inner := at + "[" + s.keyOf(item) + "]"
			l[inner] = "item"
			l.walkObject(s, inner, asMap(item), wire)
		}
	}
}

func (l leaves) walkObject(s *shape, at string, m map[string]any, wire bool) {
	known := map[string]bool{}
	for name, f := range s.fields {
		of := name
		if wire {
			of = s.wireOf(name)
		}
		known[of] = true
		value := m[of]
		if list, ok := value.([]any); ok && f.kind == "map" { // secrets
			secrets := map[string]any{}
			for _, one := range list {
				secrets[fmt.Sprint(asMap(one)["name"])] = asMap(one)["value"]
			}
			value = secrets
		}
		l.walk(f, strings.TrimPrefix(at+"."+name, "."), value, wire)
	}
	for name, value := range m {
		if wire && !known[name] && at != "" {
			l.addTree(at+".!"+name, value, true)
		}
	}
}

// addTree adds a value, or, if it is an object and members are told apart, its
// members.
func (l leaves) addTree(at string, v any, members bool) {
	if m, ok := v.(map[string]any); ok && members {
		for name, value := range m {
			l.addTree(at+"#"+name, value, true)
		}
		return
	}
	var plain any
	_ = json.Unmarshal([]byte(inJSON(v)), &plain)
	if !slices.ContainsFunc([]any{nil, "", []any{}, map[string]any{}}, func(empty any) bool {
		return reflect.DeepEqual(plain, empty)
	}) {
		l[at] = plain
	}
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// within reports whether a place is another one or in it.
func within(at, other string) bool {
	rest, ok := strings.CutPrefix(at, other)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[#"))
}

// at is the shape of an attribute, nil if there is none.
func (s *shape) at(path string) *shape {
	for _, step := range strings.Split(path, ".") {
		if s = s.fields[step]; s == nil {
			return nil
		}
	}
	return s
}

// toWire returns a value as the API has it.
func (s *shape) toWire(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if s.kind != "object" && s.kind != "items" {
			return v
		}
		m := map[string]any{}
		for name, inner := range v {
			m[s.wireOf(name)] = s.fields[name].toWire(inner)
		}
		return m
	case []any:
		if s.kind == "items" {
			list := []any{}
			for _, item := range v {
				list = append(list, s.toWire(item))
			}
			return list
		}
	}
	return v
}
