package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// locate finds the attribute that a place in a request belongs to.
type locate func(loc []any) (path.Path, bool)

// addFailure tells that a request failed: what was wanted, what the service
// said, and what to do about it. What the service said of single fields is
// told at their attributes.
func (a access) addFailure(diags *diag.Diagnostics, summary string, err error, at locate) {
	var failed *client.Error
	if !errors.As(err, &failed) {
		if errors.Is(err, context.Canceled) {
			diags.AddError(summary, "Interrupted before the service answered. Run again.")
			return
		}
		diags.AddError(summary, sentence(err.Error())+"\n\n"+a.adviceFor(err))
		return
	}
	told := 0
	for _, f := range failed.Fields {
		if at == nil {
			break
		}
		if place, ok := at(f.Loc); ok {
			// Older Terraforms show the line of the resource only: the text says which.
			diags.AddAttributeError(place, summary, fmt.Sprintf("The service refuses %s: %s Change it, then run again.", place, closed(f.Message)))
			told++
		}
	}
	if told > 0 && told == len(failed.Fields) {
		return
	}
	diags.AddError(summary, sentence(failed.Error())+"\n\n"+a.advice(failed))
}

// adviceFor is what to do about an error of the client.
func (a access) adviceFor(err error) string {
	var failed *client.Error
	if errors.As(err, &failed) {
		return a.advice(failed)
	}
	return "Run again. If it stays, ask those who run the service."
}

// advice is what to do about a failed request.
func (a access) advice(failed *client.Error) string {
	switch {
	case failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden:
		if !a.hasKey {
			return fmt.Sprintf("No credential was sent. Set api_key, or %s; it goes into the header %s (api_key_header).", envAPIKey, a.apiKeyHeader)
		}
		return fmt.Sprintf("Check the credential: api_key, or %s. It was sent in the header %s (api_key_header)%s.", envAPIKey, a.apiKeyHeader, a.schemeHint())
	case failed.Status == http.StatusNotFound && strings.Contains(failed.Path, "/integrations/"):
		return fmt.Sprintf("Check integration_id, and base_url: the service was looked for at %s.", a.baseURL)
	case failed.Status == http.StatusNotFound:
		return fmt.Sprintf("Check base_url: the service was looked for at %s.", a.baseURL)
	case failed.Status == http.StatusTooManyRequests:
		return "The service limits how often it is asked. Wait, run with a smaller -parallelism, or raise max_retries in the provider."
	case failed.Status >= http.StatusInternalServerError:
		return "The service, or something before it, has a fault. Run again; if it stays, ask those who run the service."
	case failed.Status >= http.StatusBadRequest:
		return "The service refuses the request as it is. Change what it names, then run again."
	case failed.Untrusted():
		return fmt.Sprintf("The certificate of the service at %s is not trusted. If it comes from an authority of your own, set ca_cert_file in the provider to the file of that authority.", a.baseURL)
	case failed.SpeaksPlainHTTP():
		return fmt.Sprintf("The service answers in plain http there. Write http:// in base_url (%s), or give the port that speaks https.", a.baseURL)
	case failed.Redirected():
		return fmt.Sprintf("Check base_url (%s): set it to the address that the service has itself, if you trust the one that it leads to.", a.baseURL)
	case failed.Malformed:
		return fmt.Sprintf("Check that base_url (%s) leads to the service itself and not to something before it. If it does, the service may be newer than this provider: look for a newer version, or ask those who run the service.", a.baseURL)
	case failed.Timeout():
		return fmt.Sprintf("Check that the service at base_url (%s) is up, then run again. If it is slow, raise request_timeout in the provider.", a.baseURL)
	case failed.NotSent:
		return fmt.Sprintf("No connection was made. Check base_url (%s), that the service is up, and that it can be reached from here.", a.baseURL)
	default:
		return fmt.Sprintf("Run again. If it stays, check that base_url (%s) leads to the service itself and not to something before it.", a.baseURL)
	}
}

// schemeHint reminds of what the header Authorization usually begins with.
func (a access) schemeHint() string {
	if a.bareKey && strings.EqualFold(a.apiKeyHeader, "Authorization") {
		return ", without a scheme before it; most services expect one there, as in \"Bearer KEY\""
	}
	return ""
}

// addMistake tells of what only a mistake in the provider brings about.
func addMistake(diags *diag.Diagnostics, what string, err error) {
	diags.AddError("Mistake in the provider", sentence(what+": "+err.Error())+
		"\n\nThe configuration is not at fault. Please report this in the issue tracker of the provider, which its page in the registry links to, with this message and what terraform version prints.")
}

// mostListed bounds the candidates that a message lists.
const mostListed = 10

// listed are lines of a message, the first few of them.
func listed(lines []string) string {
	var b strings.Builder
	for _, line := range lines[:min(len(lines), mostListed)] {
		b.WriteString("\n  " + line)
	}
	if more := len(lines) - mostListed; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// ofTheService is a short text of the service within a message, without what a
// terminal would take for a command, and bounded.
func ofTheService(text string) string {
	if text == "" {
		return "unknown"
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > 100 {
			return b.String() + "…"
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// howToImport says how a deployment that exists comes into the state.
func howToImport(id string) string {
	return fmt.Sprintf("import it, from a shell:\n\n  terraform import ADDRESS %s\n\nor, in a pipeline, with a block in the configuration:\n\n  import {\n    to = ADDRESS\n    id = %[1]q\n  }\n\n"+
		"ADDRESS is the address of this resource, which stands above this text after \"with\".", id)
}

// sentence makes a message begin like a sentence and end like one.
func sentence(message string) string {
	if message == "" {
		return "No reason is given."
	}
	first, size := utf8.DecodeRuneInString(message)
	return closed(string(unicode.ToUpper(first)) + message[size:])
}

// closed makes a message end like a sentence.
func closed(message string) string {
	if message == "" {
		return "no reason is given."
	}
	if !strings.HasSuffix(message, ".") && !strings.HasSuffix(message, "!") && !strings.HasSuffix(message, "?") {
		message += "."
	}
	return message
}
