package provider

import (
	"crypto/sha256"
	"crypto/tls"
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

// The environment variables for settings that the configuration omits.
const (
	envBaseURL        = "GRAPHDEPLOY_BASE_URL"
	envAPIKey         = "GRAPHDEPLOY_API_KEY"
	envAPIKeyHeader   = "GRAPHDEPLOY_API_KEY_HEADER"
	envHosting        = "GRAPHDEPLOY_HOSTING"
	envExtended       = "GRAPHDEPLOY_EXTENDED_OPERATIONS"
	envRequestTimeout = "GRAPHDEPLOY_REQUEST_TIMEOUT"
	envMaxRetries     = "GRAPHDEPLOY_MAX_RETRIES"
	envCACertFile     = "GRAPHDEPLOY_CA_CERT_FILE"
	envClientCertFile = "GRAPHDEPLOY_CLIENT_CERT_FILE"
	envClientKeyFile  = "GRAPHDEPLOY_CLIENT_KEY_FILE"
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

var hostings = []string{hostingCloud, hostingSelfHosted}

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
	ClientCertFile types.String `tfsdk:"client_cert_file"`
	ClientKeyFile  types.String `tfsdk:"client_key_file"`
}

// settings are the provider block, completed from the environment.
type settings struct {
	client       client.Config
	apiKeyHeader string
	hosting      string
	extended     bool
}

// unknown names the attributes that are known only after apply.
func (c providerConfig) unknown() (names []string) {
	all := map[string]attr.Value{
		"base_url": c.BaseURL, "api_key": c.APIKey, "api_key_header": c.APIKeyHeader, "headers": c.Headers, "hosting": c.Hosting,
		"extended_operations": c.Extended, "request_timeout": c.RequestTimeout, "max_retries": c.MaxRetries,
		"ca_cert_file": c.CACertFile, "client_cert_file": c.ClientCertFile, "client_key_file": c.ClientKeyFile,
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		unknown := all[name].IsUnknown()
		if values, ok := all[name].(types.Map); ok {
			for _, v := range values.Elements() {
				unknown = unknown || v.IsUnknown()
			}
		}
		if unknown {
			names = append(names, name)
		}
	}
	return names
}

// settings checks the provider block and completes it from the environment. An
// invalid value is an error at its attribute.
func (c providerConfig) settings(diags *diag.Diagnostics) settings {
	s := settings{
		apiKeyHeader: orEnv(c.APIKeyHeader, envAPIKeyHeader), hosting: orEnv(c.Hosting, envHosting), extended: c.extended(diags),
		client: client.Config{Header: c.header(diags), RequestTimeout: c.timeout(orEnv(c.RequestTimeout, envRequestTimeout), diags),
			MaxRetries: c.retries(diags)},
	}
	s.client.BaseURL = parseBaseURL(orEnv(c.BaseURL, envBaseURL), diags)
	c.checkOrigin(s.client.BaseURL, diags)
	if s.apiKeyHeader == "" {
		s.apiKeyHeader = defaultAPIKeyHeader
	}
	checkHeaderName(path.Root("api_key_header"), s.apiKeyHeader, diags)
	if key := orEnv(c.APIKey, envAPIKey); key != "" {
		checkHeaderValue(path.Root("api_key"), key, diags)
		if s.client.Header.Get(s.apiKeyHeader) != "" {
			diags.AddAttributeError(path.Root("headers"), "Duplicate header",
				fmt.Sprintf("Both api_key and headers set the header %s. Remove one of them, or set a different api_key_header.", s.apiKeyHeader))
		}
		s.client.Header.Set(s.apiKeyHeader, key)
	}
	if s.hosting != "" && !slices.Contains(hostings, s.hosting) {
		diags.AddAttributeError(path.Root("hosting"), "Invalid value",
			fmt.Sprintf("The environment variable %s must be one of: %s; got %q.", envHosting, strings.Join(hostings, ", "), s.hosting))
	}
	s.client.RootCAs = readCACertificates(orEnv(c.CACertFile, envCACertFile), diags)
	s.client.Certificates = readClientCertificate(orEnv(c.ClientCertFile, envClientCertFile), orEnv(c.ClientKeyFile, envClientKeyFile), diags)
	return s
}

// check reports what is wrong in the provider block alone, without the
// environment, as in terraform validate. It omits warnings, which settings reports:
// otherwise they would appear twice.
func (c providerConfig) check(diags *diag.Diagnostics) {
	var found diag.Diagnostics
	if isKnown(c.BaseURL) {
		parseBaseURL(c.BaseURL.ValueString(), &found)
	}
	if name := c.APIKeyHeader.ValueString(); name != "" {
		checkHeaderName(path.Root("api_key_header"), name, &found)
	}
	checkHeaderValue(path.Root("api_key"), c.APIKey.ValueString(), &found)
	c.header(&found)
	c.timeout(c.RequestTimeout.ValueString(), &found)
	diags.Append(found.Errors()...)
}

func isKnown(value attr.Value) bool { return !value.IsNull() && !value.IsUnknown() }

// orEnv is the value, or, if it is omitted, the environment variable.
func orEnv(value types.String, name string) string {
	if value.IsNull() {
		return os.Getenv(name)
	}
	return value.ValueString()
}

func (c providerConfig) extended(diags *diag.Diagnostics) bool {
	text := os.Getenv(envExtended)
	if !c.Extended.IsNull() || text == "" {
		return c.Extended.ValueBool()
	}
	extended, err := strconv.ParseBool(text)
	if err != nil {
		diags.AddAttributeError(path.Root("extended_operations"), "Invalid value",
			fmt.Sprintf("The environment variable %s must be true or false, got %q.", envExtended, text))
	}
	return extended
}

func (c providerConfig) retries(diags *diag.Diagnostics) int {
	text := os.Getenv(envMaxRetries)
	switch {
	case isKnown(c.MaxRetries):
		retries, _ := c.MaxRetries.ValueBigFloat().Int64()
		return int(retries)
	case !c.MaxRetries.IsNull() || text == "":
		return defaultMaxRetries
	}
	retries, err := strconv.Atoi(text)
	if err != nil || retries < 0 || retries > maxMaxRetries {
		diags.AddAttributeError(path.Root("max_retries"), "Invalid number",
			fmt.Sprintf("The environment variable %s must be an integer from 0 to %d, got %q.", envMaxRetries, maxMaxRetries, text))
	}
	return retries
}

// header is what headers sets.
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
		if _, duplicate := header[http.CanonicalHeaderKey(name)]; duplicate {
			diags.AddAttributeError(at, "Duplicate header", fmt.Sprintf("headers contains %s more than once. Header names are case-insensitive.",
				http.CanonicalHeaderKey(name)))
		}
		header.Set(name, text)
	}
	return header
}

func (c providerConfig) timeout(text string, diags *diag.Diagnostics) time.Duration {
	if text == "" && !isKnown(c.RequestTimeout) {
		return defaultRequestTimeout
	}
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout <= 0 {
		diags.AddAttributeError(path.Root("request_timeout"), "Invalid duration",
			fmt.Sprintf("request_timeout must be a duration above zero such as 45s or 2m, got %q.", text))
	}
	return timeout
}

const exampleBaseURL = "https://deployments.example.com"

func parseBaseURL(text string, diags *diag.Diagnostics) *url.URL {
	at := path.Root("base_url")
	if text == "" {
		diags.AddAttributeError(at, "Missing base_url", fmt.Sprintf("Set base_url in the provider block, or the environment variable %s, to "+
			"the root URL of the API, such as %s.", envBaseURL, exampleBaseURL))
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		diags.AddAttributeError(at, "Invalid base_url", fmt.Sprintf("base_url must be an absolute http or https URL such as %s. The value can "+
			"also come from the environment variable %s.", exampleBaseURL, envBaseURL))
		return nil
	case u.User != nil:
		diags.AddAttributeError(at, "Credential in base_url", "base_url must not contain a user name or a password, because messages and logs "+
			"show the URL. Use api_key instead. If the service expects the credential in the header Authorization, also set api_key_header = "+
			"\"Authorization\".")
		return nil
	case u.RawQuery != "" || u.Fragment != "":
		diags.AddAttributeError(at, "Invalid base_url", "base_url must not contain a query (?) or a fragment (#).")
		return nil
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		diags.AddAttributeWarning(at, "Unencrypted connection", fmt.Sprintf("Requests to %s use plain http: the credential and the secrets of "+
			"deployments travel unencrypted. Use https in base_url.", u.Host))
	}
	return u
}

// checkOrigin rejects a base_url that would send the credential of the
// environment to another service than the one that the environment names.
func (c providerConfig) checkOrigin(u *url.URL, diags *diag.Diagnostics) {
	other, err := url.Parse(os.Getenv(envBaseURL))
	if u == nil || err != nil || other.Host == "" || os.Getenv(envAPIKey) == "" || !c.APIKey.IsNull() || !isKnown(c.BaseURL) {
		return
	}
	if client.Origin(u) != client.Origin(other) {
		diags.AddAttributeError(path.Root("base_url"), "Credential of another service", fmt.Sprintf(
			"base_url (%s) and the environment variable %s (%s) point to different services, and the credential in %s belongs to the latter. Set "+
				"api_key in the provider block, or use the same base_url as the environment.",
			client.Origin(u), envBaseURL, client.Origin(other), envAPIKey))
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

var (
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	// reservedHeaders are those that the provider sets, and those that would
	// change what a request or its response means.
	reservedHeaders = []string{"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect",
		"Host",
		"Keep-Alive", "Proxy-Connection", "Range", "If-Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override"}
)

// checkHeaderName rejects the name of a header that HTTP cannot carry or that is
// reserved.
func checkHeaderName(at path.Path, name string, diags *diag.Diagnostics) (ok bool) {
	switch {
	case !headerName.MatchString(name):
		diags.AddAttributeError(at, "Invalid header name", fmt.Sprintf("%q is not a valid HTTP header name. Use letters, digits and dashes.",
			name))
	case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)):
		diags.AddAttributeError(at, "Reserved header", fmt.Sprintf("The header %s is reserved: the provider sets it, or it would change the "+
			"meaning of requests.", http.CanonicalHeaderKey(name)))
	default:
		return true
	}
	return false
}

// checkHeaderValue rejects a value that HTTP cannot carry, without showing it.
func checkHeaderValue(at path.Path, value string, diags *diag.Diagnostics) {
	if !headerValue.MatchString(value) {
		diags.AddAttributeError(at, "Invalid header value", fmt.Sprintf("%s must not contain a line break or another control character. A "+
			"trailing line break often comes from a file. Remove it with trimspace().", at))
	}
}

// readFile reads a file that an attribute names.
func readFile(at path.Path, file string, diags *diag.Diagnostics) []byte {
	content, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		diags.AddAttributeError(at, "Unreadable file", fmt.Sprintf("%s cannot be read: %s. Relative paths are resolved from the working "+
			"directory.", at, err))
	}
	return content
}

// readCACertificates are the system's certificate authorities and those of a
// file; nil (the system's) if there is no file.
func readCACertificates(file string, diags *diag.Diagnostics) *x509.CertPool {
	if file == "" {
		return nil
	}
	at := path.Root("ca_cert_file")
	pem := readFile(at, file, diags)
	if pem == nil {
		return nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		diags.AddAttributeError(at, "Invalid certificate file", fmt.Sprintf("ca_cert_file (%s) contains no PEM certificate (-----BEGIN "+
			"CERTIFICATE-----).", file))
	}
	return roots
}

// readClientCertificate is the certificate for mutual TLS; nil if there is none.
func readClientCertificate(certFile, keyFile string, diags *diag.Diagnostics) []tls.Certificate {
	certAt, keyAt := path.Root("client_cert_file"), path.Root("client_key_file")
	switch {
	case certFile == "" && keyFile == "":
		return nil
	case keyFile == "":
		diags.AddAttributeError(keyAt, "Missing client_key_file", "client_cert_file and client_key_file must be set together.")
		return nil
	case certFile == "":
		diags.AddAttributeError(certAt, "Missing client_cert_file", "client_cert_file and client_key_file must be set together.")
		return nil
	}
	cert, key := readFile(certAt, certFile, diags), readFile(keyAt, keyFile, diags)
	if cert == nil || key == nil {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		diags.AddAttributeError(certAt, "Invalid client certificate", fmt.Sprintf("client_cert_file (%s) and client_key_file (%s) must be a "+
			"PEM certificate and its private key: %s.", certFile, keyFile, err))
		return nil
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) {
		diags.AddAttributeError(certAt, "Expired client certificate", fmt.Sprintf("The certificate in client_cert_file (%s) expired on %s.",
			certFile, pair.Leaf.NotAfter.UTC().Format(time.RFC3339)))
	}
	return []tls.Certificate{pair}
}

// access is how the service is reached, for messages: nothing of it is secret.
type access struct {
	baseURL      string
	apiKeyHeader string
	hasKey       bool
	bareKey      bool // one word, without a scheme before it
}

func (s settings) access() access {
	key := s.client.Header.Get(s.apiKeyHeader)
	return access{baseURL: s.client.BaseURL.String(), apiKeyHeader: s.apiKeyHeader, hasKey: key != "", bareKey: !strings.Contains(key, " ")}
}

// credentialKey keys the digests of secrets: whoever has the state alone cannot
// guess a short secret from its digest.
func (s settings) credentialKey() []byte {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.client.Header)) {
		_, _ = fmt.Fprintf(sum, "%q:%q\n", name, s.client.Header[name])
	}
	return sum.Sum(nil)
}
