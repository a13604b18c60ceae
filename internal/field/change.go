package field

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Change is what a plan changes of a deployment that exists.
type Change struct {
	fields   Fields
	source   string
	imported bool // no apply has been recorded

	// Trees as in a request, without what only the service sets.
	plan, state map[string]any
	owned       map[string]any // of the state
	written     map[string]any // what the service may report in another form: what is owned, or the refs of an import
}

// NewChange returns what a plan changes. Config, plan and state are objects with the attributes of fs, and may have
// more. Source is the source of the deployment, see [String.BuiltFor].
func (fs Fields) NewChange(config, plan, state tftypes.Value, record Record, source string) *Change {
	planned, held := fs.Encode(plan), fs.Encode(state)
	for _, f := range fs {
		if kind[JSON](f).Partial && planned[f.wire()] == Unknown {
			delete(held, f.wire()) // while it is unknown, nothing of it counts as removed
		}
	}
	c := &Change{fields: fs, source: source, imported: record == nil,
		plan:  fs.asRequest(fs.settable(planned, fs.Encode(config))),
		state: fs.asRequest(fs.settable(held, nil)),
		owned: fs.asRequest(fs.owned(held, record)),
	}
	c.written = fs.reshaped(c.owned, c.plan, source)
	if c.imported {
		c.written = fs.reshaped(c.plan, c.plan, "")
	}
	return c
}

// settable returns a plan or state without what only the service sets: read-only members, and those that it chooses
// because the configuration omits them.
func (fs Fields) settable(tree, config map[string]any) map[string]any {
	result := maps.Clone(tree)
	for _, f := range fs {
		name := f.wire()
		switch value := tree[name]; {
		case f.Access == ReadOnly, f.Access == OptionalComputed && value == Unknown && config[name] == nil:
			delete(result, name)
		case is[Object](f) && asObject(value) != nil:
			result[name] = kind[Object](f).Fields.settable(asObject(value), asObject(config[name]))
		}
	}
	return result
}

// merged returns a tree with the members of [JSON.Partial] attributes at its root, as in a request.
func (fs Fields) asRequest(tree map[string]any) map[string]any {
	for _, f := range fs {
		if more, ok := tree[f.wire()].(map[string]any); ok && kind[JSON](f).Partial {
			rest := maps.Clone(tree)
			delete(rest, f.wire())
			tree = MergeDeep(rest, more)
		}
	}
	return tree
}

// ChangesNothing reports whether the plan means the same as the state.
func (c *Change) ChangesNothing() bool { return c.fields.root().equal(c.plan, c.state) }

// Comparison is a [Change], compared with what the service has.
type Comparison struct {
	// Body is what a PATCH sends: each key that changes with its complete value, which is what the service has, with
	// the changes merged in. What is dropped is null in an object, and omitted from what is sent whole: maps, JSON and
	// items of lists. It is empty if the service has everything already.
	Body map[string]any
	// Set is what the plan sets and the service does not have.
	Set []Difference
	// Dropped is what the plan removes, the last apply has set, and the service still has.
	Dropped []Difference
	// Left is what the plan removes from the state, but stays in the service, because no apply has set it.
	Left []Difference
	// Undecided is what is known only after apply.
	Undecided []Difference
	// RefAssumed reports that a ref, which is set for the first time since an import, counts as what the service has: it
	// shows only a commit.
	RefAssumed bool
}

// Compare merges the change into what the service has, three ways: where plan and state agree, the service's value
// stays; where they differ, the plan's value takes its place; what the plan removes is dropped if it is owned. Live is
// a response.
func (c *Change) Compare(live map[string]any) Comparison {
	m := merger{fields: c.fields, emptyMayBeNull: c.imported}
	has := normalized(live)
	restored := c.fields.asWritten(has, c.written, c.source)
	merged := m.object(place{}, m.fields.root(), restored, c.plan, c.state, c.owned)
	m.Body = c.body(merged, slices.Concat(m.Set, m.Dropped), live)
	m.RefAssumed = c.imported && !c.fields.root().equal(has, restored)
	return m.Comparison
}

// Missing returns what the change sets and the service does not have: what an update did not take. Values are compared
// leniently: null, absent and empty are equal, what the service adds is no difference, and a value that it has made of
// the wanted one counts as that.
func (c *Change) Missing(live map[string]any) []Difference {
	m := merger{fields: c.fields, emptyMayBeNull: true}
	has := c.fields.asWritten(normalized(live), c.plan, c.source)
	m.object(place{}, m.fields.root(), has, c.plan, c.state, c.owned)
	return m.Set
}

// Missing returns [Change.Missing] of a change that sets all that is wanted, a tree.
func (fs Fields) Missing(live, want map[string]any, source string) []Difference {
	return (&Change{fields: fs, source: source, plan: want}).Missing(live)
}

// Satisfies reports whether [Fields.Missing] returns nothing.
func (fs Fields) Satisfies(live, want map[string]any, source string) bool {
	return fs.root().satisfies(fs.asWritten(normalized(live), want, source), want)
}

// Request returns the body of a create that asks for what is wanted, without "", which asks for nothing.
func (fs Fields) Request(want map[string]any) map[string]any {
	m := merger{fields: fs}
	return m.object(place{}, m.fields.root(), nil, want, nil, nil)
}

// Nullify returns a body like that of [Comparison], with null for those of some differences that are in a map or JSON
// object: a service that merges deeply drops them for that only. It is empty if there are none.
func (c *Change) Nullify(live map[string]any, dropped []Difference) map[string]any {
	tree, nulls := normalized(live), []Difference(nil)
	for _, d := range dropped {
		if len(d.rest) == 0 {
			continue // the first PATCH has set it to null
		}
		if without, ok := nullify(tree, d.Loc); ok {
			tree, nulls = without, append(nulls, d)
		}
	}
	return c.body(tree, nulls, live)
}

// nullify returns a tree with null at a location. It is not ok in a list, which is sent whole.
func nullify(tree map[string]any, loc []any) (without map[string]any, ok bool) {
	name, isMember := loc[0].(string)
	if !isMember {
		return nil, false
	}
	if len(loc) == 1 {
		return with(tree, name, nil), true
	}
	inner, ok := tree[name].(map[string]any)
	if !ok {
		return nil, false
	}
	if inner, ok = nullify(inner, loc[1:]); !ok {
		return nil, false
	}
	return with(tree, name, inner), true
}

// body returns the members of a tree that differences are in, with the names that they have in live. A list of objects
// that is removed at the root is empty: known services read null there as "not given".
func (c *Change) body(tree map[string]any, differences []Difference, live map[string]any) map[string]any {
	body := map[string]any{}
	for _, d := range differences {
		object, key := d.Key()
		switch value := tree[object]; {
		case key != "":
			body[object] = with(asObject(body[object]), key, asObject(value)[key])
		case value == nil && is[ObjectList](c.fields.root().member(object)):
			body[object] = []any{}
		default:
			body[object] = value
		}
	}
	return asObject(namedAs(body, live))
}

// Difference is an attribute whose value in the service is not the expected one.
type Difference struct {
	Loc         []any     // where it is, see [Fields.Path]
	At          path.Path // the attribute that Loc leads to
	Want, Has   any       // trees
	field       Field     // the one at At
	rest        []any     // of Loc, beyond At
	itemChanges string    // what differs in a list of objects, in words
	byKey       bool      // of its member of the request body, keys are sent one by one
}

// Key returns the member of the request body that a difference belongs to, and its member in turn where that is one of
// the objects whose keys are sent one by one: ("source_config", "resource_spec"), ("secret_references", "").
func (d Difference) Key() (object, key string) {
	object, _ = d.Loc[0].(string)
	if d.byKey && len(d.Loc) > 1 {
		key, _ = d.Loc[1].(string)
	}
	return object, key
}

// Undescribed reports whether the difference is in a member that no field describes.
func (d Difference) Undescribed() bool { return is[Object](d.field) && len(d.rest) > 0 }

// ResolvedIn reports whether the difference is about a value in place of which the service shows what it resolved it
// to.
func (d Difference) ResolvedIn(live map[string]any) bool {
	object, name := d.Key()
	config := asObject(live[object])
	commit := kind[String](d.field).ResolvesTo
	return commit != "" && config[name] != nil && config[name] == config[commit]
}
