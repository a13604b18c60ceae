package field

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Kind is the kind of an attribute's value: [String], [UUID], [Time], [Int64], [Float64], [Bool], [JSON], [StringMap],
// [List], [Object] or [ObjectList]. Each has the rules that only its values have.
type Kind interface {
	// Type returns the Terraform type of the values.
	Type() tftypes.Type
	// attribute states an attribute of this kind in a schema. The framework's schemas of resources, data sources and
	// lists take the same attributes.
	attribute(c common) schema.Attribute
	// check reports why a tree, which is not nil, is not of this kind, as a [TypeError].
	check(tree any) error
	// decode turns a tree that was checked into a value. The tree is neither nil nor [Unknown].
	decode(tree any) tftypes.Value
	// encode turns a value that was validated, and is known and not null, into a tree.
	encode(v tftypes.Value) any
	// equal compares two trees that are leaves.
	equal(a, b any) bool
}

// Unknown is in a tree where a value is known only after apply.
var Unknown any = unknown{}

type unknown struct{}

// Decode turns a tree into an object with these attributes. What the tree omits is null. The error is that of
// [Fields.Check].
func (fs Fields) Decode(tree map[string]any) (tftypes.Value, error) {
	if err := fs.Check(tree); err != nil {
		return tftypes.Value{}, err
	}
	return Object{Fields: fs}.decode(tree), nil
}

// Encode turns an object with these attributes into a tree, in which null attributes are omitted.
func (fs Fields) Encode(from tftypes.Value) map[string]any { return asObject(fs.root().encode(from)) }

// decode turns a tree that was checked into a value.
func (f Field) decode(tree any) tftypes.Value {
	switch tree {
	case nil:
		return f.null()
	case Unknown:
		return f.unknown()
	}
	return f.Kind.decode(tree)
}

// encode turns a value that was validated into a tree.
func (f Field) encode(from tftypes.Value) any {
	switch {
	case isNull(from):
		return nil
	case !from.IsKnown():
		return Unknown
	}
	return f.Kind.encode(from)
}

// Check reports why a response cannot be read, as a [TypeError]: a value of another type, a number that is none of 64
// bits in any member, or a member whose name differs from a described one only in case.
func (fs Fields) Check(tree map[string]any) error {
	described := 0
	for _, f := range fs {
		value, found := tree[f.wire()]
		if err := f.check(value); err != nil {
			return f.named(err)
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
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		f, found := fs.byFold(name)
		switch {
		case !found:
			if err := checkNumbers(tree[name]); err != nil {
				return Field{Name: name}.named(err)
			}
		case f.wire() != name:
			return f.named(&TypeError{Has: "in the response with other capital letters", Want: "with exactly this name"})
		}
	}
	return nil
}

func (f Field) check(tree any) error {
	if tree == nil {
		return nil
	}
	return f.Kind.check(tree)
}

// TypeError reports a member of a response that does not have the documented type. It shows no text, which may be
// anything.
type TypeError struct {
	Member    string // in the names of the API: "source_config.resource_spec.memory_mb"
	Has, Want string // "1.5" and "an integer of at most 64 bits", "a list" and "an object"
}

func (e *TypeError) Error() string { return e.Member + " is " + e.Has + ", not " + e.Want }

// named adds the name of the field to an error about what is within it.
func (f Field) named(err error) error {
	if mismatch, ok := errors.AsType[*TypeError](err); ok {
		mismatch.Member = strings.TrimSuffix(f.wire()+"."+mismatch.Member, ".")
	}
	return err
}

func mismatch(tree any, want string) *TypeError {
	return &TypeError{Has: jsonTypeName(tree), Want: want}
}

// jsonTypeName names the type of a value in words.
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

// checkIs reports a tree that is not a T.
func checkIs[T any](tree any, want string) error {
	if _, ok := tree.(T); !ok {
		return mismatch(tree, want)
	}
	return nil
}

// structure is embedded by the kinds of objects and lists. They are compared by their members and items: this equal is
// never called.
type structure struct{}

func (structure) equal(_, _ any) bool { return false }

// StringMap is a map of strings. A member of a response that is not a string reads as its JSON text.
type StringMap struct{ structure }

// Type returns the type of a map.
func (StringMap) Type() tftypes.Type { return stringMap }

var stringMap = tftypes.Map{ElementType: tftypes.String}

func (StringMap) check(tree any) error {
	return cmp.Or(checkIs[map[string]any](tree, "an object"), checkNumbers(tree))
}

func (m StringMap) decode(tree any) tftypes.Value {
	values := Values{}
	for name, member := range asObject(tree) {
		if member != nil {
			values[nfc(name)] = Field{Kind: label{}}.decode(member)
		}
	}
	return tftypes.NewValue(m.Type(), values)
}

func (StringMap) encode(v tftypes.Value) any {
	tree := map[string]any{}
	for name, member := range Members(v) {
		tree[name] = Text(member) // null, which is not valid, is ""
		if !member.IsKnown() {
			tree[name] = Unknown
		}
	}
	return tree
}

// List is a list of values of a kind that has no members: of strings, say, or of JSON.
type List struct {
	structure
	Of Kind
}

// Type returns the type of a list.
func (l List) Type() tftypes.Type { return tftypes.List{ElementType: l.Of.Type()} }

func (l List) check(tree any) error          { return checkItems(l.item(), tree) }
func (l List) decode(tree any) tftypes.Value { return decodeItems(l.item(), tree) }
func (l List) encode(v tftypes.Value) any    { return encodeItems(l.item(), v) }

// item describes an item.
func (l List) item() Field { return Field{Kind: l.Of} }

// Object is an object with attributes.
type Object struct {
	structure
	Fields Fields
	// Present marks an object at the root that is never null in the state, because the service chooses members of it. In
	// a PATCH, its members are sent one by one.
	Present bool
}

// Type returns the type of the object.
func (o Object) Type() tftypes.Type { return o.Fields.Type() }

func (o Object) check(tree any) error {
	object, ok := tree.(map[string]any)
	if !ok {
		return mismatch(tree, "an object")
	}
	return o.Fields.Check(object)
}

func (o Object) decode(tree any) tftypes.Value {
	object, values := asObject(tree), make(Values, len(o.Fields))
	for _, f := range o.Fields {
		values[f.Name] = f.decode(object[f.wire()])
	}
	return tftypes.NewValue(o.Type(), values)
}

func (o Object) encode(v tftypes.Value) any {
	values := Members(v)
	tree := make(map[string]any, len(values))
	for _, f := range o.Fields {
		if value := f.encode(values[f.Name]); value != nil {
			tree[f.wire()] = value
		}
	}
	return tree
}

// ObjectList is a list of objects. Its items are matched by Key, see match.
type ObjectList struct {
	structure
	Fields Fields
	// Key names the attributes that identify an item. The order of items has no meaning unless Ordered.
	Key     []string
	Ordered bool
}

// Type returns the type of a list.
func (l ObjectList) Type() tftypes.Type { return tftypes.List{ElementType: l.Fields.Type()} }

func (l ObjectList) check(tree any) error          { return checkItems(l.item(), tree) }
func (l ObjectList) decode(tree any) tftypes.Value { return decodeItems(l.item(), tree) }
func (l ObjectList) encode(v tftypes.Value) any    { return encodeItems(l.item(), v) }

// item describes an item.
func (l ObjectList) item() Field { return l.Fields.root() }

func checkItems(item Field, tree any) error {
	list, ok := tree.([]any)
	if !ok {
		return mismatch(tree, "a list")
	}
	for _, value := range list {
		if err := item.check(value); err != nil {
			return err
		}
	}
	return nil
}

func decodeItems(item Field, tree any) tftypes.Value {
	list := asList(tree)
	values := make([]tftypes.Value, len(list))
	for i, value := range list {
		values[i] = item.decode(value)
	}
	return tftypes.NewValue(tftypes.List{ElementType: item.Kind.Type()}, values)
}

func encodeItems(item Field, v tftypes.Value) any {
	tree := []any{}
	for _, value := range Items(v) {
		tree = append(tree, item.encode(value))
	}
	return tree
}
