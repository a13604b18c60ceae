package client

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// Int64 is an integer. It is also read from 2048.0 and 2.048e3, as some services write integers; anything else is an error that
// names the field.
type Int64 int64

// UnmarshalJSON reads a JSON number without a fraction.
func (n *Int64) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	integer, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		number, floatErr := strconv.ParseFloat(string(data), 64)
		if floatErr != nil || number != math.Trunc(number) || math.Abs(number) >= 1<<53 { // beyond that, floats are not exact
			return &json.UnmarshalTypeError{Value: "its value", Type: reflect.TypeFor[Int64]()} // encoding/json adds the field
		}
		integer = int64(number)
	}
	*n = Int64(integer)
	return nil
}
