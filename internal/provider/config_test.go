package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

func TestParseBaseURL_plainHTTPBeyondLoopbackIsAWarning(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]int{
		"https://deploy.example.com":  0,
		"http://deploy.example.com":   1,
		"http://10.0.0.1:8080/api":    1,
		"http://[2001:db8::1]":        1,
		"http://127.0.0.1:8080":       0,
		"http://127.8.9.1":            0,
		"http://[::1]:8080":           0,
		"http://localhost:8080":       0,
		"http://service.localhost":    0,
		"http://localhost.example":    1,
		"HTTP://DEPLOY.EXAMPLE.COM":   1,
		"https://127.0.0.1:8443/x/y/": 0,
	} {
		var diags diag.Diagnostics
		if u := parseBaseURL(url, (*providerData)(nil).report(&diags)); u == nil || diags.HasError() || diags.WarningsCount() != want {
			t.Errorf("%s: %v, want %d warnings", url, diags, want)
		}
	}
}
