package field

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
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
	// attribute is how a schema states it. The framework's schemas of resources, data sources and lists take the same
	// attributes.
	attribute func(Field, common) schema.Attribute
}

// kinds has an entry for each kind. (It is filled in by init because its functions refer to it.)
var kinds [label + 1]kind

func init() {
	text := kind{typ: of(tftypes.String), attribute: stringAttribute}
	text.decode, text.encode, text.equal = decodeString, encodeString, equalString
	id, instant, json := text, text, text
	id.equal, id.rule = equalFold, new(UUIDString())
	instant.equal = equalTime
	json.decode, json.encode, json.equal, json.rule = decodeJSON, encodeJSON, equalFree, new(JSONObject())

	float := kind{typ: of(tftypes.Number), attribute: numberAttribute}
	float.decode, float.encode, float.equal = decodeFloat64, encodeFloat64, equalNumber
	integer := float
	integer.decode, integer.encode, integer.rule = decodeInt64, encodeInt64, new(Integer(math.MinInt64, math.MaxInt64))

	boolean := kind{typ: of(tftypes.Bool), attribute: boolAttribute}
	boolean.decode, boolean.encode, boolean.equal = decodeBool, encodeBool, equalBool

	list := kind{typ: listType, decode: decodeList, encode: encodeList, attribute: listAttribute}
	objects := list
	objects.attribute = objectListAttribute

	kinds = [...]kind{
		String:     text,
		UUID:       id,
		Time:       instant,
		Int64:      integer,
		Float64:    float,
		Bool:       boolean,
		JSON:       json,
		StringMap:  {typ: of(stringMap), decode: decodeStringMap, encode: encodeStringMap, attribute: mapAttribute},
		List:       list,
		Object:     {typ: objectType, decode: decodeObject, encode: encodeObject, attribute: objectAttribute},
		ObjectList: objects,
		free:       {equal: equalFree},
		label:      {equal: equalLabel},
	}
}

var stringMap = tftypes.Map{ElementType: tftypes.String}

func objectType(f Field) tftypes.Type { return f.Fields.Type() }

func of(t tftypes.Type) func(Field) tftypes.Type { return func(Field) tftypes.Type { return t } }

func listType(f Field) tftypes.Type { return tftypes.List{ElementType: f.elem().Type()} }

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

func equalLabel(a, b any) bool { return equalString(stringOf(a), stringOf(b)) }

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

// equalNumber compares numbers as a service does that holds them as 64-bit floats or integers: a third written with 100
// digits comes back with 16.
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

// numberPrecision is the precision with which Terraform reads the numbers of a configuration, so that 0.1 in a response
// equals 0.1 there.
const numberPrecision = 512

// toNumber is not ok for what is no number, or one that no float of 64 bits is near: 1e999999999 would take much
// memory.
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
