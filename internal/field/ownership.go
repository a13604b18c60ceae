package field

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Ownership. Three things are compared, as kubectl apply does: what the configuration sets now, what the last apply set, and
// what the service has. The state is what the last apply set, except for values that were imported or that the service chose; a
// [Record] says what was set there.
//
//   - [Fields.Plan]: what is set is planned; what is omitted is null, unless it
//     is in the state without having been set.
//   - [Fields.Compare]: what the service does not have is sent; what was set and
//     is omitted now is dropped.
//   - [Fields.AfterApply]: the state is the plan, with what was unknown from the
//     response.
//   - [Fields.Refresh]: what was set is replaced where the service has something
//     else; what is null stays null; the rest follows the service.
//
// A value keeps the form in which it was written as long as its meaning stays the same, because Terraform treats a different
// form as a different value.

// Record is what the last apply set wherever the state holds something else: by the path of an attribute, the value (a tree),
// or nil if it was omitted. A nil Record means that nothing was applied yet, as after an import: nothing is owned.
type Record map[string]any

// UnmarshalJSON keeps the text of numbers, as all trees do.
func (r *Record) UnmarshalJSON(text []byte) error {
	tree, err := ReadJSON(text)
	*r, _ = tree.(map[string]any)
	return err
}

// at returns what the last apply set at a path, if the record has it.
func (r Record) at(p path.Path) (applied any, found bool) {
	if r == nil {
		return nil, true
	}
	applied, found = r[p.String()]
	return applied, found
}

// below reports whether the record has something within a path.
func (r Record) below(p path.Path) bool {
	if r == nil {
		return true
	}
	for key := range r {
		if strings.HasPrefix(key, p.String()) {
			return true
		}
	}
	return false
}

// NewRecord is the record of an apply: config is the configuration that the apply was given, state what it left in the state.
func (fs Fields) NewRecord(config, state tftypes.Value) Record {
	r := Record{}
	r.object(fs, path.Empty(), Members(config), Members(state))
	return r
}

func (r Record) object(fs Fields, at path.Path, config, state Values) {
	for _, f := range fs {
		switch {
		case f.Access == ReadOnly:
		case fs.standsForRef(f, config[f.Name], state):
			r[at.AtName(f.Name).String()] = Text(config[f.Name])
		default:
			r.value(f, at.AtName(f.Name), config[f.Name], state[f.Name])
		}
	}
}

func (r Record) value(f Field, at path.Path, config, state tftypes.Value) {
	switch {
	case isNull(state):
	case f.Kind == Object && (!isNull(config) || at.Equal(path.Root(f.Name))):
		// An object at the root is never null because the service chooses members of it.
		r.object(f.Fields, at, Members(config), Members(state))
	case isNull(config):
		r[at.String()] = nil
	case f.Kind == ObjectList:
		configured, held := Items(config), Items(state)
		partners := f.match(asList(f.tree(config)), asList(f.tree(state)))
		if len(configured) != len(held) || slices.Contains(partners, -1) {
			return // ignore_changes has put other items in place: all that they have counts as set
		}
		for i, j := range partners {
			r.object(f.Fields, at.AtListIndex(j), Members(configured[i]), Members(held[j]))
		}
	case !f.same(config, state) && f.satisfied(state, config):
		r[at.String()] = f.tree(config)
	}
}

// satisfied reports whether a value of the state has everything that is wanted.
func (f Field) satisfied(has, wanted tftypes.Value) bool {
	return wanted.IsFullyKnown() && (&comparer{}).has(f, f.tree(has), f.tree(wanted))
}

// Applied is what the last apply set, as a tree: the state, corrected by the record.
func (fs Fields) Applied(state tftypes.Value, record Record) map[string]any {
	return record.applied(fs, path.Empty(), Members(state))
}

func (r Record) applied(fs Fields, at path.Path, state Values) map[string]any {
	tree := map[string]any{}
	for _, f := range fs {
		if value := state[f.Name]; f.Access != ReadOnly && !isNull(value) {
			if applied := r.appliedValue(f, at.AtName(f.Name), value); applied != nil {
				tree[f.wire()] = applied
			}
		}
	}
	return tree
}

func (r Record) appliedValue(f Field, at path.Path, value tftypes.Value) any {
	recorded, ok := r.at(at)
	switch {
	case ok:
		return recorded
	case f.Kind == Object && value.IsKnown():
		return r.applied(f.Fields, at, Members(value))
	case f.Kind == ObjectList && value.IsKnown():
		list := []any{}
		for i, item := range Items(value) {
			list = append(list, r.appliedValue(f.elem(), at.AtListIndex(i), item))
		}
		return list
	default:
		return f.tree(value)
	}
}

// Wanted is what a plan asks the service for, as a tree: what will have been set once it is applied. That is what the
// configuration sets, and what ignore_changes has put in its place.
func (fs Fields) Wanted(config, planned tftypes.Value) map[string]any {
	return fs.Applied(planned, fs.NewRecord(config, planned))
}

// Plan is what a plan holds. A null state means a create. The result has the attributes of fs only, for [With].
func (fs Fields) Plan(config, state tftypes.Value, record Record) Values {
	p := planner{record: record, creating: isNull(state)}
	planned := p.object(fs, path.Empty(), Members(config), Members(state), false)
	if !p.creating {
		// An imported commit is taken to be of the configured ref. That alone is nothing to apply.
		if quiet, some := fs.withRefs(path.Empty(), planned, Members(state), record); some && With(state, quiet).Equal(state) {
			return quiet
		}
	}
	return planned
}

// withRefs returns planned with the refs of the state where those are commits that the service has resolved the refs to, as far
// as anybody knows, and whether there are some.
func (fs Fields) withRefs(at path.Path, planned, state Values, record Record) (quiet Values, some bool) {
	quiet = maps.Clone(planned)
	for _, f := range fs {
		value, before := planned[f.Name], state[f.Name]
		switch {
		case f.Kind == Object && value.IsKnown() && !isNull(value) && !isNull(before):
			if inner, found := f.Fields.withRefs(at.AtName(f.Name), Members(value), Members(before), record); found {
				quiet[f.Name], some = tftypes.NewValue(f.Type(), inner), true
			}
		case fs.standsForRef(f, value, state):
			if recorded, _ := record.at(at.AtName(f.Name)); record == nil || recorded == Text(value) {
				quiet[f.Name], some = before, true
			}
		}
	}
	return quiet, some
}

// standsForRef reports whether the state has, in place of a ref, the commit that the service has resolved it to.
func (fs Fields) standsForRef(f Field, ref tftypes.Value, state Values) bool {
	commit := Text(state[f.Name])
	return f.ResolvesTo != "" && commit != "" && commit == Text(state[f.ResolvesTo]) && Text(ref) != "" && !isFullCommit(Text(ref))
}

// TakeRefs marks configured refs as applied if the state was imported and has only resolved commits: the service does not
// report which refs they belong to.
func (fs Fields) TakeRefs(applied, want map[string]any, state tftypes.Value, record Record) (taken []path.Path) {
	return takeRefs(fs, path.Empty(), applied, want, Members(state), record)
}

func takeRefs(fs Fields, at path.Path, applied, want map[string]any, state Values, record Record) (taken []path.Path) {
	for _, f := range fs {
		here := at.AtName(f.Name)
		switch {
		case f.Kind == Object:
			if inner, ok := want[f.wire()].(map[string]any); ok {
				within, ok := applied[f.wire()].(map[string]any)
				if !ok {
					within = map[string]any{}
				}
				if more := takeRefs(f.Fields, here, within, inner, Members(state[f.Name]), record); len(more) > 0 {
					applied[f.wire()] = within
					taken = append(taken, more...)
				}
			}
		case f.ResolvesTo != "":
			recorded, found := record.at(here)
			ref, _ := want[f.wire()].(string)
			if found && recorded == nil && fs.standsForRef(f, tftypes.NewValue(tftypes.String, ref), state) {
				applied[f.wire()] = ref
				taken = append(taken, here)
			}
		}
	}
	return taken
}

type planner struct {
	record   Record
	creating bool
}

// object plans the attributes of one object. Moved means that the state has the object elsewhere in a list, where Terraform
// does not look for it: its form must not be used.
func (p planner) object(fs Fields, at path.Path, config, state Values, moved bool) Values {
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
		planned[f.Name] = p.value(f, at.AtName(f.Name), config[f.Name], state[f.Name], moved)
	}
	return planned
}

func (p planner) value(f Field, at path.Path, config, state tftypes.Value, moved bool) tftypes.Value {
	recorded, found := p.record.at(at)
	if found && recorded == nil {
		p.record = nil // nothing within is owned either
	}
	switch {
	case isNull(config):
		return p.omitted(f, at, state, found && recorded == nil)
	case !config.IsKnown():
		return config
	case f.Kind == Object:
		return tftypes.NewValue(f.Type(), p.object(f.Fields, at, Members(config), Members(state), moved))
	case f.Kind == ObjectList:
		return p.list(f, at, config, state, moved)
	case moved || isNull(state):
		return config
	case !found && f.same(config, state):
		return state
	case found && p.unchanged(f, config, state, recorded):
		return state
	default:
		return config
	}
}

// omitted plans an attribute that the configuration does not set.
func (p planner) omitted(f Field, at path.Path, state tftypes.Value, notOwned bool) tftypes.Value {
	root := f.Kind == Object && at.Equal(path.Root(f.Name))
	switch {
	case p.creating && (f.Access == ReadOnly || f.Access == Computed):
		return f.unknown()
	case isNull(state) && !root:
		return f.null()
	case f.Access == ReadOnly, notOwned && !isNull(state):
		return state
	case f.Access == Computed:
		return f.unknown() // it was set, and the service may choose another value now
	case f.Kind != Object:
		return f.null()
	}
	// What is not owned within the object stays. The objects at the root are never null because the service chooses members of
	// theirs.
	rest := p.object(f.Fields, at, nil, Members(state), false)
	if !root && !slices.ContainsFunc(f.Fields, func(child Field) bool { return !isNull(rest[child.Name]) }) {
		return f.null()
	}
	return tftypes.NewValue(f.Type(), rest)
}

// unchanged reports whether the configuration sets what the last apply set, of a value in the state that has more.
func (p planner) unchanged(f Field, config, state tftypes.Value, recorded any) bool {
	if !config.IsFullyKnown() || !f.satisfied(state, config) {
		return false
	}
	c := &comparer{}
	c.value(f, path.Empty(), f.tree(state), f.tree(config), recorded, true)
	return len(c.set)+len(c.dropped) == 0
}

// list plans a list of objects. Where it has the items of the state, and their order has no meaning, it is the state's.
func (p planner) list(f Field, at path.Path, config, state tftypes.Value, moved bool) tftypes.Value {
	configured, held := Items(config), Items(state)
	configTree, stateTree := asList(f.tree(config)), asList(f.tree(state))
	partners := f.match(configTree, stateTree)
	vague := !isNull(state) && p.record.below(at)

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
		if j >= 0 {
			before = Members(held[j])
		}
		return tftypes.NewValue(f.elem().Type(), p.object(f.Fields, at.AtListIndex(j), Members(item), before, moved))
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
	case f.Kind == ObjectList:
		held, has := Items(planned), asList(live)
		list := make([]tftypes.Value, len(held))
		for i, j := range f.match(asList(f.tree(planned)), has) {
			var item any
			if j >= 0 {
				item = has[j]
			}
			var err error
			if list[i], err = f.elem().afterApply(held[i], item); err != nil {
				return planned, err
			}
		}
		return tftypes.NewValue(f.Type(), list), nil
	default:
		return planned, nil
	}
}

// Refresh is the state after a refresh, with the record that belongs to it. Its values are those of fs only, for [With].
func (fs Fields) Refresh(prior tftypes.Value, live map[string]any, source string, record Record) (Values, Record, error) {
	r := refresher{source: source, record: record}
	if record != nil {
		r.kept = Record{}
	}
	values, err := r.object(fs, path.Empty(), path.Empty(), Members(prior), live)
	return values, r.kept, err
}

type refresher struct {
	source string
	record Record // by the places of items before the refresh
	kept   Record // by those after it
}

func (r refresher) object(fs Fields, from, to path.Path, prior Values, live map[string]any) (Values, error) {
	values := make(Values, len(fs))
	c := comparer{source: r.source}
	for _, f := range fs {
		before, has := prior[f.Name], live[f.wire()]
		if !isNull(before) && (f.ResolvesTo != "" || f.BuiltFor != "") {
			recorded, found := r.record.at(from.AtName(f.Name))
			if want := Text(before); !(found && recorded == nil) && c.servicesOwn(fs, f, live, want, want) {
				values[f.Name] = before
				r.keep(from.AtName(f.Name), to.AtName(f.Name), before)
				continue
			}
		}
		var err error
		if values[f.Name], err = r.value(f, from.AtName(f.Name), to.AtName(f.Name), before, has); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// keep keeps what is recorded of a value, unless that is null now.
func (r refresher) keep(from, to path.Path, value tftypes.Value) {
	if recorded, found := r.record.at(from); found && r.kept != nil && !isNull(value) {
		r.kept[to.String()] = recorded
	}
}

func (r refresher) value(f Field, from, to path.Path, prior tftypes.Value, live any) (tftypes.Value, error) {
	_, recorded := r.record.at(from)
	chosen := f.Access == Computed && isNull(prior)
	switch {
	case recorded, chosen, f.Access == ReadOnly: // not owned, or more than what is owned: it follows the service
		value, err := f.decode(live)
		if err == nil && (f.same(prior, value) || (chosen || !isNull(prior)) && f.satisfied(prior, value) && f.satisfied(value, prior)) {
			value = prior
		}
		if f.Kind == Object && isNull(value) && to.Equal(path.Root(f.Name)) {
			value, err = f.decode(map[string]any{})
		}
		r.keep(from, to, value)
		if chosen && r.kept != nil && !isNull(value) {
			r.kept[to.String()] = nil
		}
		return value, err
	case isNull(prior):
		return prior, nil
	}
	switch f.Kind {
	case Object:
		values, err := r.object(f.Fields, from, to, Members(prior), asObject(live))
		if err != nil {
			return prior, err
		}
		return tftypes.NewValue(f.Type(), values), nil
	case ObjectList:
		return r.list(f, from, to, prior, asList(live))
	}
	tree := f.tree(prior)
	c := &comparer{source: r.source}
	if c.value(f, to, live, tree, tree, true); len(c.set) == 0 {
		return prior, nil
	}
	return f.decode(project(f.Kind, tree, live))
}

// project is what the service has of a value: of a map or a JSON object, the members that were set.
func project(k Kind, set, live any) any {
	members, ok := set.(map[string]any)
	has, okLive := live.(map[string]any)
	if !ok || !okLive || k != StringMap && k != JSON {
		if list, hasList := asList(set), asList(live); k == JSON && len(list) > 0 && len(list) == len(hasList) {
			projected := make([]any, len(list))
			for i := range list {
				projected[i] = project(k, list[i], hasList[i])
			}
			return projected
		}
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
func (r refresher) list(f Field, from, to path.Path, prior tftypes.Value, live []any) (tftypes.Value, error) {
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
			list[i], err = r.value(f.elem(), from.AtListIndex(p), to.AtListIndex(i), held[p], live[a])
		} else {
			list[i], err = f.elem().decode(live[a])
		}
		if err != nil {
			return prior, err
		}
	}
	return tftypes.NewValue(f.Type(), list), nil
}

// Restore puts back what prior had recorded of a member of an object at the root, or of an attribute at the root if name is
// empty.
func (r Record) Restore(prior Record, object, name string) {
	at := path.Root(object)
	if name != "" {
		at = at.AtName(name)
	}
	within := func(key string) bool {
		rest, ok := strings.CutPrefix(key, at.String())
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	maps.DeleteFunc(r, func(key string, _ any) bool { return within(key) })
	for key, applied := range prior {
		if within(key) {
			r[key] = applied
		}
	}
	if prior == nil {
		r[at.String()] = nil
	}
}
