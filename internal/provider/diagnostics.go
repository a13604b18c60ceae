package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// report adds diagnostics. The summaries and formats are those of the provider. What is put into them is not: texts of
// the service and of the configuration are shown without control characters, without the values that the client hides,
// and bounded.
type report struct {
	*providerData
	diags *diag.Diagnostics
}

// report may be called before the provider is configured.
func (p *providerData) report(diags *diag.Diagnostics) report { return report{p, diags} }

// errorf reports an error at an attribute, or, with path.Empty(), at the resource. Args are cleaned; a []string is
// written with %s, as a list.
func (r report) errorf(at path.Path, summary, format string, args ...any) {
	at, summary, detail := r.compose(at, summary, format, args)
	if len(at.Steps()) == 0 {
		r.diags.AddError(summary, detail)
		return
	}
	r.diags.AddAttributeError(at, summary, detail)
}

// warnf is errorf for a warning.
func (r report) warnf(at path.Path, summary, format string, args ...any) {
	at, summary, detail := r.compose(at, summary, format, args)
	if len(at.Steps()) == 0 {
		r.diags.AddWarning(summary, detail)
		return
	}
	r.diags.AddAttributeWarning(at, summary, detail)
}

// compose cleans a message. What Terraform would print all the source of, it does not attach the message to.
func (r report) compose(at path.Path, summary, format string, args []any) (place path.Path, title, detail string) {
	detail = string(r.format(format, args...))
	if !printable(at) {
		if name := nameOf(at); !strings.Contains(detail, name) {
			detail = r.cleanText(name) + ": " + detail
		}
		at = path.Empty()
	}
	return at, r.cleanText(summary), detail
}

// trusted is text that is fit for a terminal.
type trusted string

// format is a part of a message: an argument of errorf that is not cleaned again.
func (p *providerData) format(format string, args ...any) trusted {
	cleaned := make([]any, len(args))
	for i, arg := range args {
		cleaned[i] = p.clean(arg)
	}
	return trusted(fmt.Sprintf(format, cleaned...))
}

// clean makes an argument of a message fit for a terminal.
func (p *providerData) clean(arg any) any {
	switch arg := arg.(type) {
	case trusted, bool, int, int64, float64:
		return arg
	case string:
		return p.cleanText(arg)
	case error:
		if _, ok := errors.AsType[*client.Error](arg); ok {
			return client.Sanitize(arg.Error()) // the client cleans its parts, each with a bound of its own
		}
		return p.cleanText(arg.Error())
	case []string:
		return p.list(arg)
	default:
		return p.cleanText(fmt.Sprint(arg))
	}
}

func (p *providerData) cleanText(text string) string {
	if p == nil || p.client == nil {
		return client.New(client.Config{}).Clean(text) // which hides nothing
	}
	return p.client.Clean(text)
}

// maxListed limits the lines of a list in a message.
const maxListed = 30

// list is a list in a message, one item a line.
func (p *providerData) list(lines []string) trusted {
	var text strings.Builder
	for _, line := range lines[:min(len(lines), maxListed)] {
		text.WriteString("\n  - " + p.cleanText(line))
	}
	if more := len(lines) - maxListed; more > 0 {
		fmt.Fprintf(&text, "\n  - and %d more", more)
	}
	return trusted(text.String())
}

// sentence is an error as a sentence.
func (p *providerData) sentence(err error) trusted {
	message, _ := p.clean(err).(string)
	if message == "" {
		return "No reason is given."
	}
	first, size := utf8.DecodeRuneInString(message)
	return withPeriod(trusted(string(unicode.ToUpper(first)) + message[size:]))
}

// withPeriod makes a message end like a sentence.
func withPeriod(message trusted) trusted {
	if strings.HasSuffix(string(message), ".") || strings.HasSuffix(string(message), "!") ||
		strings.HasSuffix(string(message), "?") {
		return message
	}
	return message + "."
}

// unprintable are the attributes whose source Terraform must not print: it may have credentials or secrets in it.
var unprintable = []string{"api_key", "headers", "secrets", "secrets_wo"}

// printable reports whether Terraform may print the source of an attribute: not of an object, a map, a list or a set as
// a whole, which has the values of others in it.
func printable(at path.Path) bool {
	steps := at.Steps()
	if len(steps) == 0 {
		return true // the resource
	}
	root, _ := steps[0].(path.PathStepAttributeName)
	if slices.Contains(unprintable, string(root)) {
		return false
	}
	if slices.Contains([]string{"timeouts", "redeploy_triggers", "tag_value_ids", "deployment_ids"}, string(root)) {
		return len(steps) > 1
	}
	fields := deploymentFields
	for i := 0; i < len(steps); i++ {
		name, _ := steps[i].(path.PathStepAttributeName)
		f, known := fields.ByName(string(name))
		if !known {
			return true
		}
		fields = f.Fields()
		switch f.Kind.(type) {
		case field.Object:
		case field.ObjectList:
			i++ // the index
		case field.List, field.StringMap:
			return i+1 < len(steps)
		default:
			return true
		}
	}
	return false
}

// nameOf names an attribute in a message. The name of a header is not shown: it may contain the credential.
func nameOf(at path.Path) string {
	if root := path.Root("headers"); slices.Equal(at.Steps()[:1], root.Steps()) {
		return root.String()
	}
	return at.String()
}

// locate finds the attribute that a location in a request belongs to.
type locate func(loc []any) (path.Path, bool)

// failure reports a failed request: what was attempted, what the service said, and what to do. What the service said of
// single fields is reported at their attributes. Notes are added to the last message.
func (r report) failure(summary string, err error, at locate, notes ...trusted) {
	var note trusted
	for _, n := range notes {
		note += "\n\n" + n
	}
	var failed *client.Error
	switch {
	case errors.As(err, &failed):
	case errors.Is(err, context.Canceled):
		r.errorf(path.Empty(), summary, "Interrupted before the service responded. Run the command again.%s", note)
		return
	default:
		r.errorf(path.Empty(), summary, "%s\n\n%s%s", r.sentence(err), r.advice(err), note)
		return
	}
	places := []path.Path{}
	var said []string
	for _, f := range failed.Fields {
		if at == nil {
			break
		}
		if place, ok := at(f.Loc); ok {
			places, said = append(places, place), append(said, f.Message)
		}
	}
	all := len(places) > 0 && len(places) == len(failed.Fields)
	for i, place := range places {
		tail := trusted("")
		if all && i == len(places)-1 {
			tail = note
		}
		// Older Terraform versions show the line of the resource only: the text names the attribute.
		r.errorf(place, summary, "The service rejected %s: %s\n\n%s%s", place, withPeriod(r.format("%s", said[i])),
			r.sentence(withoutMessage(failed)), tail)
	}
	if !all {
		r.errorf(path.Empty(), summary, "%s\n\n%s%s", r.sentence(failed), r.advice(err), note)
	}
}

// withoutMessage identifies a failed request.
func withoutMessage(failed *client.Error) error {
	request := *failed
	request.Message = ""
	return &request
}

// bug reports what only a bug in the provider causes.
func (r report) bug(what trusted, err error) {
	r.errorf(path.Empty(), "Provider bug", "%s: %s\n\nThis is a bug in the provider, not in the configuration. Please "+
		"report it in the issue tracker of the provider, with this message and the output of terraform version.", what,
		withPeriod(r.format("%s", err)))
}

// advice is what to do about an error of the client.
func (p *providerData) advice(err error) trusted {
	var a access
	if p != nil {
		a = p.access
	}
	failed, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return "Retry. If it persists, contact the service operator."
	case (failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden) && !a.hasKey:
		return p.format("No credential was sent. Set api_key, or %s. The provider sends it in the header %s "+
			"(api_key_header).", variable("api_key"), a.apiKeyHeader)
	case failed.Status == http.StatusUnauthorized:
		return p.format("Check the credential: api_key, or %s. It was sent in the header %s (api_key_header)%s.",
			variable("api_key"), a.apiKeyHeader, a.schemeHint())
	case failed.Status == http.StatusForbidden:
		return p.format("The service does not allow this operation with this credential. Check its permissions. It was "+
			"sent in the header %s (api_key_header)%s.", a.apiKeyHeader, a.schemeHint())
	case failed.Status == http.StatusNotFound && strings.Contains(failed.Path, "/integrations/"):
		return p.format("Check integration_id, and base_url (%s).", a.baseURL)
	case failed.Status == http.StatusNotFound:
		return p.format("Set base_url (%s) to the root URL of the API, with its path prefix and without /v2.", a.baseURL)
	case failed.Status == http.StatusTooManyRequests:
		return "The service limits the rate of requests. Retry later, use a smaller -parallelism, or raise max_retries in " +
			"the provider."
	case failed.Status >= http.StatusInternalServerError:
		return "The service, or a proxy, failed. Retry. If it persists, contact the service operator."
	case failed.Status >= http.StatusBadRequest:
		return "The service rejected the request; its message is above. If it names no argument, contact the " +
			"service operator."
	case failed.Cause == client.CauseUntrusted:
		return p.format("The certificate of the service at %s is not trusted. If it is issued by a private CA, set "+
			"ca_cert_file in the provider.", a.baseURL)
	case failed.Cause == client.CauseClientCertificate:
		return "The service ended the TLS handshake. If it requires a client certificate, set client_cert_file and " +
			"client_key_file in the provider."
	case failed.Cause == client.CausePlainHTTP:
		return p.format("The service uses plain http. Use http:// in base_url (%s), or the port for https.", a.baseURL)
	case failed.Cause == client.CauseRedirect:
		return p.format("Check base_url (%s). If you trust the target of the redirect, set base_url to it.", a.baseURL)
	case failed.Cause == client.CauseMalformed:
		return p.format("Check that base_url (%s) is the API itself and not a proxy or a website. If it is, upgrade this "+
			"provider, or contact the service operator.", a.baseURL)
	case failed.Cause == client.CauseTimeout:
		return p.format("Check that the service at base_url (%s) is up. If it is slow, raise request_timeout in "+
			"the provider.", a.baseURL)
	case failed.Cause == client.CauseUnreachable:
		return p.format("Check base_url (%s), and that the service is up and reachable from here.", a.baseURL)
	default:
		return p.format("Retry. If it persists, check that base_url (%s) is the API itself and not a proxy or a website.",
			a.baseURL)
	}
}

// schemeHint reminds of the scheme that the header Authorization usually has.
func (a access) schemeHint() string {
	if a.bareKey && strings.EqualFold(a.apiKeyHeader, "Authorization") {
		return ", without a scheme. Most services expect one, as in \"Bearer KEY\""
	}
	return ""
}
