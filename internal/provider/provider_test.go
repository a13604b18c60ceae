package provider_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

const oauthProviders = "graphdeploy_oauth_providers"

func TestProvider_invalidSettingIsAnErrorAtItsAttribute(t *testing.T) {
	t.Parallel()
	empty := writeFile(t, "empty.pem", []byte("nothing"))
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for name, c := range map[string]struct {
		settings object
		want     protocoltest.Message
	}{
		"no base_url": {object{"base_url": nil},
			protocoltest.Error("Missing base_url", "base_url", "GRAPHDEPLOY_BASE_URL")},
		"empty base_url": {object{"base_url": ""}, protocoltest.Error("Missing base_url", "base_url")},
		"relative base_url": {object{"base_url": "example.com"},
			protocoltest.Error("Invalid base_url", "base_url", "absolute http or https URL")},
		"scheme of base_url": {object{"base_url": "ftp://example.com"}, protocoltest.Error("Invalid base_url", "base_url")},
		"base_url, no host":  {object{"base_url": "https://"}, protocoltest.Error("Invalid base_url", "base_url")},
		"query in base_url": {object{"base_url": "https://a.example.com/?x=1"},
			protocoltest.Error("Invalid base_url", "base_url", "query")},
		"fragment in base_url": {object{"base_url": "https://a.example.com/#x"},
			protocoltest.Error("Invalid base_url", "base_url", "fragment")},
		"user in base_url": {object{"base_url": "https://me:planted@a.test/"},
			protocoltest.Error("Credential in base_url", "base_url", "api_key")},
		"hosting": {object{"hosting": "moon"},
			protocoltest.Error("Invalid value", "hosting", "hosting must be one of: cloud, self_hosted; got \"moon\".")},
		"request_timeout": {object{"request_timeout": "soon"},
			protocoltest.Error("Invalid duration", "request_timeout", `got "soon"`)},
		"no time": {object{"request_timeout": "0s"},
			protocoltest.Error("Invalid duration", "request_timeout", `got "0s"`)},
		"negative time": {object{"request_timeout": "-1s"},
			protocoltest.Error("Invalid duration", "request_timeout", `got "-1s"`)},
		"negative max_retries": {object{"max_retries": -1}, protocoltest.Error("Invalid number", "max_retries", "got -1")},
		"fraction of a retry":  {object{"max_retries": 1.5}, protocoltest.Error("Invalid number", "max_retries", "got 1.5")},
		"too many retries":     {object{"max_retries": 101}, protocoltest.Error("Invalid number", "max_retries", "got 101")},
		"missing CA file": {object{"ca_cert_file": missing},
			protocoltest.Error("Unreadable file", "ca_cert_file", missing)},
		"CA file without any": {object{"ca_cert_file": empty},
			protocoltest.Error("Invalid certificate file", "ca_cert_file", empty)},
		"header name": {object{"api_key_header": "X Y"}, protocoltest.Error("Invalid header name", "api_key_header")},
		"line break in a key": {object{"api_key": "planted\n"},
			protocoltest.Error("Invalid header value", "", "api_key", "trimspace")},
		"name in headers": {object{"headers": object{"Bad Name": "x"}},
			protocoltest.Error("Invalid header name", "", "headers")},
		"value in headers": {object{"headers": object{"X": "a\r\nb"}},
			protocoltest.Error("Invalid header value", "", "headers")},
		"null in headers": {object{"headers": object{"X": nil}}, protocoltest.Error("Null value", "", "headers")},
		"header twice": {object{"headers": object{"X-A": "1", "x-a": "2"}},
			protocoltest.Error("Duplicate header", "", "headers")},
		"credential twice": {object{"headers": object{"X-Api-Key": "1"}, "api_key": "2"},
			protocoltest.Error("Duplicate header", "", "headers", "X-Api-Key")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := object{"base_url": "http://127.0.0.1:1"}
			maps.Copy(settings, c.settings)
			protocoltest.Expect(t, unconfigured(t).Configure(settings), c.want)
		})
	}
}

// What would change the meaning of a request, or what the provider sets itself.
func TestProvider_reservedHeaderIsRejected(t *testing.T) {
	t.Parallel()
	p := unconfigured(t)
	for _, name := range []string{"accept", "Accept-Encoding", "connection", "Content-Encoding", "CONTENT-LENGTH",
		"Content-Type", "Expect", "Host", "Range", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
		"X-HTTP-Method-Override"} {
		protocoltest.Expect(t, p.Configure(object{"base_url": "http://127.0.0.1:1", "headers": object{name: "x"}}),
			protocoltest.Error("Reserved header", "", "headers", http.CanonicalHeaderKey(name)))
		protocoltest.Expect(t, p.Configure(object{"base_url": "http://127.0.0.1:1", "api_key_header": name}),
			protocoltest.Error("Reserved header", "api_key_header"))
	}
}

// Validation knows no environment, and no file of another machine.
func TestProvider_validationIgnoresTheEnvironmentAndFiles(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]object{
		"nothing":    {},
		"plain http": {"base_url": "http://plain.example.com"},
		"unknown": {"base_url": protocoltest.Unknown, "headers": object{"X": protocoltest.Unknown},
			"request_timeout": protocoltest.Unknown, "max_retries": protocoltest.Unknown},
		"files": {"ca_cert_file": "/on/another/machine.pem", "client_cert_file": "/on/another/machine.pem"},
		"empty": {"api_key_header": ""},
	} {
		if found := unconfigured(t).Validate(settings); len(found) > 0 {
			t.Errorf("%s: %s", name, found)
		}
	}
}

func TestProvider_settingsReachEveryRequest(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{PathPrefix: "/api/host", CredentialHeader: "Authorization",
		Credential: "Bearer planted"})
	s.url += "///"
	p := newProtocol(t, s, object{"api_key": "Bearer planted", "api_key_header": "authorization",
		"headers": object{"x-tenant": "acme"}})
	_, diags := p.ReadData(oauthProviders, object{})
	p.ExpectNone(diags)
	requests := s.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests, want 1", len(requests))
	}
	for _, r := range requests {
		if got := r.Header.Get("X-Tenant"); got != "acme" {
			t.Errorf("X-Tenant is %q", got)
		}
		if got := r.Header.Get("User-Agent"); got != "terraform-provider-graphdeploy/test Terraform/1.14.0" {
			t.Errorf("User-Agent is %q", got)
		}
		if r.Path != "/api/host/v2/auth/providers" {
			t.Errorf("path is %q", r.Path)
		}
	}
}

func TestProvider_environmentCompletesTheConfiguration(t *testing.T) {
	s := newService(t, fakeserver.Options{CredentialHeader: "X-Key", Credential: "planted"})
	t.Setenv("GRAPHDEPLOY_BASE_URL", s.url)
	t.Setenv("GRAPHDEPLOY_API_KEY", "planted")
	t.Setenv("GRAPHDEPLOY_API_KEY_HEADER", "X-Key")
	t.Setenv("GRAPHDEPLOY_HOSTING", "self_hosted")
	configured := func(t *testing.T, settings object) *protocol {
		t.Helper()
		p := unconfigured(t)
		p.ExpectNone(p.Configure(settings))
		return p
	}
	app := object{"name": "app", "source": "internal_docker"}
	unavailable := protocoltest.Error("Source not available", "source", `hosting = "self_hosted"`)

	p := configured(t, object{})
	_, diags := p.ReadData(oauthProviders, object{})
	p.ExpectNone(diags)
	_, diags = p.Plan(typeName, nil, app)
	protocoltest.Expect(t, diags, unavailable)

	t.Run("configuration takes precedence", func(t *testing.T) {
		p := configured(t, object{"hosting": "cloud"})
		_, diags := p.Plan(typeName, nil, app)
		p.ExpectNone(diags)
		_, diags = configured(t, object{"api_key": "wrong"}).ReadData(oauthProviders, object{})
		protocoltest.Expect(t, diags, protocoltest.Error("Cannot list OAuth providers", "", "401 Unauthorized", "api_key"))
	})
	t.Run("documented_operations_only", func(t *testing.T) {
		t.Setenv("GRAPHDEPLOY_DOCUMENTED_OPERATIONS_ONLY", "true")
		r := configured(t, object{"hosting": "cloud"}).MustApply(typeName, nil, app)
		_, diags := configured(t, object{"hosting": "cloud"}).Plan(typeName, r, nil)
		protocoltest.Expect(t, diags, protocoltest.Error("Deployment cannot be deleted", "", "documented_operations_only"))
		configured(t, object{"hosting": "cloud", "documented_operations_only": false}).MustApply(typeName, r, nil)
	})
	t.Run("max_retries", func(t *testing.T) {
		t.Setenv("GRAPHDEPLOY_MAX_RETRIES", "2")
		s.Fail(fakeserver.ListOAuthProviders, -1, fakeserver.Fault{Status: 500})
		defer s.ClearFaults()
		s.ResetRequests()
		_, diags := configured(t, object{}).ReadData(oauthProviders, object{})
		protocoltest.Expect(t, diags, protocoltest.Error("Cannot list OAuth providers", "", "500 Internal Server Error"))
		if n := len(s.Requests()); n != 3 {
			t.Errorf("%d requests, want 1 and 2 retries", n)
		}
	})
	t.Run("request_timeout", func(t *testing.T) {
		t.Setenv("GRAPHDEPLOY_REQUEST_TIMEOUT", "30ms")
		held, _, release := gate(fakeserver.Fault{})
		defer release()
		s.Fail(fakeserver.ListOAuthProviders, -1, held)
		defer s.ClearFaults()
		_, diags := configured(t, object{"max_retries": 0}).ReadData(oauthProviders, object{})
		protocoltest.Expect(t, diags,
			protocoltest.Error("Cannot list OAuth providers", "", "no response within 30ms (request_timeout)"))
	})
}

// A value from the environment that is wrong is an error that names the variable.
func TestProvider_invalidVariableIsNamed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.pem")
	empty := writeFile(t, "empty.pem", []byte("nothing"))
	for _, c := range []struct {
		variable, value string
		want            protocoltest.Message
	}{
		{"BASE_URL", "deploy.example.com", protocoltest.Error("Invalid base_url", "base_url", "absolute http or https URL")},
		{"BASE_URL", "https://me:planted@a.test/", protocoltest.Error("Credential in base_url", "base_url")},
		{"BASE_URL", "https://a.test/?x=1", protocoltest.Error("Invalid base_url", "base_url", "query")},
		{"API_KEY", "planted\n", protocoltest.Error("Invalid header value", "", "trimspace")},
		{"API_KEY_HEADER", "Host", protocoltest.Error("Reserved header", "api_key_header")},
		{"API_KEY_HEADER", "Authorization: planted", protocoltest.Error("Invalid header name", "api_key_header")},
		{"HOSTING", "moon", protocoltest.Error("Invalid value", "hosting", `got "moon"`)},
		{"DOCUMENTED_OPERATIONS_ONLY", "perhaps", protocoltest.Error("Invalid value", "documented_operations_only",
			`got "perhaps"`)},
		{"MAX_RETRIES", "101", protocoltest.Error("Invalid value", "max_retries", `got "101"`)},
		{"REQUEST_TIMEOUT", "soon", protocoltest.Error("Invalid duration", "request_timeout", `got "soon"`)},
		{"CA_CERT_FILE", missing, protocoltest.Error("Unreadable file", "ca_cert_file", missing)},
		{"CA_CERT_FILE", filepath.Dir(missing), protocoltest.Error("Unreadable file", "ca_cert_file", "is a directory")},
		{"BASE_URL", "https://deploy.example.com:99999", protocoltest.Error("Invalid base_url", "base_url")},
		{"CA_CERT_FILE", empty, protocoltest.Error("Invalid certificate file", "ca_cert_file", empty)},
		{"CLIENT_CERT_FILE", missing, protocoltest.Error("Missing client_key_file", "client_key_file", "client_cert_file")},
		{"CLIENT_KEY_FILE", missing, protocoltest.Error("Missing client_cert_file", "client_cert_file", "client_key_file")},
		{"CA_CERT_FILE", "-----BEGIN planted", protocoltest.Error("Content instead of a path", "")},
	} {
		t.Run(c.variable+" "+c.value, func(t *testing.T) {
			t.Setenv("GRAPHDEPLOY_BASE_URL", "https://deploy.example.com")
			t.Setenv("GRAPHDEPLOY_"+c.variable, c.value)
			c.want.Words = append(c.want.Words, "GRAPHDEPLOY_"+c.variable)
			diags := unconfigured(t).Configure(object{})
			protocoltest.Expect(t, diags, c.want)
			if strings.Contains(diags.String(), "planted") {
				t.Errorf("the credential is shown:\n%s", diags)
			}
		})
	}
}

// A credential in a place where none belongs is not shown, and neither is the source of that place.
func TestProvider_misplacedCredentialIsNotShown(t *testing.T) {
	t.Parallel()
	_, certFile, _ := newCertificate(t, time.Now().Add(time.Hour))
	key := "-----BEGIN PRIVATE KEY-----\nplanted\n-----END PRIVATE KEY-----\n"
	for name, c := range map[string]struct {
		settings object
		want     protocoltest.Message
	}{
		"PEM as client_key_file": {object{"client_key_file": key, "client_cert_file": certFile},
			protocoltest.Error("Content instead of a path", "", "client_key_file")},
		"PEM as ca_cert_file": {object{"ca_cert_file": key},
			protocoltest.Error("Content instead of a path", "", "ca_cert_file")},
		"long text as a path": {object{"ca_cert_file": strings.Repeat("planted", 100)},
			protocoltest.Error("Content instead of a path", "", "ca_cert_file")},
		"credential as header name": {object{"headers": object{"Authorization: Bearer planted": "x"}},
			protocoltest.Error("Invalid header name", "", "headers")},
		"header name for a value": {object{"headers": object{"planted": "a\nb"}},
			protocoltest.Error("Invalid header value", "", "headers")},
		"header name without value": {object{"headers": object{"planted": nil}},
			protocoltest.Error("Null value", "", "headers")},
		"header name twice": {object{"headers": object{"planted": "a", "PLANTED": "b"}},
			protocoltest.Error("Duplicate header", "", "headers")},
		"credential in api_key_header": {object{"api_key_header": "Authorization: planted"},
			protocoltest.Error("Invalid header name", "api_key_header", "api_key_header")},
	} {
		settings := object{"base_url": "http://127.0.0.1:1"}
		maps.Copy(settings, c.settings)
		diags := unconfigured(t).Configure(settings)
		t.Log(name)
		protocoltest.Expect(t, diags, c.want)
		if strings.Contains(strings.ToLower(diags.String()), "planted") {
			t.Errorf("the credential is shown:\n%s", diags)
		}
	}
}

// The credential of the environment belongs to the service that the environment names.
func TestProvider_credentialOfTheEnvironmentGoesToNoOtherService(t *testing.T) {
	_, certFile, keyFile := newCertificate(t, time.Now().Add(time.Hour))
	const ours = "https://deploy.example.com/api"
	key := map[string]string{"API_KEY": "planted"}
	certificate := map[string]string{"CLIENT_CERT_FILE": certFile, "CLIENT_KEY_FILE": keyFile}
	foreign := protocoltest.Error("Credential belongs to another service", "base_url", "GRAPHDEPLOY_API_KEY is for", ours,
		"GRAPHDEPLOY_BASE_URL")
	foreignCertificate := protocoltest.Error("Credential belongs to another service", "base_url",
		"GRAPHDEPLOY_CLIENT_CERT_FILE is for")
	both := protocoltest.Error("Credential belongs to another service", "base_url",
		"GRAPHDEPLOY_API_KEY and GRAPHDEPLOY_CLIENT_CERT_FILE are for "+ours, "The credential was not sent",
		"Set api_key and client_cert_file in the provider block")
	malformed := protocoltest.Error("Credential belongs to another service", "base_url", "GRAPHDEPLOY_API_KEY",
		"GRAPHDEPLOY_BASE_URL", "malformed")
	for name, c := range map[string]struct {
		base        string
		credentials map[string]string
		settings    object
		want        []protocoltest.Message
	}{
		"other host": {ours, key, object{"base_url": "https://other.example.com/api"},
			[]protocoltest.Message{foreign}},
		"other port": {ours, key, object{"base_url": "https://deploy.example.com:8443/api"},
			[]protocoltest.Message{foreign}},
		"other scheme": {ours, key, object{"base_url": "http://127.0.0.1/api"}, []protocoltest.Message{foreign}},
		"other path": {ours, key, object{"base_url": "https://deploy.example.com/v1"},
			[]protocoltest.Message{foreign}},
		"path below": {ours, key, object{"base_url": "https://deploy.example.com/api/v1"},
			[]protocoltest.Message{foreign}},
		"no scheme": {"deploy.example.com/api", key, object{"base_url": ours}, []protocoltest.Message{malformed}},
		"escape": {"https://deploy.example.com/%zz", key, object{"base_url": ours},
			[]protocoltest.Message{malformed}},
		"space in the host": {"https://deploy.example.com ", key, object{"base_url": ours},
			[]protocoltest.Message{malformed}},
		"trailing space": {ours + " ", key, object{"base_url": ours}, []protocoltest.Message{foreign}},
		"key and certificate": {ours, map[string]string{"API_KEY": "planted", "CLIENT_CERT_FILE": certFile,
			"CLIENT_KEY_FILE": keyFile}, object{"base_url": "https://other.example.com"}, []protocoltest.Message{both}},
		"certificate": {ours, certificate, object{"base_url": "https://other.example.com"},
			[]protocoltest.Message{foreignCertificate}},
		"certificate, key in the configuration": {ours, certificate,
			object{"base_url": "https://other.example.com", "api_key": "theirs"},
			[]protocoltest.Message{foreignCertificate}},

		"same, written otherwise": {ours, key, object{"base_url": "https://DEPLOY.example.com:443/api//"}, nil},
		"key in the configuration": {ours, key, object{"base_url": "https://other.example.com", "api_key": "theirs"},
			nil},
		"certificate in the configuration": {ours, certificate,
			object{"base_url": "https://other.example.com", "client_cert_file": certFile, "client_key_file": keyFile}, nil},
		"base_url of the environment":       {ours, key, object{}, nil},
		"no base_url in the environment":    {"", key, object{"base_url": "https://other.example.com"}, nil},
		"no credential in the environment":  {ours, nil, object{"base_url": "https://other.example.com"}, nil},
		"malformed, but without credential": {"::", nil, object{"base_url": ours}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GRAPHDEPLOY_BASE_URL", c.base)
			for variable, value := range c.credentials {
				t.Setenv("GRAPHDEPLOY_"+variable, value)
			}
			protocoltest.Expect(t, unconfigured(t).Configure(c.settings), c.want...)
		})
	}
}

func TestProvider_caCertFileIsTrusted(t *testing.T) {
	t.Parallel()
	fake := fakeserver.New(fakeserver.Options{})
	server := httptest.NewUnstartedServer(fake)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of rejected handshakes
	server.StartTLS()
	t.Cleanup(server.Close)
	file := writeFile(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	s := &service{Server: fake, url: server.URL}
	_, diags := newProtocol(t, s).ReadData(oauthProviders, object{})
	protocoltest.Expect(t, diags, protocoltest.Error("Cannot list OAuth providers", "", "certificate", "ca_cert_file"))
	p := newProtocol(t, s, object{"ca_cert_file": file})
	_, diags = p.ReadData(oauthProviders, object{})
	p.ExpectNone(diags)
}

func writeFile(t *testing.T, name string, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// newCertificate is a self-signed client certificate, and the files of it and its key.
func newCertificate(t *testing.T, until time.Time) (certificate *x509.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pipeline"},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, writeFile(t, "client.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		writeFile(t, "client.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

func TestProvider_clientCertificateIsSent(t *testing.T) {
	fake := fakeserver.New(fakeserver.Options{})
	server := httptest.NewUnstartedServer(fake)
	certificate, certFile, keyFile := newCertificate(t, time.Now().Add(24*time.Hour))
	clients := x509.NewCertPool()
	clients.AddCert(certificate)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of rejected handshakes
	server.StartTLS()
	t.Cleanup(server.Close)
	s := &service{Server: fake, url: server.URL}
	trust := object{"ca_cert_file": writeFile(t, "ca.pem",
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))}

	_, diags := newProtocol(t, s, trust).ReadData(oauthProviders, object{})
	protocoltest.Expect(t, diags, protocoltest.Error("Cannot list OAuth providers", "", "certificate required"))
	p := newProtocol(t, s, trust, object{"client_cert_file": certFile, "client_key_file": keyFile})
	_, diags = p.ReadData(oauthProviders, object{})
	p.ExpectNone(diags)

	t.Setenv("GRAPHDEPLOY_CLIENT_CERT_FILE", certFile)
	t.Setenv("GRAPHDEPLOY_CLIENT_KEY_FILE", keyFile)
	p = newProtocol(t, s, trust)
	_, diags = p.ReadData(oauthProviders, object{})
	p.ExpectNone(diags)
}

func TestProvider_unusableClientCertificateIsAnErrorAtItsAttribute(t *testing.T) {
	t.Parallel()
	_, certFile, keyFile := newCertificate(t, time.Now().Add(time.Hour))
	_, _, otherKey := newCertificate(t, time.Now().Add(time.Hour))
	_, expired, expiredKey := newCertificate(t, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	for name, c := range map[string]struct {
		cert, key any
		want      protocoltest.Message
	}{
		"no key":         {certFile, nil, protocoltest.Error("Missing client_key_file", "client_key_file", "together")},
		"no certificate": {nil, keyFile, protocoltest.Error("Missing client_cert_file", "client_cert_file", "together")},
		"mismatch": {certFile, otherKey, protocoltest.Error("Invalid client certificate", "client_cert_file", certFile,
			otherKey)},
		"no PEM": {writeFile(t, "x", []byte("x")), keyFile,
			protocoltest.Error("Invalid client certificate", "client_cert_file")},
		"unreadable": {"/missing/client.pem", keyFile,
			protocoltest.Error("Unreadable file", "client_cert_file", "/missing/client.pem")},
		"unreadable key": {certFile, "/missing/client.key",
			protocoltest.Error("Unreadable file", "client_key_file", "/missing/client.key")},
		"expired in 2020": {expired, expiredKey, protocoltest.Error("Expired client certificate", "client_cert_file", expired,
			"2020-01-01T00:00:00Z")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			protocoltest.Expect(t,
				unconfigured(t).Configure(object{"base_url": "https://deploy.example.com", "client_cert_file": c.cert,
					"client_key_file": c.key}), c.want)
		})
	}
}

// A configuration may create the service and its deployments together.
func TestProvider_unknownSettings(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	app := object{"name": "app", "source": "internal_docker", "secrets": object{"A": "planted"}}
	known := newProtocol(t, s)
	existing := known.MustApply(typeName, nil, app)
	s.ResetRequests()
	p := unconfigured(t)
	p.ExpectNone(p.Configure(object{"base_url": protocoltest.Unknown, "headers": object{"X": protocoltest.Unknown}}))
	needed := func(words ...string) protocoltest.Message {
		return protocoltest.Error("Provider configuration is unknown", "",
			append(words, "base_url, headers of the provider are known only after apply", "-refresh=false", "-target",
				"two configurations")...)
	}

	plan, diags := p.Plan(typeName, nil, object{"name": "new", "source": "internal_docker"})
	p.ExpectNone(diags)
	if plan == nil || p.Planned(plan)["id"] != protocoltest.Unknown {
		t.Error("a create is not planned")
	}
	plan, diags = p.Plan(typeName, existing, app)
	p.ExpectNone(diags)
	if plan == nil || plan.HasChanges {
		t.Error("the plan of a deployment that does not change is not empty")
	}
	_, diags = p.Plan(typeName, existing, nil)
	p.ExpectNone(diags)
	_, diags = p.Plan(typeName, existing,
		object{"name": "app", "source": "internal_docker", "source_config": object{"build_command": "make"}})
	protocoltest.Expect(t, diags, needed("Updating deployment"))
	_, diags = p.Read(existing)
	protocoltest.Expect(t, diags, needed("Reading deployment \"app\""))
	_, diags = p.Import(typeName, "app")
	protocoltest.Expect(t, diags, needed("Importing a deployment"))
	for typ, config := range map[string]object{
		"graphdeploy_deployment": {"name": "app"}, "graphdeploy_deployments": {}, oauthProviders: {},
		"graphdeploy_codehost_repos": {"integration_id": fakeserver.DemoIntegrationID},
		"graphdeploy_codehost_repo":  {"integration_id": fakeserver.DemoIntegrationID, "owner": "a", "name": "b"},
	} {
		_, diags = p.ReadData(typ, config)
		protocoltest.Expect(t, diags, needed("Reading a data source"))
	}

	p.DeferralAllowed = true
	p.ExpectNone(p.Configure(object{"base_url": protocoltest.Unknown}))
	read := p.ReadResponse(existing)
	p.ExpectNone(read.Diagnostics)
	if read.Deferred == nil || read.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
		t.Errorf("the read is not deferred: %v", read.Deferred)
	}
	plan, diags = p.Plan(typeName, existing,
		appConfig("internal_docker", object{"source_config": object{"build_command": "make"}}))
	p.ExpectNone(diags)
	if plan == nil || plan.Response.Deferred == nil ||
		plan.Response.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
		t.Error("the plan of an update is not deferred")
	}
	data, diags := p.ReadDataResponse(oauthProviders, object{})
	p.ExpectNone(diags)
	if data.Deferred == nil || data.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
		t.Errorf("the data source is not deferred: %v", data.Deferred)
	}
	imported, err := p.server.ImportResourceState(t.Context(),
		&tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: "app",
			ClientCapabilities: &tfprotov6.ImportResourceStateClientCapabilities{DeferralAllowed: true}})
	if err != nil {
		t.Fatal(err)
	}
	p.ExpectNone(imported.Diagnostics)
	if imported.Deferred == nil || imported.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
		t.Errorf("the import is not deferred: %v", imported.Deferred)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were sent, want none", n)
	}
}

// One configuration creates the service and a deployment in it.
func TestAccProvider_baseURLKnownOnlyAfterApply(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := "resource \"terraform_data\" \"service\" {\n  input = \"" + s.url +
		"\"\n}\nprovider \"graphdeploy\" {\n  base_url = terraform_data.service.output\n}\n" +
		deployment("app", "internal_docker")
	check(t, resource.TestStep{Config: config, Check: resource.TestCheckResourceAttr(this, "status", "READY")},
		planIsEmpty(config))
}

// An unknown documented_operations_only counts as false while planning.
func TestProvider_unknownDocumentedOperationsOnlyPlansAsFalse(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	app := object{"name": "app", "source": "internal_docker"}
	existing := newProtocol(t, s).MustApply(typeName, nil, app)
	p := unconfigured(t)
	p.ExpectNone(p.Configure(object{"base_url": s.url, "documented_operations_only": protocoltest.Unknown}))
	for what, config := range map[string]object{
		"update":  {"name": "app", "source": "internal_docker", "source_config": object{"build_command": "make"}},
		"destroy": nil,
	} {
		t.Run(what, func(t *testing.T) {
			plan, diags := p.Plan(typeName, existing, config)
			p.ExpectNone(diags)
			strict := newProtocol(t, s, object{"documented_operations_only": true})
			_, diags = strict.Apply(plan)
			if !diags.HasError() {
				t.Error("the apply was not rejected")
			}
		})
	}
}

// A failed read states what failed and what to do, and keeps the state.
func TestProvider_failedReadIsExplained(t *testing.T) {
	t.Parallel()
	const page = "<html><head><title>x</title></head><body><h1>Bad gateway</h1><script>evil()</script></body></html>"
	wrongMemory := `{"offset": 1, "resources": [{"id": "%s", "name": "app", "source": "codehost",
  "source_config": {"resource_spec": {"memory_mb": 0.5}}}]}`
	for name, c := range map[string]struct {
		fault fakeserver.Fault
		words []string
	}{
		"401": {fakeserver.Fault{Status: 401}, []string{"401 Unauthorized", "No credential was sent. Set api_key",
			"X-Api-Key"}},
		"403": {fakeserver.Fault{Status: 403}, []string{"403 Forbidden", "api_key"}},
		"404": {fakeserver.Fault{Status: 404}, []string{"404 Not Found", "Set base_url"}},
		"429": {fakeserver.Fault{Status: 429}, []string{"429 Too Many Requests", "max_retries"}},
		"500": {fakeserver.Fault{Status: 500, Body: `{"error": {"message": "the roof is on fire"}}`},
			[]string{"500 Internal Server Error", "the roof is on fire"}},
		"a request id": {fakeserver.Fault{Status: 500, Header: map[string][]string{"X-Request-Id": {"req-42"}}},
			[]string{"request id req-42"}},
		"HTML": {fakeserver.Fault{Status: 200, ContentType: "text/html", Body: page},
			[]string{"HTML page", "base_url"}},
		"an HTML error": {fakeserver.Fault{Status: 502, ContentType: "text/html", Body: page},
			[]string{"502 Bad Gateway", "HTML"}},
		"cut":          {fakeserver.Fault{Cut: true}, []string{"the connection was closed without a response"}},
		"truncated":    {fakeserver.Fault{Truncate: true}, []string{"cut short"}},
		"not JSON":     {fakeserver.Fault{Status: 200, Body: "hello"}, []string{"not JSON"}},
		"no resources": {fakeserver.Fault{Status: 200, Body: `{"offset": 0}`}, []string{"resources"}},
		"wrong shape":  {fakeserver.Fault{Status: 200, Body: `[]`}, []string{"cannot be used"}},
		"a fraction": {fakeserver.Fault{Status: 200, Body: wrongMemory},
			[]string{"resource_spec.memory_mb", "0.5", "integer"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s, object{"max_retries": 1})
			config := object{"name": "app", "source": "internal_docker"}
			r := p.MustApply(typeName, nil, config)
			id := s.stored(t)["id"].(string)
			c.fault.Body = regexp.MustCompile(`%s`).ReplaceAllString(c.fault.Body, id)
			s.Fail(fakeserver.ListDeployments, -1, c.fault)
			left, diags := p.Read(r)
			protocoltest.Expect(t, diags, protocoltest.Error(`Cannot read deployment "app" (`+id+`)`, "",
				append(c.words, "GET /v2/deployments")...))
			for _, hidden := range []string{"<", "evil", "Bad gateway"} {
				if regexp.MustCompile(hidden).MatchString(diags.String()) {
					t.Errorf("the message shows %q: %s", hidden, diags)
				}
			}
			if left == nil {
				t.Fatal("the deployment is no longer in the state")
			}
			s.ClearFaults()
			left, diags = p.Read(left)
			p.ExpectNone(diags)
			if plan, diags := p.Plan(typeName, left, config); len(diags) > 0 || plan.HasChanges {
				t.Errorf("the next plan is not empty: %s", diags)
			}
		})
	}
	t.Run("connection refused", func(t *testing.T) {
		t.Parallel()
		p := newProtocol(t, &service{url: "http://127.0.0.1:1"}, object{"max_retries": 0})
		_, diags := p.ReadData(oauthProviders, object{})
		protocoltest.Expect(t, diags, protocoltest.Error("Cannot list OAuth providers", "", "connection refused",
			"Check base_url (http://127.0.0.1:1)"))
	})
}
