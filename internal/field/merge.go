package field

import (
	"maps"
	"slices"
)

// merger merges a plan into a deployment. It goes through four trees side by side: live is from the service, plan and
// state are those of a [Change], and owned has the values that the last apply set. It collects the differences in its
// comparison.
type merger struct {
	Comparison
	fields         Fields // of the objects
	emptyMayBeNull bool   // what is newly set to {} may be there: services may report it as null
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
	_, root, _ := m.fields.find(at.loc[:1])
	return Difference{Loc: at.loc, At: attribute, Want: want, Has: has, field: f, rest: rest,
		byKey: kind[Object](root).Present}
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
		if objects, ok := f.Kind.(ObjectList); ok {
			return m.list(at, objects, live, asList(plan), state, asList(owned))
		}
		if f.isPaired(asList(live), asList(plan), asList(state)) {
			return m.pairs(at, f, asList(live), asList(plan), asList(state), asList(owned))
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
	sendsNull := is[Object](f) && !at.inItem // what is dropped is null there, and omitted from what is sent whole
	put := func(name string, value any) {
		_, had := live[name]
		if value != nil || sendsNull && had {
			merged[name] = value
		} else {
			delete(merged, name)
		}
	}
	replaces := false // an exclusive member is newly set, or changes
	for _, name := range f.names(plan, state) {
		member, at, before := f.member(name), at.in(name), len(m.Set)
		put(name, m.merge(at, member, live[name], plan[name], state[name], owned[name]))
		if m.setsEmpty(f, member, live, plan[name], state[name]) {
			m.Set = append(m.Set, m.difference(at, plan[name], nil))
		}
		isNew := state[name] == nil && plan[name] != nil && plan[name] != Unknown
		replaces = replaces || member.Exclusive && (isNew || len(m.Set) > before)
	}
	if !replaces {
		return merged
	}
	for _, member := range kind[Object](f).Fields {
		if member.Exclusive && plan[member.wire()] == nil {
			put(member.wire(), nil) // even if no apply has set it
			m.Left = slices.DeleteFunc(m.Left, at.in(member.wire()).contains)
		}
	}
	return merged
}

// contains reports whether a difference is at a place, or within it.
func (p place) contains(d Difference) bool {
	return len(d.Loc) >= len(p.loc) && slices.Equal(d.Loc[:len(p.loc)], p.loc)
}

// setsEmpty reports whether a plan newly sets a member to {}, which is a value, and the service does not have it.
func (m *merger) setsEmpty(f, member Field, live map[string]any, plan, state any) bool {
	if !is[JSON](member) || !isEmptyObject(plan) || !isEmpty(live[member.wire()]) || member.equal(plan, state) {
		return false
	}
	return state == nil && !m.emptyMayBeNull || f.Fields().isReplaced(member, live, plan)
}

// names returns the names of the members of a plan and a state that are not read-only: those that are described, in the
// order of the description, then the others, sorted.
func (f Field) names(plan, state map[string]any) (names []string) {
	all := Merge(plan, state)
	for _, member := range kind[Object](f).Fields {
		if _, found := all[member.wire()]; found && member.Access != ReadOnly {
			names = append(names, member.wire())
		}
		delete(all, member.wire())
	}
	return append(names, slices.Sorted(maps.Keys(all))...)
}

// isPaired reports whether the items of lists of JSON are changed one by one: the lists are equally long, and no item
// has moved.
func (f Field) isPaired(live, plan, state []any) bool {
	if !f.isJSONList() || len(live) != len(plan) || len(plan) == 0 {
		return false
	}
	for i, item := range plan {
		isItem := func(other any) bool { return f.item().equal(item, other) }
		if !isItem(itemAt(state, i)) && slices.ContainsFunc(state, isItem) {
			return false
		}
	}
	return true
}

// pairs merges lists of JSON, item by item.
func (m *merger) pairs(at place, f Field, live, plan, state, owned []any) any {
	if len(state) != len(plan) { // the list is changed as a whole: each item is as if newly set
		state, owned = nil, nil
	}
	merged := make([]any, len(plan))
	for i := range plan {
		merged[i] = m.merge(at.in(i), f.item(), live[i], plan[i], itemAt(state, i), itemAt(owned, i))
	}
	return merged
}

// list merges lists of objects, item by item. A list that is newly set belongs to the configuration as a whole.
// Otherwise, what the service has beside the items of plan and state stays where it is.
func (m *merger) list(at place, l ObjectList, live any, plan []any, state any, owned []any) any {
	has, held, before := asList(live), asList(state), len(m.Set)+len(m.Dropped)
	partners, former := l.match(plan, has), l.match(plan, held)
	result := mergedList{items: []any{}}
	for i, item := range plan {
		j, last, mine := partners[i], itemAt(held, former[i]), itemAt(owned, former[i])
		switch {
		case j >= 0:
			item = m.merge(at.in(i), l.item(), has[j], item, last, mine)
		case l.key(item) != "" && l.item().equal(item, last):
			continue // removed elsewhere, and not changed by the plan; of one without a name, that cannot be said
		default:
			result.added = append(result.added, itemName(l, item, i))
			if l.keyIsUnknown(item) {
				result.undecided++
			}
		}
		result.insert(len(result.items), item, j)
	}
	inOrder := result.inOrder()
	stays := l.beside(plan, has, held)
	for j, item := range has {
		switch {
		case slices.Contains(result.from, j):
		case state != nil && stays[j]:
			result.insert(result.positionAfter(j), item, j)
		default:
			result.removed = append(result.removed, itemName(l, item, j))
		}
	}
	d := m.difference(at, plan, live)
	if result.undecided > 0 {
		m.Undecided = append(m.Undecided, d)
	}
	d.itemChanges = result.changes(l.Ordered && !inOrder)
	if d.itemChanges != "" {
		m.Set = append(m.Set, d)
	}
	if len(m.Set)+len(m.Dropped) == before && live != nil { // [] is set
		return live
	}
	return result.items
}

// mergedList is a list of objects that is being merged.
type mergedList struct {
	items          []any
	from           []int    // the index of each item in the service's list, or -1
	added, removed []string // names of items, compared with the service's list
	undecided      int      // how many of those added are only identified after apply
}

func (l *mergedList) insert(position int, item any, from int) {
	l.items, l.from = slices.Insert(l.items, position, item), slices.Insert(l.from, position, from)
}

// positionAfter returns the position after that of the nearest item before the service's j-th.
func (l *mergedList) positionAfter(j int) int {
	for j--; j >= 0; j-- {
		if position := slices.Index(l.from, j); position >= 0 {
			return position + 1
		}
	}
	return 0
}

// inOrder reports whether the items that the service has are in its order.
func (l *mergedList) inOrder() bool {
	return slices.IsSorted(slices.DeleteFunc(slices.Clone(l.from), func(j int) bool { return j < 0 }))
}

// changes states how a list differs from the service's, "" if it does not. Items that are identified only after apply
// may turn out to be those that are removed.
func (l *mergedList) changes(reordered bool) string {
	maySame := len(l.added) == l.undecided && len(l.removed) == l.undecided
	switch {
	case !maySame:
		return describeItems(l.added, l.removed)
	case reordered:
		return "order"
	}
	return ""
}

// beside reports which items of a list the service has beside those of plan and state. There are none if some items
// cannot be told apart: then the list is changed as a whole.
func (l ObjectList) beside(plan, live, state []any) []bool {
	stays := make([]bool, len(live))
	for _, list := range [][]any{plan, live, state} {
		if slices.Contains(l.keys(list), "") {
			return stays
		}
	}
	planned, former := l.match(live, plan), l.match(live, state)
	for i := range live {
		stays[i] = planned[i] < 0 && former[i] < 0
	}
	return stays
}

// drop returns what the service should have of a value that the plan removes: what of it is owned is dropped.
func (m *merger) drop(at place, f Field, live, state, owned any) any {
	drop := func() any {
		m.Dropped = append(m.Dropped, m.difference(at, nil, live))
		return nil
	}
	objects, ofObjects := f.Kind.(ObjectList)
	switch {
	case live == nil:
		return nil
	case is[JSON](f) && isEmptyObject(owned): // {} is a value
		return drop()
	case isEmpty(live):
		return live
	case ofObjects && owned != nil:
		rest := objects.rest(asList(live), asList(state))
		if len(rest) < len(asList(live)) {
			drop()
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	case f.shape(state) == members && asObject(live) != nil:
		return m.dropMembers(at, f, asObject(live), asObject(state), asObject(owned))
	case !isEmpty(owned) && f.satisfies(live, owned):
		return drop()
	case !isEmpty(state) && f.Access != OptionalComputed:
		m.Left = append(m.Left, m.difference(at, nil, live))
	}
	return live
}

// dropMembers drops the owned members of an object, a map or a JSON object. JSON of which nothing is left is dropped
// as a whole.
func (m *merger) dropMembers(at place, f Field, live, state, owned map[string]any) any {
	before := len(m.Dropped)
	rest := m.object(at, f, live, nil, state, owned)
	switch {
	case len(m.Dropped) == before:
		return live
	case !is[Object](f) && !is[StringMap](f) && isEmpty(rest):
		return nil
	}
	return rest
}

// rest returns the items of a list that the service has beside those of the state.
func (l ObjectList) rest(live, state []any) (rest []any) {
	for i, stays := range l.beside(nil, live, state) {
		if stays {
			rest = append(rest, live[i])
		}
	}
	return rest
}
