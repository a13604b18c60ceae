package field

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"golang.org/x/text/unicode/norm"
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

// Encode turns an object with these attributes into a tree, in which null attributes are omitted.
func (fs Fields) Encode(from tftypes.Value) (map[string]any, error) {
	tree, err := encodeObject(Field{Kind: Object, Fields: fs}, from)
	object, _ := tree.(map[string]any)
	return object, err
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

func decodeString(_ Field, tree any) (tftypes.Value, error) {
	s, ok := tree.(string)
	if !ok {
		return tftypes.Value{}, mismatch(tree, "a string")
	}
	return tftypes.NewValue(tftypes.String, s), nil
}

func decodeBool(_ Field, tree any) (tftypes.Value, error) {
	b, ok := tree.(bool)
	if !ok {
		return tftypes.Value{}, mismatch(tree, "a boolean")
	}
	return tftypes.NewValue(tftypes.Bool, b), nil
}

func decodeInt64(_ Field, tree any) (tftypes.Value, error) {
	number, ok := toNumber(tree)
	if ok {
		if _, accuracy := number.Int64(); accuracy == big.Exact {
			return tftypes.NewValue(tftypes.Number, number), nil
		}
	}
	return tftypes.Value{}, wrongNumber(tree, "an integer of at most 64 bits")
}

func decodeFloat64(_ Field, tree any) (tftypes.Value, error) {
	number, ok := toNumber(tree)
	if !ok {
		return tftypes.Value{}, wrongNumber(tree, "a number in the range of a 64-bit float")
	}
	return tftypes.NewValue(tftypes.Number, number), nil
}

func decodeJSON(_ Field, tree any) (tftypes.Value, error) {
	if err := checkNumbers(tree); err != nil {
		return tftypes.Value{}, err
	}
	text, err := json.Marshal(tree) // the form that jsonencode gives: sorted, compact
	return tftypes.NewValue(tftypes.String, string(text)), err
}

func decodeStringMap(f Field, tree any) (tftypes.Value, error) {
	object, ok := tree.(map[string]any)
	if !ok {
		return tftypes.Value{}, mismatch(tree, "an object")
	}
	if err := checkNumbers(object); err != nil {
		return tftypes.Value{}, err
	}
	values := make(map[string]tftypes.Value, len(object))
	for name, member := range object {
		if member == Unknown {
			values[name] = Field{Kind: String}.unknown()
		} else if member != nil {
			values[norm.NFC.String(name)] = tftypes.NewValue(tftypes.String, stringOf(member))
		}
	}
	return tftypes.NewValue(f.Type(), values), nil
}

// stringOf is a member of a map of strings: of one that is not a string, the JSON text.
func stringOf(tree any) string {
	if s, ok := tree.(string); ok {
		return s
	}
	text, _ := json.Marshal(tree) // it was decoded from JSON
	return string(text)
}

func decodeList(f Field, tree any) (tftypes.Value, error) {
	list, ok := tree.([]any)
	if !ok {
		return tftypes.Value{}, mismatch(tree, "a list")
	}
	values, elem := make([]tftypes.Value, len(list)), f.elem()
	for i, item := range list {
		var err error
		if values[i], err = elem.decodeUnnamed(item); err != nil {
			return tftypes.Value{}, err
		}
	}
	return tftypes.NewValue(f.Type(), values), nil
}

func decodeObject(f Field, tree any) (tftypes.Value, error) {
	object, ok := tree.(map[string]any)
	if !ok {
		return tftypes.Value{}, mismatch(tree, "an object")
	}
	values := make(map[string]tftypes.Value, len(f.Fields))
	for _, child := range f.Fields {
		var err error
		if values[child.Name], err = child.decode(object[child.wire()]); err != nil {
			return tftypes.Value{}, err
		}
	}
	return tftypes.NewValue(f.Fields.Type(), values), nil
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

func encodeString(_ Field, v tftypes.Value) (any, error) { return Text(v), nil }

func encodeBool(_ Field, v tftypes.Value) (any, error) {
	var b bool
	err := v.As(&b)
	return b, err
}

func encodeInt64(f Field, v tftypes.Value) (any, error) {
	number := new(big.Float)
	if err := v.As(&number); err != nil || !number.IsInt() {
		return nil, f.invalid("must be an integer")
	}
	return json.Number(number.Text('f', 0)), nil
}

func encodeFloat64(f Field, v tftypes.Value) (any, error) {
	number := new(big.Float)
	if err := v.As(&number); err != nil {
		return nil, err
	}
	float, _ := number.Float64()
	text, err := json.Marshal(float)
	if err != nil {
		return nil, f.invalid("is larger than a JSON number can be")
	}
	return json.Number(text), nil
}

func encodeJSON(f Field, v tftypes.Value) (any, error) {
	tree, err := ReadJSON([]byte(Text(v)))
	if err != nil {
		return Text(v), f.invalid("must be JSON")
	}
	return tree, nil
}

func encodeStringMap(_ Field, v tftypes.Value) (any, error) {
	tree := map[string]any{}
	for name, member := range Members(v) {
		if !member.IsKnown() {
			tree[name] = Unknown
		} else {
			tree[name] = Text(member)
		}
	}
	return tree, nil
}

func encodeList(f Field, v tftypes.Value) (any, error) {
	tree, elem, failed := []any{}, f.elem(), error(nil)
	for _, item := range Items(v) {
		value, err := elem.encode(item)
		tree, failed = append(tree, value), cmp.Or(failed, err)
	}
	return tree, failed
}

func encodeObject(f Field, v tftypes.Value) (any, error) {
	children, failed := Members(v), error(nil)
	tree := make(map[string]any, len(children))
	for _, child := range f.Fields {
		value, err := child.encode(children[child.Name])
		if failed = cmp.Or(failed, err); value != nil {
			tree[child.wire()] = value
		}
	}
	return tree, failed
}

func (f Field) invalid(why string) error { return fmt.Errorf("%s %s", f.Name, why) }
