package client

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
)

// parseWhole reads a JSON number that has no fraction. Its errors are of the
// kind to which encoding/json adds the path of the field.
func parseWhole(text string) (int64, error) {
	mistake := &json.UnmarshalTypeError{Value: "number " + text, Type: reflect.TypeFor[Whole]()}
	if text == "" || !strings.ContainsAny(text[:1], "-0123456789") || len(text) > 64 {
		mistake.Value = "its value" // not shown: it may be anything
		return 0, mistake
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(exponent) > 3 {
		return 0, mistake // 1e999999999 is not worth its memory
	}
	number, ok := new(big.Rat).SetString(text)
	switch {
	case !ok || !number.IsInt():
		return 0, mistake
	case !number.Num().IsInt64():
		mistake.Type = reflect.TypeFor[int64]()
		return 0, mistake
	}
	return number.Num().Int64(), nil
}
