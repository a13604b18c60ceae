package provider

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
)

// rootCAs returns the system's certificate authorities and those of ca_cert_file; nil (the system's) if that is not
// set or cannot be read.
func (c providerConfig) rootCAs() *x509.CertPool {
	s := c.setting("ca_cert_file")
	if s.text == "" {
		return nil
	}
	pem := c.readFile(s)
	if pem == nil {
		return nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		c.reject(s, "Invalid certificate file", "(%s) contains no PEM certificate (-----BEGIN CERTIFICATE-----).", s.text)
	}
	return roots
}

// clientCertificate returns the certificate for mutual TLS; nil if there is none.
func (c providerConfig) clientCertificate() []tls.Certificate {
	certFile, keyFile := c.setting("client_cert_file"), c.setting("client_key_file")
	const both = "client_cert_file and client_key_file must be set together, but only %s is set."
	switch {
	case certFile.text == "" && keyFile.text == "":
		return nil
	case keyFile.text == "":
		c.report.errorf(path.Root(keyFile.attribute), "Missing client_key_file", both, certFile.name)
		return nil
	case certFile.text == "":
		c.report.errorf(path.Root(certFile.attribute), "Missing client_cert_file", both, keyFile.name)
		return nil
	}
	cert, key := c.readFile(certFile), c.readFile(keyFile)
	if cert == nil || key == nil {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		c.reject(certFile, "Invalid client certificate", "(%s) and %s (%s) must be a PEM certificate and its private "+
			"key: %s.", certFile.text, keyFile.name, keyFile.text, err)
		return nil
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) {
		c.report.errorf(path.Root(certFile.attribute), "Expired client certificate", "The certificate in %s (%s) expired "+
			"on %s.", certFile.name, certFile.text, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return []tls.Certificate{pair}
}

// readFile reads the file that a setting names; nil if it cannot. Messages do not show what may be the content of the
// file in place of its path.
func (c providerConfig) readFile(s setting) []byte {
	const longestShown = 255
	content, err := os.ReadFile(s.text)
	mayBeContent := strings.Contains(s.text, "-----BEGIN") || strings.ContainsAny(s.text, "\r\n") ||
		len(s.text) > longestShown
	switch {
	case err == nil:
		return content
	case mayBeContent:
		c.report.errorf(path.Empty(), "Content instead of a path", "%s must be the path of a PEM file, not its content. "+
			"Write the content to a file, and set %s to its path.", s.name, s.attribute)
	default:
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err // without the path
		}
		c.reject(s, "Unreadable file", "(%s) cannot be read: %s. Relative paths are resolved from the working directory.",
			s.text, err)
	}
	return nil
}
