package protocoltest

import (
	"maps"
	"math/big"
	"strconv"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Object is an object or a map. Its members are Object, List, string, bool,
// int or float64 (float64 in values of a provider), nil, or Unknown; attributes
// that are omitted are null.
type Object = map[string]any

// List is a list or a set.
type List = []any

// Unknown is a value that is known only after apply.
var Unknown any = unknown{}

type unknown struct{}

// value converts v to a type of a schema.
func value(t testing.TB, typ tftypes.Type, v any) tftypes.Value {
	t.Helper()
	switch typ := typ.(type) {
	case tftypes.Object:
		if members, ok := v.(Object); ok {
			values := map[string]tftypes.Value{}
			for name, inner := range typ.AttributeTypes {
				values[name] = value(t, inner, members[name])
			}
			for name := range members {
				if typ.AttributeTypes[name] == nil {
					t.Fatalf("there is no attribute %s", name)
				}
			}
			return tftypes.NewValue(typ, values)
		}
	case tftypes.Map:
		if members, ok := v.(Object); ok {
			values := map[string]tftypes.Value{}
			for name, member := range members {
				values[name] = value(t, typ.ElementType, member)
			}
			return tftypes.NewValue(typ, values)
		}
	case tftypes.List:
		if items, ok := v.(List); ok {
			return tftypes.NewValue(typ, list(t, typ.ElementType, items))
		}
	case tftypes.Set:
		if items, ok := v.(List); ok {
			return tftypes.NewValue(typ, list(t, typ.ElementType, items))
		}
	}
	switch number := v.(type) {
	case unknown:
		return tftypes.NewValue(typ, tftypes.UnknownValue)
	case nil:
		return tftypes.NewValue(typ, nil)
	case int:
		if typ.Is(tftypes.String) { // Terraform converts it
			v = strconv.Itoa(number)
		}
	}
	if err := tftypes.ValidateValue(typ, v); err != nil {
		t.Fatal(err)
	}
	return tftypes.NewValue(typ, v)
}

func list(t testing.TB, typ tftypes.Type, of List) []tftypes.Value {
	t.Helper()
	values := []tftypes.Value{}
	for _, item := range of {
		values = append(values, value(t, typ, item))
	}
	return values
}

// goValue reverses value.
func goValue(v tftypes.Value) any {
	if !v.IsKnown() {
		return Unknown
	}
	if v.IsNull() {
		return nil
	}
	var (
		members map[string]tftypes.Value
		items   []tftypes.Value
		number  big.Float
		text    string
		flag    bool
	)
	switch {
	case v.As(&members) == nil:
		object := Object{}
		for name, member := range members {
			object[name] = goValue(member)
		}
		return object
	case v.As(&items) == nil:
		list := List{}
		for _, item := range items {
			list = append(list, goValue(item))
		}
		return list
	case v.As(&number) == nil:
		f, _ := number.Float64()
		return f
	case v.As(&flag) == nil:
		return flag
	default:
		_ = v.As(&text)
		return text
	}
}

// propose returns what Terraform proposes to plan: the configuration, and the prior
// values of computed attributes that it omits.
func propose(attributes []*tfprotov6.SchemaAttribute, typ tftypes.Type, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	before, set, values := members(prior), members(config), map[string]tftypes.Value{}
	for _, a := range attributes {
		old, ok := before[a.Name]
		if !ok {
			old = tftypes.NewValue(a.ValueType(), nil)
		}
		switch v := set[a.Name]; {
		case v.IsNull() && a.Computed:
			values[a.Name] = old
		case a.NestedType == nil:
			values[a.Name] = v
		case a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			values[a.Name] = propose(a.NestedType.Attributes, a.ValueType(), old, v)
		default:
			values[a.Name] = proposeItems(a, old, v)
		}
	}
	return tftypes.NewValue(typ, values)
}

func proposeItems(a *tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	before := items(prior)
	proposed := []tftypes.Value{}
	for i, item := range items(config) {
		old := tftypes.NewValue(item.Type(), nil)
		if i < len(before) {
			old = before[i]
		}
		proposed = append(proposed, propose(a.NestedType.Attributes, item.Type(), old, item))
	}
	return tftypes.NewValue(config.Type(), proposed)
}

// ignore returns a configuration with the prior value of an attribute, as with
// ignore_changes, if both have the objects that it is in.
func ignore(prior, config tftypes.Value, path []string) tftypes.Value {
	if len(path) == 0 {
		return prior
	}
	if prior.IsNull() || config.IsNull() || !config.IsKnown() {
		return config
	}
	values := maps.Clone(members(config))
	values[path[0]] = ignore(members(prior)[path[0]], values[path[0]], path[1:])
	return tftypes.NewValue(config.Type(), values)
}

// members and items return nothing of a value that is null or unknown.
func members(object tftypes.Value) (all map[string]tftypes.Value) {
	if object.IsKnown() && !object.IsNull() {
		_ = object.As(&all)
	}
	return all
}

func items(list tftypes.Value) (all []tftypes.Value) {
	if list.IsKnown() && !list.IsNull() {
		_ = list.As(&all)
	}
	return all
}
