package client

import (
	"encoding/base64"
	"os"
	"regexp"
	"strings"
)

// hideSecrets hides those in the body of a request.
func (c *Client) hideSecrets(body Tree) {
	secrets, _ := body["secrets"].([]Secret)
	for _, s := range secrets {
		c.Hide(s.Value)
	}
}

// hideCredential hides the value of a header, and what it consists of: "Bearer TOKEN", "Token token=TOKEN", and the
// password of "Basic …".
func (c *Client) hideCredential(value string) {
	c.Hide(value)
	_, credential, _ := strings.Cut(value, " ")
	c.Hide(strings.TrimSpace(credential))
	for _, parameter := range strings.Split(credential, ",") {
		_, token, _ := strings.Cut(parameter, "=")
		c.Hide(strings.Trim(token, `" `))
	}
	if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credential)); err == nil {
		_, password, _ := strings.Cut(string(plain), ":")
		c.Hide(string(plain), password)
	}
}

// hideProxyPasswords hides the passwords of the proxies that net/http uses.
func (c *Client) hideProxyPasswords() {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		c.Hide(passwordsIn("://" + os.Getenv(name))...) // the scheme is optional
	}
}

var urlPassword = regexp.MustCompile(`://[^:@/?#]*:([^@/?#]*)@`)

// passwordsIn returns the passwords in the URLs that a text has.
func passwordsIn(text string) (passwords []string) {
	for _, match := range urlPassword.FindAllStringSubmatch(text, -1) {
		passwords = append(passwords, match[1])
	}
	return passwords
}
