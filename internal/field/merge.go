package field

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Change is what a plan changes of a deployment.
type Change struct {
	fields          Fields
	source          string
	plan, state     map[string]any // without what only the service sets
	owned, written  map[string]any
	nothingRecorded bool
}

// NewChange returns what a plan changes. Source is the source of the deployment, see [Field.BuiltFor].
func (fs Fields) NewChange(config, plan, state tftypes.Value, record Record, source string) *Change {
	c := &Change{fields: fs, source: source, nothingRecorded: record == nil}
	held, planned := fs.tree(state), fs.tree(plan)
	for _, f := range fs {
		if f.Partial && planned[f.wire()] == Unknown {
			delete(held, f.wire())
		}
	}
	c.owned = fs.request(fs.owned(held, record))
	c.plan = fs.request(fs.settable(planned, fs.tree(config)))
	c.state = fs.request(fs.settable(held, nil))
	c.written = c.owned
	if record == nil {
		c.written = fs.importedRefs(c.plan, held)
	}
	return c
}

// settable returns a plan or state without what only the service sets: read-only members, and those that it chooses because the
// configuration omits them.
func (fs Fields) settable(tree, config map[string]any) map[string]any {
	result := maps.Clone(tree)
	for _, f := range fs {
		switch value, set := tree[f.wire()], config[f.wire()]; {
		case f.Access == ReadOnly, f.Access == Computed && value == Unknown && set == nil:
			delete(result, f.wire())
		case f.Kind == Object && asObject(value) != nil:
			result[f.wire()] = f.Fields.settable(asObject(value), asObject(set))
		}
	}
	return result
}

// request returns a tree as a request has it: members of a [Field.Partial] attribute are members of the root.
func (fs Fields) request(tree map[string]any) map[string]any {
	for _, f := range fs {
		if more, ok := tree[f.wire()].(map[string]any); ok && f.Partial {
			rest := maps.Clone(tree)
			delete(rest, f.wire())
			tree = MergeDeep(rest, more)
		}
	}
	return tree
}

// importedRefs returns the refs that a plan sets of an imported deployment, whose state has none because the service shows only
// commits: nothing shows which refs those belong to.
func (fs Fields) importedRefs(plan, state map[string]any) map[string]any {
	refs := map[string]any{}
	for _, f := range fs {
		name := f.wire()
		if f.Kind == Object {
			refs[name] = f.Fields.importedRefs(asObject(plan[name]), asObject(state[name]))
		} else if f.ResolvesTo != "" && state[name] == nil {
			refs[name] = plan[name]
		}
	}
	return refs
}

// ChangesNothing reports whether the plan means the same as the state.
func (c *Change) ChangesNothing() bool {
	return Field{Kind: Object, Fields: c.fields}.equal(c.plan, c.state)
}

// Comparison is a [Change], compared with what the service has.
type Comparison struct {
	// Body is what a PATCH sends: each key that changes with its complete value, which is what the service has, with the changes
	// merged in. What is dropped is null in an object, and omitted from maps, JSON and items, which are sent whole.
	Body map[string]any
	// Set is what the plan sets and the service does not have.
	Set []Difference
	// Dropped is what the plan removes, was set by the last apply, and is still there.
	Dropped []Difference
	// Left is what the plan removes from the state, was not set by the last apply, and so stays in the service.
	Left []Difference
	// Undecided is what is known only after apply.
	Undecided []Difference
	// RefAssumed reports that a ref of an imported deployment counts as what the service has, which shows only a commit.
	RefAssumed bool
}

// Compare merges the change into what the service has, three ways: where plan and state agree, the service's value stays; where
// they differ, the plan's value takes its place; what the plan removes is dropped if the last apply has set it.
func (c *Change) Compare(live map[string]any) Comparison {
	m := merger{fields: c.fields, imported: c.nothingRecorded}
	has := asObject(normalized(live))
	written := c.fields.asWritten(has, c.written, c.plan, c.source)
	merged := m.object(place{}, Field{Kind: Object, Fields: c.fields}, written, c.plan, c.state, c.owned)
	m.RefAssumed = c.nothingRecorded && !Field{Kind: Object, Fields: c.fields}.equal(has, written)
	m.Body = asObject(namedAs(c.fields.body(merged, slices.Concat(m.Set, m.Dropped)), live))
	return m.Comparison
}

// Missing returns what the change sets and the service does not have, compared leniently: what an update did not take.
func (c *Change) Missing(live map[string]any) []Difference {
	m := merger{fields: c.fields, imported: true}
	has := c.fields.asWritten(asObject(normalized(live)), c.plan, c.plan, c.source)
	m.object(place{}, Field{Kind: Object, Fields: c.fields}, has, c.plan, c.state, c.owned)
	return m.Set
}

// Nullify returns a body like that of [Comparison], with null for what was dropped from maps and JSON objects and is still in
// live, because the service merges deeply. It is empty if there is nothing of the kind.
func (c *Change) Nullify(live map[string]any, dropped []Difference) map[string]any {
	tree := asObject(normalized(live))
	dropped = slices.DeleteFunc(slices.Clone(dropped), func(d Difference) bool {
		without, ok := nullify(tree, d.Loc, len(d.rest) > 0)
		if ok {
			tree = without
		}
		return !ok
	})
	return asObject(namedAs(c.fields.body(tree, dropped), live))
}

// nullify sets the member of a map or JSON object at loc to null. It is not ok if there is none; lists are sent whole.
func nullify(tree map[string]any, loc []any, free bool) (without map[string]any, ok bool) {
	name, inObject := loc[0].(string)
	without = Merge(tree, map[string]any{name: nil})
	if len(loc) == 1 {
		return without, inObject && free
	}
	inner, ok := tree[name].(map[string]any)
	if ok {
		without[name], ok = nullify(inner, loc[1:], free)
	}
	return without, ok
}

// Missing returns what is wanted and the service does not have, compared leniently: null, absent and empty are equal, what the
// service adds is not compared, and a value that the service has made of the wanted one counts as that.
func (fs Fields) Missing(live, want map[string]any, source string) []Difference {
	m := merger{fields: fs, imported: true}
	has := fs.asWritten(asObject(normalized(live)), want, want, source)
	m.object(place{}, Field{Kind: Object, Fields: fs}, has, want, nil, nil)
	return m.Set
}

// Request returns the body of a create that asks for what is wanted: without "", which asks for nothing.
func (fs Fields) Request(want map[string]any) map[string]any {
	m := merger{fields: fs}
	return m.object(place{}, Field{Kind: Object, Fields: fs}, nil, want, nil, nil)
}

// Satisfies reports whether [Fields.Missing] returns nothing.
func (fs Fields) Satisfies(live, want map[string]any, source string) bool {
	return Field{Kind: Object, Fields: fs}.satisfies(fs.asWritten(asObject(normalized(live)), want, want, source), want)
}

// body returns the members of a tree that differences are in: of an object that is always there, key by key. A list of objects
// that is removed is empty: known services read null there as "not given".
func (fs Fields) body(tree map[string]any, differences []Difference) map[string]any {
	body := map[string]any{}
	for _, d := range differences {
		object, key := d.Key()
		if key == "" {
			body[object] = tree[object]
			if f, _ := fs.byWire(object); f.Kind == ObjectList && body[object] == nil {
				body[object] = []any{}
			}
			continue
		}
		body[object] = Merge(asObject(body[object]), map[string]any{key: asObject(tree[object])[key]})
	}
	return body
}

// merger merges what a plan changes into what the service has.
type merger struct {
	Comparison
	fields   Fields
	imported bool // what is wanted as {} may be there, if nothing else is: services may report it as null
}

// place is where a merge is.
type place struct {
	loc    []any
	inItem bool // of a list, which is sent whole
}

func (p place) in(step any) place {
	_, isIndex := step.(int)
	return place{append(slices.Clip(p.loc), step), p.inItem || isIndex}
}

func (m *merger) difference(at place, want, has any) Difference {
	attribute, f, rest := m.fields.find(at.loc)
	return Difference{Loc: at.loc, At: attribute, Want: want, Has: has, field: f, rest: rest, byKey: m.fields.byKey(at.loc[0])}
}

// byKey reports whether the keys of a member of the body are sent one by one.
func (fs Fields) byKey(member any) bool {
	name, _ := member.(string)
	f, _ := fs.byWire(name)
	return f.Present
}

// merge returns what the service should have of one value.
func (m *merger) merge(at place, f Field, live, plan, state, owned any) any {
	switch {
	case plan == Unknown:
		m.Undecided = append(m.Undecided, m.difference(at, nil, live))
		return live
	case f.equal(plan, state):
		return live
	case plan == nil, f.asksForNothing(plan):
		return m.drop(at, f, live, state, owned)
	}
	switch f.shape(plan) {
	case members:
		if asObject(live) != nil || isEmpty(live) {
			return m.object(at, f, asObject(live), asObject(plan), asObject(state), asObject(owned))
		}
	case items:
		switch {
		case f.Kind == ObjectList:
			return m.list(at, f, live, asList(plan), state, asList(owned))
		case live == nil && len(asList(plan)) == 0:
			return plan
		case f.isPaired(live, asList(plan), asList(state)):
			return m.items(at, f, asList(live), asList(plan), asList(state), asList(owned))
		}
	}
	if !isKnown(plan) {
		m.Undecided = append(m.Undecided, m.difference(at, nil, live))
	}
	if !f.satisfies(live, plan) {
		m.Set = append(m.Set, m.difference(at, plan, live))
		return plan
	}
	if isEmpty(live) {
		return plan // a service without it may still take it: a label with an empty value
	}
	return live
}

// object merges the members of an object, a map or a JSON object.
func (m *merger) object(at place, f Field, live, plan, state, owned map[string]any) map[string]any {
	merged := maps.Clone(live)
	if merged == nil {
		merged = map[string]any{}
	}
	replaces := false // an exclusive member is newly set
	for _, name := range f.names(plan, state) {
		member, before := f.member(name), len(m.Set)
		value := m.merge(at.in(name), member, live[name], plan[name], state[name], owned[name])
		isNew := state[name] == nil && plan[name] != nil && plan[name] != Unknown
		if member.Kind == JSON && isEmptyObject(plan[name]) && isEmpty(live[name]) && !member.equal(plan[name], state[name]) &&
			(isNew && !m.imported || f.isReplaced(member, live, plan[name])) {
			m.Set = append(m.Set, m.difference(at.in(name), plan[name], nil)) // {} is a value
		}
		replaces = replaces || member.Exclusive && (isNew || len(m.Set) > before)
		m.put(at, f, live, merged, name, value)
	}
	for _, member := range f.Fields {
		if replaces && member.Exclusive && plan[member.wire()] == nil {
			m.put(at, f, live, merged, member.wire(), nil)
		}
	}
	return merged
}

// put sets a member. One without a value is null in an object, and omitted from what is sent whole.
func (m *merger) put(at place, f Field, live, merged map[string]any, name string, value any) {
	if _, had := live[name]; value == nil && (at.inItem || f.Kind != Object || !had) {
		delete(merged, name)
	} else {
		merged[name] = value
	}
}

// names returns the names of the members of two trees: those that are described in the order of the description, the others
// sorted.
func (f Field) names(a, b map[string]any) (names []string) {
	if f.Kind != Object {
		return slices.Sorted(maps.Keys(Merge(a, b)))
	}
	var more []string
	for name := range Merge(a, b) {
		if _, described := f.Fields.byWire(name); !described {
			more = append(more, name)
		}
	}
	for _, member := range f.Fields {
		if member.Access != ReadOnly && (a[member.wire()] != nil || b[member.wire()] != nil) {
			names = append(names, member.wire())
		}
	}
	slices.Sort(more)
	return append(names, more...)
}

// isPaired reports whether the items of lists of JSON are changed one by one: the lists are equally long, and no item has moved.
func (f Field) isPaired(live any, plan, state []any) bool {
	if list, ok := live.([]any); !ok || !f.isJSONList() || len(list) != len(plan) {
		return false
	}
	for i, item := range plan {
		stays := i < len(state) && f.elem().equal(item, state[i])
		if !stays && slices.ContainsFunc(state, func(other any) bool { return f.elem().equal(item, other) }) {
			return false
		}
	}
	return true
}

// items merges lists of JSON, item by item.
func (m *merger) items(at place, f Field, live, plan, state, owned []any) any {
	if len(state) != len(plan) {
		state = make([]any, len(plan))
	}
	if len(owned) != len(plan) {
		owned = make([]any, len(plan))
	}
	merged := make([]any, len(plan))
	for i := range plan {
		merged[i] = m.merge(at.in(i), f.elem(), live[i], plan[i], state[i], owned[i])
	}
	return merged
}

// list merges lists of objects, item by item. A list that is newly set belongs to the configuration as a whole. Otherwise, what
// the service has beside the items of plan and state stays where it is.
func (m *merger) list(at place, f Field, live any, plan []any, state any, owned []any) any {
	has, held, before := asList(live), asList(state), len(m.Set)+len(m.Dropped)
	partners, former := f.match(plan, has), f.match(plan, held)
	merged := []any{}
	var from []int // for each merged item its index in live, or -1
	var added, removed []string
	undecided := 0
	for i, item := range plan {
		var last, mine any
		if k := former[i]; k >= 0 {
			last = held[k]
			if k < len(owned) {
				mine = owned[k]
			}
		}
		switch j := partners[i]; {
		case j >= 0:
			item = m.merge(at.in(i), f.elem(), has[j], item, last, mine)
		case f.key(item) != "" && f.elem().equal(item, last):
			continue // it was removed elsewhere, and the plan does not change it
		default:
			added = append(added, itemName(f, item, i))
			if f.keyIsUnknown(item) {
				undecided++
			}
		}
		merged, from = append(merged, item), append(from, partners[i])
	}
	inOrder := slices.IsSorted(slices.DeleteFunc(slices.Clone(from), func(j int) bool { return j < 0 }))
	stays := f.beside(plan, has, held)
	for j, item := range has {
		switch {
		case slices.Contains(from, j):
		case state != nil && stays[j]:
			p := placeAfter(from, j)
			merged, from = slices.Insert(merged, p, item), slices.Insert(from, p, j)
		default:
			removed = append(removed, itemName(f, item, j))
		}
	}
	m.listChanges(at, f, plan, live, added, removed, undecided, inOrder)
	if len(m.Set)+len(m.Dropped) == before && live != nil {
		return live
	}
	return merged
}

// placeAfter returns the place after that of the nearest item before j; from has no -1 there.
func placeAfter(from []int, j int) int {
	for j--; j >= 0; j-- {
		if p := slices.Index(from, j); p >= 0 {
			return p + 1
		}
	}
	return 0
}

// listChanges records which items a list of objects gains, and loses, or that their order changes. Items that cannot be identified
// before the apply may turn out to be those that would be removed.
func (m *merger) listChanges(at place, f Field, plan, live any, added, removed []string, undecided int, inOrder bool) {
	if undecided > 0 {
		m.Undecided = append(m.Undecided, m.difference(at, nil, live))
	}
	d := m.difference(at, plan, live)
	switch {
	case len(added) != undecided || len(removed) != undecided:
		d.items = itemChanges(added, removed)
	case f.Ordered && !inOrder:
		d.items = "order"
	default:
		return
	}
	m.Set = append(m.Set, d)
}

// beside reports which items of a list the service has beside those of plan and state. There are none if some items cannot be
// told apart: then the list is changed as a whole.
func (f Field) beside(plan, live, state []any) []bool {
	stays := make([]bool, len(live))
	for _, list := range [][]any{plan, live, state} {
		if slices.Contains(f.keys(list), "") {
			return stays
		}
	}
	planned, former := f.match(live, plan), f.match(live, state)
	for i := range live {
		stays[i] = planned[i] < 0 && former[i] < 0
	}
	return stays
}

// drop returns what the service should have of a value that the plan removes: what of it is owned is dropped.
func (m *merger) drop(at place, f Field, live, state, owned any) any {
	before := len(m.Dropped)
	switch {
	case isEmpty(live) && (live == nil || !isEmptyObject(owned)):
		return live
	case f.Kind == JSON && isEmptyObject(owned):
		m.Dropped = append(m.Dropped, m.difference(at, nil, live)) // {} is a value
		return nil
	case f.Kind == ObjectList && owned != nil:
		return m.dropList(at, f, asList(live), asList(state))
	case f.shape(state) == members && asObject(live) != nil:
		rest := m.object(at, f, asObject(live), nil, asObject(state), asObject(owned))
		switch {
		case f.Kind != Object && len(m.Dropped) == before:
			return live
		case f.Kind != Object && f.Kind != StringMap && isEmpty(rest):
			return nil
		}
		return rest
	case !isEmpty(owned) && f.satisfies(live, owned):
		m.Dropped = append(m.Dropped, m.difference(at, nil, live))
		return nil
	case !isEmpty(state) && f.Access != Computed:
		m.Left = append(m.Left, m.difference(at, nil, live))
	}
	return live
}

// dropList returns the items that the service has beside those of the state, nil if there are none.
func (m *merger) dropList(at place, f Field, live, state []any) any {
	var rest []any
	for i, stays := range f.beside(nil, live, state) {
		if stays {
			rest = append(rest, live[i])
		}
	}
	if len(rest) < len(live) {
		m.Dropped = append(m.Dropped, m.difference(at, nil, live))
	}
	if rest == nil {
		return nil
	}
	return rest
}

// Merge returns the members of both; those of b win.
func Merge(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

// MergeDeep returns a with the members of b in place of its own, object by object.
func MergeDeep(a, b map[string]any) map[string]any {
	all := Merge(a, b)
	for name, value := range b {
		inner, okA := a[name].(map[string]any)
		more, okB := value.(map[string]any)
		if okA && okB {
			all[name] = MergeDeep(inner, more)
		}
	}
	return all
}

// Difference is an attribute whose value in the service is not the expected one.
type Difference struct {
	Loc       []any     // where it is, see [Fields.Path]
	At        path.Path // the attribute that Loc leads to
	Want, Has any       // trees
	field     Field     // the one at At
	rest      []any     // of Loc, beyond At
	items     string    // what differs in a list of objects, in words
	byKey     bool      // the keys of its member of the body are sent one by one
}

// Key is the member of the request body that a difference belongs to, and its member in turn where that is one of the objects
// whose keys are sent one by one: ("source_config", "resource_spec"), ("secret_references", "").
func (d Difference) Key() (object, key string) {
	object, _ = d.Loc[0].(string)
	if len(d.Loc) > 1 && d.byKey {
		key, _ = d.Loc[1].(string)
	}
	return object, key
}

// Undescribed reports whether the difference is in a member that no field describes.
func (d Difference) Undescribed() bool { return d.field.Kind == Object && len(d.rest) > 0 }

// ResolvedIn reports whether the difference is about a value in place of which the service shows what it resolved it to.
func (d Difference) ResolvedIn(live map[string]any) bool {
	object, name := d.Key()
	config, _ := live[object].(map[string]any)
	return d.field.ResolvesTo != "" && config[name] != nil && config[name] == config[d.field.ResolvesTo]
}
