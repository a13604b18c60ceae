package provider

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
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

// named is how messages name what sets an attribute: the attribute, or the environment variable in its place.
func (c providerConfig) named(name string) string {
	if c.attributes[name].IsNull() && os.Getenv(variable(name)) != "" {
		return variable(name)
	}
	return name
}

// report reports what is wrong with the configuration, without showing the credentials in it.
func (c providerConfig) report(diags *diag.Diagnostics) report {
	hiding := client.New(client.Config{})
	hiding.Hide(c.setting("api_key"))
	headers := attributesOf(c.attributes["headers"])
	for name := range headers {
		hiding.Hide(headers.text(name))
	}
	return (&providerData{client: hiding}).report(diags)
}

// unknown names the attributes that are known only after apply, except documented_operations_only, which counts as
// false then.
func (c providerConfig) unknown() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.attributes)) {
		if !c.attributes[name].IsFullyKnown() && name != "documented_operations_only" {
			names = append(names, name)
		}
	}
	return names
}

// client checks the provider block and completes it from the environment. An invalid value is an error at its
// attribute.
func (c providerConfig) client(r report) (config client.Config, a access) {
	config = client.Config{BaseURL: c.baseURL(r), Header: c.header(r), RequestTimeout: c.timeout(r),
		MaxRetries: c.retries(r)}
	c.checkEnvironment(config.BaseURL, r)
	name, key := cmp.Or(c.setting("api_key_header"), defaultAPIKeyHeader), c.setting("api_key")
	c.checkAPIKeyHeader(name, r)
	if key != "" {
		c.checkAPIKey(key, r)
		if config.Header.Get(name) != "" {
			r.errorf(path.Root("headers"), "Duplicate header", "Both api_key and headers set the header %s. Remove one of "+
				"them, or set a different api_key_header.", name)
		}
		config.Header.Set(name, key)
	}
	config.RootCAs = c.rootCAs(r)
	config.Certificates = c.clientCertificate(r)
	key = config.Header.Get(name)
	return config, access{baseURL: fmt.Sprint(config.BaseURL), apiKeyHeader: name, hasKey: key != "",
		bareKey: !strings.Contains(key, " ")}
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
		"%s must be %s; got %q.", variable(attribute), want, os.Getenv(variable(attribute)))
}

// check reports what is wrong in the provider block alone, without the environment, as in terraform validate. It omits
// warnings, which client reports: otherwise they would appear twice.
func (c providerConfig) check(r report) {
	var found diag.Diagnostics
	collected := r.report(&found)
	if url := c.attributes["base_url"]; url.IsKnown() && !url.IsNull() {
		c.baseURL(collected)
	}
	if name := c.text("api_key_header"); name != "" {
		c.checkAPIKeyHeader(name, collected)
	}
	c.checkAPIKey(c.text("api_key"), collected)
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

// header is what headers sets. Messages show no name of it, because it may contain the credential.
func (c providerConfig) header(r report) http.Header {
	header, headers, at := http.Header{}, attributesOf(c.attributes["headers"]), path.Root("headers")
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !headerName.MatchString(name):
			r.errorf(at, "Invalid header name", "headers must be a map of header names to values. A name has only letters, "+
				"digits and dashes.")
		case slices.Contains(reservedHeaders, canonical):
			r.errorf(at, "Reserved header", reservedHeader, "headers", canonical)
		case headers[name].IsNull():
			r.errorf(at, "Null value", "headers must not contain null.")
		case !headerValue.MatchString(headers.text(name)):
			r.errorf(at, "Invalid header value", invalidHeaderValue, "A value in headers")
		case header[canonical] != nil:
			r.errorf(at, "Duplicate header", "headers contains a name more than once. Header names are case-insensitive.")
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
			"%s must be a duration above zero such as 45s or 2m, got %q.", c.named("request_timeout"), text)
	}
	return timeout
}

const exampleBaseURL = "https://deploy.example.com/api"

// baseURL is base_url; nil if it is not valid.
func (c providerConfig) baseURL(r report) *url.URL {
	at, name := path.Root("base_url"), c.named("base_url")
	text := c.setting("base_url")
	if text == "" {
		r.errorf(at, "Missing base_url", "Set base_url in the provider block, or the environment variable %s, to the root "+
			"URL of the API, such as %s.", variable("base_url"), exampleBaseURL)
		return nil
	}
	u, err := parseBaseURL(text)
	switch {
	case err != nil:
		r.errorf(at, "Invalid base_url", "%s must be an absolute http or https URL such as %s.", name, exampleBaseURL)
		return nil
	case u.User != nil:
		r.errorf(at, "Credential in base_url", "%s must not contain a user name or a password, because messages and logs "+
			"show the URL. Use api_key instead. If the service expects the credential in the header Authorization, also set "+
			"api_key_header = \"Authorization\".", name)
		return nil
	case u.RawQuery != "" || u.Fragment != "":
		r.errorf(at, "Invalid base_url", "%s must not contain a query (?) or a fragment (#).", name)
		return nil
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		r.warnf(at, "Unencrypted connection", "Requests to %s use plain http: the credential and the secrets of "+
			"deployments travel unencrypted. Use https in base_url.", u.Host)
	}
	return u
}

// parseBaseURL parses an absolute http or https URL.
func parseBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("not an absolute http or https URL")
	}
	if port := u.Port(); port != "" {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return u, err
}

// checkEnvironment rejects a base_url to which the environment's credential does not belong: that is for the service
// that the environment names.
func (c providerConfig) checkEnvironment(u *url.URL, r report) {
	theirs := os.Getenv(variable("base_url"))
	if u == nil || theirs == "" || c.attributes["base_url"].IsNull() {
		return
	}
	other, err := parseBaseURL(theirs)
	if err == nil && rootOf(u) == rootOf(other) {
		return
	}
	for _, credential := range []string{"api_key", "client_cert_file"} {
		if c.named(credential) != variable(credential) {
			continue
		}
		what := r.format("for %s (%s)", variable("base_url"), "which is malformed")
		if err == nil {
			what = r.format("for %s (%s)", address(other), variable("base_url"))
		}
		r.errorf(path.Root("base_url"), "Credential belongs to another service",
			"base_url is %s, but %s is %s. The credential was not sent. Options:\n  - Set %s in the provider block.\n"+
				"  - Unset or correct %s.", address(u), variable(credential), what, credential,
			variable("base_url"))
	}
}

// rootOf identifies a service: its origin and its path prefix.
func rootOf(u *url.URL) string { return client.Origin(u) + strings.TrimRight(u.EscapedPath(), "/") }

// address is a URL for a message, without a user.
func address(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

var (
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	// reservedHeaders are those that the provider sets, and those that would change what a request or its response means.
	reservedHeaders = []string{"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length",
		"Content-Type", "Expect", "Host",
		"Keep-Alive", "Proxy-Connection", "Range", "If-Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override"}
)

const (
	reservedHeader = "%s must not contain the header %s: the provider sets it, or it would change how requests are " +
		"understood."
	invalidHeaderValue = "%s must not contain a line break or another control character. A trailing line break often " +
		"comes from a file. Remove it with trimspace()."
)

// checkAPIKeyHeader rejects the name of a header that HTTP cannot carry or that is reserved.
func (c providerConfig) checkAPIKeyHeader(name string, r report) {
	at := path.Root("api_key_header")
	if !headerName.MatchString(name) {
		r.errorf(at, "Invalid header name", "%s must be the name of a header, such as %s, with only letters, digits "+
			"and dashes.", c.named("api_key_header"), defaultAPIKeyHeader)
	} else if canonical := http.CanonicalHeaderKey(name); slices.Contains(reservedHeaders, canonical) {
		r.errorf(at, "Reserved header", reservedHeader, c.named("api_key_header"), canonical)
	}
}

// checkAPIKey rejects a value that HTTP cannot carry.
func (c providerConfig) checkAPIKey(key string, r report) {
	if !headerValue.MatchString(key) {
		r.errorf(path.Root("api_key"), "Invalid header value", invalidHeaderValue, c.named("api_key"))
	}
}

// readFile reads the file that an attribute names. What may be the content of the file in place of its path is not
// shown.
func (c providerConfig) readFile(name string, r report) []byte {
	const longestShown = 255
	file := c.setting(name)
	content, err := os.ReadFile(file) //nolint:gosec // the user names the file
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
	case strings.Contains(file, "-----BEGIN") || strings.ContainsAny(file, "\r\n") || len(file) > longestShown:
		r.errorf(path.Empty(), "Content instead of a path", "%s must be the path of a PEM file, not its content. Write the "+
			"content to a file, and set %s to its path.", c.named(name), name)
	default:
		r.errorf(path.Root(name), "Unreadable file", "%s (%s) cannot be read: %s. Relative paths are resolved from the "+
			"working directory.", c.named(name), file, failed.Err)
	}
	if err != nil {
		return nil
	}
	return content
}

// rootCAs are the system's certificate authorities and those of ca_cert_file; nil (the system's) if that is not set.
func (c providerConfig) rootCAs(r report) *x509.CertPool {
	file := c.setting("ca_cert_file")
	if file == "" {
		return nil
	}
	pem := c.readFile("ca_cert_file", r)
	if pem == nil {
		return nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		r.errorf(path.Root("ca_cert_file"), "Invalid certificate file",
			"%s (%s) contains no PEM certificate (-----BEGIN CERTIFICATE-----).", c.named("ca_cert_file"), file)
	}
	return roots
}

// clientCertificate is the certificate for mutual TLS; nil if there is none.
func (c providerConfig) clientCertificate(r report) []tls.Certificate {
	const certName, keyName = "client_cert_file", "client_key_file"
	certFile, keyFile := c.setting(certName), c.setting(keyName)
	const both = "client_cert_file and client_key_file must be set together, but only %s is set."
	switch {
	case certFile == "" && keyFile == "":
		return nil
	case keyFile == "":
		r.errorf(path.Root(keyName), "Missing client_key_file", both, c.named(certName))
		return nil
	case certFile == "":
		r.errorf(path.Root(certName), "Missing client_cert_file", both, c.named(keyName))
		return nil
	}
	cert, key := c.readFile(certName, r), c.readFile(keyName, r)
	if cert == nil || key == nil {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		r.errorf(path.Root(certName), "Invalid client certificate",
			"%s (%s) and %s (%s) must be a PEM certificate and its private key: %s.", c.named(certName), certFile,
			c.named(keyName), keyFile, err)
		return nil
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) {
		r.errorf(path.Root(certName), "Expired client certificate", "The certificate in %s (%s) expired on %s.",
			c.named(certName), certFile, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
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
// It is made of all that authenticates the provider: its headers, and the private key of its certificate. Without any
// of that, there is no key.
func credentialKey(config client.Config) []byte {
	if len(config.Header) == 0 && len(config.Certificates) == 0 {
		return nil
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(config.Header)) {
		_, _ = fmt.Fprintf(sum, "%q:%q\n", name, config.Header[name])
	}
	for _, certificate := range config.Certificates {
		private, _ := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey) // of a key that was parsed
		_, _ = sum.Write(private)
	}
	return sum.Sum(nil)
}
