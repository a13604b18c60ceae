package field

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// empty reports whether v says nothing: it is null, has no items or members,
// is "", or is an object that says nothing. Null, absent and empty mean the
// same to the service.
func (f Field) empty(v tftypes.Value) bool {
	if !v.IsKnown() {
		return false
	}
	if v.IsNull() {
		return true
	}
	switch f.Kind {
	case Whole, Number, Flag:
		return false
	case JSON:
		tree, err := readJSON([]byte(text(v)))
		return err == nil && treeEmpty(tree)
	case TextMap:
		return len(members(v)) == 0
	case List, Objects:
		return len(items(v)) == 0
	case Object:
		m := members(v)
		for _, child := range f.Fields {
			if !child.empty(m[child.Name]) {
				return false
			}
		}
		return true
	default:
		return text(v) == ""
	}
}

// same reports whether a and b mean the same. Unknown is the same as nothing.
func (f Field) same(a, b tftypes.Value) bool {
	return f.covers(a, b) && f.covers(b, a)
}

// covers reports whether has holds everything that wanted says. An empty value
// says nothing, as if it were left out. Of objects, maps and JSON objects has may
// hold more: what the configuration leaves out is the service's. A list is the
// same or it is not, but for the order where that has no meaning.
func (f Field) covers(has, wanted tftypes.Value) bool {
	return has.IsKnown() && f.empty(wanted) || f.holds(has, wanted)
}

// holds is covers for an item of a list, where an empty one has its place.
func (f Field) holds(has, wanted tftypes.Value) bool {
	if !has.IsKnown() || !wanted.IsKnown() {
		return false
	}
	if f.empty(wanted) && f.empty(has) {
		return true
	}
	if f.Kind != Object && f.Kind != TextMap && (wanted.IsNull() || has.IsNull()) {
		return false
	}
	switch f.Kind {
	case UUID:
		return strings.EqualFold(text(has), text(wanted))
	case Time:
		return sameInstant(text(has), text(wanted))
	case Whole, Number:
		return sameNumber(number(has), number(wanted))
	case Flag:
		return has.Equal(wanted)
	case JSON:
		hasTree, err1 := readJSON([]byte(text(has)))
		wantedTree, err2 := readJSON([]byte(text(wanted)))
		return err1 == nil && err2 == nil && treeCovers(hasTree, wantedTree)
	case TextMap:
		has := members(has)
		for name, value := range members(wanted) {
			if !value.IsKnown() || text(has[name]) != text(value) {
				return false
			}
		}
		return true
	case Object:
		has, wanted := members(has), members(wanted)
		for _, child := range f.Fields {
			w := wanted[child.Name]
			if !w.IsNull() && !child.covers(has[child.Name], w) {
				return false
			}
		}
		return true
	case List:
		return slices.EqualFunc(items(has), items(wanted), f.elem().holds)
	case Objects:
		has, wanted := items(has), items(wanted)
		if len(has) != len(wanted) {
			return false
		}
		for i, j := range f.match(wanted, has) {
			if j < 0 || f.Ordered && i != j || !f.item().covers(has[j], wanted[i]) {
				return false
			}
		}
		return true
	default:
		return text(has) == text(wanted)
	}
}

// resolved reports whether the service shows, in place of the wanted value,
// what it resolved that to: a branch comes back as a commit. A wanted value
// that is itself a commit is taken at its word.
func (f Field) resolved(wanted tftypes.Value, service map[string]tftypes.Value) bool {
	if f.ResolvesTo == "" || wanted.IsNull() || !wanted.IsKnown() {
		return false
	}
	ref, shown, commit := text(wanted), text(service[f.Name]), text(service[f.ResolvesTo])
	if ref == "" || shown == "" || shown != commit {
		return false
	}
	return !isFullCommit(ref) || strings.EqualFold(ref, commit)
}

// isFullCommit reports whether s is a whole SHA-1 or SHA-256 in hexadecimal.
func isFullCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// match pairs items of Objects: for each of a the index of its partner in b,
// or -1. Items are paired by their keys where those tell them apart, else by
// their places. A key that not every item has does not count: what one side
// leaves out, the other may have filled in.
func (f Field) match(a, b []tftypes.Value) []int {
	var key []string
	for _, name := range f.Key {
		lacks := func(item tftypes.Value) bool { return text(members(item)[name]) == "" }
		if !slices.ContainsFunc(a, lacks) && !slices.ContainsFunc(b, lacks) {
			key = append(key, name)
		}
	}
	partners := make([]int, len(a))
	keysA, uniqueA := keysOf(a, key)
	keysB, uniqueB := keysOf(b, key)
	for i := range a {
		partners[i] = -1
		if uniqueA && uniqueB {
			partners[i] = slices.Index(keysB, keysA[i])
		} else if i < len(b) {
			partners[i] = i
		}
	}
	return partners
}

// keysOf are the keys of items, and whether each item has one of its own.
func keysOf(of []tftypes.Value, key []string) (keys []string, unique bool) {
	seen := map[string]bool{}
	unique = len(key) > 0
	for _, item := range of {
		var parts []string
		for _, name := range key {
			parts = append(parts, text(members(item)[name]))
		}
		joined := strings.Join(parts, "\x00")
		unique = unique && !seen[joined]
		seen[joined] = true
		keys = append(keys, joined)
	}
	return keys, unique
}

// keysKnown reports whether every item can be told by its keys already.
func (f Field) keysKnown(of []tftypes.Value) bool {
	return !slices.ContainsFunc(of, func(item tftypes.Value) bool {
		return !item.IsKnown() || slices.ContainsFunc(f.Key, func(name string) bool {
			return !members(item)[name].IsKnown()
		})
	})
}

func sameInstant(a, b string) bool {
	timeA, errA := time.Parse(time.RFC3339, a)
	timeB, errB := time.Parse(time.RFC3339, b)
	return a == b || errA == nil && errB == nil && timeA.Equal(timeB)
}

// sameNumber compares as the service does, which holds numbers as 64-bit
// floats or integers: a third written with 100 digits comes back with 16.
func sameNumber(a, b *big.Float) bool {
	if a.Cmp(b) == 0 {
		return true
	}
	floatA, _ := a.Float64()
	floatB, _ := b.Float64()
	return floatA == floatB && !(a.IsInt() && b.IsInt())
}

// treeEmpty is empty for free-form JSON.
func treeEmpty(tree any) bool {
	switch tree := tree.(type) {
	case nil:
		return true
	case string:
		return tree == ""
	case []any:
		return len(tree) == 0
	case map[string]any:
		for _, value := range tree {
			if !treeEmpty(value) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// treeCovers is covers for free-form JSON.
func treeCovers(has, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		object, ok := has.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range wanted {
			has := object[name]
			if value == nil || treeEmpty(value) && treeEmpty(has) {
				continue // null is left out, as an attribute is
			}
			if !treeCovers(has, value) {
				return false
			}
		}
		return true
	case []any:
		list, ok := has.([]any)
		return ok && slices.EqualFunc(list, wanted, treeCovers)
	case json.Number:
		number, ok := has.(json.Number)
		if !ok || number == wanted {
			return ok // the same text, even of what is no number to us: 1e9999999999
		}
		a, _, errA := big.ParseFloat(number.String(), 10, numberPrecision, big.ToNearestEven)
		b, _, errB := big.ParseFloat(wanted.String(), 10, numberPrecision, big.ToNearestEven)
		return errA == nil && errB == nil && sameNumber(a, b)
	default:
		return has == wanted
	}
}
