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
	At path.Path
	// Member is the place within a map, a JSON object or a list of objects, where At does not reach: "runAsUser".
	Member    string
	Want, Has any // trees
	field     Field
	names     []string // the steps of Member
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
	return (&comparer{source: source}).compare(fs, live, want, applied)
}

// CompareImported is [Fields.Compare] for a deployment to which nothing was applied since its import: what is wanted as {} may
// be there, if nothing else is, because services may report it as null.
func (fs Fields) CompareImported(live, want, applied map[string]any, source string) Comparison {
	return (&comparer{source: source, imported: true}).compare(fs, live, want, applied)
}

func (c *comparer) compare(fs Fields, live, want, applied map[string]any) Comparison {
	merged := c.object(fs, path.Empty(), live, want, applied, false)
	return Comparison{Merged: merged, Set: c.set, Dropped: c.dropped}
}

// Satisfies reports whether the service has everything that is wanted.
func (fs Fields) Satisfies(live, want map[string]any, source string) bool {
	return len(fs.Compare(live, want, want, source).Set) == 0
}

// comparer walks the three trees side by side.
type comparer struct {
	source       string
	imported     bool
	set, dropped []Difference
}

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
func (c *comparer) object(fs Fields, at path.Path, live, want, applied map[string]any, inItem bool) map[string]any {
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
		put(name, c.value(f, at.AtName(f.Name), has, want[name], applied[name], inItem))
		if f.Kind == JSON && isEmptyObject(want[name]) && has == nil && len(c.set) == before &&
			(applied[name] == nil && !c.imported || f.Exclusive && hasSibling(fs, f, live)) {
			c.set = append(c.set, Difference{At: at.AtName(f.Name), Want: want[name], field: f}) // {} is a value
		}
		replaced = replaced || f.Exclusive && want[name] != nil && (len(c.set) > before || applied[name] == nil)
	}
	for _, f := range fs {
		if replaced && f.Exclusive && want[f.wire()] == nil {
			put(f.wire(), nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(merge(want, applied))) {
		if f, described := fs.byWire(name); !described {
			f.Name = name
			put(name, c.free(freeAt{f, at, []string{name}}, live[name], want[name], applied[name]))
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
func (c *comparer) value(f Field, at path.Path, live, want, applied any, inItem bool) any {
	if want == Unknown || want == nil && applied == nil {
		return live
	}
	switch f.Kind {
	case Object:
		if want == nil && isEmpty(live) {
			return live
		}
		return c.object(f.Fields, at, asObject(live), asObject(want), asObject(applied), inItem)
	case StringMap, JSON:
		return c.freeForm(f, at, live, want, applied)
	case ObjectList:
		if want != nil {
			return c.list(f, at, asList(live), asList(want), asList(applied), live)
		}
	case List:
		if want != nil && c.equalItems(f, asList(live), asList(want)) {
			if live == nil {
				return want
			}
			return live
		}
		if f.Elem == JSON && want != nil {
			c.set = append(c.set, Difference{At: at, Want: want, Has: live, field: f})
			return keepMembers(f, at, asList(live), asList(want), asList(applied))
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
			c.dropped = append(c.dropped, Difference{At: at, Has: live, field: f})
			return nil
		}
		return live
	}
	c.set = append(c.set, Difference{At: at, Want: want, Has: live, field: f})
	return want
}

// has reports whether the service has a value.
func (c *comparer) has(f Field, live, value any) bool {
	inner := &comparer{source: c.source}
	inner.value(f, path.Empty(), live, value, value, true)
	return len(inner.set) == 0
}

// equalItems compares lists of scalars. Items that are JSON may have more members.
func (c *comparer) equalItems(f Field, live, want []any) bool {
	return slices.EqualFunc(live, want, func(has, wanted any) bool {
		if wanted == "" {
			return isEmpty(has) // an item is set, even if it is empty
		}
		return c.has(f.elem(), has, wanted)
	})
}

// keepMembers returns the wanted items of a list of JSON, with the members that the service has added to them. An item is the
// one of the service that has all of it, or else the one at its place, if the lists are equally long.
func keepMembers(f Field, at path.Path, live, want, applied []any) []any {
	merged, used := slices.Clone(want), map[int]bool{}
	var rest []int
	for i, item := range want {
		j := 0
		for j < len(live) && (used[j] || !(&comparer{}).equalItems(f, live[j:j+1], []any{item})) {
			j++
		}
		if j == len(live) {
			rest = append(rest, i)
			continue
		}
		merged[i], used[j] = live[j], true
	}
	for _, i := range rest {
		if len(live) == len(want) && !used[i] {
			var former any
			if len(applied) == len(want) {
				former = applied[i]
			}
			merged[i] = (&comparer{}).free(freeAt{field: f, at: at}, live[i], want[i], former)
		}
	}
	return merged
}

// freeForm compares a map or a JSON object.
func (c *comparer) freeForm(f Field, at path.Path, live, want, applied any) any {
	if removed, ok := applied.(map[string]any); ok && f.Kind == JSON && want == nil && len(removed) == 0 && live != nil {
		c.dropped = append(c.dropped, Difference{At: at, Has: live, field: f}) // {} is a value
		return nil
	}
	before := len(c.dropped)
	merged := c.free(freeAt{field: f, at: at}, live, want, applied)
	switch {
	case f.Kind == JSON && want == nil && len(c.dropped) > before && isEmpty(merged):
		return nil
	case f.Kind == StringMap && merged == nil && len(c.dropped) > before:
		return map[string]any{}
	}
	return merged
}

// freeAt is a place in free-form JSON.
type freeAt struct {
	field Field
	at    path.Path
	names []string
}

func (p freeAt) in(name string) freeAt {
	return freeAt{p.field, p.at, append(slices.Clip(p.names), name)}
}

func (p freeAt) difference(want, has any) Difference {
	return Difference{At: p.at, Member: strings.Join(p.names, "."), Want: want, Has: has, field: p.field, names: p.names}
}

// free compares free-form JSON: objects member by member, lists of the same length item by item, everything else as one.
func (c *comparer) free(p freeAt, live, want, applied any) any {
	switch wanted := want.(type) {
	case unknown:
		return live
	case nil:
		if applied == nil || isEmpty(live) {
			return live
		}
		if removed, ok := applied.(map[string]any); ok {
			if has, ok := live.(map[string]any); ok {
				if rest := c.members(p, has, nil, removed); !isEmpty(rest) {
					return rest
				}
				return nil
			}
		}
		inner := &comparer{source: c.source}
		if inner.free(p, live, applied, applied); len(inner.set) > 0 {
			return live // replaced by the service, or by somebody else
		}
		c.dropped = append(c.dropped, p.difference(nil, live))
		return nil
	case map[string]any:
		has, ok := live.(map[string]any)
		if !ok && !isEmpty(live) {
			break
		}
		if merged := c.members(p, has, wanted, asObject(applied)); ok || len(merged) > 0 || len(wanted) == 0 {
			return merged
		}
		return live
	case []any:
		has := asList(live)
		if len(has) != len(wanted) {
			if isEmpty(wanted) && isEmpty(live) {
				return live
			}
			break
		}
		merged, former := make([]any, len(wanted)), asList(applied)
		for i := range wanted {
			var before any
			if len(former) == len(wanted) {
				before = former[i]
			}
			merged[i] = c.free(p.in(indexName(i)), has[i], wanted[i], before)
		}
		return merged
	default:
		if equalJSON(live, want) || p.field.Kind == StringMap && live != nil && stringOf(live) == want {
			return live
		}
		if isEmpty(want) && isEmpty(live) {
			return want // a service without it may still take it: a label with an empty value
		}
	}
	c.set = append(c.set, p.difference(want, live))
	return want
}

func (c *comparer) members(p freeAt, live, want, applied map[string]any) map[string]any {
	merged := maps.Clone(live)
	if merged == nil {
		merged = map[string]any{}
	}
	for _, name := range slices.Sorted(maps.Keys(merge(want, applied))) {
		value := c.free(p.in(name), live[name], want[name], applied[name])
		if merged[name] = value; value == nil {
			delete(merged, name)
		}
	}
	return merged
}

// list compares a list of objects, all items of which belong to the configuration.
func (c *comparer) list(f Field, at path.Path, live, want, applied []any, has any) any {
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
		merged[i] = c.object(f.Fields, at.AtListIndex(i), old, asObject(item), last, true)
	}
	var removed []string
	for j, item := range live {
		if !kept[j] {
			removed = append(removed, itemName(f, item, j))
		}
	}
	switch {
	case len(added) != undecided || len(removed) != undecided: // else they may turn out to be the same items
		c.set = append(c.set, Difference{At: at, Member: itemChanges(added, removed), Want: want, Has: has, field: f})
	case f.Ordered && !inOrder:
		c.set = append(c.set, Difference{At: at, Member: "order", Want: want, Has: has, field: f})
	}
	if len(c.set)+len(c.dropped) == before && has != nil {
		return has
	}
	return merged
}

// merge returns the members of both; those of b win.
func merge(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

// MergeDeep returns a with the members of b in place of its own, object by object.
func MergeDeep(a, b map[string]any) map[string]any {
	all := merge(a, b)
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
	names := d.wirePath()
	if len(names) > 1 && len(d.At.Steps()) > 0 && strings.HasSuffix(names[0], "_config") {
		return names[0], names[1]
	}
	return names[0], ""
}

// Undescribed reports whether the difference is in a member that no field describes.
func (d Difference) Undescribed() bool {
	return d.Member != "" && d.field.Kind == String // which has no members
}

// wirePath are the member names that lead to a difference, up to the first list.
func (d Difference) wirePath() (names []string) {
	for _, step := range d.At.Steps() {
		name, ok := step.(path.PathStepAttributeName)
		if !ok {
			return names
		}
		names = append(names, string(name))
	}
	return append(names, d.names...)
}

// Nullify is tree with null for the member of a map or JSON object that the difference is about: a service that merges deeply
// drops it for that only. It is not ok if there is no such member; what is in a list is sent whole.
func (d Difference) Nullify(tree map[string]any) (without map[string]any, ok bool) {
	names := d.wirePath()
	if len(d.names) == 0 || len(names) != len(d.At.Steps())+len(d.names) {
		return nil, false
	}
	return nullify(tree, names)
}

func nullify(tree map[string]any, names []string) (without map[string]any, ok bool) {
	without = merge(tree, map[string]any{names[0]: nil})
	if len(names) == 1 {
		return without, true
	}
	inner, _ := tree[names[0]].(map[string]any)
	if inner == nil {
		return nil, false
	}
	without[names[0]], ok = nullify(inner, names[1:])
	return without, ok
}

// ResolvedIn reports whether the difference is about a value in place of which the service shows what it resolved it to.
func (d Difference) ResolvedIn(live map[string]any) bool {
	object, name := d.Key()
	config, _ := live[object].(map[string]any)
	return d.field.ResolvesTo != "" && config[name] != nil && config[name] == config[d.field.ResolvesTo]
}
