package field

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"golang.org/x/text/unicode/norm"
)

// text is embedded by the kinds whose values are strings in JSON.
type text struct{}

// Type returns the type of a string.
func (text) Type() tftypes.Type { return tftypes.String }

func (text) check(tree any) error          { return checkIs[string](tree, "a string") }
func (text) decode(tree any) tftypes.Value { return tftypes.NewValue(tftypes.String, stringOf(tree)) }
func (text) encode(v tftypes.Value) any    { return Text(v) }
func (text) equal(a, b any) bool           { return equalString(a, b) }

// String is a string.
type String struct {
	text
	OneOf     []string // the valid values in a configuration
	NotEmpty  bool     // "" is invalid
	Immutable bool     // a change replaces the resource
	Shown     bool     // messages may show the value, although it is free text

	// ResolvesTo names the sibling that has what the service resolved this value to. The service may report that in place
	// of the value.
	ResolvesTo string
	// BuiltFor is the source of deployments whose value the service builds itself, and reports in place of the configured
	// one.
	BuiltFor string
}

// nfc brings a string into Unicode NFC, as Terraform does with every string.
func nfc(s string) string { return norm.NFC.String(s) }

func equalString(a, b any) bool {
	textA, okA := a.(string)
	textB, okB := b.(string)
	return okA && okB && (textA == textB || nfc(textA) == nfc(textB))
}

// UUID is a UUID as a string, which is case-insensitive.
type UUID struct{ text }

func (UUID) equal(a, b any) bool {
	textA, okA := a.(string)
	textB, okB := b.(string)
	return okA && okB && strings.EqualFold(textA, textB)
}

// Time is a time in RFC 3339 as a string. Two are equal if they are the same instant.
type Time struct{ text }

func (Time) equal(a, b any) bool {
	textA, _ := a.(string)
	textB, _ := b.(string)
	timeA, errA := time.Parse(time.RFC3339, textA)
	timeB, errB := time.Parse(time.RFC3339, textB)
	return a == b || errA == nil && errB == nil && timeA.Equal(timeB)
}

// label is a member of a [StringMap].
type label struct{ text }

func (label) equal(a, b any) bool { return equalString(stringOf(a), stringOf(b)) }

// stringOf returns a string as it is, and the JSON text of another value.
func stringOf(tree any) string {
	if s, ok := tree.(string); ok {
		return s
	}
	text, _ := json.Marshal(tree) // it was decoded from JSON
	return string(text)
}

// Bool is a boolean.
type Bool struct{}

// Type returns the type of a boolean.
func (Bool) Type() tftypes.Type { return tftypes.Bool }

func (Bool) check(tree any) error          { return checkIs[bool](tree, "a boolean") }
func (Bool) decode(tree any) tftypes.Value { return tftypes.NewValue(tftypes.Bool, tree) }
func (Bool) equal(a, b any) bool           { return a == b }

func (Bool) encode(v tftypes.Value) any { return as[bool](v) }

// Float64 is a number.
type Float64 struct{}

// Type returns the type of a number.
func (Float64) Type() tftypes.Type { return tftypes.Number }

func (Float64) check(tree any) error {
	if _, ok := toNumber(tree); !ok {
		return wrongNumber(tree, "a number in the range of a 64-bit float")
	}
	return nil
}

func (Float64) decode(tree any) tftypes.Value {
	number, _ := toNumber(tree)
	return tftypes.NewValue(tftypes.Number, number)
}

func (Float64) encode(v tftypes.Value) any {
	float, _ := number(v).Float64()
	text, _ := json.Marshal(float)
	return json.Number(text)
}

// number returns the number in a value.
func number(v tftypes.Value) *big.Float {
	n := new(big.Float)
	_ = v.As(&n)
	return n
}

func (Float64) equal(a, b any) bool { return equalNumber(a, b) }

// Int64 is an integer.
type Int64 struct{ Float64 }

func (Int64) check(tree any) error {
	number, ok := toNumber(tree)
	if ok {
		if _, accuracy := number.Int64(); accuracy == big.Exact {
			return nil
		}
	}
	return wrongNumber(tree, "an integer of at most 64 bits")
}

func (Int64) encode(v tftypes.Value) any { return json.Number(number(v).Text('f', 0)) }

// wrongNumber shows the number, if it is short.
func wrongNumber(tree any, want string) *TypeError {
	err := mismatch(tree, want)
	if number, ok := tree.(json.Number); ok && len(number) <= 64 {
		err.Has = number.String()
	}
	return err
}

// equalNumber compares numbers as a service does that stores them as 64-bit floats or integers: a third written with
// 100 digits comes back with 16.
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

// toNumber parses a number. It is not ok if the tree is none, or no 64-bit float is near it: 1e999999999 would take
// much memory.
func toNumber(tree any) (*big.Float, bool) {
	text, ok := tree.(json.Number)
	if !ok || len(text) > 1000 {
		return nil, false
	}
	float, err := text.Float64()
	switch {
	case err != nil: // too large
		return new(big.Float), false
	case float == 0: // zero, or too small
		mantissa, _, _ := strings.Cut(strings.ToLower(text.String()), "e")
		return new(big.Float), !strings.ContainsAny(mantissa, "123456789")
	}
	if n, err := strconv.ParseInt(text.String(), 10, 64); err == nil {
		return new(big.Float).SetInt64(n), true // a tenth of the memory
	}
	number, _, err := big.ParseFloat(text.String(), 10, numberPrecision, big.ToNearestEven)
	return number, err == nil
}

// checkNumbers reports a number, at any depth, that is none of 64 bits: Terraform, or whoever reads the tree next, may
// take minutes for it.
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
		return Float64{}.check(tree)
	}
	return nil
}

// JSON is a free-form object of the API: a string that contains a JSON object, written with jsonencode, and compared
// semantically.
type JSON struct {
	// Partial marks JSON whose members are those of a request at its root: only what is set of it is ever in the state.
	Partial bool
}

// Type returns the type of a string.
func (JSON) Type() tftypes.Type { return tftypes.String }

func (JSON) check(tree any) error { return checkNumbers(tree) }

func (JSON) decode(tree any) tftypes.Value {
	text, _ := json.Marshal(tree) // the form that jsonencode gives: sorted, compact
	return tftypes.NewValue(tftypes.String, string(text))
}

func (JSON) encode(v tftypes.Value) any {
	tree, err := ReadJSON([]byte(Text(v)))
	if err != nil { // in a state that nobody validated, or a configuration that is about to be rejected
		return Text(v)
	}
	return tree
}

func (JSON) equal(a, b any) bool {
	switch b.(type) {
	case json.Number:
		return equalNumber(a, b)
	case string:
		return equalString(a, b)
	}
	return a == b
}

// free is any JSON: a member of [JSON], or one that no field describes.
type free struct{ JSON }

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
