package field

import (
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Record is what the last apply set, as a tree. A nil Record means that nothing was applied yet, as after an import: nothing is
// owned.
type Record map[string]any

// UnmarshalJSON keeps the text of numbers, as all trees do.
func (r *Record) UnmarshalJSON(text []byte) error {
	tree, err := ReadJSON(text)
	*r, _ = tree.(map[string]any)
	return err
}

// Record is the record of an apply: what the configuration sets, with the values that the apply has planned for it, which
// ignore_changes may have replaced.
func (fs Fields) Record(config, planned tftypes.Value) Record {
	return Record(fs.part(fs.tree(planned), fs.tree(config)))
}

// owned is what a state has of what the last apply set: that, or what a refresh has found in its place.
func (fs Fields) owned(state map[string]any, record Record) map[string]any {
	return fs.part(fs.asWritten(state, record, record, ""), record)
}

func (fs Fields) part(of, set map[string]any) map[string]any {
	return asObject(Field{Kind: Object, Fields: fs}.part(of, set))
}

// part returns the part of a tree that another one sets: as it was set where that is satisfied, and the tree's own value
// elsewhere. Items of a list that cannot be matched are part of it, because lists are set as a whole. A value that the service
// may choose is part of it only as it was set.
func (f Field) part(of, set any) any {
	switch {
	case of == nil, set == nil:
		return nil
	case of == Unknown:
		return of
	case f.Kind != Object && f.Kind != ObjectList && f.satisfies(of, set):
		return set
	}
	switch f.shape(set) {
	case members:
		if asObject(of) == nil {
			return of
		}
		return f.partOfMembers(asObject(of), asObject(set))
	case items:
		list, sets := slices.Clone(asList(of)), asList(set)
		if f.Kind == ObjectList {
			for i, j := range f.match(list, sets) {
				if j >= 0 {
					list[i] = f.elem().part(list[i], sets[j])
				}
			}
			return list
		}
		if f.isJSONList() && len(list) == len(sets) {
			for i := range list {
				list[i] = f.elem().part(list[i], sets[i])
			}
			return list
		}
	}
	return of
}

func (f Field) partOfMembers(of, set map[string]any) map[string]any {
	result := make(map[string]any, len(set))
	for name, value := range set {
		member := f.member(name)
		switch part := member.part(of[name], value); {
		case member.Access == ReadOnly, member.Access == Computed && !member.equal(of[name], value):
		case f.Kind != Object && member.satisfies(of[name], value):
			result[name] = value
		case part != nil:
			result[name] = part
		}
	}
	return result
}

// Plan returns what a plan has of the attributes of fs, for [With]. A null state means a create.
//
// What is set is planned: as it is in the state, where that means the same or has more that was never set. What is omitted is
// null if it was set before; otherwise it stays, as after an import, or is for the service to choose.
func (fs Fields) Plan(config, state tftypes.Value, record Record) Values {
	p := planner{creating: isNull(state)}
	held := fs.tree(state)
	planned := p.object(fs, fs.tree(config), held, fs.owned(held, record))
	return fs.render(planned, Members(state), Members(config))
}

// planner plans. Moved means that the state has an item elsewhere in its list, where Terraform does not look for it: a value
// that is set must be planned as it is configured.
type planner struct{ creating, moved bool }

func (p planner) object(fs Fields, config, state, owned map[string]any) map[string]any {
	planned := make(map[string]any, len(fs))
	exclusive := any(nil) // the exclusive member that the configuration sets
	for _, f := range fs {
		if f.Exclusive && config[f.wire()] != nil {
			exclusive = config[f.wire()]
		}
	}
	for _, f := range fs {
		name := f.wire()
		value := p.value(f, config[name], state[name], owned[name])
		if f.Exclusive && exclusive != nil && config[name] == nil {
			if value = nil; exclusive == Unknown && state[name] != nil {
				value = Unknown // the other may turn out null
			}
		}
		if value != nil {
			planned[name] = value
		}
	}
	return planned
}

func (p planner) value(f Field, config, state, owned any) any {
	switch {
	case config == nil:
		return p.omitted(f, state, owned)
	case config == Unknown:
		return config
	case f.Kind == Object:
		return p.object(f.Fields, asObject(config), asObject(state), asObject(owned))
	case f.Kind == ObjectList:
		return p.list(f, asList(config), state, owned)
	case p.moved, state == nil:
		return config
	case f.equal(config, state):
		return state
	case isKnown(config) && !f.equal(owned, state) && f.satisfies(state, config) && f.satisfies(config, owned):
		return state // it has more than what was set, and what was set is still set
	}
	return config
}

// omitted plans an attribute that the configuration does not set.
func (p planner) omitted(f Field, state, owned any) any {
	switch {
	case p.creating && (f.Access == ReadOnly || f.Access == Computed):
		return Unknown
	case f.Access == ReadOnly, owned == nil && !f.Present:
		return state
	case f.Access == Computed:
		return Unknown // it was set, and the service may choose another value now
	case f.Present:
		return p.object(f.Fields, nil, p.rest(f.Fields, asObject(state), owned), asObject(owned))
	}
	return nil
}

// rest returns what stays in the state of an object that is omitted: all of it if it was never set, and otherwise only what the
// service sets.
func (p planner) rest(fs Fields, state map[string]any, owned any) map[string]any {
	if owned == nil {
		return state
	}
	rest := map[string]any{}
	for _, f := range fs {
		if value := state[f.wire()]; value != nil && (f.Access == ReadOnly || f.Access == Computed) {
			rest[f.wire()] = value
		}
	}
	return rest
}

// list plans a list of objects. Where it has the items of the state, and their order has no meaning, it is the state's.
func (p planner) list(f Field, config []any, state, owned any) any {
	held, ownedItems := asList(state), asList(owned)
	partners := f.match(config, held)
	hasMore := state != nil && !f.equal(owned, state)
	plan := func(p planner, i int) any {
		j := partners[i]
		switch {
		case asObject(config[i]) == nil:
			return config[i] // it is unknown
		case hasMore && f.keyIsUnknown(config[i]): // it may turn out to be any item of the state
			return unknownOmitted(f.Fields, asObject(config[i]))
		case j < 0:
			return p.object(f.Fields, asObject(config[i]), nil, nil)
		case owned == nil:
			return p.object(f.Fields, asObject(config[i]), asObject(held[j]), nil)
		}
		return p.object(f.Fields, asObject(config[i]), asObject(held[j]), asObject(ownedItems[j]))
	}
	planned, unchanged := make([]any, len(config)), len(config) == len(held) && state != nil && !p.moved
	for i, j := range partners {
		planned[i] = plan(p, i)
		unchanged = unchanged && j >= 0 && (i == j || !f.Ordered) && f.elem().equal(planned[i], held[j])
	}
	if unchanged {
		return state
	}
	for i, j := range partners {
		if i != j {
			planned[i] = plan(planner{creating: p.creating, moved: true}, i)
		}
	}
	return planned
}

// unknownOmitted plans an object whose omitted members are known after apply.
func unknownOmitted(fs Fields, config map[string]any) map[string]any {
	planned := make(map[string]any, len(fs))
	for _, f := range fs {
		name := f.wire()
		switch value := config[name]; {
		case value == nil:
			planned[name] = Unknown
		case f.Kind == Object && value != Unknown:
			planned[name] = unknownOmitted(f.Fields, asObject(value))
		default:
			planned[name] = value
		}
	}
	return planned
}

// AfterApply returns what the state after an apply has of the attributes of fs, for [With]: the plan, with what is unknown there
// from the response. The error is a [TypeError].
func (fs Fields) AfterApply(planned tftypes.Value, live map[string]any) (Values, error) {
	values := make(Values, len(fs))
	for _, f := range fs {
		var err error
		if values[f.Name], err = f.afterApply(Members(planned)[f.Name], live[f.wire()]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (f Field) afterApply(planned tftypes.Value, live any) (tftypes.Value, error) {
	switch {
	case !planned.IsKnown():
		return f.decode(live)
	case f.Kind != Object || isNull(planned) || planned.IsFullyKnown():
		return planned, nil
	}
	values, err := f.Fields.AfterApply(planned, asObject(live))
	if err != nil {
		return planned, err
	}
	return tftypes.NewValue(f.Type(), values), nil
}

// Refresh returns what the state after a refresh has of the attributes of fs, for [With]. The error is a [TypeError].
//
// What was set is replaced where the service has something else; what is null stays null; the rest, such as imported values,
// follows the service.
func (fs Fields) Refresh(prior tftypes.Value, live map[string]any, source string, record Record) (Values, error) {
	if err := fs.Check(live); err != nil {
		return nil, err
	}
	r := refresher{imported: record == nil}
	state, has := fs.tree(prior), asObject(normalized(live))
	owned := fs.owned(state, record)
	if has = fs.asWritten(has, owned, owned, source); r.imported {
		has = fs.withoutCommits(has)
	}
	return fs.render(r.object(fs, state, has, owned), Members(prior)), nil
}

// withoutCommits returns live without the refs that the service shows only as commits.
func (fs Fields) withoutCommits(live map[string]any) map[string]any {
	for _, f := range fs {
		commit, _ := fs.ByName(f.ResolvesTo)
		switch value := live[f.wire()]; {
		case f.Kind == Object && asObject(value) != nil:
			live = with(live, f.wire(), f.Fields.withoutCommits(asObject(value)))
		case f.ResolvesTo != "" && value != nil && value == live[commit.wire()]:
			live = with(live, f.wire(), nil)
		}
	}
	return live
}

type refresher struct {
	imported bool // nothing is owned, and what is null follows the service, too
}

func (r refresher) object(fs Fields, prior, live, owned map[string]any) map[string]any {
	refreshed := make(map[string]any, len(fs))
	for _, f := range fs {
		name := f.wire()
		if value := r.value(f, prior[name], live[name], owned[name]); value != nil {
			refreshed[name] = value
		} else if f.Present {
			refreshed[name] = map[string]any{}
		}
	}
	return refreshed
}

func (r refresher) value(f Field, prior, live, owned any) any {
	chosen := prior == nil && f.Access == Computed
	switch {
	case r.follows(f, prior, owned):
		if (prior != nil || chosen) && f.satisfies(prior, live) && f.satisfies(live, prior) {
			return prior
		}
		return live
	case prior == nil:
		return nil
	case f.Kind == Object:
		return r.object(f.Fields, asObject(prior), asObject(live), asObject(owned))
	case f.Kind == ObjectList:
		return r.list(f, asList(prior), asList(live), asList(owned))
	case f.satisfies(live, prior):
		return prior
	}
	return f.part(live, prior)
}

// follows reports whether a value of the state is the service's: read-only, chosen by the service, imported, or more than what
// was set.
func (r refresher) follows(f Field, prior, owned any) bool {
	switch {
	case f.Partial:
		return false
	case r.imported, f.Access == ReadOnly, prior == nil && f.Access == Computed:
		return true
	case prior == nil:
		return false
	case owned == nil:
		return !f.Present
	}
	return f.Kind != Object && f.Kind != ObjectList && !f.satisfies(owned, prior)
}

// list refreshes a list of objects: in the prior order where order has no meaning, with the items that were added elsewhere
// last.
func (r refresher) list(f Field, prior, live, owned []any) any {
	partners := f.match(live, prior) // of each live item
	order := make([]int, len(live))
	for i := range order {
		order[i] = i
	}
	if !f.Ordered {
		place := func(i int) int {
			if partners[i] < 0 {
				return len(prior) + i
			}
			return partners[i]
		}
		slices.SortStableFunc(order, func(a, b int) int { return place(a) - place(b) })
	}
	list := make([]any, len(order))
	for i, a := range order {
		if p := partners[a]; p >= 0 {
			list[i] = r.value(f.elem(), prior[p], live[a], owned[p])
		} else {
			list[i] = live[a]
		}
	}
	return list
}

// render returns the values of a tree of fs. What is the same in one of the forms, each the attributes of an object of fs, is as
// it is there: Terraform treats another form as another value.
func (fs Fields) render(tree map[string]any, forms ...Values) Values {
	values := make(Values, len(fs))
	for _, f := range fs {
		var same []tftypes.Value
		for _, form := range forms {
			if v := form[f.Name]; !isNull(v) {
				same = append(same, v)
			}
		}
		values[f.Name] = f.render(tree[f.wire()], same)
	}
	return values
}

func (f Field) render(tree any, forms []tftypes.Value) tftypes.Value {
	switch {
	case tree == nil:
		return f.null()
	case tree == Unknown:
		return f.unknown()
	case f.Kind == Object:
		var same []Values
		for _, form := range forms {
			same = append(same, Members(form))
		}
		return tftypes.NewValue(f.Type(), f.Fields.render(asObject(tree), same...))
	case f.Kind == ObjectList:
		return f.renderList(asList(tree), forms)
	}
	for _, form := range forms {
		if same := f.tree(form); f.equal(same, tree) || reflect.DeepEqual(same, tree) { // with unknown values within
			return form
		}
	}
	value, _ := f.decode(tree) // it is part of a value, or of a response that was checked
	return value
}

func (f Field) renderList(tree []any, forms []tftypes.Value) tftypes.Value {
	list, elem := make([]tftypes.Value, len(tree)), f.elem()
	for i, item := range tree {
		var same []tftypes.Value
		for _, form := range forms {
			if items := Items(form); i < len(items) {
				same = append(same, items[i])
			}
		}
		list[i] = elem.render(item, same)
	}
	return tftypes.NewValue(f.Type(), list)
}
