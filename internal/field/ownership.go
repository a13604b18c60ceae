package field

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Ownership. Three things are compared, as kubectl apply does: what the configuration sets now, what the last apply set, and
// what the service has. A [Record] is what the last apply set; the state has more than that where values were imported or chosen
// by the service, and something else where a refresh has found drift.
//
//   - [Fields.Plan]: what is set is planned; what is omitted is null, unless it is in the state without having been set.
//   - [Fields.Compare]: what the service does not have is sent; what was set and is omitted now is dropped.
//   - [Fields.AfterApply]: the state is the plan, with what was unknown from the response.
//   - [Fields.Refresh]: what was set is replaced where the service has something else; what is null stays null; the rest
//     follows the service.
//
// A value keeps the form in which it was written as long as its meaning stays the same, because Terraform treats a different
// form as a different value.

// Record is what the last apply set, as a tree. A nil Record means that nothing was applied yet, as after an import: nothing is
// owned.
type Record map[string]any

// UnmarshalJSON keeps the text of numbers, as all trees do.
func (r *Record) UnmarshalJSON(text []byte) error {
	tree, err := ReadJSON(text)
	*r, _ = tree.(map[string]any)
	return err
}

// Restore puts back what prior has of a member of an object at the root, or of an attribute at the root if name is empty.
func (r Record) Restore(prior Record, object, name string) {
	if name == "" {
		put(r, object, prior[object])
		return
	}
	restored := Merge(asObject(r[object]), nil)
	put(restored, name, asObject(prior[object])[name])
	r[object] = restored
}

func put(tree map[string]any, name string, value any) {
	if tree[name] = value; value == nil {
		delete(tree, name)
	}
}

// Wanted is what a plan asks the service for, as a tree: what the configuration sets, and what ignore_changes has put in its
// place. Once the plan is applied, this is the record.
func (fs Fields) Wanted(config, planned tftypes.Value) map[string]any {
	set, _ := fs.Encode(config) // it was validated
	return owned(fs, Members(planned), set, false)
}

// Applied is what the state has of what the last apply set, as a tree: that, or what a refresh has found in its place.
func (fs Fields) Applied(state tftypes.Value, record Record) map[string]any {
	return owned(fs, Members(state), record, true)
}

// owned is what a plan or, after a refresh, a state has of what was set.
func owned(fs Fields, values Values, set map[string]any, refreshed bool) map[string]any {
	tree := map[string]any{}
	for _, f := range fs {
		switch value, set := values[f.Name], set[f.wire()]; {
		case set == nil || isNull(value) || f.Access == ReadOnly:
		case refreshed && f.Access == Computed && !f.equalTree(f.tree(value), set): // the service has chosen another
		case f.ResolvesTo != "" && fs.standsForRef(f, fmt.Sprint(set), values):
			tree[f.wire()] = set
		default:
			tree[f.wire()] = f.owned(value, set, refreshed)
		}
	}
	return tree
}

func (f Field) owned(value tftypes.Value, set any, refreshed bool) any {
	if f.Kind == Object && value.IsKnown() && set != Unknown {
		return owned(f.Fields, Members(value), asObject(set), refreshed)
	}
	tree := f.tree(value)
	switch {
	case f.Kind == ObjectList:
		list, items, sets := asList(tree), Items(value), asList(set)
		for i, j := range f.match(list, sets) {
			if j >= 0 { // others were added elsewhere to a list that is set, or put in place by ignore_changes
				list[i] = f.elem().owned(items[i], sets[j], refreshed)
			}
		}
		return tree
	case f.equalTree(tree, set), (&comparer{}).has(f, tree, set):
		return set
	case refreshed:
		return project(f.Kind, set, tree)
	default:
		return tree
	}
}

// satisfied reports whether a value of the state has everything that is wanted.
func (f Field) satisfied(has, wanted tftypes.Value) bool {
	return wanted.IsFullyKnown() && (&comparer{}).has(f, f.tree(has), f.tree(wanted))
}

// Plan is what a plan holds. A null state means a create. The result has the attributes of fs only, for [With].
func (fs Fields) Plan(config, state tftypes.Value, record Record) Values {
	p, owned := planner{creating: isNull(state)}, fs.Applied(state, record)
	planned := p.object(fs, Members(config), Members(state), owned, false)
	if !p.creating {
		// An imported commit is taken to be of the configured ref. That alone is nothing to apply.
		if quiet, some := fs.withRefs(planned, Members(state), owned, record == nil); some && With(state, quiet).Equal(state) {
			return quiet
		}
	}
	return planned
}

// withRefs returns planned with the refs of the state where those are commits that the service has resolved the refs to, as far
// as anybody knows, and whether there are some.
func (fs Fields) withRefs(planned, state Values, owned map[string]any, imported bool) (quiet Values, some bool) {
	quiet = maps.Clone(planned)
	for _, f := range fs {
		value, before := planned[f.Name], state[f.Name]
		switch {
		case f.Kind == Object && value.IsKnown() && !isNull(value) && !isNull(before):
			if inner, found := f.Fields.withRefs(Members(value), Members(before), asObject(owned[f.wire()]), imported); found {
				quiet[f.Name], some = tftypes.NewValue(f.Type(), inner), true
			}
		case f.ResolvesTo != "" && fs.standsForRef(f, Text(value), state) && (imported || owned[f.wire()] == Text(value)):
			quiet[f.Name], some = before, true
		}
	}
	return quiet, some
}

// standsForRef reports whether the state has, in place of a ref, the commit that the service has resolved it to.
func (fs Fields) standsForRef(f Field, ref string, state Values) bool {
	commit := Text(state[f.Name])
	return commit != "" && commit == Text(state[f.ResolvesTo]) && ref != "" && !isFullCommit(ref)
}

// TakeRefs marks configured refs as applied where the state has only commits, from an import: the service does not report which
// refs they belong to. It reports whether there are any.
func (fs Fields) TakeRefs(applied, want map[string]any, state tftypes.Value) (some bool) {
	for _, f := range fs {
		set := want[f.wire()]
		switch ref, _ := set.(string); {
		case f.Kind == Object && set != nil:
			within := Merge(asObject(applied[f.wire()]), nil)
			if f.Fields.TakeRefs(within, asObject(set), Members(state)[f.Name]) {
				applied[f.wire()], some = within, true
			}
		case f.ResolvesTo != "" && applied[f.wire()] == nil && fs.standsForRef(f, ref, Members(state)):
			applied[f.wire()], some = set, true
		}
	}
	return some
}

type planner struct{ creating bool }

// object plans the attributes of one object. Owned is what the state has of what the last apply set, see [Fields.Applied].
// Moved means that the state has the object elsewhere in a list, where Terraform does not look for it: its form must not be used.
func (p planner) object(fs Fields, config, state Values, owned map[string]any, moved bool) Values {
	planned := make(Values, len(fs))
	var exclusive tftypes.Value // the exclusive member that the configuration sets
	for _, f := range fs {
		if f.Exclusive && !isNull(config[f.Name]) {
			exclusive = config[f.Name]
		}
	}
	for _, f := range fs {
		if f.Exclusive && !isNull(exclusive) && isNull(config[f.Name]) {
			if planned[f.Name] = f.null(); !exclusive.IsKnown() && !isNull(state[f.Name]) {
				planned[f.Name] = f.unknown() // the other may turn out null
			}
			continue
		}
		planned[f.Name] = p.value(f, config[f.Name], state[f.Name], owned[f.wire()], moved)
	}
	return planned
}

func (p planner) value(f Field, config, state tftypes.Value, owned any, moved bool) tftypes.Value {
	switch {
	case isNull(config):
		return p.omitted(f, state, owned)
	case !config.IsKnown():
		return config
	case f.Kind == Object:
		return tftypes.NewValue(f.Type(), p.object(f.Fields, Members(config), Members(state), asObject(owned), moved))
	case f.Kind == ObjectList:
		return p.list(f, config, state, owned, moved)
	case moved || isNull(state):
		return config
	case f.same(config, state), !f.equalTree(f.tree(state), owned) && f.unchanged(config, state, owned):
		return state
	default:
		return config
	}
}

// omitted plans an attribute that the configuration does not set.
func (p planner) omitted(f Field, state tftypes.Value, owned any) tftypes.Value {
	switch {
	case p.creating && (f.Access == ReadOnly || f.Access == Computed):
		return f.unknown()
	case isNull(state) && !f.Present:
		return f.null()
	case f.Access == ReadOnly, owned == nil && !isNull(state):
		return state
	case f.Access == Computed:
		return f.unknown() // it was set, and the service may choose another value now
	case f.Kind != Object:
		return f.null()
	}
	rest := p.object(f.Fields, nil, Members(state), asObject(owned), false) // what is not owned within the object stays
	if !f.Present && !slices.ContainsFunc(f.Fields, func(child Field) bool { return !isNull(rest[child.Name]) }) {
		return f.null()
	}
	return tftypes.NewValue(f.Type(), rest)
}

// unchanged reports whether the configuration sets what the last apply set, of a value in the state that has more.
func (f Field) unchanged(config, state tftypes.Value, owned any) bool {
	c := &comparer{}
	c.value(f, nil, f.tree(state), f.tree(config), owned, true)
	return config.IsFullyKnown() && len(c.set)+len(c.dropped) == 0
}

// list plans a list of objects. Where it has the items of the state, and their order has no meaning, it is the state's.
func (p planner) list(f Field, config, state tftypes.Value, owned any, moved bool) tftypes.Value {
	configured, held, ownedItems := Items(config), Items(state), asList(owned)
	configTree, stateTree := asList(f.tree(config)), asList(f.tree(state))
	partners := f.match(configTree, stateTree)
	vague := !isNull(state) && !f.equalTree(stateTree, owned)

	planItem := func(i int, moved bool) tftypes.Value {
		item, j := configured[i], partners[i]
		if !item.IsKnown() || isNull(item) {
			return item
		}
		if vague && f.keyIsUnknown(configTree[i]) {
			// It may turn out to be any item of the state.
			return tftypes.NewValue(f.elem().Type(), planner{creating: true}.unknownOmitted(f.Fields, Members(item)))
		}
		var before Values
		var ownedItem map[string]any
		if j >= 0 {
			before = Members(held[j])
			if owned != nil {
				ownedItem = asObject(ownedItems[j])
			}
		}
		return tftypes.NewValue(f.elem().Type(), p.object(f.Fields, Members(item), before, ownedItem, moved))
	}
	planned, unchanged := make([]tftypes.Value, len(configured)), len(configured) == len(held) && !isNull(state) && !moved
	for i, j := range partners {
		planned[i] = planItem(i, moved)
		unchanged = unchanged && j >= 0 && (i == j || !f.Ordered) && planned[i].Equal(held[j])
	}
	if unchanged {
		return state
	}
	for i, j := range partners {
		if i != j {
			planned[i] = planItem(i, true)
		}
	}
	return tftypes.NewValue(f.Type(), planned)
}

// unknownOmitted plans an object whose omitted members are known after apply.
func (p planner) unknownOmitted(fs Fields, config Values) Values {
	planned := make(Values, len(fs))
	for _, f := range fs {
		switch value := config[f.Name]; {
		case isNull(value):
			planned[f.Name] = f.unknown()
		case f.Kind == Object && value.IsKnown():
			planned[f.Name] = tftypes.NewValue(f.Type(), p.unknownOmitted(f.Fields, Members(value)))
		default:
			planned[f.Name] = value
		}
	}
	return planned
}

// AfterApply is the state after an apply: the plan, with what is unknown there from the response. Its values are those of fs
// only, for [With].
func (fs Fields) AfterApply(planned tftypes.Value, live map[string]any) (Values, error) {
	return afterApply(fs, Members(planned), live)
}

func afterApply(fs Fields, planned Values, live map[string]any) (Values, error) {
	values := make(Values, len(fs))
	for _, f := range fs {
		var err error
		if values[f.Name], err = f.afterApply(planned[f.Name], live[f.wire()]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (f Field) afterApply(planned tftypes.Value, live any) (tftypes.Value, error) {
	switch {
	case !planned.IsKnown():
		return f.decode(live)
	case isNull(planned) || planned.IsFullyKnown():
		return planned, nil
	case f.Kind == Object:
		values, err := afterApply(f.Fields, Members(planned), asObject(live))
		if err != nil {
			return planned, err
		}
		return tftypes.NewValue(f.Type(), values), nil
	default:
		return planned, nil
	}
}

// Refresh is the state after a refresh. Its values are those of fs only, for [With].
func (fs Fields) Refresh(prior tftypes.Value, live map[string]any, source string, record Record) (Values, error) {
	r := refresher{source: source, imported: record == nil}
	return r.object(fs, Members(prior), asObject(normalized(live)), fs.Applied(prior, record))
}

type refresher struct {
	source   string
	imported bool // nothing is owned, and what is null follows the service, too
}

func (r refresher) object(fs Fields, prior Values, live, owned map[string]any) (Values, error) {
	values := make(Values, len(fs))
	c := comparer{source: r.source}
	for _, f := range fs {
		before, has, set := prior[f.Name], live[f.wire()], owned[f.wire()]
		if set != nil && (f.ResolvesTo != "" || f.BuiltFor != "") && c.servicesOwn(fs, f, live, Text(before), Text(before)) {
			values[f.Name] = before
			continue
		}
		var err error
		if values[f.Name], err = r.value(f, before, has, set); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (r refresher) value(f Field, prior tftypes.Value, live, owned any) (tftypes.Value, error) {
	chosen := f.Access == Computed && isNull(prior)
	follows := r.imported || chosen || f.Access == ReadOnly || !isNull(prior) && f.hasMore(prior, owned)
	switch {
	case follows && !f.Partial:
		value, err := f.decode(live)
		if err == nil && (f.same(prior, value) || (chosen || !isNull(prior)) && f.satisfied(prior, value) && f.satisfied(value, prior)) {
			value = prior
		}
		if f.Present && isNull(value) {
			return f.decode(map[string]any{})
		}
		return value, err
	case isNull(prior):
		return prior, nil
	case f.Kind == Object:
		values, err := r.object(f.Fields, Members(prior), asObject(live), asObject(owned))
		if err != nil {
			return prior, err
		}
		return tftypes.NewValue(f.Type(), values), nil
	case f.Kind == ObjectList:
		return r.list(f, prior, asList(live), asList(owned))
	}
	tree := f.tree(prior)
	c := &comparer{source: r.source}
	if c.value(f, nil, live, tree, tree, true); len(c.set) == 0 {
		return prior, nil
	}
	return f.decode(project(f.Kind, tree, live))
}

// hasMore reports whether the state has more than what is owned.
func (f Field) hasMore(state tftypes.Value, owned any) bool {
	switch {
	case owned == nil:
		return !f.Present
	case f.Kind == Object || f.Kind == ObjectList:
		return false // they are compared within
	}
	tree := f.tree(state)
	if _, ok := owned.(map[string]any); ok {
		owned = project(f.Kind, owned, tree) // without what the service does not show
	}
	return !f.equalTree(tree, owned)
}

// project is what the service has of a value: of a map, a JSON object, or the items of a list, the members that were set.
func project(k Kind, set, live any) any {
	if list, has := asList(set), asList(live); len(list) == len(has) && len(list) > 0 && (k == JSON || k == List) {
		projected := make([]any, len(list))
		for i := range list {
			projected[i] = project(JSON, list[i], has[i])
		}
		return projected
	}
	members, ok := set.(map[string]any)
	has, okLive := live.(map[string]any)
	if !ok || !okLive || k != StringMap && k != JSON {
		return live
	}
	projected := map[string]any{}
	for name, value := range members {
		if there, ok := has[name]; ok {
			projected[name] = project(JSON, value, there)
		}
	}
	return projected
}

// list refreshes a list of objects: in the prior order where order has no meaning, with the items that were added elsewhere
// last.
func (r refresher) list(f Field, prior tftypes.Value, live, owned []any) (tftypes.Value, error) {
	held := Items(prior)
	if len(held) == 0 && len(live) == 0 {
		return prior, nil
	}
	partners := f.match(live, asList(f.tree(prior))) // of each live item
	order := make([]int, len(live))
	for i := range order {
		order[i] = i
	}
	if !f.Ordered {
		place := func(i int) int {
			if partners[i] < 0 {
				return len(held) + i
			}
			return partners[i]
		}
		slices.SortStableFunc(order, func(a, b int) int { return place(a) - place(b) })
	}
	list := make([]tftypes.Value, len(order))
	for i, a := range order {
		var err error
		if p := partners[a]; p >= 0 {
			list[i], err = r.value(f.elem(), held[p], live[a], owned[p])
		} else {
			list[i], err = f.elem().decode(live[a])
		}
		if err != nil {
			return prior, err
		}
	}
	return tftypes.NewValue(f.Type(), list), nil
}
