package field

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Unknown is in a tree where a value is known only after apply.
var Unknown any = unknown{}

type unknown struct{}

// ReadJSON reads any JSON into a tree, which keeps the text of numbers.
func ReadJSON(text []byte) (tree any, err error) {
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	err = reader.Decode(&tree)
	return tree, err
}

// Decode turns a tree into an object with these attributes. What the tree omits is null. The error is a [TypeError].
func (fs Fields) Decode(tree map[string]any) (tftypes.Value, error) {
	return decodeObject(Field{Kind: Object, Fields: fs}, tree)
}

// Check returns the error of [Fields.Decode], without building objects and lists.
func (fs Fields) Check(tree map[string]any) error {
	for _, f := range fs {
		if err := f.named(f.check(tree[f.wire()])); err != nil {
			return err
		}
	}
	return nil
}

func (f Field) check(tree any) error {
	switch value := tree.(type) {
	case nil:
		return nil
	case map[string]any:
		if f.Kind == Object {
			return f.Fields.Check(value)
		}
	case []any:
		if f.Kind == List || f.Kind == ObjectList {
			for _, item := range value {
				if err := f.elem().check(item); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if f.Kind == JSON {
		return nil // it may be anything
	}
	_, err := kinds[f.Kind].decode(f, tree)
	return err
}

func (f Field) decode(tree any) (tftypes.Value, error) {
	value, err := f.decodeUnnamed(tree)
	return value, f.named(err)
}

// decodeUnnamed is decode for an item of a list, which an error does not name.
func (f Field) decodeUnnamed(tree any) (tftypes.Value, error) {
	if tree == nil {
		return f.null(), nil
	}
	return kinds[f.Kind].decode(f, tree)
}

// named adds the name of the field to an error about what is within it.
func (f Field) named(err error) error {
	if mismatch, ok := errors.AsType[*TypeError](err); ok {
		mismatch.Member = strings.TrimSuffix(f.wire()+"."+mismatch.Member, ".")
	}
	return err
}

// TypeError reports a member of a response that does not have the documented type. It shows no text, which may be anything.
type TypeError struct {
	Member    string // in the names of the API: "source_config.resource_spec.memory_mb"
	Has, Want string // "1.5" and "an integer of at most 64 bits", "a list" and "an object"
}

func (e *TypeError) Error() string { return e.Member + " is " + e.Has + ", not " + e.Want }

// jsonTypeName is the type of a value in words.
func jsonTypeName(tree any) string {
	switch tree.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

func (f Field) invalid(why string) error { return fmt.Errorf("%s %s", f.Name, why) }

// Encode turns an object with these attributes into a tree, in which null attributes are omitted.
func (fs Fields) Encode(from tftypes.Value) (map[string]any, error) {
	tree, err := encodeObject(Field{Kind: Object, Fields: fs}, from)
	object, _ := tree.(map[string]any)
	return object, err
}

func (f Field) encode(from tftypes.Value) (any, error) {
	switch {
	case isNull(from):
		return nil, nil
	case !from.IsKnown():
		return Unknown, nil
	}
	return kinds[f.Kind].encode(f, from)
}

// tree is encode for values that were validated: a string that must be JSON and is not counts as its text.
func (f Field) tree(from tftypes.Value) any {
	tree, err := f.encode(from)
	if err != nil {
		return fmt.Sprint(from)
	}
	return tree
}

// Undescribed are the members of a response that the description does not have, at every depth; nil if there are none. An item
// of a list without such members is {}.
func (fs Fields) Undescribed(tree map[string]any) map[string]any {
	var found map[string]any
	for name, value := range tree {
		f, described := fs.byWire(name)
		if described {
			value = f.undescribed(value)
		}
		if value != nil {
			if found == nil {
				found = map[string]any{}
			}
			found[name] = value
		}
	}
	return found
}

func (f Field) undescribed(tree any) any {
	switch {
	case f.Kind == Object:
		object, _ := tree.(map[string]any)
		if found := f.Fields.Undescribed(object); found != nil {
			return found
		}
	case f.Kind == ObjectList:
		list, _ := tree.([]any)
		rest, some := make([]any, len(list)), false
		for i, item := range list {
			if rest[i] = f.elem().undescribed(item); rest[i] == nil {
				rest[i] = map[string]any{}
			} else {
				some = true
			}
		}
		if some {
			return rest
		}
	}
	return nil
}

// Conflicts are the members of a tree that the description has, the innermost: their paths in HCL, and what they are.
func (fs Fields) Conflicts(tree map[string]any) iter.Seq2[string, Field] {
	return func(yield func(string, Field) bool) {
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			f, described := fs.byWire(name)
			inner, isObject := tree[name].(map[string]any)
			switch {
			case !described:
			case f.Kind != Object || !isObject:
				if !yield(f.Name, f) {
					return
				}
			default:
				for below, child := range f.Fields.Conflicts(inner) {
					if !yield(f.Name+"."+below, child) {
						return
					}
				}
			}
		}
	}
}

// Described is the other part: tree without what [Fields.Undescribed] finds, and without what is null there.
func (fs Fields) Described(tree map[string]any) map[string]any {
	rest := make(map[string]any, len(tree))
	for name, value := range tree {
		if f, ok := fs.byWire(name); ok {
			rest[name] = f.described(value)
		}
	}
	return rest
}

func (f Field) described(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		if f.Kind == Object {
			return f.Fields.Described(tree)
		}
	case []any:
		if f.Kind == ObjectList {
			rest := make([]any, len(tree))
			for i, item := range tree {
				rest[i] = f.elem().described(item)
			}
			return rest
		}
	}
	return tree
}

// Leaves are the paths of the innermost members of a tree, sorted.
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

// Path finds the attribute that a location in a request belongs to: member names (string) and indices (int). Where the location
// leads to nothing described, it is the last attribute on the way; ok is false if there is none.
func (fs Fields) Path(loc []any) (at path.Path, ok bool) {
	f := Field{Kind: Object, Fields: fs}
	for _, step := range loc {
		switch step := step.(type) {
		case string:
			if f.Kind == StringMap {
				return at.AtMapKey(step), true
			}
			child, found := f.Fields.byWire(step)
			if f.Kind != Object || !found {
				return at, ok
			}
			at, f, ok = at.AtName(child.Name), child, true
		case int:
			if f.Kind != List && f.Kind != ObjectList {
				return at, ok
			}
			at, f = at.AtListIndex(step), f.elem()
		}
	}
	return at, ok
}
