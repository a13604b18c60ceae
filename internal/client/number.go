package client

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Int64 is an integer. It is also read from 2048.0, as some services write integers; anything else is an error that names the
// field.
type Int64 int64

// UnmarshalJSON reads a JSON number without a fraction.
func (n *Int64) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	text := string(data)
	integer, fraction, _ := strings.Cut(text, ".")
	parsed, err := strconv.ParseInt(integer, 10, 64)
	if err != nil || strings.Trim(fraction, "0") != "" {
		mismatch := &json.UnmarshalTypeError{Value: "its value", Type: reflect.TypeFor[Int64]()} // encoding/json adds the field
		if strings.ContainsAny(text[:min(1, len(text))], "-0123456789") && len(text) <= 64 {
			mismatch.Value = "number " + text
		}
		return mismatch
	}
	*n = Int64(parsed)
	return nil
}
