package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrNotFound says that the service does not list a deployment.
var ErrNotFound = errors.New("not listed by the service")

// maxMessage bounds what is shown of an answer, in characters.
const maxMessage = 600

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
	Err       error        // what went wrong when no answer came

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
		fmt.Fprintf(&b, ": %d %s", e.Status, http.StatusText(e.Status))
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

// failure is the error of a request to which no whole answer came.
func (c *Client) failure(r request, err error) *Error {
	var wrapped *url.Error
	message := err.Error()
	if errors.As(err, &wrapped) {
		message = wrapped.Err.Error() // without the URL, which Error names itself
		if wrapped.Timeout() {
			message = fmt.Sprintf("no answer within %s (request_timeout)", c.config.RequestTimeout)
		}
	}
	return &Error{Operation: r.operation, Method: r.method, Path: r.path, Err: err, Message: c.clean(message, r.secret)}
}

// malformed is the error of an answer that says success but cannot be read.
func (c *Client) malformed(operation, method, path string, err error) *Error {
	return &Error{Operation: operation, Method: method, Path: path, Malformed: true, Err: err,
		Message: "the answer cannot be used: " + c.clean(err.Error(), nil)}
}

// refusal is the error of an answer with a status other than success.
func (c *Client) refusal(r request, resp *http.Response, body []byte) *Error {
	e := &Error{Operation: r.operation, Method: r.method, Path: r.path,
		Status: resp.StatusCode, RequestID: requestID(resp.Header)}
	e.retryAfter, e.retryAfterSet = retryAfter(resp, time.Now())
	message, fields := readProblem(resp, body)
	e.Message = c.clean(message, r.secret)
	for _, f := range fields {
		e.Fields = append(e.Fields, FieldError{Loc: f.Loc, Message: c.clean(f.Message, r.secret)})
	}
	return e
}

// readProblem finds what the body of a refusal says, in the common shapes:
// detail as text or as a list of {loc, msg}, problem+json, error.message,
// error as text, message, errors. Of HTML and plain text it takes the words.
func readProblem(resp *http.Response, body []byte) (string, []FieldError) {
	var problem struct {
		Title   string          `json:"title"`
		Detail  json.RawMessage `json:"detail"`
		Error   json.RawMessage `json:"error"`
		Errors  json.RawMessage `json:"errors"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &problem) != nil {
		return plainWords(resp, body), nil
	}
	fields := append(readFieldErrors(problem.Detail), readFieldErrors(problem.Errors)...)
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.String())
	}
	if len(parts) == 0 {
		for _, text := range []string{problem.Title, textOf(problem.Detail), textOf(problem.Error), problem.Message, textOf(problem.Errors)} {
			if text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, "; "), fields
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
			if index, ok := step.(float64); ok {
				step = int(index)
			}
			f.Loc = append(f.Loc, step)
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

var (
	htmlInvisible = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<!--.*?-->`)
	htmlTag       = regexp.MustCompile(`(?s)<[^<>]*>`)
)

// plainWords is a body that is not JSON, as words: without markup.
func plainWords(resp *http.Response, body []byte) string {
	if len(body) > 8*maxMessage {
		body = body[:8*maxMessage]
	}
	if !utf8.Valid(body) && bytes.ContainsRune(body, 0) {
		return "an answer that is not text"
	}
	text := htmlInvisible.ReplaceAllString(string(body), " ")
	text = html.UnescapeString(htmlTag.ReplaceAllString(text, " "))
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
// secret, and bounded.
func (c *Client) clean(text string, secret []string) string {
	for _, values := range c.config.Header {
		secret = append(secret[:len(secret):len(secret)], values...)
	}
	text = redact(text, secret)
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > maxMessage {
		text = string(runes[:maxMessage]) + " […]"
	}
	return text
}

// redact takes secret values out of text, in the forms in which a service
// echoes them. A text in which a very short one stands is withheld whole:
// replacing it would mark every place where its letters occur.
func redact(text string, secret []string) string {
	var forms []string
	for _, value := range secret {
		quoted, _ := json.Marshal(value)
		for _, form := range []string{value, strings.Trim(string(quoted), `"`), url.QueryEscape(value), html.EscapeString(value), fmt.Sprintf("%q", value)} {
			if form != "" {
				forms = append(forms, form)
			}
		}
		// "Bearer abc" is also secret as "abc".
		if _, token, ok := strings.Cut(value, " "); ok && token != "" {
			forms = append(forms, token)
		}
	}
	// The longest first, so that no part of one is left behind.
	sort.Slice(forms, func(i, j int) bool { return len(forms[i]) > len(forms[j]) })
	for _, form := range forms {
		if !strings.Contains(text, form) {
			continue
		}
		if len(form) < 4 {
			return "(withheld: it contains a secret value)"
		}
		text = strings.ReplaceAll(text, form, "(sensitive value)")
	}
	return text
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
