package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

func TestProviderConfig_plainHTTPBeyondLoopbackIsAWarning(t *testing.T) {
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
		"http://LocalHost.:8080":      0,
		"http://localhost.example":    1,
		"HTTP://DEPLOY.EXAMPLE.COM":   1,
		"https://127.0.0.1:8443/x/y/": 0,
	} {
		var diags diag.Diagnostics
		block := tftypes.NewValue(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"base_url": tftypes.String}},
			map[string]tftypes.Value{"base_url": tftypes.NewValue(tftypes.String, url)})
		config := newProviderConfig(block, &diags)
		u := config.baseURL()
		config.warnOfPlainHTTP(u)
		if diags.HasError() || diags.WarningsCount() != want {
			t.Errorf("%s: %v, want %d warnings", url, diags, want)
		}
	}
}

func TestCredentialKey(t *testing.T) {
	t.Parallel()
	if key := credentialKey(client.Config{Header: http.Header{}}); key != nil {
		t.Errorf("the key is %x without a credential", key)
	}
	certificate := func() client.Config {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return client.Config{Certificates: []tls.Certificate{{PrivateKey: private}}}
	}
	keys := map[string]bool{}
	configs := []client.Config{
		{Header: http.Header{"X-Api-Key": {"one"}}}, {Header: http.Header{"X-Api-Key": {"two"}}},
		{Header: http.Header{"X-Tenant": {"one"}}},
		certificate(), certificate(),
	}
	for _, config := range configs {
		keys[string(credentialKey(config))] = true
		keys[string(credentialKey(config))] = true
	}
	if len(keys) != len(configs) {
		t.Errorf("%d different keys, want %d", len(keys), len(configs))
	}
}
