package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// An argumentCase is a change of one argument of a deployment.
type argumentCase struct {
	name     string // of the deployment and of its resource
	argument string // in the schema, such as source_config.resource_spec.volumes.name

	// at is where a difference of it is reported; empty if the change does not
	// concern the service.
	at string

	before, after, removed map[string]any       // what the configuration sets beside name and source
	change                 func(map[string]any) // makes the same change in what the service has
	clear                  func(map[string]any) // removes the value there
	steps                  []field.Field        // the way to the value; nil if it is not described

	parts []argumentCase // of a case that is several in one
}

// argumentCases has one case or more for each argument that a configuration of
// a deployment can set, generated from the description of the resource. Only what
// that does not describe is written here.
func argumentCases(writeOnly bool) []argumentCase {
	var cases []argumentCase
	var walk func(fields field.Fields, above []field.Field)
	walk = func(fields field.Fields, above []field.Field) {
		for _, f := range fields {
			here := append(slices.Clone(above), f)
			switch {
			case f.Access == field.ReadOnly, f.Access == field.Required: // name and source have tests of their own
			case provider.Is[field.Object](f):
				walk(f.Fields(), here)
			case provider.Is[field.ObjectList](f):
				cases = append(cases, listCases(here)...)
				walk(f.Fields(), here)
			case isKey(here):
				cases = append(cases, keyCase(here))
			default:
				cases = append(cases, leafCases(here)...)
			}
		}
	}
	walk(provider.DeploymentFields, nil)

	secrets := func(values ...string) []any {
		list := []any{}
		for i := 0; i < len(values); i += 2 {
			list = append(list, map[string]any{"name": values[i], "value": values[i+1]})
		}
		return list
	}
	changed := func(values ...string) func(map[string]any) {
		return func(d map[string]any) { d["secrets"] = secrets(values...) }
	}
	cases = append(cases, argumentCase{name: "secrets", argument: "secrets", at: "secrets",
		before: map[string]any{"secrets": map[string]any{"A": "planted-before", "B": "kept"}},
		after:  map[string]any{"secrets": map[string]any{"A": "planted-after", "B": "kept"}},
		change: changed("A", "planted-after", "B", "kept"), clear: changed()})
	if writeOnly {
		cases = append(cases, argumentCase{name: "secrets_wo", argument: "secrets_wo", at: "secrets_wo_version",
			before: map[string]any{"secrets_wo": map[string]any{"A": "planted-before"}, "secrets_wo_version": 1},
			after:  map[string]any{"secrets_wo": map[string]any{"A": "planted-after"}, "secrets_wo_version": 2},
			change: changed("A", "planted-after"), clear: changed()})
	}
	unknown := func(value string) map[string]any {
		text, _ := json.Marshal(map[string]any{"source_config": map[string]any{"tier": value}})
		return map[string]any{"additional_properties": string(text)}
	}
	cases = append(cases, argumentCase{name: "additional_properties", argument: "additional_properties",
		at: "additional_properties (source_config.tier)", before: unknown("before"), after: unknown("after"),
		change: func(d map[string]any) { d["source_config"].(map[string]any)["tier"] = "after" },
		clear:  func(d map[string]any) { delete(d["source_config"].(map[string]any), "tier") }})
	for argument, values := range map[string][2]any{
		"deletion_policy": {nil, "abandon"}, "wait_until": {"created", "active"},
		"timeouts.create": {"1m", "2m"}, "timeouts.update": {"1m", "2m"}, "timeouts.delete": {nil, "2m"},
	} {
		set := func(value any) map[string]any {
			name, inner, nested := strings.Cut(argument, ".")
			if nested {
				value = map[string]any{inner: value}
			}
			return map[string]any{name: value}
		}
		cases = append(cases, argumentCase{name: strings.ReplaceAll(argument, ".", "_"), argument: argument,
			before: set(values[0]), after: set(values[1])})
	}
	for i := range cases {
		if cases[i].at == "" {
			cases[i].change, cases[i].clear = func(map[string]any) {}, func(map[string]any) {}
		}
	}
	return cases
}

// leafCases are changes of an argument that has no members of its own.
func leafCases(steps []field.Field) []argumentCase {
	f := steps[len(steps)-1]
	values := map[string][2]any{}
	switch f.Kind.(type) {
	case field.UUID:
		values["changed"] = [2]any{"aaaaaaaa-bbbb-4ccc-8ddd-000000000001", "aaaaaaaa-bbbb-4ccc-8ddd-000000000002"}
	case field.Int64:
		values["changed"] = [2]any{2, 0} // a zero is sent
	case field.Float64:
		values["changed"] = [2]any{0.3, 0}
	case field.Bool:
		values["changed"] = [2]any{true, false}
	case field.JSON:
		values["changed"] = [2]any{map[string]any{"kept": true, "name": "before"},
			map[string]any{"kept": true, "name": "after"}}
	case field.StringMap:
		values["changed"] = [2]any{map[string]any{"kept": "yes", "name": "before"},
			map[string]any{"kept": "yes", "name": "after"}}
		values["added"] = [2]any{map[string]any{"kept": "yes"}, map[string]any{"kept": "yes", "name": "after"}}
	case field.List:
		item := func(value string) any {
			if provider.Is[field.JSON](field.Field{Kind: provider.KindOf[field.List](f).Of}) {
				return map[string]any{"name": value}
			}
			return value
		}
		a, b, c := item("before"), item("kept"), item("after")
		values["changed"], values["added"] = [2]any{[]any{a, b}, []any{c, b}}, [2]any{[]any{b}, []any{b, c}}
		values["removed"], values["reordered"] = [2]any{[]any{a, b}, []any{b}}, [2]any{[]any{a, b}, []any{b, a}}
	default:
		values["changed"] = [2]any{"before", "after"}
	}
	var cases []argumentCase
	for _, how := range slices.Sorted(maps.Keys(values)) {
		c := newCase(steps, how, values[how][0], values[how][1])
		c.change = func(d map[string]any) { put(steps, d, values[how][1]) }
		cases = append(cases, c)
	}
	return cases
}

// listCases are changes of which items a list of objects has.
func listCases(steps []field.Field) []argumentCase {
	f := steps[len(steps)-1]
	a, b := item(f, "kept"), item(f, "other")
	added := newCase(steps, "added", []any{a}, []any{a, b})
	added.change = func(d map[string]any) { put(steps, d, append(itemsAt(steps, d), wire(f, []any{b}).([]any)...)) }
	removed := newCase(steps, "removed", []any{b, a}, []any{a})
	removed.change = func(d map[string]any) { put(steps, d, itemsAt(steps, d)[1:]) }
	reordered := newCase(steps, "reordered", []any{a, b}, []any{b, a})
	reordered.change = func(d map[string]any) {
		items := itemsAt(steps, d)
		put(steps, d, []any{items[1], items[0]})
	}
	if !provider.KindOf[field.ObjectList](f).Ordered {
		reordered.at = "" // means the same
	}
	return []argumentCase{added, removed, reordered}
}

// keyCase is a change of what identifies an item: it is another item then.
func keyCase(steps []field.Field) argumentCase {
	list := steps[:len(steps)-1]
	f, key := list[len(list)-1], steps[len(steps)-1].Name
	before, after := item(f, "kept"), item(f, "kept")
	after[key] = "after"
	c := newCase(list, key+"_changed", []any{before}, []any{after})
	c.argument += "." + key
	c.change = func(d map[string]any) { put(list, d, wire(f, []any{after})) }
	return c
}

// newCase is a case of the attribute at the end of the steps.
func newCase(steps []field.Field, how string, before, after any) argumentCase {
	c := argumentCase{steps: steps, clear: func(d map[string]any) { put(steps, d, nil) }}
	for i, f := range steps {
		if i > 0 {
			c.argument += "."
			c.at += "."
		}
		c.argument += f.Name
		if c.at += f.Name; provider.Is[field.ObjectList](f) && i < len(steps)-1 {
			c.at += "[0]"
		}
	}
	c.name = strings.ReplaceAll(c.argument, ".", "_") + "_" + how
	c.before, c.after, c.removed = configured(steps, before), configured(steps, after), configured(steps, nil)
	return c
}

func isKey(steps []field.Field) bool {
	if len(steps) < 2 {
		return false
	}
	list, last := provider.KindOf[field.ObjectList](steps[len(steps)-2]), steps[len(steps)-1]
	return slices.Contains(list.Key, last.Name)
}

// item is an item of a list of objects with its keys only.
func item(f field.Field, key string) map[string]any {
	keys := map[string]any{}
	for _, name := range provider.KindOf[field.ObjectList](f).Key {
		keys[name] = key
	}
	return keys
}

// configured is a value at its place in a configuration. Free-form JSON is a
// string there.
func configured(steps []field.Field, value any) map[string]any {
	f := steps[0]
	text := func(tree any) any {
		encoded, _ := json.Marshal(tree)
		return string(encoded)
	}
	switch {
	case len(steps) > 1:
		inner := configured(steps[1:], value)
		if value = inner; provider.Is[field.ObjectList](f) {
			keys := item(f, "kept")
			maps.Copy(keys, inner)
			value = []any{keys}
		}
	case value == nil:
	case provider.Is[field.JSON](f):
		value = text(value)
	case provider.Is[field.List](f) && provider.Is[field.JSON](field.Field{Kind: provider.KindOf[field.List](f).Of}):
		var texts []any
		for _, tree := range value.([]any) {
			texts = append(texts, text(tree))
		}
		value = texts
	}
	return map[string]any{f.Name: value}
}

// wire is a value with the names of the API.
func wire(f field.Field, value any) any {
	if !provider.Is[field.ObjectList](f) {
		return value
	}
	list := []any{}
	for _, of := range value.([]any) {
		renamed := map[string]any{}
		for _, child := range f.Fields() {
			if v, set := of.(map[string]any)[child.Name]; set {
				renamed[wireName(child)] = v
			}
		}
		list = append(list, renamed)
	}
	return list
}

func wireName(f field.Field) string {
	if f.Wire != "" {
		return f.Wire
	}
	return f.Name
}

// holder is the object that has the value in a deployment of the service, and
// its name there. Of lists on the way it is the first item.
func holder(steps []field.Field, d map[string]any) (object map[string]any, name string) {
	name = wireName(steps[0])
	if len(steps) == 1 {
		return d, name
	}
	if provider.Is[field.ObjectList](steps[0]) {
		return holder(steps[1:], d[name].([]any)[0].(map[string]any))
	}
	return holder(steps[1:], d[name].(map[string]any))
}

// place is where the value is in a deployment of the service; ok is false where the
// objects on the way are not there.
func (c argumentCase) place(d map[string]any) (object map[string]any, name string, ok bool) {
	object = d
	for i, f := range c.steps {
		if name = wireName(f); i == len(c.steps)-1 {
			return object, name, true
		}
		next := object[name]
		if items, isList := next.([]any); isList && len(items) > 0 {
			next = items[0]
		}
		if object, ok = next.(map[string]any); !ok {
			return nil, "", false
		}
	}
	return nil, "", false
}

func put(steps []field.Field, d map[string]any, value any) {
	object, name := holder(steps, d)
	object[name] = value
}

func itemsAt(steps []field.Field, d map[string]any) []any {
	object, name := holder(steps, d)
	return slices.Clone(object[name].([]any))
}

// restore gives a deployment those values of another that can be changed.
func restore(d, from map[string]any) {
	copied := decoded(from)
	for _, name := range []string{"source_config", "source_revision_config", "secrets", "secret_references"} {
		d[name] = copied[name]
	}
}

func decoded(d map[string]any) (copied map[string]any) {
	encoded, _ := json.Marshal(d)
	_ = json.Unmarshal(encoded, &copied)
	return copied
}

// satisfies reports whether has is what wanted is, in objects perhaps with more.
func satisfies(has, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		members, ok := has.(map[string]any)
		for name, value := range wanted {
			ok = ok && satisfies(members[name], value)
		}
		return ok
	case []any:
		items, ok := has.([]any)
		ok = ok && len(items) == len(wanted)
		for i := range wanted {
			ok = ok && satisfies(items[i], wanted[i])
		}
		return ok
	default:
		return jsonEqual(has, wanted)
	}
}

// What is redundant has the same fields as something else.
var redundant = regexp.MustCompile(`init_containers|sidecars\.volume_mounts\.|volumes\.(persistent|nfs|projected|` +
	`downward|csi)`)

// groupedCases are the cases of all arguments, except some, in few deployments: each
// has many that do not depend on each other.
func groupedCases(except func(argument string) bool, limit int) []argumentCase {
	var groups [][]argumentCase
	for _, c := range argumentCases(true) {
		if except(c.argument) {
			continue
		}
		i := slices.IndexFunc(groups, func(group []argumentCase) bool {
			return len(group) < limit && !slices.ContainsFunc(group, c.conflicts)
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	var merged []argumentCase
	for i, group := range groups {
		m := argumentCase{name: fmt.Sprintf("group-%d", i), parts: group, before: map[string]any{}, after: map[string]any{},
			removed: map[string]any{}}
		for _, c := range group {
			m.at += c.at
			m.before, m.after, m.removed = mergedJSON(m.before, c.before).(map[string]any),
				mergedJSON(m.after, c.after).(map[string]any), mergedJSON(m.removed, c.removed).(map[string]any)
		}
		m.change = func(d map[string]any) {
			for _, c := range group {
				c.change(d)
			}
		}
		m.clear = func(d map[string]any) {
			for _, c := range group {
				c.clear(d)
			}
		}
		merged = append(merged, m)
	}
	return merged
}

// conflicts reports whether two cases cannot be in one deployment: one changes
// what contains the other, or they exclude each other.
func (c argumentCase) conflicts(other argumentCase) bool {
	if c.steps == nil || other.steps == nil {
		top, _, _ := strings.Cut(c.argument, "_")
		return strings.HasPrefix(other.argument, top)
	}
	n := min(len(c.steps), len(other.steps))
	for i := range n {
		a, b := c.steps[i], other.steps[i]
		if a.Name != b.Name {
			return a.Exclusive && b.Exclusive
		}
	}
	return true
}

func mergedJSON(a, b any) any {
	switch b := b.(type) {
	case map[string]any:
		merged, ok := a.(map[string]any)
		if !ok {
			return b
		}
		merged = maps.Clone(merged)
		for name, value := range b {
			merged[name] = mergedJSON(merged[name], value)
		}
		return merged
	case []any:
		merged, ok := a.([]any)
		if !ok {
			return b
		}
		merged = slices.Clone(merged)
		for i, item := range b {
			if i < len(merged) {
				merged[i] = mergedJSON(merged[i], item)
			} else {
				merged = append(merged, item)
			}
		}
		return merged
	case nil:
		return a
	}
	return b
}

// changedKeys are the keys of a deployment, and of its config objects, that
// differ, with their complete values.
func changedKeys(before, after map[string]any) map[string]any {
	keys := map[string]any{}
	for name, value := range after {
		switch {
		case reflect.DeepEqual(before[name], value):
		case name == "source_config" || name == "source_revision_config":
			keys[name] = changedKeys(before[name].(map[string]any), value.(map[string]any))
		default:
			keys[name] = value
		}
	}
	return keys
}

// TestArgumentCases_coverTheSchema keeps the tests of all arguments complete.
func TestArgumentCases_coverTheSchema(t *testing.T) {
	t.Parallel()
	// See TestAccImmutable_driftIsReplacement, and the case of secrets_wo.
	covered, names := map[string]bool{"name": true, "source": true, "redeploy_triggers": true, "secrets_wo_version": true},
		map[string]bool{}
	for _, c := range argumentCases(true) {
		covered[c.argument] = true
		if names[c.name] {
			t.Errorf("two cases are named %s", c.name)
		}
		names[c.name] = true
	}
	inSchema := map[string]bool{}
	var walk func(above string, attributes []*tfprotov6.SchemaAttribute)
	walk = func(above string, attributes []*tfprotov6.SchemaAttribute) {
		for _, a := range attributes {
			here := above + a.Name
			if a.NestedType != nil {
				walk(here+".", a.NestedType.Attributes)
			} else if a.Optional || a.Required {
				inSchema[here] = true
				if !covered[here] {
					t.Errorf("%s can be configured, but no case changes it", here)
				}
			}
		}
	}
	walk("", newProtocol(t, newService(t, fakeserver.Options{})).schema.ResourceSchemas[typeName].Block.Attributes)
	t.Logf("%d arguments, %d cases", len(inSchema), len(names))
}
