//go:build unix

package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestDemo_showsTheLifeOfADeployment(t *testing.T) {
	t.Chdir("../../..")
	var shown bytes.Buffer
	if err := demo(t.Context(), &shown, false); err != nil {
		t.Fatal(err)
	}
	for line, times := range map[string]int{
		"    graphdeploy_deployment.shop: Creation complete ":                              1,
		"    graphdeploy_deployment.shop: Modifications complete ":                         3,
		"    graphdeploy_deployment.bot: Import complete ":                                 1,
		`~ image_uri = "registry.example/shop:2" -> "registry.example/shop:broken"` + "\n": 1,
		"    Error: ":                  1,
		"DEPLOY_FAILED":                1,
		"~ memory_mb = 2048 -> 1024\n": 2,
		"    Apply complete! Resources: 1 imported, 0 added, 1 changed, 0 destroyed.\n": 1,
		"    No changes.": 2,
		"    Destroy complete! Resources: 2 destroyed.\n": 1,
		"The service now has 0 deployments.\n":            1,
	} {
		if n := strings.Count(shown.String(), line); n != times {
			t.Errorf("%q is shown %d times, want %d:\n%s", line, n, times, shown.String())
		}
	}
}
