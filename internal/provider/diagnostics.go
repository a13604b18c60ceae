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

// report returns a report for diagnostics. It works before the provider is configured, too.
func (p *providerData) report(diags *diag.Diagnostics) report { return report{p, diags} }

// errorf reports an error at an attribute, or, with path.Empty(), at the resource. Args are cleaned; a []string is
// written with %s, as a list.
func (r report) errorf(at path.Path, summary, format string, args ...any) {
	r.add(diag.SeverityError, at, summary, r.format(format, args...))
}

// warnf reports a warning, like errorf.
func (r report) warnf(at path.Path, summary, format string, args ...any) {
	r.add(diag.SeverityWarning, at, summary, r.format(format, args...))
}

// add adds a diagnostic. It names the attribute in the text instead, if Terraform would print all of its source.
func (r report) add(severity diag.Severity, at path.Path, summary string, text trusted) {
	detail := string(text)
	if !printable(at) {
		if name := nameOf(at); !strings.Contains(detail, name) {
			detail = r.cleanText(name) + ": " + detail
		}
		at = path.Empty()
	}
	var added diag.Diagnostic = diag.NewErrorDiagnostic(r.cleanText(summary), detail)
	if severity == diag.SeverityWarning {
		added = diag.NewWarningDiagnostic(r.cleanText(summary), detail)
	}
	if len(at.Steps()) > 0 {
		added = diag.WithPath(at, added)
	}
	r.diags.Append(added)
}

// trusted is text that is fit for a terminal.
type trusted string

// format returns a part of a message: an argument of errorf that is not cleaned again.
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

// list returns a list in a message, one item a line.
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

// sentence returns an error as a sentence.
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
	fields, isWhole := deploymentFields, false
	for _, step := range steps {
		name, isName := step.(path.PathStepAttributeName)
		if !isName { // an item of a list, or an entry of a map
			isWhole = len(fields) > 0
			continue
		}
		f, known := fields.ByName(string(name))
		if !known {
			return true
		}
		fields = f.Fields()
		switch f.Kind.(type) {
		case field.Object, field.ObjectList, field.List, field.StringMap:
			isWhole = true
		default:
			isWhole = false
		}
	}
	return !isWhole
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
	type message struct {
		at   path.Path
		text trusted
	}
	var messages []message
	failed, ok := errors.AsType[*client.Error](err)
	if ok && at != nil {
		for _, f := range failed.Fields {
			if place, known := at(f.Loc); known {
				// Older Terraform versions show the line of the resource only: the text names the attribute.
				messages = append(messages, message{place, r.format("The service rejected %s: %s\n\n%s", place,
					withPeriod(r.format("%s", f.Message)), r.sentence(withoutMessage(failed)))})
			}
		}
	}
	switch {
	case !ok && errors.Is(err, context.Canceled):
		messages = []message{{text: "Interrupted before the service responded. Run the command again."}}
	case !ok:
		messages = []message{{text: r.format("%s\n\n%s", r.sentence(err), r.advice(err))}}
	case len(messages) == 0 || len(messages) < len(failed.Fields):
		messages = append(messages, message{text: r.format("%s\n\n%s", r.sentence(failed), r.advice(failed))})
	}
	for _, note := range notes {
		messages[len(messages)-1].text += "\n\n" + note
	}
	for _, m := range messages {
		r.errorf(m.at, summary, "%s", m.text)
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

// advice states what to do about an error of the client.
func (p *providerData) advice(err error) trusted {
	var a access
	if p != nil {
		a = p.access
	}
	failed, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return "Retry. If it persists, contact the service operator."
	case failed.Status >= http.StatusBadRequest:
		return p.adviceOnStatus(failed, a)
	default:
		return p.adviceOnCause(failed.Cause, a)
	}
}

// adviceOnStatus states what to do about a response with an error.
func (p *providerData) adviceOnStatus(failed *client.Error, a access) trusted {
	rejectsCredential := failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden
	switch {
	case rejectsCredential && !a.hasKey:
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
	default:
		return "The service rejected the request; its message is above. If it names no argument, contact the " +
			"service operator."
	}
}

// adviceOnCause states what to do where there is no response, or none of the API.
func (p *providerData) adviceOnCause(cause client.Cause, a access) trusted {
	switch cause {
	case client.CauseUntrusted:
		return p.format("The certificate of the service at %s is not trusted. If it is issued by a private CA, set "+
			"ca_cert_file in the provider.", a.baseURL)
	case client.CauseClientCertificate:
		return "The service ended the TLS handshake. If it requires a client certificate, set client_cert_file and " +
			"client_key_file in the provider."
	case client.CausePlainHTTP:
		return p.format("The service uses plain http. Use http:// in base_url (%s), or the port for https.", a.baseURL)
	case client.CauseRedirect:
		return p.format("Check base_url (%s). If you trust the target of the redirect, set base_url to it.", a.baseURL)
	case client.CauseMalformed:
		return p.format("Check that base_url (%s) is the API itself and not a proxy or a website. If it is, upgrade this "+
			"provider, or contact the service operator.", a.baseURL)
	case client.CauseTimeout:
		return p.format("Check that the service at base_url (%s) is up. If it is slow, raise request_timeout in "+
			"the provider.", a.baseURL)
	case client.CauseUnreachable:
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
