package field

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
)

// shape is what a tree consists of.
type shape int

const (
	leaf    shape = iota // one value
	members              // an object: members by name
	items                // a list
)

// shape returns the shape of a tree that is not nil. That of free-form JSON depends on the tree.
func (f Field) shape(tree any) shape {
	switch f.Kind.(type) {
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

// item describes the items of a list.
func (f Field) item() Field {
	switch list := f.Kind.(type) {
	case List:
		return list.item()
	case ObjectList:
		return list.item()
	}
	return Field{Kind: free{}}
}

// member describes a member of an object, map or JSON object, by its name in JSON. What no field describes is free-form
// JSON.
func (f Field) member(name string) Field {
	switch k := f.Kind.(type) {
	case StringMap:
		return Field{Kind: label{}}
	case Object:
		if member, ok := k.Fields.byWire(name); ok {
			return member
		}
	}
	return Field{Kind: free{}}
}

func asObject(tree any) map[string]any {
	object, _ := tree.(map[string]any)
	return object
}

func asList(tree any) []any {
	list, _ := tree.([]any)
	return list
}

// itemAt returns an item of a list, nil if it has none at i.
func itemAt(list []any, i int) any {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// isEmpty reports whether a tree is null, absent or empty, or an object of such members. Services do not distinguish
// these.
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

// with returns a copy of an object with another value of one member.
func with(object map[string]any, name string, value any) map[string]any {
	return Merge(object, map[string]any{name: value})
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

// Rewrite returns a tree with other names of its members, at every depth, and other leaves. A member that is not kept
// is omitted.
func Rewrite(tree any, rename func(name string) (now string, keep bool), leaf func(any) any) any {
	switch tree := tree.(type) {
	case map[string]any:
		rewritten := make(map[string]any, len(tree))
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			if now, keep := rename(name); keep {
				rewritten[now] = Rewrite(tree[name], rename, leaf)
			}
		}
		return rewritten
	case []any:
		rewritten := make([]any, len(tree))
		for i, item := range tree {
			rewritten[i] = Rewrite(item, rename, leaf)
		}
		return rewritten
	}
	return leaf(tree)
}

// Same is the leaf of a [Rewrite] that changes names only.
func Same(leaf any) any { return leaf }

// Split divides a tree into what the description has, and the other members, at every depth, which are nil if there are
// none. In the rest, an item of a list without such members is {}. Null members count as described.
func (fs Fields) Split(tree map[string]any) (described, rest map[string]any) {
	described = make(map[string]any, len(tree))
	for name, value := range tree {
		more := value
		if f, ok := fs.byWire(name); ok {
			described[name], more = f.split(value)
		}
		if more == nil {
			continue
		}
		if rest == nil {
			rest = map[string]any{}
		}
		rest[name] = more
	}
	return described, rest
}

func (f Field) split(tree any) (described, rest any) {
	switch k := f.Kind.(type) {
	case Object:
		if object, ok := tree.(map[string]any); ok {
			known, others := k.Fields.Split(object)
			if others == nil {
				return known, nil // a nil map in an any is not nil
			}
			return known, others
		}
	case ObjectList:
		if list, ok := tree.([]any); ok {
			return k.splitItems(list)
		}
	}
	return tree, nil
}

func (l ObjectList) splitItems(list []any) (described, rest any) {
	known, others, some := make([]any, len(list)), make([]any, len(list)), false
	for i, item := range list {
		known[i], others[i] = l.item().split(item)
		if others[i] == nil {
			others[i] = map[string]any{}
		} else {
			some = true
		}
	}
	if some {
		return known, others
	}
	return known, nil
}

// Conflicts returns the members of a tree that the description has, the innermost, by their paths in HCL. Names in
// another case count as well.
func (fs Fields) Conflicts(tree map[string]any) map[string]Field {
	found := map[string]Field{}
	for name, value := range tree {
		f, described := fs.byFold(name)
		inner, isObject := value.(map[string]any)
		switch {
		case !described:
		case is[Object](f) && isObject && f.wire() == name:
			for below, child := range kind[Object](f).Fields.Conflicts(inner) {
				found[f.Name+"."+below] = child
			}
		default:
			found[f.Name] = f
		}
	}
	return found
}

// Leaves returns the paths of the innermost members of a tree, sorted.
func Leaves(tree map[string]any) (paths []string) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		inner := Leaves(asObject(tree[name]))
		if len(inner) == 0 {
			paths = append(paths, name)
		}
		for _, below := range inner {
			paths = append(paths, name+"."+below)
		}
	}
	return paths
}

// Path finds the attribute that a location in a request leads to: member names of the API (string) and indices (int).
// Where the location leads to nothing described, it is the last attribute on the way; ok is false if there is none.
func (fs Fields) Path(loc []any) (at path.Path, ok bool) {
	at, f, rest := fs.find(loc)
	if len(rest) > 0 && is[StringMap](f) {
		if key, ok := rest[0].(string); ok {
			at = at.AtMapKey(key)
		}
	}
	return at, len(at.Steps()) > 0
}

// find returns the last described attribute on the way to a location, and the rest of that way.
func (fs Fields) find(loc []any) (at path.Path, f Field, rest []any) {
	f = fs.root()
	for i, step := range loc {
		switch step := step.(type) {
		case string:
			child, found := kind[Object](f).Fields.byWire(step)
			if !found {
				return at, f, loc[i:]
			}
			at, f = at.AtName(child.Name), child
		case int:
			if !is[List](f) && !is[ObjectList](f) {
				return at, f, loc[i:]
			}
			at, f = at.AtListIndex(step), f.item()
		}
	}
	return at, f, nil
}
