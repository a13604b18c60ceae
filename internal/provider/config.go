package provider

import (
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// The environment variables that stand in for settings left out.
const (
	envBaseURL      = "GRAPHDEPLOY_BASE_URL"
	envAPIKey       = "GRAPHDEPLOY_API_KEY"
	envAPIKeyHeader = "GRAPHDEPLOY_API_KEY_HEADER"
	envHosting      = "GRAPHDEPLOY_HOSTING"
	envExtended     = "GRAPHDEPLOY_EXTENDED_OPERATIONS"
)

const (
	defaultAPIKeyHeader   = "X-Api-Key"
	defaultRequestTimeout = 30 * time.Second
	defaultMaxRetries     = 4
	maxMaxRetries         = 100
)

// The ways in which the service is hosted.
const (
	hostingCloud      = "cloud"
	hostingSelfHosted = "self_hosted"
)

var (
	hostings     = []string{hostingCloud, hostingSelfHosted}
	hostingWords = map[string]string{hostingCloud: "cloud only", hostingSelfHosted: "self-hosted only"}
)

// providerConfig is the provider block.
type providerConfig struct {
	BaseURL        types.String `tfsdk:"base_url"`
	APIKey         types.String `tfsdk:"api_key"`
	APIKeyHeader   types.String `tfsdk:"api_key_header"`
	Headers        types.Map    `tfsdk:"headers"`
	Hosting        types.String `tfsdk:"hosting"`
	Extended       types.Bool   `tfsdk:"extended_operations"`
	RequestTimeout types.String `tfsdk:"request_timeout"`
	MaxRetries     types.Number `tfsdk:"max_retries"`
	CACertFile     types.String `tfsdk:"ca_cert_file"`
}

// settings are what the provider block and the environment come to.
type settings struct {
	baseURL        *url.URL
	apiKeyHeader   string
	header         http.Header
	hosting        string
	extended       bool
	requestTimeout time.Duration
	maxRetries     int
	roots          *x509.CertPool
}

// settings checks the provider block and completes it from the environment.
// Each mistake is told at its attribute.
func (c providerConfig) settings(diags *diag.Diagnostics) settings {
	c.refuseUnknown(diags)
	if diags.HasError() {
		return settings{}
	}
	s := settings{requestTimeout: c.timeout(diags), maxRetries: defaultMaxRetries}
	s.baseURL = parseBaseURL(orEnv(c.BaseURL, envBaseURL), diags)

	s.apiKeyHeader = orEnv(c.APIKeyHeader, envAPIKeyHeader)
	if s.apiKeyHeader == "" {
		s.apiKeyHeader = defaultAPIKeyHeader
	}
	checkHeaderName(path.Root("api_key_header"), s.apiKeyHeader, diags)
	s.header = c.header(diags)
	if key := orEnv(c.APIKey, envAPIKey); key != "" {
		checkHeaderValue(path.Root("api_key"), key, diags)
		if s.header.Get(s.apiKeyHeader) != "" {
			diags.AddAttributeError(path.Root("headers"), "Header given twice", fmt.Sprintf("The header %s carries api_key and stands in headers too. Keep one of them, or choose another api_key_header.", s.apiKeyHeader))
		}
		s.header.Set(s.apiKeyHeader, key)
	}

	s.hosting = orEnv(c.Hosting, envHosting)
	if s.hosting != "" && !slices.Contains(hostings, s.hosting) {
		diags.AddAttributeError(path.Root("hosting"), "Unknown hosting", fmt.Sprintf("The environment variable %s is %q. Set it to %s, or unset it.", envHosting, s.hosting, strings.Join(hostings, " or ")))
	}
	s.extended = c.Extended.ValueBool()
	if text := os.Getenv(envExtended); c.Extended.IsNull() && text != "" {
		extended, err := strconv.ParseBool(text)
		if err != nil {
			diags.AddAttributeError(path.Root("extended_operations"), "Not a boolean", fmt.Sprintf("The environment variable %s is %q. Set it to true or false, or unset it.", envExtended, text))
		}
		s.extended = extended
	}
	if !c.MaxRetries.IsNull() {
		retries, _ := c.MaxRetries.ValueBigFloat().Int64()
		s.maxRetries = int(retries)
	}
	s.roots = readRoots(c.CACertFile.ValueString(), diags)
	return s
}

// check tells of mistakes that can be seen in the provider block alone, before
// there is an environment to complete it from, as in terraform validate. What is
// only a warning is left for later, as it would come twice.
func (c providerConfig) check(diags *diag.Diagnostics) {
	var found diag.Diagnostics
	if isWritten(c.BaseURL) {
		parseBaseURL(c.BaseURL.ValueString(), &found)
	}
	if name := c.APIKeyHeader.ValueString(); name != "" {
		checkHeaderName(path.Root("api_key_header"), name, &found)
	}
	checkHeaderValue(path.Root("api_key"), c.APIKey.ValueString(), &found)
	c.header(&found)
	c.timeout(&found)
	diags.Append(found.Errors()...)
}

// isWritten reports whether the configuration has a value that is known.
func isWritten(value attr.Value) bool { return !value.IsNull() && !value.IsUnknown() }

// header is what headers says.
func (c providerConfig) header(diags *diag.Diagnostics) http.Header {
	header, headers := http.Header{}, c.Headers.Elements()
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		var text string
		if s, ok := headers[name].(types.String); ok {
			text = s.ValueString()
		}
		at := path.Root("headers").AtMapKey(name)
		if checkHeaderName(at, name, diags) {
			checkHeaderValue(at, text, diags)
		}
		if _, twice := header[http.CanonicalHeaderKey(name)]; twice {
			diags.AddAttributeError(at, "Header given twice", fmt.Sprintf("%s names a header that headers has already, in other upper and lower case. Keep one of them.", at))
		}
		header.Set(name, text)
	}
	return header
}

// timeout is what request_timeout says.
func (c providerConfig) timeout(diags *diag.Diagnostics) time.Duration {
	if !isWritten(c.RequestTimeout) {
		return defaultRequestTimeout
	}
	timeout, err := time.ParseDuration(c.RequestTimeout.ValueString())
	if err != nil || timeout <= 0 {
		diags.AddAttributeError(path.Root("request_timeout"), "Not a duration", fmt.Sprintf("request_timeout is %q, which is not a length of time above zero. Write a number and a unit, such as 45s or 2m.", c.RequestTimeout.ValueString()))
	}
	return timeout
}

// refuseUnknown refuses values that are known only after apply: the provider
// needs them to plan.
func (c providerConfig) refuseUnknown(diags *diag.Diagnostics) {
	all := map[string]attr.Value{
		"base_url": c.BaseURL, "api_key": c.APIKey, "api_key_header": c.APIKeyHeader, "headers": c.Headers,
		"hosting": c.Hosting, "extended_operations": c.Extended, "request_timeout": c.RequestTimeout, "max_retries": c.MaxRetries, "ca_cert_file": c.CACertFile,
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		unknown := all[name].IsUnknown()
		if values, ok := all[name].(types.Map); ok {
			for _, v := range values.Elements() {
				unknown = unknown || v.IsUnknown()
			}
		}
		if unknown {
			diags.AddAttributeError(path.Root(name), "Value not known yet",
				fmt.Sprintf("The value of %s is known only after apply, but the provider needs it to plan. Use a value that does not come from a resource of this run, or create that resource first, with -target.", name))
		}
	}
}

// orEnv is the value, or, where it is left out, the environment variable.
func orEnv(value types.String, name string) string {
	if value.IsNull() {
		return os.Getenv(name)
	}
	return value.ValueString()
}

func parseBaseURL(text string, diags *diag.Diagnostics) *url.URL {
	at := path.Root("base_url")
	if text == "" {
		diags.AddAttributeError(at, "No base_url", fmt.Sprintf("Set base_url in the provider block, or the environment variable %s, to the root of the service, such as https://deployments.example.com.", envBaseURL))
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		diags.AddAttributeError(at, "Not a base_url", "base_url is not an absolute http or https URL. Write one such as https://deployments.example.com, or check "+envBaseURL+", if it comes from there.")
		return nil
	case u.User != nil:
		diags.AddAttributeError(at, "Credential in base_url", "base_url has a user or a password in it, which messages and logs would show. Take it out, and use api_key, with api_key_header = \"Authorization\" if the service wants it there.")
		return nil
	case u.RawQuery != "" || u.Fragment != "":
		diags.AddAttributeError(at, "Not a base_url", "base_url has a query (?) or a fragment (#). Take it off: base_url ends with the path below which the service lives.")
		return nil
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		diags.AddAttributeWarning(at, "Credential in the clear", fmt.Sprintf("Requests to %s go over plain http: whoever is on the way can read the credential, if there is one, and the secrets of deployments. Use https in base_url.", u.Host))
	}
	return u
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

var (
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	ownHeaders  = []string{"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Transfer-Encoding", "User-Agent"}
)

// checkHeaderName refuses the name of a header that HTTP cannot carry or that
// the provider sets itself.
func checkHeaderName(at path.Path, name string, diags *diag.Diagnostics) (ok bool) {
	switch {
	case !headerName.MatchString(name):
		diags.AddAttributeError(at, "Not a header name", fmt.Sprintf("%q cannot be the name of an HTTP header. Use letters, digits and dashes.", name))
	case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
		diags.AddAttributeError(at, "Header of the provider", fmt.Sprintf("The provider sets the header %s itself. Take it out, or name another.", http.CanonicalHeaderKey(name)))
	default:
		return true
	}
	return false
}

// checkHeaderValue refuses a value that HTTP cannot carry, without showing it.
func checkHeaderValue(at path.Path, value string, diags *diag.Diagnostics) {
	if !headerValue.MatchString(value) {
		diags.AddAttributeError(at, "Not a header value", fmt.Sprintf("The value of %s has a line break or another control character, which HTTP cannot carry. A line break at the end often comes from a file: trimspace() takes it off.", at))
	}
}

// readRoots are the system's certificate authorities and those of a file; nil
// (the system's) when there is no file.
func readRoots(file string, diags *diag.Diagnostics) *x509.CertPool {
	if file == "" {
		return nil
	}
	at := path.Root("ca_cert_file")
	pem, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		diags.AddAttributeError(at, "Cannot read ca_cert_file", fmt.Sprintf("The file cannot be read (%s). Check the path; one that is not absolute begins where Terraform runs.", err))
		return nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		diags.AddAttributeError(at, "No certificate in ca_cert_file", fmt.Sprintf("The file %s holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----. Name the file of the certificate authority.", file))
	}
	return roots
}

func (s settings) clientConfig() client.Config {
	return client.Config{
		BaseURL: s.baseURL, Header: s.header, RequestTimeout: s.requestTimeout, MaxRetries: s.maxRetries, RootCAs: s.roots,
	}
}

// access says how the service is reached, for messages: nothing of it is
// secret.
type access struct {
	baseURL      string
	apiKeyHeader string
	hasKey       bool
	bareKey      bool // one word, without a scheme before it
}

func (s settings) access() access {
	key := s.header.Get(s.apiKeyHeader)
	return access{baseURL: s.baseURL.String(), apiKeyHeader: s.apiKeyHeader, hasKey: key != "", bareKey: !strings.Contains(key, " ")}
}
