package provider

import (
	"cmp"
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

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
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
type providerConfig struct{ attributes }

// variable is the environment variable for an attribute that the configuration omits.
func variable(attribute string) string { return "GRAPHDEPLOY_" + strings.ToUpper(attribute) }

// setting is the text of an attribute, or, if it is omitted, of its environment variable.
func (c providerConfig) setting(name string) string {
	if c.attributes[name].IsNull() {
		return os.Getenv(variable(name))
	}
	return c.text(name)
}

// unknown names the attributes that are known only after apply, except documented_operations_only, which counts as false then.
func (c providerConfig) unknown() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.attributes)) {
		if !c.attributes[name].IsFullyKnown() && name != "documented_operations_only" {
			names = append(names, name)
		}
	}
	return names
}

// client checks the provider block and completes it from the environment. An invalid value is an error at its attribute.
func (c providerConfig) client(r report) (config client.Config, a access) {
	config = client.Config{BaseURL: parseBaseURL(c.setting("base_url"), r), Header: c.header(r), RequestTimeout: c.timeout(r),
		MaxRetries: c.retries(r)}
	c.checkOrigin(config.BaseURL, r)
	name, key := cmp.Or(c.setting("api_key_header"), defaultAPIKeyHeader), c.setting("api_key")
	checkHeaderName(path.Root("api_key_header"), name, r)
	if key != "" {
		checkHeaderValue(path.Root("api_key"), key, r)
		if config.Header.Get(name) != "" {
			r.errorf(path.Root("headers"), "Duplicate header",
				"Both api_key and headers set the header %s. Remove one of them, or set a different api_key_header.", name)
		}
		config.Header.Set(name, key)
	}
	config.RootCAs = readCACertificates(c.setting("ca_cert_file"), r)
	config.Certificates = readClientCertificate(c.setting("client_cert_file"), c.setting("client_key_file"), r)
	key = config.Header.Get(name)
	return config, access{baseURL: fmt.Sprint(config.BaseURL), apiKeyHeader: name, hasKey: key != "", bareKey: !strings.Contains(key, " ")}
}

// hosting is where the service runs; "" if that is not set.
func (c providerConfig) hosting(r report) string {
	hosting := c.setting("hosting")
	if hosting != "" && !slices.Contains(hostings, hosting) {
		addInvalidVariable(r, "hosting", "one of: "+strings.Join(hostings, ", "))
	}
	return hosting
}

// addInvalidVariable reports the value of an environment variable. Those of attributes are validated by the schema.
func addInvalidVariable(r report, attribute, want string) {
	r.errorf(path.Root(attribute), "Invalid value",
		"The environment variable %s must be %s; got %q.", variable(attribute), want, os.Getenv(variable(attribute)))
}

// check reports what is wrong in the provider block alone, without the environment, as in terraform validate. It omits
// warnings, which settings reports: otherwise they would appear twice.
func (c providerConfig) check(r report) {
	var found diag.Diagnostics
	collected := r.report(&found)
	if url := c.attributes["base_url"]; url.IsKnown() && !url.IsNull() {
		parseBaseURL(c.text("base_url"), collected)
	}
	if name := c.text("api_key_header"); name != "" {
		checkHeaderName(path.Root("api_key_header"), name, collected)
	}
	checkHeaderValue(path.Root("api_key"), c.text("api_key"), collected)
	c.header(collected)
	if limit := c.attributes["request_timeout"]; limit.IsKnown() && !limit.IsNull() {
		c.timeout(collected)
	}
	r.diags.Append(found.Errors()...)
}

// documentedOnly is documented_operations_only; false if it is unknown.
func (c providerConfig) documentedOnly(r report) (only bool) {
	const name = "documented_operations_only"
	if value := c.attributes[name]; !value.IsNull() {
		if value.IsKnown() {
			_ = value.As(&only)
		}
		return only
	}
	if text := c.setting(name); text != "" {
		var err error
		if only, err = strconv.ParseBool(text); err != nil {
			addInvalidVariable(r, name, "true or false")
		}
	}
	return only
}

func (c providerConfig) retries(r report) int {
	text := os.Getenv(variable("max_retries"))
	if !c.attributes["max_retries"].IsNull() || text == "" {
		return int(c.integer("max_retries", defaultMaxRetries))
	}
	retries, err := strconv.Atoi(text)
	if err != nil || retries < 0 || retries > maxMaxRetries {
		addInvalidVariable(r, "max_retries", fmt.Sprintf("an integer from 0 to %d", maxMaxRetries))
	}
	return retries
}

// header is what headers sets.
func (c providerConfig) header(r report) http.Header {
	header, headers := http.Header{}, attributesOf(c.attributes["headers"])
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at, canonical := path.Root("headers").AtMapKey(name), http.CanonicalHeaderKey(name)
		if checkHeaderName(at, name, r) {
			checkHeaderValue(at, headers.text(name), r)
		}
		if _, duplicate := header[canonical]; duplicate {
			r.errorf(at, "Duplicate header", "headers contains %s more than once. Header names are case-insensitive.",
				canonical)
		}
		header.Set(name, headers.text(name))
	}
	return header
}

func (c providerConfig) timeout(r report) time.Duration {
	text := c.setting("request_timeout")
	if text == "" && c.attributes["request_timeout"].IsNull() {
		return defaultRequestTimeout
	}
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout <= 0 {
		r.errorf(path.Root("request_timeout"), "Invalid duration",
			"request_timeout must be a duration above zero such as 45s or 2m, got %q.", text)
	}
	return timeout
}

const exampleBaseURL = "https://deployments.example.com"

func parseBaseURL(text string, r report) *url.URL {
	at := path.Root("base_url")
	if text == "" {
		r.errorf(at, "Missing base_url", "Set base_url in the provider block, or the environment variable %s, to "+
			"the root URL of the API, such as %s.", variable("base_url"), exampleBaseURL)
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		r.errorf(at, "Invalid base_url", "base_url must be an absolute http or https URL such as %s. The value can "+
			"also come from the environment variable %s.", exampleBaseURL, variable("base_url"))
		return nil
	case u.User != nil:
		r.errorf(at, "Credential in base_url", "base_url must not contain a user name or a password, because messages and logs "+
			"show the URL. Use api_key instead. If the service expects the credential in the header Authorization, also set api_key_header = "+
			"\"Authorization\".")
		return nil
	case u.RawQuery != "" || u.Fragment != "":
		r.errorf(at, "Invalid base_url", "base_url must not contain a query (?) or a fragment (#).")
		return nil
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		r.warnf(at, "Unencrypted connection", "Requests to %s use plain http: the credential and the secrets of "+
			"deployments travel unencrypted. Use https in base_url.", u.Host)
	}
	return u
}

// checkOrigin rejects a base_url that would send the credential of the environment to another service than the one that the
// environment names.
func (c providerConfig) checkOrigin(u *url.URL, r report) {
	other, err := url.Parse(os.Getenv(variable("base_url")))
	if u == nil || err != nil || other.Host == "" || os.Getenv(variable("api_key")) == "" || !c.attributes["api_key"].IsNull() ||
		c.attributes["base_url"].IsNull() {
		return
	}
	if client.Origin(u) != client.Origin(other) {
		r.errorf(path.Root("base_url"), "Credential of another service",
			"base_url (%s) and the environment variable %s (%s) point to different services, and the credential in %s belongs to the latter. Set "+
				"api_key in the provider block, or use the same base_url as the environment.",
			client.Origin(u), variable("base_url"), client.Origin(other), variable("api_key"))
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

var (
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	// reservedHeaders are those that the provider sets, and those that would change what a request or its response means.
	reservedHeaders = []string{"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect",
		"Host",
		"Keep-Alive", "Proxy-Connection", "Range", "If-Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override"}
)

// checkHeaderName rejects the name of a header that HTTP cannot carry or that is reserved.
func checkHeaderName(at path.Path, name string, r report) (ok bool) {
	switch {
	case !headerName.MatchString(name):
		r.errorf(at, "Invalid header name", "%q is not a valid HTTP header name. Use letters, digits and dashes.",
			name)
	case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)):
		r.errorf(at, "Reserved header", "The header %s is reserved: the provider sets it, or it would change the "+
			"meaning of requests.", http.CanonicalHeaderKey(name))
	default:
		return true
	}
	return false
}

// checkHeaderValue rejects a value that HTTP cannot carry, without showing it.
func checkHeaderValue(at path.Path, value string, r report) {
	if !headerValue.MatchString(value) {
		r.errorf(at, "Invalid header value", "%s must not contain a line break or another control character. A "+
			"trailing line break often comes from a file. Remove it with trimspace().", at)
	}
}

// readFile reads a file that an attribute names.
func readFile(at path.Path, file string, r report) []byte {
	content, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		r.errorf(at, "Unreadable file", "%s cannot be read: %s. Relative paths are resolved from the working "+
			"directory.", at, err)
	}
	return content
}

// readCACertificates are the system's certificate authorities and those of a file; nil (the system's) if there is no file.
func readCACertificates(file string, r report) *x509.CertPool {
	if file == "" {
		return nil
	}
	at := path.Root("ca_cert_file")
	pem := readFile(at, file, r)
	if pem == nil {
		return nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		r.errorf(at, "Invalid certificate file", "ca_cert_file (%s) contains no PEM certificate (-----BEGIN "+
			"CERTIFICATE-----).", file)
	}
	return roots
}

// readClientCertificate is the certificate for mutual TLS; nil if there is none.
func readClientCertificate(certFile, keyFile string, r report) []tls.Certificate {
	certAt, keyAt := path.Root("client_cert_file"), path.Root("client_key_file")
	switch {
	case certFile == "" && keyFile == "":
		return nil
	case keyFile == "":
		r.errorf(keyAt, "Missing client_key_file", "client_cert_file and client_key_file must be set together.")
		return nil
	case certFile == "":
		r.errorf(certAt, "Missing client_cert_file", "client_cert_file and client_key_file must be set together.")
		return nil
	}
	cert, key := readFile(certAt, certFile, r), readFile(keyAt, keyFile, r)
	if cert == nil || key == nil {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		r.errorf(certAt, "Invalid client certificate", "client_cert_file (%s) and client_key_file (%s) must be a "+
			"PEM certificate and its private key: %s.", certFile, keyFile, err)
		return nil
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) {
		r.errorf(certAt, "Expired client certificate", "The certificate in client_cert_file (%s) expired on %s.",
			certFile, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
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

// credentialKey keys the digests of secrets: whoever has the state alone cannot guess a short secret from its digest.
func credentialKey(header http.Header) []byte {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(header)) {
		_, _ = fmt.Fprintf(sum, "%q:%q\n", name, header[name])
	}
	return sum.Sum(nil)
}
