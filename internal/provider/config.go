package provider

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"errors"
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
	"github.com/hashicorp/terraform-plugin-go/tftypes"

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

// providerConfig reads the provider block, completed from the environment. Each setting has one method that returns it
// and reports what is wrong with it.
type providerConfig struct {
	attributes
	getenv func(variable string) string
	report report
}

// newProviderConfig reads a provider block. Reports do not show the credentials in it.
func newProviderConfig(block tftypes.Value, diags *diag.Diagnostics) providerConfig {
	c := providerConfig{attributes: attributesOf(block), getenv: os.Getenv}
	hiding := client.New(client.Config{})
	hiding.Hide(c.setting("api_key").text)
	headers := attributesOf(c.attributes["headers"])
	for name := range headers {
		hiding.Hide(headers.text(name))
	}
	c.report = (&providerData{client: hiding}).report(diags)
	return c
}

// variable returns the environment variable for an attribute that the configuration omits.
func variable(attribute string) string { return "GRAPHDEPLOY_" + strings.ToUpper(attribute) }

// setting is an attribute, or, if that is omitted, its environment variable.
type setting struct {
	attribute string
	name      string // for messages: the attribute or the variable
	text      string // "" if it is not set or unknown, or of another type than string
	set       bool   // false also while it is unknown
}

func (s setting) fromEnvironment() bool { return s.name != s.attribute }

func (c providerConfig) setting(attribute string) setting {
	if value := c.attributes[attribute]; !value.IsNull() {
		return setting{attribute, attribute, c.text(attribute), value.IsKnown()}
	}
	if text := c.getenv(variable(attribute)); text != "" {
		return setting{attribute, variable(attribute), text, true}
	}
	return setting{attribute: attribute, name: attribute}
}

// reject reports what is wrong with a setting: its name and what follows.
func (c providerConfig) reject(s setting, summary, format string, args ...any) {
	c.report.errorf(path.Root(s.attribute), summary, "%s "+format, slices.Concat([]any{s.name}, args)...)
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

// check reports what is wrong in the provider block alone, without the environment, as in terraform validate.
func (c providerConfig) check() {
	block := providerConfig{c.attributes, func(string) string { return "" }, c.report}
	if block.setting("base_url").set {
		block.baseURL()
	}
	block.apiKeyHeader()
	block.apiKey()
	block.headers()
	block.requestTimeout()
}

// client returns the configuration of the client, and how messages describe it.
func (c providerConfig) client() (client.Config, access) {
	config := client.Config{BaseURL: c.baseURL(), Header: c.headers(), RequestTimeout: c.requestTimeout(),
		MaxRetries: c.maxRetries(), RootCAs: c.rootCAs(), Certificates: c.clientCertificate()}
	if config.BaseURL != nil {
		c.warnOfPlainHTTP(config.BaseURL)
		c.rejectForeignCredentials(config.BaseURL)
	}
	name, key := c.apiKeyHeader(), c.apiKey()
	if key != "" {
		if config.Header.Get(name) != "" {
			c.report.errorf(path.Root("headers"), "Duplicate header", "Both api_key and headers set the header %s. Remove "+
				"one of them, or set a different api_key_header.", name)
		}
		config.Header.Set(name, key)
	}
	credential := config.Header.Get(name) // headers may have it
	return config, access{baseURL: fmt.Sprint(config.BaseURL), apiKeyHeader: name, hasKey: credential != "",
		bareKey: !strings.Contains(credential, " ")}
}

// hosting returns where the service runs; "" if that is not set. The schema has validated the attribute of this setting
// and of the next two.
func (c providerConfig) hosting() string {
	s := c.setting("hosting")
	if s.fromEnvironment() && !slices.Contains(hostings, s.text) {
		c.reject(s, "Invalid value", "must be one of: %s; got %q.", strings.Join(hostings, ", "), s.text)
	}
	return s.text
}

func (c providerConfig) documentedOnly() bool {
	s := c.setting("documented_operations_only")
	if !s.fromEnvironment() {
		return c.boolean(s.attribute)
	}
	only, err := strconv.ParseBool(s.text)
	if err != nil {
		c.reject(s, "Invalid value", "must be true or false; got %q.", s.text)
	}
	return only
}

func (c providerConfig) maxRetries() int {
	s := c.setting("max_retries")
	if !s.fromEnvironment() {
		return int(c.integer(s.attribute, defaultMaxRetries))
	}
	retries, err := strconv.Atoi(s.text)
	if err != nil || retries < 0 || retries > maxMaxRetries {
		c.reject(s, "Invalid value", "must be an integer from 0 to %d; got %q.", maxMaxRetries, s.text)
	}
	return retries
}

func (c providerConfig) requestTimeout() time.Duration {
	s := c.setting("request_timeout")
	if !s.set {
		return defaultRequestTimeout
	}
	timeout, err := time.ParseDuration(s.text)
	if err != nil || timeout <= 0 {
		c.reject(s, "Invalid duration", "must be a duration above zero such as 45s or 2m, got %q.", s.text)
	}
	return timeout
}

// headers returns the additional headers. Messages show no name of one, because it may contain the credential.
func (c providerConfig) headers() http.Header {
	header, headers, at := http.Header{}, attributesOf(c.attributes["headers"]), path.Root("headers")
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !headerName.MatchString(name):
			c.report.errorf(at, "Invalid header name", "headers must be a map of header names to values. A name has only "+
				"letters, digits and dashes.")
		case slices.Contains(reservedHeaders, canonical):
			c.report.errorf(at, "Reserved header", "headers "+reservedHeader, canonical)
		case headers[name].IsNull():
			c.report.errorf(at, "Null value", "headers must not contain null.")
		case !headerValue.MatchString(headers.text(name)):
			c.report.errorf(at, "Invalid header value", "A value in headers "+invalidHeaderValue)
		case header[canonical] != nil:
			c.report.errorf(at, "Duplicate header", "headers contains a name more than once. Header names are "+
				"case-insensitive.")
		}
		header.Set(name, headers.text(name))
	}
	return header
}

// apiKeyHeader returns the name of the header for the credential: one that HTTP can carry and that is not reserved.
func (c providerConfig) apiKeyHeader() string {
	s := c.setting("api_key_header")
	name := cmp.Or(s.text, defaultAPIKeyHeader)
	if canonical := http.CanonicalHeaderKey(name); !headerName.MatchString(name) {
		c.reject(s, "Invalid header name", "must be the name of a header, such as %s, with only letters, digits and dashes.",
			defaultAPIKeyHeader)
	} else if slices.Contains(reservedHeaders, canonical) {
		c.reject(s, "Reserved header", reservedHeader, canonical)
	}
	return name
}

// apiKey returns the credential, if HTTP can carry it; "" if there is none.
func (c providerConfig) apiKey() string {
	s := c.setting("api_key")
	if !headerValue.MatchString(s.text) {
		c.reject(s, "Invalid header value", invalidHeaderValue)
	}
	return s.text
}

var (
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	// reservedHeaders are those that the provider sets, and those that would change what a request or its response means.
	reservedHeaders = []string{"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length",
		"Content-Type", "Expect", "Host", "Keep-Alive", "Proxy-Connection", "Range", "If-Range", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade", "User-Agent", "X-Http-Method", "X-Http-Method-Override", "X-Method-Override"}
)

const (
	reservedHeader = "must not contain the header %s: the provider sets it, or it would change how requests are " +
		"understood."
	invalidHeaderValue = "must not contain a line break or another control character. A trailing line break often " +
		"comes from a file. Remove it with trimspace()."
)

const exampleBaseURL = "https://deploy.example.com/api"

// baseURL returns base_url; nil if it is not valid.
func (c providerConfig) baseURL() *url.URL {
	s := c.setting("base_url")
	u, err := parseBaseURL(s.text)
	switch {
	case s.text == "":
		c.report.errorf(path.Root("base_url"), "Missing base_url", "Set base_url in the provider block, or the environment "+
			"variable %s, to the root URL of the API, such as %s.", variable("base_url"), exampleBaseURL)
	case err != nil:
		c.reject(s, "Invalid base_url", "must be an absolute http or https URL such as %s.", exampleBaseURL)
	case u.User != nil:
		c.reject(s, "Credential in base_url", "must not contain a user name or a password, because messages and logs show "+
			"the URL. Use api_key instead. If the service expects the credential in the header Authorization, also set "+
			"api_key_header = \"Authorization\".")
	case u.RawQuery != "" || u.Fragment != "":
		c.reject(s, "Invalid base_url", "must not contain a query (?) or a fragment (#).")
	default:
		return u
	}
	return nil
}

func (c providerConfig) warnOfPlainHTTP(u *url.URL) {
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		c.report.warnf(path.Root("base_url"), "Unencrypted connection", "Requests to %s use plain http: the credential "+
			"and the secrets of deployments travel unencrypted. Use https in base_url.", u.Host)
	}
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

// rejectForeignCredentials rejects a base_url in the configuration to which the credentials of the environment do not
// belong: they are for the service that the environment names.
func (c providerConfig) rejectForeignCredentials(u *url.URL) {
	theirs := c.getenv(variable("base_url"))
	if theirs == "" || c.attributes["base_url"].IsNull() {
		return
	}
	other, err := parseBaseURL(theirs)
	if err == nil && rootOf(u) == rootOf(other) {
		return
	}
	var foreign, variables []string
	for _, credential := range []string{"api_key", "client_cert_file"} {
		if s := c.setting(credential); s.fromEnvironment() {
			foreign, variables = append(foreign, credential), append(variables, s.name)
		}
	}
	if len(foreign) == 0 {
		return
	}
	service, remark := variable("base_url"), "which is malformed"
	if err == nil {
		service, remark = address(other), variable("base_url")
	}
	c.report.errorf(path.Root("base_url"), "Credential belongs to another service",
		"base_url is %s, but %s %s for %s (%s). The credential was not sent. Options:\n  - Set %s in the provider block.\n"+
			"  - Unset or correct %s.", address(u), strings.Join(variables, " and "), isOrAre(variables), service, remark,
		strings.Join(foreign, " and "), variable("base_url"))
}

// rootOf identifies a service: its origin and its path prefix.
func rootOf(u *url.URL) string { return client.Origin(u) + strings.TrimRight(u.EscapedPath(), "/") }

// address returns a URL for a message, without a user.
func address(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// access is how the service is reached, for messages: nothing of it is secret.
type access struct {
	baseURL      string
	apiKeyHeader string
	hasKey       bool
	bareKey      bool // one word, without a scheme before it
}

// credentialKey returns the key of the digests of secrets: whoever has the state alone cannot guess a short secret from
// its digest. All that authenticates the provider makes the key: its headers, and the private key of its certificate.
// Without any of that, there is no key.
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
