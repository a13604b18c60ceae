package provider

// What is being replaced by report: do not use it in new code.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// addFailure reports a failed request: what was attempted, what the service said, and what to do. What the service said of
// single fields is reported at their attributes.
func (a access) addFailure(diags *diag.Diagnostics, summary string, err error, at locate) {
	var failed *client.Error
	if !errors.As(err, &failed) {
		if errors.Is(err, context.Canceled) {
			diags.AddError(summary, "Interrupted before the service responded. Retry.")
			return
		}
		diags.AddError(summary, sentence(err.Error())+"\n\n"+a.adviceFor(err))
		return
	}
	located := 0
	for _, f := range failed.Fields {
		if at == nil {
			break
		}
		if place, ok := at(f.Loc); ok {
			// Older Terraform versions show the line of the resource only: the text names the attribute.
			diags.AddAttributeError(place, summary, fmt.Sprintf("The service rejects %s: %s\n\n%s", place, withPeriodOld(f.Message),
				sentence(withoutMessageOld(failed))))
			located++
		}
	}
	if located > 0 && located == len(failed.Fields) {
		return
	}
	diags.AddError(summary, sentence(failed.Error())+"\n\n"+a.advice(failed))
}

// withoutMessage identifies a failed request.
func withoutMessageOld(failed *client.Error) string {
	request := *failed
	request.Message = ""
	return request.Error()
}

// adviceFor is what to do about an error of the client.
func (a access) adviceFor(err error) string {
	var failed *client.Error
	if errors.As(err, &failed) {
		return a.advice(failed)
	}
	return "Retry. If it persists, contact the service operator."
}

// advice is what to do about a failed request.
func (a access) advice(failed *client.Error) string {
	switch {
	case failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden:
		if !a.hasKey {
			return fmt.Sprintf("No credential was sent. Set api_key, or %s. The provider sends it in the header %s (api_key_header).", variable("api_key"),
				a.apiKeyHeader)
		}
		return fmt.Sprintf("Check the credential: api_key, or %s. It was sent in the header %s (api_key_header)%s.", variable("api_key"), a.apiKeyHeader,
			a.schemeHint())
	case failed.Status == http.StatusNotFound && strings.Contains(failed.Path, "/integrations/"):
		return fmt.Sprintf("Check integration_id, and base_url (%s).", a.baseURL)
	case failed.Status == http.StatusNotFound:
		return fmt.Sprintf("Set base_url (%s) to the root URL of the API, with its path prefix and without /v2.", a.baseURL)
	case failed.Status == http.StatusTooManyRequests:
		return "The service limits the rate of requests. Retry later, use a smaller -parallelism, or raise max_retries in the provider."
	case failed.Status >= http.StatusInternalServerError:
		return "The service, or a proxy, failed. Retry. If it persists, contact the service operator."
	case failed.Status >= http.StatusBadRequest:
		return "The service rejects the request. Correct the values that it names."
	case failed.Untrusted():
		return fmt.Sprintf("The certificate of the service at %s is not trusted. If it is issued by a private CA, set ca_cert_file in the "+
			"provider.", a.baseURL)
	case failed.SpeaksPlainHTTP():
		return fmt.Sprintf("The service uses plain http. Use http:// in base_url (%s), or the port for https.", a.baseURL)
	case failed.Redirected():
		return fmt.Sprintf("Check base_url (%s). If you trust the target of the redirect, set base_url to it.", a.baseURL)
	case failed.Malformed:
		return fmt.Sprintf("Check that base_url (%s) is the API itself and not a proxy or a website. If it is, upgrade this provider, or "+
			"contact the service operator.", a.baseURL)
	case failed.Timeout():
		return fmt.Sprintf("Check that the service at base_url (%s) is up. If it is slow, raise request_timeout in the provider.", a.baseURL)
	case failed.NotSent:
		return fmt.Sprintf("Check base_url (%s), and that the service is up and reachable from here.", a.baseURL)
	default:
		return fmt.Sprintf("Retry. If it persists, check that base_url (%s) is the API itself and not a proxy or a website.", a.baseURL)
	}
}

// addBug reports what only a bug in the provider causes.
func addBug(diags *diag.Diagnostics, what string, err error) {
	diags.AddError("Provider bug", sentence(what+": "+err.Error())+
		"\n\nThis is a bug in the provider, not in the configuration. Please report it in the issue tracker of the provider, with this "+
		"message and the output of terraform version.")
}

// sentence makes a message begin and end like a sentence.
func sentence(message string) string {
	if message == "" {
		return "No reason is given."
	}
	first, size := utf8.DecodeRuneInString(message)
	return withPeriodOld(string(unicode.ToUpper(first)) + message[size:])
}

// withPeriodOld makes a message end like a sentence.
func withPeriodOld(message string) string {
	if message == "" {
		return "no reason is given."
	}
	if !strings.HasSuffix(message, ".") && !strings.HasSuffix(message, "!") && !strings.HasSuffix(message, "?") {
		message += "."
	}
	return message
}

// listed is a list in a message.
func listed(lines []string) string {
	text := ""
	for _, line := range lines[:min(len(lines), maxListed)] {
		text += "\n  - " + line
	}
	if more := len(lines) - maxListed; more > 0 {
		text += fmt.Sprintf("\n  - and %d more", more)
	}
	return text
}
