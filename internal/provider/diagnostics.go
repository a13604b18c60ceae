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
			diags.AddError(summary, "Interrupted before the service answered.")
			return
		}
		diags.AddError(summary, sentence(err.Error()))
		return
	}
	told := 0
	for _, f := range failed.Fields {
		if at == nil {
			break
		}
		if place, ok := at(f.Loc); ok {
			// Terraform shows the line of the outermost attribute: the text says which.
			diags.AddAttributeError(place, summary, fmt.Sprintf("The service refuses %s: %s", place, sentence(f.Message)))
			told++
		}
	}
	if told > 0 && told == len(failed.Fields) {
		return
	}
	diags.AddError(summary, sentence(failed.Error())+"\n\n"+a.advice(failed))
}

// advice is what to do about a failed request.
func (a access) advice(failed *client.Error) string {
	switch {
	case failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden:
		if !a.hasKey {
			return fmt.Sprintf("No credential was sent. Set api_key, or %s; it goes into the header %s (api_key_header).", envAPIKey, a.apiKeyHeader)
		}
		return fmt.Sprintf("Check the credential: api_key, or %s. It was sent in the header %s (api_key_header).", envAPIKey, a.apiKeyHeader)
	case failed.Status == http.StatusNotFound && strings.Contains(failed.Path, "/integrations/"):
		return fmt.Sprintf("Check integration_id, and base_url: the service was looked for at %s.", a.baseURL)
	case failed.Status == http.StatusNotFound:
		return fmt.Sprintf("Check base_url: the service was looked for at %s.", a.baseURL)
	case failed.Status == http.StatusTooManyRequests:
		return "The service limits how often it is asked. Wait, run with a smaller -parallelism, or raise max_retries."
	case failed.Status >= http.StatusInternalServerError:
		return "The service has a fault of its own. Run again; if it stays, ask those who run the service."
	case failed.Status >= http.StatusBadRequest:
		return "The service refuses the request as it is: change what it names, then run again."
	case failed.NotSent:
		return fmt.Sprintf("No connection was made. Check base_url (%s), that the service is up, and that it can be reached from here.", a.baseURL)
	default:
		return fmt.Sprintf("Check that base_url (%s) leads to the service itself and not to something before it; then run again.", a.baseURL)
	}
}

// sentence makes a message begin like a sentence and end like one.
func sentence(message string) string {
	if message == "" {
		return "No reason is given."
	}
	first, size := utf8.DecodeRuneInString(message)
	message = string(unicode.ToUpper(first)) + message[size:]
	if !strings.HasSuffix(message, ".") && !strings.HasSuffix(message, "!") && !strings.HasSuffix(message, "?") {
		message += "."
	}
	return message
}
