package field

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
)

// Comparison is what a configuration wants of the service, compared with what the service has.
type Comparison struct {
	// Merged is what the service has, with what is wanted in its place and what was removed dropped: what a PATCH sends, key by
	// key.
	Merged map[string]any
	// Set are the attributes that are wanted and that the service does not have.
	Set []Difference
	// Dropped are those that were removed from the configuration and that the service still has.
	Dropped []Difference
}

// Difference is an attribute whose value in the service is not the expected one.
type Difference struct {
	Loc       []any     // where it is, see [Fields.Path]
	At        path.Path // the attribute that Loc leads to
	Want, Has any       // trees
	field     Field     // the one at At
	rest      []any     // of Loc, beyond At
	items     string    // what differs in a list of objects, in words
}

// Compare compares what is wanted (the configuration) with live (what the service has) and applied (what the last apply set),
// all three as trees.
//
// Responses are compared leniently: null, absent and empty are equal; members that the service added beside those wanted are
// kept; a value that the service resolves or builds itself counts as what was requested, as long as the request has not changed
// since the last apply. Whatever is applied and no longer wanted is dropped: null for a member of an object, omitted from what
// is sent whole.
//
// Read-only attributes are not compared, and unknown values are no difference. Source is the source of the deployment, see
// [Field.BuiltFor].
func (fs Fields) Compare(live, want, applied map[string]any, source string) Comparison {
	return (&comparer{fields: fs, source: source}).compare(live, want, applied)
}

// CompareImported is [Fields.Compare] for a deployment to which nothing was applied since its import: what is wanted as {} may
// be there, if nothing else is, because services may report it as null.
func (fs Fields) CompareImported(live, want, applied map[string]any, source string) Comparison {
	return (&comparer{fields: fs, source: source, imported: true}).compare(live, want, applied)
}

func (c *comparer) compare(live, want, applied map[string]any) Comparison {
	merged := c.object(c.fields, nil, asObject(normalized(live)), want, applied, false)
	return Comparison{Merged: asObject(namedAs(merged, live)), Set: c.set, Dropped: c.dropped}
}

// Satisfies reports whether the service has everything that is wanted.
func (fs Fields) Satisfies(live, want map[string]any, source string) bool {
	return len(fs.Compare(live, want, want, source).Set) == 0
}

// comparer walks the three trees side by side.
type comparer struct {
	fields       Fields
	source       string
	imported     bool
	set, dropped []Difference
}

func (c *comparer) difference(loc []any, want, has any) Difference {
	at, f, rest := c.fields.find(loc)
	return Difference{Loc: loc, At: at, Want: want, Has: has, field: f, rest: rest}
}

// in leads on from a location.
func in(loc []any, step any) []any { return append(slices.Clip(loc), step) }

func asObject(tree any) map[string]any {
	object, _ := tree.(map[string]any)
	return object
}

func asList(tree any) []any {
	list, _ := tree.([]any)
	return list
}

// object compares the members of an object. In an item of a list, which is sent whole, what is dropped is omitted; elsewhere it
// is null.
func (c *comparer) object(fs Fields, loc []any, live, want, applied map[string]any, inItem bool) map[string]any {
	merged := maps.Clone(live)
	if merged == nil {
		merged = map[string]any{}
	}
	put := func(name string, value any) {
		if _, had := live[name]; value == nil && (inItem || !had) {
			delete(merged, name)
		} else {
			merged[name] = value
		}
	}
	var replaced bool // an exclusive member is newly set
	for _, f := range fs {
		if f.Access == ReadOnly {
			continue
		}
		name, before := f.wire(), len(c.set)
		if c.servicesOwn(fs, f, live, want[name], applied[name]) {
			continue
		}
		has := live[name]
		if want[name] == nil && f.ResolvesTo != "" && c.servicesOwn(fs, f, live, applied[name], applied[name]) {
			has = applied[name] // in the form that the service has resolved it to
		}
		put(name, c.value(f, in(loc, name), has, want[name], applied[name], inItem))
		if f.Kind == JSON && isEmptyObject(want[name]) && has == nil && len(c.set) == before &&
			(applied[name] == nil && !c.imported || f.Exclusive && hasSibling(fs, f, live)) {
			c.set = append(c.set, c.difference(in(loc, name), want[name], nil)) // {} is a value
		}
		replaced = replaced || f.Exclusive && want[name] != nil && (len(c.set) > before || applied[name] == nil)
	}
	for _, f := range fs {
		if replaced && f.Exclusive && want[f.wire()] == nil {
			put(f.wire(), nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(Merge(want, applied))) {
		if _, described := fs.byWire(name); !described {
			put(name, c.free(JSON, in(loc, name), live[name], want[name], applied[name]))
		}
	}
	return merged
}

func isEmptyObject(tree any) bool {
	object, ok := tree.(map[string]any)
	return ok && len(object) == 0
}

// hasSibling reports whether the service has another of the exclusive members.
func hasSibling(fs Fields, f Field, live map[string]any) bool {
	return slices.ContainsFunc(fs, func(other Field) bool {
		return other.Exclusive && other.Name != f.Name && !isEmpty(live[other.wire()])
	})
}

// servicesOwn reports whether the service has, in place of a value, what it made of it: the commit of a branch, or the image of
// a repository. This is not a difference as long as the configuration has not changed since the last apply. A configured commit
// must be reported as it is.
func (c *comparer) servicesOwn(fs Fields, f Field, live map[string]any, want, applied any) bool {
	has, _ := live[f.wire()].(string)
	wanted, ok := want.(string)
	if has == "" || !ok || wanted == "" || want != applied {
		return false
	}
	if f.ResolvesTo != "" {
		sibling, _ := fs.ByName(f.ResolvesTo)
		return has == live[sibling.wire()] && (!isFullCommit(wanted) || strings.EqualFold(wanted, has))
	}
	return f.BuiltFor != "" && f.BuiltFor == c.source
}

// value compares one value, and returns what the service should have.
func (c *comparer) value(f Field, loc []any, live, want, applied any, inItem bool) any {
	if want == Unknown || want == nil && applied == nil {
		return live
	}
	switch f.Kind {
	case Object:
		if want == nil && isEmpty(live) {
			return live
		}
		return c.object(f.Fields, loc, asObject(live), asObject(want), asObject(applied), inItem)
	case StringMap, JSON:
		return c.freeForm(f.Kind, loc, live, want, applied)
	case ObjectList:
		if want != nil {
			return c.list(f, loc, asList(live), asList(want), asList(applied), live)
		}
	case List:
		if f.Elem == JSON && want != nil {
			return c.free(JSON, loc, live, want, applied)
		}
		if want != nil && equalItems(f, asList(live), asList(want)) {
			if live == nil {
				return want
			}
			return live
		}
	default:
		if want == "" {
			want = nil // it asks for nothing
		}
		if want != nil && live != nil && kinds[f.Kind].equal(live, want) {
			return live
		}
	}
	if want == nil {
		// What the service has replaced is its own: a default, or somebody else's value.
		if !isEmpty(applied) && !isEmpty(live) && (f.equalTree(live, applied) || f.Access != Computed && c.has(f, live, applied)) {
			c.dropped = append(c.dropped, c.difference(loc, nil, live))
			return nil
		}
		return live
	}
	c.set = append(c.set, c.difference(loc, want, live))
	return want
}

// has reports whether the service has a value.
func (c *comparer) has(f Field, live, value any) bool {
	inner := &comparer{source: c.source}
	inner.value(f, nil, live, value, value, true)
	return len(inner.set) == 0
}

// equalItems compares lists of scalars. An item is set, even if it is empty.
func equalItems(f Field, live, want []any) bool {
	return slices.EqualFunc(live, want, func(has, wanted any) bool {
		return wanted == Unknown || isEmpty(has) && isEmpty(wanted) || has != nil && wanted != nil && kinds[f.Elem].equal(has, wanted)
	})
}

// freeForm compares a map or a JSON object.
func (c *comparer) freeForm(k Kind, loc []any, live, want, applied any) any {
	if removed, ok := applied.(map[string]any); ok && k == JSON && want == nil && len(removed) == 0 && live != nil {
		c.dropped = append(c.dropped, c.difference(loc, nil, live)) // {} is a value
		return nil
	}
	before := len(c.dropped)
	merged := c.free(k, loc, live, want, applied)
	switch {
	case k == JSON && want == nil && len(c.dropped) > before && isEmpty(merged):
		return nil
	case k == StringMap && merged == nil && len(c.dropped) > before:
		return map[string]any{}
	}
	return merged
}

// free compares free-form JSON, or a map of strings: objects member by member, lists item by item, everything else as one. It adds
// nothing to what is set where covers is true.
func (c *comparer) free(k Kind, loc []any, live, want, applied any) any {
	switch wanted := want.(type) {
	case unknown:
		return live
	case nil:
		if applied == nil || isEmpty(live) {
			return live
		}
		if removed, ok := applied.(map[string]any); ok {
			if has, ok := live.(map[string]any); ok {
				if rest := c.members(k, loc, has, nil, removed); !isEmpty(rest) {
					return rest
				}
				return nil
			}
		}
		if !covers(k, live, applied) {
			return live // replaced by the service, or by somebody else
		}
		c.dropped = append(c.dropped, c.difference(loc, nil, live))
		return nil
	case map[string]any:
		has, ok := live.(map[string]any)
		if !ok && !isEmpty(live) {
			break
		}
		if merged := c.members(k, loc, has, wanted, asObject(applied)); ok || len(merged) > 0 || len(wanted) == 0 {
			return merged
		}
		return live
	case []any:
		if live == nil && len(wanted) == 0 {
			return want
		}
		return c.items(k, loc, asList(live), wanted, asList(applied))
	default:
		switch {
		case !covers(k, live, want):
		case isEmpty(live):
			return want // a service without it may still take it: a label with an empty value
		default:
			return live
		}
	}
	c.set = append(c.set, c.difference(loc, want, live))
	return want
}

// items compares lists of free-form JSON. An item keeps the members that the service has added to the one that it is paired with.
func (c *comparer) items(k Kind, loc []any, live, want, applied []any) any {
	merged, partners, former := slices.Clone(want), pair(k, want, live), pair(k, want, applied)
	into, inOrder := c, len(live) == len(want)
	for i, j := range partners {
		inOrder = inOrder && i == j
	}
	if !inOrder {
		c.set = append(c.set, c.difference(loc, want, live))
		into = &comparer{source: c.source}
	}
	for i, j := range partners {
		if j < 0 {
			continue
		}
		var last any
		if p := former[i]; p >= 0 {
			last = applied[p]
		}
		merged[i] = into.free(k, in(loc, i), live[j], want[i], last)
	}
	return merged
}

// pair pairs items of free-form lists: each of want with the one of has that has all of it, or else with the one at its place, if
// both lists are equally long. It is -1 for an item without a partner.
func pair(k Kind, want, has []any) []int {
	partners, used := make([]int, len(want)), make([]bool, len(has))
	for i := range want {
		if partners[i] = -1; i < len(has) && covers(k, has[i], want[i]) {
			partners[i], used[i] = i, true
		}
	}
	for i, item := range want {
		for j := 0; j < len(has) && partners[i] < 0; j++ {
			if !used[j] && covers(k, has[j], item) {
				partners[i], used[j] = j, true
			}
		}
	}
	for i, j := range partners {
		if j < 0 && len(want) == len(has) && !used[i] {
			partners[i] = i
		}
	}
	return partners
}

// covers reports whether free-form JSON has everything that is wanted, by the rules of comparer.free, but without recording what
// differs: items are paired with many.
func covers(k Kind, live, want any) bool {
	switch want := want.(type) {
	case unknown, nil:
		return true
	case map[string]any:
		has, ok := live.(map[string]any)
		if !ok && !isEmpty(live) {
			return false
		}
		for name, value := range want {
			if !covers(k, has[name], value) {
				return false
			}
		}
		return true
	case []any:
		return slices.EqualFunc(asList(live), want, func(has, wanted any) bool { return covers(k, has, wanted) })
	default:
		return equalJSON(live, want) || isEmpty(live) && isEmpty(want) || k == StringMap && live != nil && stringOf(live) == want
	}
}

func (c *comparer) members(k Kind, loc []any, live, want, applied map[string]any) map[string]any {
	merged := maps.Clone(live)
	if merged == nil {
		merged = map[string]any{}
	}
	for _, name := range slices.Sorted(maps.Keys(Merge(want, applied))) {
		value := c.free(k, in(loc, name), live[name], want[name], applied[name])
		if merged[name] = value; value == nil {
			delete(merged, name)
		}
	}
	return merged
}

// list compares a list of objects, all items of which belong to the configuration.
func (c *comparer) list(f Field, loc []any, live, want, applied []any, has any) any {
	partners, former := f.match(want, live), f.match(want, applied)
	before := len(c.set) + len(c.dropped)
	merged, kept := make([]any, len(want)), map[int]bool{}
	var added []string
	inOrder, undecided := true, 0
	for i, item := range want {
		var old, last map[string]any
		if k := former[i]; k >= 0 {
			last = asObject(applied[k])
		}
		j := partners[i]
		if j < 0 {
			if f.keyIsUnknown(item) {
				undecided++
			}
			added = append(added, itemName(f, item, i))
			merged[i] = item
			continue
		}
		kept[j], old = true, asObject(live[j])
		inOrder = inOrder && i == j
		merged[i] = c.object(f.Fields, in(loc, i), old, asObject(item), last, true)
	}
	var removed []string
	for j, item := range live {
		if !kept[j] {
			removed = append(removed, itemName(f, item, j))
		}
	}
	changes := ""
	if len(added) != undecided || len(removed) != undecided { // else they may turn out to be the same items
		changes = itemChanges(added, removed)
	} else if f.Ordered && !inOrder {
		changes = "order"
	}
	if changes != "" {
		d := c.difference(loc, want, has)
		d.items = changes
		c.set = append(c.set, d)
	}
	if len(c.set)+len(c.dropped) == before && has != nil {
		return has
	}
	return merged
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

// Key is the member of the request body that a difference belongs to, and its member in turn where that is one of the objects
// whose keys are sent one by one: ("source_config", "resource_spec"), ("secret_references", "").
func (d Difference) Key() (object, key string) {
	object, _ = d.Loc[0].(string)
	if len(d.Loc) > 1 && len(d.At.Steps()) > 0 && strings.HasSuffix(object, "_config") {
		key, _ = d.Loc[1].(string)
	}
	return object, key
}

// Undescribed reports whether the difference is in a member that no field describes.
func (d Difference) Undescribed() bool { return d.field.Kind == Object && len(d.rest) > 0 }

// Nullify is tree with null for the member of a map or JSON object that the difference is about: a service that merges deeply
// drops it for that only. It is not ok if there is no such member; what is in a list is sent whole.
func (d Difference) Nullify(tree map[string]any) (without map[string]any, ok bool) {
	return nullify(tree, d.Loc, len(d.rest) > 0)
}

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

// ResolvedIn reports whether the difference is about a value in place of which the service shows what it resolved it to.
func (d Difference) ResolvedIn(live map[string]any) bool {
	object, name := d.Key()
	config, _ := live[object].(map[string]any)
	return d.field.ResolvesTo != "" && config[name] != nil && config[name] == config[d.field.ResolvesTo]
}
