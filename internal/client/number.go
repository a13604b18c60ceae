package client

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
)

// Int64 is an integer. It is also read from 2048.0 and 2.048e3, as some services write integers; a fraction other than zero, or a
// number beyond 64 bits, is an error that names the field.
type Int64 int64

// UnmarshalJSON reads a JSON number without a fraction.
func (n *Int64) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	parsed, err := parseInt64(string(data))
	if err != nil {
		return err
	}
	*n = Int64(parsed)
	return nil
}

// parseInt64 returns errors of the type to which encoding/json adds the path of the field.
func parseInt64(text string) (int64, error) {
	failed := &json.UnmarshalTypeError{Value: "number " + text, Type: reflect.TypeFor[Int64]()}
	if text == "" || !strings.ContainsAny(text[:1], "-0123456789") || len(text) > 64 {
		failed.Value = "its value" // not shown: it may be anything
		return 0, failed
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(exponent) > 3 {
		return 0, failed // 1e999999999 is not worth its memory
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok || !number.IsInt() || !number.Num().IsInt64() {
		return 0, failed
	}
	return number.Num().Int64(), nil
}
