//go:build unix

package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestDemo_showsApplyImportAndDestroy(t *testing.T) {
	t.Chdir("../../..")
	var shown bytes.Buffer
	if err := demo(t.Context(), &shown, false); err != nil {
		t.Fatal(err)
	}
	for line, times := range map[string]int{
		"    Apply complete! Resources: 2 added, 0 changed, 0 destroyed.\n": 1,
		"    No changes.":                                 2,
		"    Import successful!\n":                        2,
		"    Destroy complete! Resources: 2 destroyed.\n": 1,
		"    2 creates (POST) and ":                       1,
		"    deployment legacy-bot is READY\n":            1,
	} {
		if n := strings.Count(shown.String(), line); n != times {
			t.Errorf("%q is shown %d times, want %d:\n%s", line, n, times, shown.String())
		}
	}
}
