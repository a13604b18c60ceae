package field

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Unknown is in a tree where a value is known only after apply.
var Unknown any = unknown{}

type unknown struct{}

// ReadJSON reads any JSON into a tree, which keeps the text of numbers. Anything after the value is an error.
func ReadJSON(text []byte) (tree any, err error) {
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	if err := reader.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := reader.Token(); err != io.EOF {
		return nil, errors.New("there is more after the JSON value")
	}
	return tree, nil
}

// Decode turns a tree into an object with these attributes. What the tree omits is null. The error is a [TypeError].
func (fs Fields) Decode(tree map[string]any) (tftypes.Value, error) {
	return decodeObject(Field{Kind: Object, Fields: fs}, tree)
}

// Check reports why a response cannot be read, as a [TypeError]: the error of [Fields.Decode], a number that is none of 64 bits
// in any member, or a member whose name differs from a described one only in case. It builds no values, because lists of
// thousands are checked.
func (fs Fields) Check(tree map[string]any) error {
	described := 0
	for _, f := range fs {
		value, found := tree[f.wire()]
		if err := f.named(f.check(value)); err != nil {
			return err
		}
		if found {
			described++
		}
	}
	if described == len(tree) {
		return nil
	}
	return fs.checkUndescribed(tree)
}

func (fs Fields) checkUndescribed(tree map[string]any) error {
	for name, value := range tree {
		f, found := fs.byFold(name)
		switch {
		case !found:
			if err := (Field{Name: name}).named(checkNumbers(value)); err != nil {
				return err
			}
		case f.wire() != name:
			return f.named(&TypeError{Has: "in the response under a name in another case", Want: "under its own"})
		}
	}
	return nil
}

// checkNumbers reports a number, at any depth, that is none of 64 bits: Terraform, or whoever reads the tree next, may take
// minutes for it.
func checkNumbers(tree any) error {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if err := checkNumbers(value); err != nil {
				return Field{Name: name}.named(err)
			}
		}
	case []any:
		for _, item := range tree {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	case json.Number:
		if _, ok := toNumber(tree); !ok {
			return mismatch(tree, "a number of 64 bits")
		}
	}
	return nil
}

func (f Field) check(tree any) (err error) {
	object, isObject := tree.(map[string]any)
	list, isList := tree.([]any)
	switch {
	case tree == nil:
	case f.Kind == JSON || f.Kind == StringMap && isObject: // their members may be anything
		return checkNumbers(tree)
	case f.Kind == Object && isObject:
		return f.Fields.Check(object)
	case (f.Kind == List || f.Kind == ObjectList) && isList:
		for i := 0; i < len(list) && err == nil; i++ {
			err = f.elem().check(list[i])
		}
	default:
		_, err = kinds[f.Kind].decode(f, tree)
	}
	return err
}

func (f Field) decode(tree any) (tftypes.Value, error) {
	value, err := f.decodeUnnamed(tree)
	return value, f.named(err)
}

// decodeUnnamed is decode for an item of a list, which an error does not name.
func (f Field) decodeUnnamed(tree any) (tftypes.Value, error) {
	switch tree {
	case nil:
		return f.null(), nil
	case Unknown:
		return f.unknown(), nil
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
	tree, _ := f.encode(from)
	return tree
}

func (fs Fields) tree(from tftypes.Value) map[string]any {
	tree, _ := fs.Encode(from)
	return tree
}

// Split divides a tree into what the description has, and the other members, at every depth, which are nil if there are none. In
// the rest, an item of a list without such members is {}. Null members count as described.
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
	switch value := tree.(type) {
	case map[string]any:
		if f.Kind != Object {
			break
		}
		known, others := f.Fields.Split(value)
		if others == nil {
			return known, nil
		}
		return known, others
	case []any:
		if f.Kind != ObjectList {
			break
		}
		known, others, some := make([]any, len(value)), make([]any, len(value)), false
		for i, item := range value {
			if known[i], others[i] = f.elem().split(item); others[i] == nil {
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
	return tree, nil
}

// Conflicts are the members of a tree that the description has, the innermost, by their paths in HCL. Names in another case
// count as well.
func (fs Fields) Conflicts(tree map[string]any) map[string]Field {
	found := map[string]Field{}
	for name, value := range tree {
		f, described := fs.byFold(name)
		inner, isObject := value.(map[string]any)
		switch {
		case !described:
		case f.Kind == Object && isObject && f.wire() == name:
			for below, child := range f.Fields.Conflicts(inner) {
				found[f.Name+"."+below] = child
			}
		default:
			found[f.Name] = f
		}
	}
	return found
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

// Path finds the attribute that a location in a request leads to: member names of the API (string) and indices (int). Where the
// location leads to nothing described, it is the last attribute on the way; ok is false if there is none.
func (fs Fields) Path(loc []any) (at path.Path, ok bool) {
	at, f, rest := fs.find(loc)
	if len(rest) > 0 && f.Kind == StringMap {
		if key, ok := rest[0].(string); ok {
			at = at.AtMapKey(key)
		}
	}
	return at, len(at.Steps()) > 0
}

// find is Path up to the last attribute that is described; rest is what leads on from there.
func (fs Fields) find(loc []any) (at path.Path, f Field, rest []any) {
	f = Field{Kind: Object, Fields: fs}
	for i, step := range loc {
		switch step := step.(type) {
		case string:
			child, found := f.Fields.byWire(step)
			if f.Kind != Object || !found {
				return at, f, loc[i:]
			}
			at, f = at.AtName(child.Name), child
		case int:
			if f.Kind != List && f.Kind != ObjectList {
				return at, f, loc[i:]
			}
			at, f = at.AtListIndex(step), f.elem()
		}
	}
	return at, f, nil
}
