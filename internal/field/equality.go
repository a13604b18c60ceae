package field

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"golang.org/x/text/unicode/norm"
)

// There are two kinds of equality. What the user changes is compared exactly: two values are the same when they mean the same.
// What the service reports is compared leniently, by [Fields.Compare].

// same is exact equality: the form may differ (the case of a UUID, the layout of JSON), the meaning may not. Null, empty and
// unknown are three things.
func (f Field) same(a, b tftypes.Value) bool {
	if !a.IsFullyKnown() || !b.IsFullyKnown() || isNull(a) || isNull(b) {
		return a.IsFullyKnown() && b.IsFullyKnown() && isNull(a) && isNull(b)
	}
	return a.Equal(b) || f.equalTree(f.tree(a), f.tree(b))
}

func (f Field) equalTree(a, b any) bool {
	if equal := kinds[f.Kind].equal; equal != nil && a != nil && b != nil {
		return equal(a, b)
	}
	switch f.Kind {
	case Object:
		objectA, okA := a.(map[string]any)
		objectB, okB := b.(map[string]any)
		return okA == okB && !slices.ContainsFunc(f.Fields, func(child Field) bool {
			return !child.equalTree(objectA[child.wire()], objectB[child.wire()])
		})
	case List, ObjectList:
		listA, okA := a.([]any)
		listB, okB := b.([]any)
		return okA == okB && slices.EqualFunc(listA, listB, f.elem().equalTree)
	default:
		return equalJSON(a, b)
	}
}

// equalJSON compares free-form JSON. A member that is null is as good as absent.
func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		for name := range Merge(a, b) {
			ok = ok && equalJSON(a[name], b[name])
		}
		return ok
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalJSON)
	case json.Number:
		return equalNumber(a, b)
	default:
		return equalString(a, b)
	}
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

// isFullCommit reports whether s is a complete SHA-1 or SHA-256 in hexadecimal.
func isFullCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
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
	for i, partner := range partners {
		if partner < 0 && len(a) == len(b) && !taken[i] && (keysA[i] == "" || keysB[i] == "") && !f.keyIsUnknown(a[i]) && !f.keyIsUnknown(b[i]) {
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
