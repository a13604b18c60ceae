package provider_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

const anyDataSource = "\ndata \"graphdeploy_oauth_providers\" \"this\" {}\n"

func TestAccProviderSettingsAreChecked(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for settings, want := range map[string]string{
		``:                               `No base_url`,
		`base_url = ""`:                  `No base_url`,
		`base_url = "example.com"`:       `Not a base_url`,
		`base_url = "ftp://example.com"`: `Not a base_url`,
		`base_url = "https://"`:          `Not a base_url`,
		`base_url = "https://a.example.com/?x=1"`:          `(?s)Not a base_url.*query`,
		`base_url = "https://me:planted@a.test/"`:          `Credential in base_url`,
		`base_url = terraform_data.late.output`:            `(?s)Value not known yet.*base_url`,
		`api_key = terraform_data.late.output`:             `(?s)Value not known yet.*api_key`,
		`headers = { X = terraform_data.late.id }`:         `(?s)Value not known yet.*headers`,
		`hosting = "moon"`:                                 `hosting is "moon"`,
		`request_timeout = "soon"`:                         `Not a duration`,
		`request_timeout = "0s"`:                           `Not a duration`,
		`request_timeout = "-1s"`:                          `Not a duration`,
		`max_retries = -1`:                                 `max_retries is (-1|101)\. It can be from 0 to 100`,
		`max_retries = 1.5`:                                `max_retries is 1.5`,
		`max_retries = 101`:                                `max_retries is (-1|101)\. It can be from 0 to 100`,
		`ca_cert_file = "/does/not/exist.pem"`:             `Cannot read ca_cert_file`,
		`ca_cert_file = "` + empty + `"`:                   `No certificate in ca_cert_file`,
		`api_key_header = "X Y"`:                           `Not a header name`,
		`api_key_header = "Content-Type"`:                  `Header of the provider`,
		`api_key = "planted\n"`:                            `(?s)Not a header value.*trimspace`,
		`headers = { "Bad Name" = "x" }`:                   `Not a header name`,
		`headers = { X = "a\r\nb" }`:                       `Not a header value`,
		`headers = { X = null }`:                           `(?i)null`,
		`headers = { X-A = "1", x-a = "2" }`:               `Header given twice`,
		"headers = { X-Api-Key = \"1\" }\napi_key = \"2\"": `Header given twice`,
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			if settings != "" && !regexp.MustCompile(`^base_url`).MatchString(settings) {
				settings = "base_url = \"http://127.0.0.1:1\"\n" + settings
			}
			check(t, resource.TestStep{
				Config:      "resource \"terraform_data\" \"late\" {\n  input = timestamp()\n}\nprovider \"graphdeploy\" {\n" + settings + "\n}" + anyDataSource,
				ExpectError: regexp.MustCompile(want),
			})
		})
	}
}

// What the provider block itself has wrong is told by terraform validate, which
// knows no environment and no file of another machine.
func TestAccProviderSettingsAreValidated(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	w := newWorkspace(t, built)
	const late = "resource \"terraform_data\" \"late\" {}\n" + anyDataSource
	for _, fine := range []string{
		``,
		`base_url = "http://plain.example.com"`,
		`base_url = terraform_data.late.id` + "\n" + `headers = { X = terraform_data.late.id }` + "\n" + `request_timeout = terraform_data.late.id`,
		`ca_cert_file = "/on/another/machine.pem"`,
		`api_key_header = ""`,
	} {
		w.configure("provider \"graphdeploy\" {\n"+fine+"\n}\n", late)
		if out := w.succeed("validate"); strings.Contains(out, "in the clear") {
			t.Errorf("%s: %s", fine, out)
		}
	}
	for mistake, want := range map[string]string{
		`base_url = "example.com"`:                 `Not a base_url`,
		`api_key = "planted\n"`:                    `Not a header value`,
		`api_key_header = "X Y"`:                   `Not a header name`,
		`headers = { X-A = "1", x-a = "2" }`:       `Header given twice`,
		`request_timeout = "soon"`:                 `Not a duration`,
		`max_retries = 101`:                        `max_retries is 101`,
		`headers = { X = "${"a"}\r\nb", Y = "c" }`: `Not a header value`,
	} {
		w.configure("provider \"graphdeploy\" {\n"+mistake+"\n}\n", late)
		w.refuse(want, "validate")
	}
}

func TestAccProviderSendsWhatIsConfigured(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{PathPrefix: "/api/host", CredentialHeader: "Authorization", Credential: "Bearer planted"})
	s.url += "///"
	check(t, resource.TestStep{Config: s.provider(`
  api_key        = "Bearer planted"
  api_key_header = "authorization"
  headers        = { "x-tenant" = "acme" }`) + anyDataSource})
	for _, r := range s.Requests() {
		if got := r.Header.Get("X-Tenant"); got != "acme" {
			t.Errorf("X-Tenant is %q", got)
		}
		if got := r.Header.Get("User-Agent"); !regexp.MustCompile(`^terraform-provider-graphdeploy/test Terraform/\d+\.\d+`).MatchString(got) {
			t.Errorf("User-Agent is %q", got)
		}
		if r.Path != "/api/host/v2/auth/providers" {
			t.Errorf("path is %q", r.Path)
		}
	}
}

func TestAccProviderReadsTheEnvironment(t *testing.T) {
	s := newService(t, fakeserver.Options{CredentialHeader: "X-Key", Credential: "planted"})
	t.Setenv("GRAPHDEPLOY_BASE_URL", s.url)
	t.Setenv("GRAPHDEPLOY_API_KEY", "planted")
	t.Setenv("GRAPHDEPLOY_API_KEY_HEADER", "X-Key")
	t.Setenv("GRAPHDEPLOY_HOSTING", "self_hosted")
	check(t,
		resource.TestStep{Config: anyDataSource},
		resource.TestStep{Config: deployment("app", "codehost"), ExpectError: regexp.MustCompile(`Source not available here`)},
		// What is written beats the environment.
		resource.TestStep{Config: "provider \"graphdeploy\" {\n  hosting = \"cloud\"\n}" + deployment("app", "codehost")},
		resource.TestStep{Config: "provider \"graphdeploy\" {\n  api_key = \"wrong\"\n}" + anyDataSource + deployment("app", "codehost"), ExpectError: regexp.MustCompile(`(?s)401.*api_key`)},
	)
	t.Setenv("GRAPHDEPLOY_HOSTING", "moon")
	check(t, resource.TestStep{Config: anyDataSource, ExpectError: regexp.MustCompile(`GRAPHDEPLOY_HOSTING is "moon"`)})
}

func TestAccProviderTrustsACertificateFile(t *testing.T) {
	t.Parallel()
	fake := fakeserver.New(fakeserver.Options{})
	server := httptest.NewTLSServer(fake)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &service{Server: fake, url: server.URL}
	check(t,
		resource.TestStep{Config: s.provider() + anyDataSource, ExpectError: regexp.MustCompile(`(?s)certificate`)},
		resource.TestStep{Config: s.provider(`ca_cert_file = "`+file+`"`) + anyDataSource},
	)
}

// A service that cannot be used is told about in plain words, and no state is
// lost to it.
func TestAccServiceThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault fakeserver.Fault
		want  string
	}{
		"wrong key":      {fakeserver.Fault{Status: 401}, `(?s)401 Unauthorized.*No credential was sent\. Set api_key.*X-Api-Key`},
		"forbidden":      {fakeserver.Fault{Status: 403}, `(?s)403 Forbidden.*api_key`},
		"not there":      {fakeserver.Fault{Status: 404}, `(?s)404 Not Found.*base_url`},
		"too many":       {fakeserver.Fault{Status: 429}, `(?s)429 Too Many Requests.*max_retries`},
		"fault":          {fakeserver.Fault{Status: 500, Body: `{"error": {"message": "the roof is on fire"}}`}, `(?s)500 Internal Server Error.*the roof is on fire`},
		"HTML":           {fakeserver.Fault{Status: 200, ContentType: "text/html", Body: "<html><body><h1>Hello</h1></body></html>"}, `(?s)HTML page.*base_url`},
		"HTML error":     {fakeserver.Fault{Status: 502, ContentType: "text/html", Body: "<html><head><title>x</title></head><body><h1>Bad gateway</h1><script>evil()</script></body></html>"}, `(?s)502 Bad Gateway.*Bad gateway`},
		"cut":            {fakeserver.Fault{Cut: true}, `(?s)GET.*/v2/deployments`},
		"truncated":      {fakeserver.Fault{Truncate: true}, `(?s)cut short`},
		"not JSON":       {fakeserver.Fault{Status: 200, Body: "hello"}, `(?s)not JSON`},
		"no resources":   {fakeserver.Fault{Status: 200, Body: `{"offset": 0}`}, `(?s)resources`},
		"wrong shape":    {fakeserver.Fault{Status: 200, Body: `[]`}, `(?s)cannot be used`},
		"fraction of MB": {fakeserver.Fault{Status: 200, Body: `{"offset":1,"resources":[{"id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee","name":"app","source":"codehost","source_config":{"resource_spec":{"memory_mb":0.5}}}]}`}, `(?s)resource_spec\.memory_mb.*0\.5.*whole\s+number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			config := s.provider(`max_retries = 1`) + deployment("app", "internal_docker")
			healed := planIsEmpty(config)
			healed.PreConfig = s.ClearFaults
			check(t,
				resource.TestStep{Config: config},
				resource.TestStep{PreConfig: func() { s.Fail(fakeserver.ListDeployments, -1, c.fault) }, Config: config, ExpectError: regexp.MustCompile(strings.ReplaceAll(c.want, " ", `\s+`))},
				healed,
			)
			s.stored(t)
		})
	}
	t.Run("down", func(t *testing.T) {
		t.Parallel()
		check(t, resource.TestStep{Config: "provider \"graphdeploy\" {\n  base_url = \"http://127.0.0.1:1\"\n}" + anyDataSource,
			ExpectError: regexp.MustCompile(`(?s)connection refused.*Check base_url`)})
	})
}
