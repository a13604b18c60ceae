package field

import (
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"golang.org/x/text/unicode/norm"
)

// Kind is the kind of an attribute's value.
type Kind int

// The kinds. A free-form object of the API is JSON: a string written with jsonencode.
const (
	String Kind = iota
	UUID        // a string, case-insensitive
	Time        // an RFC 3339 string, equal when the instant is
	Int64
	Float64
	Bool
	JSON       // a string that contains a JSON object, compared semantically
	StringMap  // a map of strings
	List       // a list of scalars, of kind Elem
	Object     // an object of Fields
	ObjectList // a list of objects of Fields

	free  // any JSON: a member of JSON, or one that no field describes
	label // a member of StringMap
)

// kind is everything that differs from one kind to another.
type kind struct {
	typ func(Field) tftypes.Type
	// decode turns a tree that is not nil into a value.
	decode func(f Field, tree any) (tftypes.Value, error)
	// encode turns a value that is known and not null into a tree.
	encode func(f Field, v tftypes.Value) (any, error)
	// equal compares two values that are no objects or lists.
	equal func(a, b any) bool
	// rule is what every value in a configuration has to follow, if there is one.
	rule *Rule
	// attribute is how a schema states it. The framework's schemas of resources, data sources and lists take the same attributes.
	attribute func(Field, common) schema.Attribute
}

// common is what attributes of all kinds have.
type common struct {
	required, optional, computed, sensitive bool
	dataSource                              bool
	description                             string
}

// kinds has an entry for each kind. (It is filled in by init because its functions refer to it.)
var kinds [label + 1]kind

func init() {
	scalar := kind{typ: of(tftypes.String), decode: decodeString, encode: encodeString, equal: equalString, attribute: stringAttribute}
	with := func(change func(*kind)) kind {
		k := scalar
		change(&k)
		return k
	}
	kinds = [...]kind{
		String: scalar,
		UUID:   with(func(k *kind) { k.equal, k.rule = equalFold, new(UUIDString()) }),
		Time:   with(func(k *kind) { k.equal = equalTime }),
		Int64: {typ: of(tftypes.Number), decode: decodeInt64, encode: encodeInt64, equal: equalNumber, attribute: numberAttribute,
			rule: new(Integer(math.MinInt64, math.MaxInt64))},
		Float64: {typ: of(tftypes.Number), decode: decodeFloat64, encode: encodeFloat64, equal: equalNumber, attribute: numberAttribute},
		Bool:    {typ: of(tftypes.Bool), decode: decodeBool, encode: encodeBool, equal: equalBool, attribute: boolAttribute},
		JSON: with(func(k *kind) {
			k.decode, k.encode, k.equal, k.rule = decodeJSON, encodeJSON, equalFree, new(JSONObject())
		}),
		StringMap:  {typ: of(tftypes.Map{ElementType: tftypes.String}), decode: decodeStringMap, encode: encodeStringMap, attribute: mapAttribute},
		List:       {typ: listType, decode: decodeList, encode: encodeList, attribute: listAttribute},
		Object:     {typ: func(f Field) tftypes.Type { return f.Fields.Type() }, decode: decodeObject, encode: encodeObject, attribute: objectAttribute},
		ObjectList: {typ: listType, decode: decodeList, encode: encodeList, attribute: objectListAttribute},
		free:       {equal: equalFree},
		label:      {equal: equalLabel},
	}
}

func of(t tftypes.Type) func(Field) tftypes.Type { return func(Field) tftypes.Type { return t } }

func listType(f Field) tftypes.Type { return tftypes.List{ElementType: f.elem().Type()} }

func stringAttribute(f Field, c common) schema.Attribute {
	return schema.StringAttribute{Required: c.required, Optional: c.optional, Computed: c.computed, Sensitive: c.sensitive,
		MarkdownDescription: c.description, Validators: f.stringValidators(), PlanModifiers: f.stringPlanModifiers()}
}

// numberAttribute is for integers, too: the framework's own reports a fraction as a bug of the provider.
func numberAttribute(f Field, c common) schema.Attribute {
	a := schema.NumberAttribute{Required: c.required, Optional: c.optional, Computed: c.computed, MarkdownDescription: c.description}
	if rule := kinds[f.Kind].rule; rule != nil {
		a.Validators = []validator.Number{rule}
	}
	return a
}

func boolAttribute(_ Field, c common) schema.Attribute {
	return schema.BoolAttribute{Required: c.required, Optional: c.optional, Computed: c.computed, MarkdownDescription: c.description}
}

func mapAttribute(_ Field, c common) schema.Attribute {
	return schema.MapAttribute{Required: c.required, Optional: c.optional, Computed: c.computed, MarkdownDescription: c.description,
		ElementType: types.StringType, Validators: []validator.Map{NoNulls()}}
}

func listAttribute(f Field, c common) schema.Attribute {
	return schema.ListAttribute{Required: c.required, Optional: c.optional, Computed: c.computed, MarkdownDescription: c.description,
		ElementType: f.elem().attrType(), Validators: f.listValidators()}
}

// objectAttribute states the type because the framework would build it each time it asks; objectListAttribute does as well.
func objectAttribute(f Field, c common) schema.Attribute {
	return schema.SingleNestedAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description, CustomType: f.Fields.AttrType(), Attributes: f.Fields.attributes(c.dataSource)}
}

func objectListAttribute(f Field, c common) schema.Attribute {
	item := f.Fields.AttrType()
	return schema.ListNestedAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description, CustomType: types.ListType{ElemType: item}, Validators: f.listValidators(),
		NestedObject: schema.NestedAttributeObject{CustomType: item, Attributes: f.Fields.attributes(c.dataSource)}}
}

// numberPrecision is the precision with which Terraform reads the numbers of a configuration, so that 0.1 in a response equals
// 0.1 there.
const numberPrecision = 512

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
	err := mismatch(tree, "an integer of at most 64 bits")
	if text, isNumber := tree.(json.Number); isNumber && len(text) <= 64 {
		err.Has = text.String()
	}
	return tftypes.Value{}, err
}

func decodeFloat64(_ Field, tree any) (tftypes.Value, error) {
	number, ok := toNumber(tree)
	if !ok {
		return tftypes.Value{}, mismatch(tree, "a number of 64 bits")
	}
	return tftypes.NewValue(tftypes.Number, number), nil
}

func mismatch(tree any, want string) *TypeError {
	return &TypeError{Has: jsonTypeName(tree), Want: want}
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

// equalFree compares values of free-form JSON that are no objects or lists.
func equalFree(a, b any) bool {
	switch b.(type) {
	case json.Number:
		return equalNumber(a, b)
	case string:
		return equalString(a, b)
	case bool:
		return equalBool(a, b)
	}
	return false
}

func equalLabel(a, b any) bool { return equalString(stringOf(a), stringOf(b)) }

func equalBool(a, b any) bool { return a == b }

func equalFold(a, b any) bool {
	textA, okA := a.(string)
	textB, okB := b.(string)
	return okA && okB && strings.EqualFold(textA, textB)
}

func equalTime(a, b any) bool {
	textA, _ := a.(string)
	textB, _ := b.(string)
	timeA, errA := time.Parse(time.RFC3339, textA)
	timeB, errB := time.Parse(time.RFC3339, textB)
	return a == b || errA == nil && errB == nil && timeA.Equal(timeB)
}

// equalString compares strings in Unicode NFC, into which Terraform brings every string.
func equalString(a, b any) bool {
	textA, okA := a.(string)
	textB, okB := b.(string)
	return okA && okB && (textA == textB || norm.NFC.String(textA) == norm.NFC.String(textB))
}

// equalNumber compares numbers as a service does that holds them as 64-bit floats or integers: a third written with 100 digits
// comes back with 16.
func equalNumber(a, b any) bool {
	if a == b {
		return true // the same text, even if it is no number to us: 1e9999999999
	}
	numberA, okA := toNumber(a)
	numberB, okB := toNumber(b)
	if !okA || !okB {
		return false
	}
	floatA, _ := numberA.Float64()
	floatB, _ := numberB.Float64()
	return numberA.Cmp(numberB) == 0 || floatA == floatB && (!numberA.IsInt() || !numberB.IsInt())
}

// toNumber is not ok for what is no number, or one that no float of 64 bits is near: 1e999999999 would take much memory.
func toNumber(tree any) (*big.Float, bool) {
	text, ok := tree.(json.Number)
	if !ok || len(text) > 1000 {
		return nil, false
	}
	float, err := text.Float64()
	if mantissa, _, _ := strings.Cut(strings.ToLower(text.String()), "e"); err != nil || float == 0 {
		return new(big.Float), err == nil && !strings.ContainsAny(mantissa, "123456789")
	}
	if n, err := strconv.ParseInt(text.String(), 10, 64); err == nil {
		return new(big.Float).SetInt64(n), true // a tenth of the memory
	}
	number, _, err := big.ParseFloat(text.String(), 10, numberPrecision, big.ToNearestEven)
	return number, err == nil
}
