package field

import (
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// These read a value of the type that the description gives it; a value of
// another type is a mistake in this package and yields the zero value. Null
// and unknown values yield it too.

func text(v tftypes.Value) (s string) {
	if v.IsKnown() {
		_ = v.As(&s)
	}
	return s
}

func number(v tftypes.Value) *big.Float {
	n := new(big.Float)
	if v.IsKnown() && !v.IsNull() {
		_ = v.As(&n)
	}
	return n
}

func members(v tftypes.Value) map[string]tftypes.Value {
	var m map[string]tftypes.Value
	if v.IsKnown() {
		_ = v.As(&m)
	}
	return m
}

func items(v tftypes.Value) []tftypes.Value {
	var l []tftypes.Value
	if v.IsKnown() {
		_ = v.As(&l)
	}
	return l
}
