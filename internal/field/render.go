package field

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// render returns a tree as Terraform's values. Forms are values of the same attributes: where one of them means the
// same at the same place, the first of these is returned as it is, because Terraform treats another form as another
// value.
func (fs Fields) render(tree map[string]any, forms ...Values) Values {
	values := make(Values, len(fs))
	for _, f := range fs {
		var here []tftypes.Value
		for _, form := range forms {
			if v := form[f.Name]; !isNull(v) {
				here = append(here, v)
			}
		}
		values[f.Name] = f.render(tree[f.wire()], here)
	}
	return values
}

func (f Field) render(tree any, forms []tftypes.Value) tftypes.Value {
	switch tree {
	case nil:
		return f.null()
	case Unknown:
		return f.unknown()
	}
	switch k := f.Kind.(type) {
	case Object:
		var here []Values
		for _, form := range forms {
			here = append(here, Members(form))
		}
		return tftypes.NewValue(k.Type(), k.Fields.render(asObject(tree), here...))
	case ObjectList:
		return k.render(asList(tree), forms)
	}
	for _, form := range forms {
		same := f.encode(form)
		if f.equal(same, tree) || reflect.DeepEqual(same, tree) { // with something unknown within
			return form
		}
	}
	return f.decode(tree) // it is part of a configuration, of a state, or of a response that was checked
}

func (l ObjectList) render(tree []any, forms []tftypes.Value) tftypes.Value {
	list := make([]tftypes.Value, len(tree))
	for i, item := range tree {
		var here []tftypes.Value
		for _, form := range forms {
			if items := Items(form); i < len(items) {
				here = append(here, items[i])
			}
		}
		list[i] = l.item().render(item, here)
	}
	return tftypes.NewValue(l.Type(), list)
}
