package field

import (
	"slices"
	"strings"
)

// equal reports exact equality: the form may differ (the case of a UUID, the layout of JSON), the meaning may not. Null
// and empty are two things; a member that is null is absent. What is unknown equals nothing.
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
		return okA && okB && slices.EqualFunc(listA, listB, f.item().equal)
	}
	return f.Kind.equal(a, b)
}

// satisfies reports, leniently, whether the service has everything that is wanted. Null, empty and absent are one
// thing, and what the service has beside what is wanted does not matter, except for items of a list. What is null or
// unknown wants nothing.
func (f Field) satisfies(live, want any) bool {
	if want == nil || want == Unknown || f.asksForNothing(want) || isEmpty(live) && isEmpty(want) {
		return true
	}
	switch f.shape(want) {
	case members:
		has, ok := live.(map[string]any)
		if !ok && !isEmpty(live) {
			return false
		}
		for name, value := range asObject(want) {
			member := f.member(name)
			if member.Access != ReadOnly && (!member.satisfies(has[name], value) || f.Fields().isReplaced(member, has, value)) {
				return false
			}
		}
		return true
	case items:
		has, ok := live.([]any)
		return (ok || isEmpty(live)) && f.satisfiesItems(has, asList(want))
	}
	return live != nil && f.Kind.equal(live, want) // a label that is absent is not "null"
}

func (f Field) satisfiesItems(live, want []any) bool {
	if len(live) != len(want) {
		return false
	}
	list, ofObjects := f.Kind.(ObjectList)
	if !ofObjects {
		return slices.EqualFunc(live, want, func(has, item any) bool {
			if item == "" { // in a list, it is an item
				return isEmpty(has)
			}
			return f.item().satisfies(has, item)
		})
	}
	for i, j := range list.match(want, live) {
		if j < 0 && list.keyIsUnknown(want[i]) {
			continue // it may turn out to be any
		}
		if j < 0 || list.Ordered && i != j || !list.item().satisfies(live[j], want[i]) {
			return false
		}
	}
	return true
}

// asksForNothing reports whether a value, although it is set, leaves it to the service what to have.
func (f Field) asksForNothing(value any) bool {
	return value == "" && (is[String](f) || is[UUID](f) || is[Time](f))
}

// isReplaced reports whether a member that is wanted as {} is not there, but an exclusive sibling is: {} is a value.
func (fs Fields) isReplaced(member Field, live map[string]any, want any) bool {
	return member.Exclusive && isEmptyObject(want) && live[member.wire()] == nil &&
		slices.ContainsFunc(fs, func(other Field) bool {
			return other.Exclusive && other.Name != member.Name && !isEmpty(live[other.wire()])
		})
}

// match pairs the items of two lists of objects: for each of a the index of its partner in b, or -1. Items are matched
// by key. If both lists have the same length, an item without a partner is matched by position when its own key or that
// of the other is empty or not unique: a service may name what has no name.
func (l ObjectList) match(a, b []any) []int {
	keysA, keysB := l.keys(a), l.keys(b)
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
		if partner < 0 && !taken[i] && vague && !l.keyIsUnknown(a[i]) && !l.keyIsUnknown(b[i]) {
			partners[i] = i
		}
	}
	return partners
}

// keys returns the keys of items: "" for one that is empty or not unique.
func (l ObjectList) keys(of []any) []string {
	keys, count := make([]string, len(of)), map[string]int{}
	for i, item := range of {
		keys[i] = l.key(item)
		count[keys[i]]++
	}
	for i, key := range keys {
		if count[key] > 1 {
			keys[i] = ""
		}
	}
	return keys
}

// key returns what identifies an item; "" if a part of it is empty or unknown.
func (l ObjectList) key(item any) string {
	var parts []string
	for _, name := range l.Key {
		child, _ := l.Fields.ByName(name)
		part, _ := asObject(item)[child.wire()].(string)
		if part == "" {
			return ""
		}
		parts = append(parts, nfc(part))
	}
	return strings.Join(parts, "\x00")
}

// keyIsUnknown reports whether an item cannot be identified before the apply.
func (l ObjectList) keyIsUnknown(item any) bool {
	return item == Unknown || slices.ContainsFunc(l.Key, func(name string) bool {
		child, _ := l.Fields.ByName(name)
		return asObject(item)[child.wire()] == Unknown
	})
}
