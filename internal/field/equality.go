package field

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// shape is what a tree consists of.
type shape int

const (
	leaf    shape = iota // one value
	members              // an object: members by name
	items                // a list
)

// shape returns what a tree that is not nil consists of. Free-form JSON is what it happens to be.
func (f Field) shape(tree any) shape {
	switch f.Kind {
	case Object, StringMap:
		return members
	case List, ObjectList:
		return items
	case JSON, free:
		switch tree.(type) {
		case map[string]any:
			return members
		case []any:
			return items
		}
	}
	return leaf
}

// isJSONList reports whether the items of a list are JSON.
func (f Field) isJSONList() bool { return f.elem().Kind == JSON || f.elem().Kind == free }

// member describes a member of an object, map or JSON object, by its name in JSON. What no field describes is free-form JSON.
func (f Field) member(name string) Field {
	if f.Kind == StringMap {
		return Field{Kind: label}
	}
	if f.Kind == Object {
		if member, ok := f.Fields.byWire(name); ok {
			return member
		}
	}
	return Field{Kind: free}
}

// asksForNothing reports whether a value, although it is set, leaves it to the service what to have.
func (f Field) asksForNothing(value any) bool {
	return value == "" && (f.Kind == String || f.Kind == UUID || f.Kind == Time)
}

// equal is exact equality: the form may differ (the case of a UUID, the layout of JSON), the meaning may not. Null and empty are
// two things; a member that is null is absent. What is unknown equals nothing.
func (f Field) equal(a, b any) bool {
	if a == nil || b == nil || a == Unknown || b == Unknown {
		return a == nil && b == nil
	}
	switch f.shape(a) {
	case members:
		objectA, okA := a.(map[string]any)
		objectB, okB := b.(map[string]any)
		if !okA || !okB {
			return false
		}
		for name, value := range objectA {
			if !f.member(name).equal(value, objectB[name]) {
				return false
			}
		}
		for name, value := range objectB {
			if objectA[name] == nil && value != nil {
				return false
			}
		}
		return true
	case items:
		listA, okA := a.([]any)
		listB, okB := b.([]any)
		return okA && okB && slices.EqualFunc(listA, listB, f.elem().equal)
	}
	return kinds[f.Kind].equal(a, b)
}

// satisfies is lenient: it reports whether the service has everything that is wanted. Null, empty and absent are one thing, and
// what the service has beside what is wanted does not matter, except for items of a list. Null and unknown values want nothing.
func (f Field) satisfies(live, want any) bool {
	if want == nil || want == Unknown || f.asksForNothing(want) || isEmpty(live) && isEmpty(want) {
		return true
	}
	switch f.shape(want) {
	case members:
		wanted, has := asObject(want), asObject(live)
		if has == nil && !isEmpty(live) {
			return false
		}
		for name, value := range wanted {
			if m := f.member(name); m.Access != ReadOnly && (!m.satisfies(has[name], value) || f.isReplaced(m, has, value)) {
				return false
			}
		}
		return true
	case items:
		return f.satisfiesItems(live, asList(want))
	}
	return live != nil && kinds[f.Kind].equal(live, want)
}

func (f Field) satisfiesItems(live any, want []any) bool {
	has, ok := live.([]any)
	switch {
	case !ok && !isEmpty(live), len(has) != len(want):
		return false
	case f.Kind != ObjectList:
		return slices.EqualFunc(has, want, f.satisfiesItem)
	}
	for i, j := range f.match(want, has) {
		if j < 0 && !f.keyIsUnknown(want[i]) || j >= 0 && (f.Ordered && i != j || !f.elem().satisfies(has[j], want[i])) {
			return false
		}
	}
	return true
}

// satisfiesItem is satisfies for an item of a list of scalars or JSON, which is set even if it is "".
func (f Field) satisfiesItem(live, want any) bool {
	if want == "" {
		return isEmpty(live)
	}
	return f.elem().satisfies(live, want)
}

// isReplaced reports whether a member that is wanted as {} is not there, and an exclusive sibling is: {} is a value then.
func (f Field) isReplaced(member Field, live map[string]any, want any) bool {
	return member.Exclusive && isEmptyObject(want) && live[member.wire()] == nil && slices.ContainsFunc(f.Fields, func(other Field) bool {
		return other.Exclusive && other.Name != member.Name && !isEmpty(live[other.wire()])
	})
}

// isEmpty reports whether a tree is null, absent or empty. Services do not distinguish these.
func isEmpty(tree any) bool {
	switch tree := tree.(type) {
	case nil:
		return true
	case string:
		return tree == ""
	case []any:
		return len(tree) == 0
	case map[string]any:
		for _, value := range tree {
			if !isEmpty(value) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

func isEmptyObject(tree any) bool {
	object, ok := tree.(map[string]any)
	return ok && len(object) == 0
}

// isKnown reports whether nothing in a tree is unknown.
func isKnown(tree any) bool {
	switch tree := tree.(type) {
	case unknown:
		return false
	case []any:
		return !slices.ContainsFunc(tree, func(item any) bool { return !isKnown(item) })
	case map[string]any:
		for _, value := range tree {
			if !isKnown(value) {
				return false
			}
		}
	}
	return true
}

func asObject(tree any) map[string]any {
	object, _ := tree.(map[string]any)
	return object
}

func asList(tree any) []any {
	list, _ := tree.([]any)
	return list
}

// match pairs the items of two lists of objects: for each of a the index of its partner in b, or -1. Items are matched by key.
// If both lists have the same length, an item without a partner is matched by position when its own key or that of the other is
// empty or not unique: a service may name what has no name.
func (f Field) match(a, b []any) []int {
	keysA, keysB := f.keys(a), f.keys(b)
	byKey, taken := make(map[string]int, len(b)), make([]bool, len(b))
	for i, key := range keysB {
		byKey[key] = i
	}
	partners := make([]int, len(a))
	for i, key := range keysA {
		partners[i] = -1
		if j, ok := byKey[key]; ok && key != "" {
			partners[i], taken[j] = j, true
		}
	}
	if len(a) != len(b) {
		return partners
	}
	for i, partner := range partners {
		vague := keysA[i] == "" || keysB[i] == ""
		if partner < 0 && !taken[i] && vague && !f.keyIsUnknown(a[i]) && !f.keyIsUnknown(b[i]) {
			partners[i] = i
		}
	}
	return partners
}

// keys are the keys of items: "" for one that is empty or not unique.
func (f Field) keys(of []any) []string {
	keys, count := make([]string, len(of)), map[string]int{}
	for i, item := range of {
		keys[i] = f.key(item)
		count[keys[i]]++
	}
	for i, key := range keys {
		if count[key] > 1 {
			keys[i] = ""
		}
	}
	return keys
}

// key is what identifies an item; "" if a part of it is empty or unknown.
func (f Field) key(item any) string {
	object, _ := item.(map[string]any)
	var parts []string
	for _, name := range f.Key {
		child, _ := f.Fields.ByName(name)
		part, _ := object[child.wire()].(string)
		if part == "" {
			return ""
		}
		parts = append(parts, norm.NFC.String(part))
	}
	return strings.Join(parts, "\x00")
}

// keyIsUnknown reports whether an item cannot be identified before the apply.
func (f Field) keyIsUnknown(item any) bool {
	object, _ := item.(map[string]any)
	return item == Unknown || slices.ContainsFunc(f.Key, func(name string) bool {
		child, _ := f.Fields.ByName(name)
		return object[child.wire()] == Unknown
	})
}

// isFullCommit reports whether s is a complete SHA-1 or SHA-256 in hexadecimal.
func isFullCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// asWritten returns live with what the service has made of a value put back to what was written: written, as long as want is
// the same. A ref may be reported as the commit it resolved to, and an image is the one that the service has built. A commit
// that was written must be reported as it is.
func (fs Fields) asWritten(live, written, want map[string]any, source string) map[string]any {
	result := live
	for _, f := range fs {
		name, value := f.wire(), live[f.wire()]
		if f.Kind == Object {
			value = f.Fields.asWritten(asObject(value), asObject(written[name]), asObject(want[name]), source)
		} else if f.isMadeOf(fs, live, written[name], want[name], source) {
			value = written[name]
		} else {
			continue
		}
		if live[name] != nil {
			result = with(result, name, value)
		}
	}
	return result
}

func (f Field) isMadeOf(fs Fields, live map[string]any, written, want any, source string) bool {
	has, _ := live[f.wire()].(string)
	text, _ := written.(string)
	if has == "" || text == "" {
		return false
	}
	if f.ResolvesTo != "" {
		commit, _ := fs.ByName(f.ResolvesTo)
		return (want == nil || want == written) && has == live[commit.wire()] && (!isFullCommit(text) || strings.EqualFold(text, has))
	}
	return want == written && f.BuiltFor != "" && f.BuiltFor == source
}

// with returns a copy of an object with another value of one member.
func with(object map[string]any, name string, value any) map[string]any {
	all := maps.Clone(object)
	all[name] = value
	return all
}

// normalized is a tree with the names of its members in Unicode NFC, into which Terraform brings every name.
func normalized(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		all := make(map[string]any, len(tree))
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			all[norm.NFC.String(name)] = normalized(tree[name])
		}
		return all
	case []any:
		all := make([]any, len(tree))
		for i, item := range tree {
			all[i] = normalized(item)
		}
		return all
	}
	return tree
}

// namedAs is a tree with names in NFC, but for those that like has in another form at the same place.
func namedAs(tree, like any) any {
	switch tree := tree.(type) {
	case map[string]any:
		theirs, named := asObject(like), make(map[string]any, len(tree))
		forms := make(map[string]string, len(theirs))
		for name := range theirs {
			if nfc := norm.NFC.String(name); nfc == name || forms[nfc] == "" {
				forms[nfc] = name
			}
		}
		for name, value := range tree {
			if form := forms[name]; form != "" {
				name = form
			}
			named[name] = namedAs(value, theirs[name])
		}
		return named
	case []any:
		theirs, named := asList(like), slices.Clone(tree)
		for i := range min(len(tree), len(theirs)) {
			named[i] = namedAs(tree[i], theirs[i])
		}
		return named
	}
	return tree
}
