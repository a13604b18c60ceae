package field

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The JSON form of the client's types is the bridge between them and Terraform
// values: a client type already says how it is written, so that neither needs
// to be matched with the other field by field.

// numberPrecision is the one that Terraform reads numbers of a configuration
// with, so that 0.1 from the service equals 0.1 there.
const numberPrecision = 512

// Decode turns a value of a client type into an object with these attributes.
// What the value leaves out is null. An error means that the description and
// the client type do not fit.
func (fs Fields) Decode(from any) (tftypes.Value, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return tftypes.Value{}, err
	}
	tree, err := readJSON(text)
	if err != nil {
		return tftypes.Value{}, err
	}
	return Field{Kind: Object, Fields: fs}.decode(tree)
}

// readJSON reads any JSON, keeping the text of numbers.
func readJSON(text []byte) (tree any, err error) {
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	err = reader.Decode(&tree)
	return tree, err
}

// unfit is made only where it is needed: the name of a wide type is long.
func (f Field) unfit(tree any) error {
	return fmt.Errorf("%s: %T does not fit %s", f.Name, tree, f.Type())
}

func (f Field) decode(tree any) (tftypes.Value, error) {
	typ := f.Type()
	if tree == nil {
		return tftypes.NewValue(typ, nil), nil
	}
	switch f.Kind {
	case JSON:
		text, err := json.Marshal(tree) // the form that jsonencode gives: sorted, compact
		return tftypes.NewValue(typ, string(text)), err
	case Whole, Number:
		text, ok := tree.(json.Number)
		if !ok {
			return tftypes.Value{}, f.unfit(tree)
		}
		number, _, err := big.ParseFloat(text.String(), 10, numberPrecision, big.ToNearestEven)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		return tftypes.NewValue(typ, number), nil
	case Object:
		members, ok := tree.(map[string]any)
		if !ok {
			return tftypes.Value{}, f.unfit(tree)
		}
		values := make(map[string]tftypes.Value, len(f.Fields))
		for _, child := range f.Fields {
			value, err := child.decode(members[child.wire()])
			if err != nil {
				return tftypes.Value{}, err
			}
			values[child.Name] = value
		}
		return tftypes.NewValue(typ, values), nil
	case List, Objects:
		items, ok := tree.([]any)
		if !ok {
			return tftypes.Value{}, f.unfit(tree)
		}
		values := make([]tftypes.Value, 0, len(items))
		for _, item := range items {
			each := f.elem()
			if f.Kind == Objects {
				each = f.item()
			}
			value, err := each.decode(item)
			if err != nil {
				return tftypes.Value{}, err
			}
			values = append(values, value)
		}
		return tftypes.NewValue(typ, values), nil
	case TextMap:
		members, ok := tree.(map[string]any)
		if !ok {
			return tftypes.Value{}, f.unfit(tree)
		}
		values := make(map[string]tftypes.Value, len(members))
		for name, member := range members {
			value, err := Field{Name: f.Name, Kind: Text}.decode(member)
			if err != nil {
				return tftypes.Value{}, err
			}
			values[name] = value
		}
		return tftypes.NewValue(typ, values), nil
	default:
		if err := tftypes.ValidateValue(typ, tree); err != nil {
			return tftypes.Value{}, f.unfit(tree)
		}
		return tftypes.NewValue(typ, tree), nil
	}
}

// Encode writes an object with these attributes into a value of a client type.
// Null and unknown attributes are left out. A member that the client type does
// not have is an error, so that nothing is dropped on the way.
func (fs Fields) Encode(from tftypes.Value, into any) error {
	tree, err := Field{Kind: Object, Fields: fs}.encode(from)
	if err != nil {
		return err
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	return reader.Decode(into)
}

func (f Field) encode(from tftypes.Value) (any, error) {
	if from.IsNull() || !from.IsKnown() {
		return nil, nil
	}
	switch f.Kind {
	case JSON:
		text := text(from)
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%s: not JSON", f.Name)
		}
		return json.RawMessage(text), nil
	case Flag:
		var flag bool
		err := from.As(&flag)
		return flag, err
	case Whole:
		number := number(from)
		if !number.IsInt() {
			return nil, fmt.Errorf("%s: %s is not a whole number", f.Name, number.Text('g', 10))
		}
		return json.Number(number.Text('f', 0)), nil
	case Number:
		number := number(from)
		float, _ := number.Float64()
		if math.IsInf(float, 0) {
			return nil, fmt.Errorf("%s: %s is more than the service can hold", f.Name, number.Text('g', 10))
		}
		return float, nil
	case Object:
		children := members(from)
		tree := make(map[string]any, len(children))
		for _, child := range f.Fields {
			value, err := child.encode(children[child.Name])
			if err != nil {
				return nil, err
			}
			if value != nil {
				tree[child.wire()] = value
			}
		}
		return tree, nil
	case TextMap:
		tree := map[string]any{}
		for name, member := range members(from) {
			tree[name] = text(member)
		}
		return tree, nil
	case List, Objects:
		tree := []any{}
		each := f.elem()
		if f.Kind == Objects {
			each = f.item()
		}
		for _, item := range items(from) {
			value, err := each.encode(item)
			if err != nil {
				return nil, err
			}
			tree = append(tree, value)
		}
		return tree, nil
	default:
		return text(from), nil
	}
}

// Path finds the attribute that a place on the wire belongs to: member names
// (string) and indices (int). Where the place leads to nothing described, the
// last attribute on the way is meant; ok is false when there is none.
func (fs Fields) Path(loc []any) (at path.Path, ok bool) {
	f := Field{Kind: Object, Fields: fs}
	for _, step := range loc {
		switch step := step.(type) {
		case string:
			switch f.Kind {
			case Object:
				child, found := f.Fields.byWire(step)
				if !found {
					return at, ok
				}
				at, f, ok = at.AtName(child.Name), child, true
			case TextMap:
				return at.AtMapKey(step), true
			default:
				return at, ok
			}
		case int:
			switch f.Kind {
			case List:
				return at.AtListIndex(step), true
			case Objects:
				at, f = at.AtListIndex(step), f.item()
			default:
				return at, ok
			}
		}
	}
	return at, ok
}

func (fs Fields) byWire(name string) (Field, bool) {
	for _, f := range fs {
		if f.wire() == name || strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return Field{}, false
}
