package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrNotFound says that the service does not list a deployment.
var ErrNotFound = errors.New("not listed by the service")

// maxMessage bounds what is shown of an answer, in characters; maxFields, of
// how many single fields.
const (
	maxMessage = 600
	maxFields  = 50
)

// Error is a request that failed. Its text names the operation, the method,
// the path, the status, and what the service said, free of markup, control
// characters and secret values. (The interface shows no errors, section 7; the
// shapes understood are those that such services commonly use.)
type Error struct {
	Operation string // in words: "create deployment"
	Method    string
	Path      string       // relative to the base URL
	Status    int          // 0 when no answer came
	Message   string       // what the service said, or what went wrong
	Fields    []FieldError // what the service said of single fields
	RequestID string       // the service's id of the request, if it gave one
	Malformed bool         // the answer came, with success, but cannot be read
	NotSent   bool         // no connection was made: the service knows nothing of it
	Err       error        // what went wrong, when it was not the service that said so

	madeID        string        // of what an answer that cannot be used is about, to a POST
	retryAfter    time.Duration // what the service asks for, if it does
	retryAfterSet bool
}

// FieldError is what the service said of one field of the request. Loc is its
// place: member names (string) and array indices (int).
type FieldError struct {
	Loc     []any
	Message string
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed (%s %s)", e.Operation, e.Method, e.Path)
	if e.Status != 0 {
		b.WriteString(strings.TrimRight(fmt.Sprintf(": %d %s", e.Status, http.StatusText(e.Status)), " "))
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request id %s)", e.RequestID)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether no answer came in time.
func (e *Error) Timeout() bool {
	var slow interface{ Timeout() bool }
	return errors.As(e.Err, &slow) && slow.Timeout()
}

// Redirected reports whether the answer was a redirect that is not followed.
func (e *Error) Redirected() bool { return errors.Is(e.Err, errRedirect) }

// Untrusted reports whether the certificate of the service is not trusted.
func (e *Error) Untrusted() bool { return isCertificateError(e.Err) }

// SpeaksPlainHTTP reports whether https was asked of what speaks http.
func (e *Error) SpeaksPlainHTTP() bool { return errors.Is(e.Err, http.ErrSchemeMismatch) }

// failure is the error of a request to which no whole answer came.
func (c *Client) failure(r request, err error) *Error {
	var wrapped *url.Error
	message := err.Error()
	if errors.As(err, &wrapped) {
		message = wrapped.Err.Error() // without the URL, which Error names itself
		// The first alone misses a timeout in the middle of a body.
		if wrapped.Timeout() || errors.Is(err, context.DeadlineExceeded) {
			message = fmt.Sprintf("no answer within %s (request_timeout)", c.config.RequestTimeout)
		}
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "the answer was cut short"
	case errors.Is(err, io.EOF):
		message = "the connection was closed without an answer"
	}
	return &Error{Operation: r.operation, Method: r.method, Path: r.path, Err: err, Message: c.clean(message)}
}

// malformed is the error of an answer that says success but cannot be read.
func (c *Client) malformed(operation, method, path string, err error) *Error {
	return &Error{Operation: operation, Method: method, Path: path, Malformed: true, Err: err,
		Message: "the answer cannot be used: " + c.clean(err.Error())}
}

// refusal is the error of an answer with a status other than success.
func (c *Client) refusal(r request, resp *http.Response, body []byte) *Error {
	e := &Error{Operation: r.operation, Method: r.method, Path: r.path,
		Status: resp.StatusCode, RequestID: c.clean(requestID(resp.Header))}
	e.retryAfter, e.retryAfterSet = retryAfter(resp, time.Now())
	message, fields, ok := readProblem(body)
	if !ok {
		message = c.plainWords(resp, body)
	}
	e.Message = c.clean(message)
	for _, f := range fields[:min(len(fields), maxFields)] {
		for i, step := range f.Loc {
			if name, ok := step.(string); ok {
				f.Loc[i] = c.clean(name)
			}
		}
		f.Message = c.clean(f.Message)
		e.Fields = append(e.Fields, f)
	}
	return e
}

// readProblem finds what the body of a refusal says, in the common shapes:
// detail as text or as a list of {loc, msg}, problem+json, error.message,
// error as text, message, errors. It is not ok when the body is no JSON object.
func readProblem(body []byte) (message string, fields []FieldError, ok bool) {
	var problem struct{ Title, Detail, Error, Errors, Message json.RawMessage }
	if json.Unmarshal(body, &problem) != nil {
		return "", nil, false
	}
	fields = append(readFieldErrors(problem.Detail), readFieldErrors(problem.Errors)...)
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.String())
	}
	if len(parts) == 0 {
		for _, raw := range []json.RawMessage{problem.Title, problem.Detail, problem.Error, problem.Message, problem.Errors} {
			if text := textOf(raw); text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, "; "), fields, true
}

// String is the place and the message: "body.source_config.cpu: too large".
func (f FieldError) String() string {
	var names []string
	for _, step := range f.Loc {
		names = append(names, fmt.Sprint(step))
	}
	if len(names) == 0 {
		return f.Message
	}
	return strings.Join(names, ".") + ": " + f.Message
}

// readFieldErrors reads a list of {loc, msg}; nil when raw is something else.
func readFieldErrors(raw json.RawMessage) []FieldError {
	var items []struct {
		Loc     []any  `json:"loc"`
		Msg     string `json:"msg"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var fields []FieldError
	for _, item := range items {
		f := FieldError{Message: item.Msg}
		if f.Message == "" {
			f.Message = item.Message
		}
		for _, step := range item.Loc {
			switch step := step.(type) {
			case string:
				f.Loc = append(f.Loc, step)
			case float64:
				f.Loc = append(f.Loc, int(step))
			}
		}
		if f.Message != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// textOf finds the text in a value that is one, or has one in a member of a
// usual name.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct{ Message, Msg, Detail, Description string }
	if json.Unmarshal(raw, &object) == nil {
		for _, text := range []string{object.Message, object.Msg, object.Detail, object.Description} {
			if text != "" {
				return text
			}
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var texts []string
		for _, item := range list {
			if text := textOf(item); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; ")
	}
	return ""
}

// compiled is a regular expression that is made when it is first needed: every
// run starts up, and few come across an error.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var (
	htmlInvisible = compiled(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<!--.*?-->`)
	htmlTag       = compiled(`(?s)<[^<>]*>`)
	// In a text that is not a page, <name> may be meant as it stands: only the
	// elements of HTML go.
	htmlElement = compiled(`(?is)</?(?:!doctype|html|head|title|meta|link|body|div|span|p|br|hr|h[1-6]|a|b|i|u|s|em|strong|small|big|` +
		`sub|sup|code|pre|kbd|samp|var|tt|center|font|mark|q|blockquote|cite|abbr|ul|ol|li|dl|dt|dd|table|caption|thead|tbody|tfoot|tr|td|th|` +
		`form|input|button|label|select|option|textarea|script|noscript|style|iframe|object|embed|svg|math|img|picture|video|audio|canvas|` +
		`main|section|article|aside|header|footer|nav|details|summary)(?:[\s/][^<>]*)?>`)
	// What colours text in a terminal, or worse.
	terminalSequence = compiled("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)")
)

// withoutMarkup is a text that is no page without elements of HTML.
func withoutMarkup(text string) string {
	plain := htmlElement().ReplaceAllString(htmlInvisible().ReplaceAllString(text, " "), " ")
	if plain == text {
		return text
	}
	return html.UnescapeString(plain)
}

// plainWords is a body that is not JSON, as words: without markup. Secrets go
// first, while nothing that looks like markup, and no end, is cut out of them.
func (c *Client) plainWords(resp *http.Response, body []byte) string {
	if !utf8.Valid(body) && bytes.ContainsRune(body, 0) {
		return "an answer that is not text"
	}
	text := redact(oneLine(string(body)), c.memory.all())
	text = htmlInvisible().ReplaceAllString(text[:min(len(text), 8*maxMessage)], " ")
	text = html.UnescapeString(htmlTag().ReplaceAllString(text, " "))
	if isHTML(resp) {
		text = "an HTML page: " + text
	}
	return text
}

func isHTML(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/html"
}

// describeNonJSON says why an answer could not be decoded.
func describeNonJSON(resp *http.Response, body []byte, err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		field := kind.Field
		if field == "" {
			field = "the whole answer"
		}
		return fmt.Errorf("%s: %s is not %s", field, kind.Value, kindInWords(kind))
	case isHTML(resp):
		return errors.New("it is an HTML page, not JSON; base_url may lead to a web site instead of the service")
	case len(bytes.TrimSpace(body)) == 0:
		return errors.New("it is empty")
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

func kindInWords(e *json.UnmarshalTypeError) string {
	switch name := e.Type.String(); {
	case name == "client.Whole":
		return "a whole number"
	case name == "int64": // of a whole number, too large for it
		return "within 64 bits"
	case name == "string", name == "bool":
		return "a " + name
	case strings.HasPrefix(name, "float"):
		return "a number"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	default:
		return "an object"
	}
}

// clean makes text fit to be shown: no control characters, no run of space, no
// markup, no secret, and bounded. Secrets go before anything is cut out of
// them, and once more where they were hidden by what was cut out.
func (c *Client) clean(text string) string {
	hidden := c.memory.all()
	text = redact(oneLine(text), hidden)
	text = quotedSecrets().ReplaceAllString(text, "$1 (sensitive value)")
	text = text[:min(len(text), 8*maxMessage)] // more is not shown, whatever it is
	text = redact(oneLine(withoutMarkup(text)), hidden)
	if runes := []rune(text); len(runes) > maxMessage {
		text = string(runes[:maxMessage]) + " […]"
	}
	return text
}

// oneLine is text without control characters and what they introduce, runs of
// space and broken characters.
func oneLine(text string) string {
	var b strings.Builder
	space := false
	for _, r := range terminalSequence().ReplaceAllString(text, " ") {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// idIn is the id in an answer that cannot be read as a whole; "" unless it is a
// UUID, as it may be anything, and one that may be shown.
func (c *Client) idIn(body []byte) string {
	var made struct{ ID json.RawMessage }
	var id string
	if json.Unmarshal(body, &made) != nil || json.Unmarshal(made.ID, &id) != nil || !isUUID(id) || c.clean(id) != id {
		return ""
	}
	return id
}

// requestID is the id that the service, or what stands before it, gave to a
// request.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "X-Correlation-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray"} {
		if id := h.Get(name); id != "" && len(id) <= 128 && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) || r > unicode.MaxASCII }) {
			return id
		}
	}
	return ""
}

// isPermanent reports whether an error would only come again: a redirect that
// is refused, a certificate that is not trusted, a body over the limit.
func isPermanent(err error) bool {
	return errors.Is(err, errRedirect) || errors.Is(err, errBodyTooLarge) || isCertificateError(err) ||
		errors.Is(err, context.Canceled)
}

func isCertificateError(err error) bool {
	var verification *tls.CertificateVerificationError
	return errors.As(err, &verification)
}
