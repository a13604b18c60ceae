package client

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// ErrNotFound means that the service does not list a deployment.
var ErrNotFound = errors.New("not listed by the service")

// maxMessage bounds what is shown of a response, in characters; maxFields, of how many single fields and of how many steps of a
// field's place; maxLevels, how deep in a body it is searched for.
const (
	maxMessage = 600
	maxFields  = 50
	maxSteps   = 16
	maxLevels  = 4
)

// Error is a request that failed. Its text states the operation, the method, the path, the status, the id of the request and
// the service's message, free of markup, unprintable characters and secret values. (The API documents no errors, section 7; the
// shapes understood are those that such services commonly use.)
type Error struct {
	Operation string // in words: "create deployment"
	Method    string
	Path      string       // relative to the base URL
	Status    int          // 0 when no response came, or one that reports success
	Message   string       // the service's message, or what went wrong
	Fields    []FieldError // the service's messages about single fields
	RequestID string       // the service's id of the request, if it gave one
	Malformed bool         // the response came, with success, but cannot be used
	NotSent   bool         // no connection was made: the service knows nothing of the request
	Err       error        // what went wrong, when it was not the service that reported it

	retryAfter    time.Duration // the wait that the service asks for, if it does
	retryAfterSet bool
}

// FieldError is the service's message about one field of the request. Loc is its place: member names (string) and array indices
// (int).
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

// Invalid reports whether the service rejects the content of the request.
func (e *Error) Invalid() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
}

// Timeout reports whether no response came in time.
func (e *Error) Timeout() bool {
	var slow interface{ Timeout() bool }
	return errors.As(e.Err, &slow) && slow.Timeout()
}

// Redirected reports whether the response was a redirect that is not followed.
func (e *Error) Redirected() bool { return errors.Is(e.Err, errRedirect) }

// Untrusted reports whether the certificate of the service is not trusted.
func (e *Error) Untrusted() bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](e.Err)
	return ok
}

// SpeaksPlainHTTP reports whether the service speaks http where https was used.
func (e *Error) SpeaksPlainHTTP() bool { return errors.Is(e.Err, http.ErrSchemeMismatch) }

// Unreachable reports whether the connection was refused, or the host name does not resolve.
func (e *Error) Unreachable() bool {
	const refusedOnWindows = syscall.Errno(10061) // WSAECONNREFUSED; no other system has this number
	var lookup *net.DNSError
	return errors.Is(e.Err, syscall.ECONNREFUSED) || errors.Is(e.Err, refusedOnWindows) || errors.As(e.Err, &lookup) && lookup.IsNotFound
}

// notApplied reports whether the service certainly did not act on a write, and may act on it when it is sent again.
func (e *Error) notApplied() bool {
	return e.Status == http.StatusTooManyRequests || e.NotSent && !e.permanent()
}

// outcomeUnknown reports whether the service may have acted on a write although no usable response came.
func (e *Error) outcomeUnknown() bool {
	if e.Status == 0 { // no response, or one that reports success and cannot be used
		return !e.NotSent && !e.tlsAlert()
	}
	return e.Status == http.StatusRequestTimeout || e.Status >= http.StatusInternalServerError
}

// unavailable reports whether the service reported that it cannot act now, and when it can.
func (e *Error) unavailable() bool {
	return e.Status == http.StatusServiceUnavailable && e.retryAfterSet
}

// retryable reports whether the same request may succeed when it is sent again: after lost connections and timeouts, 408, 429,
// and 5xx except 501.
func retryable(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && !failed.Malformed && !failed.permanent() && (failed.Status == 0 || temporaryStatus(failed.Status))
}

func temporaryStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		status >= http.StatusInternalServerError && status != http.StatusNotImplemented
}

// permanent reports whether the error would only occur again: a redirect that is rejected, a certificate that either side
// rejects, http instead of https, a body over the limit.
func (e *Error) permanent() bool {
	return e.Redirected() || e.Untrusted() || e.SpeaksPlainHTTP() || e.tlsAlert() || errors.Is(e.Err, errBodyTooLarge)
}

// tlsAlert reports whether the service ended a TLS handshake, for want of a client certificate, say.
func (e *Error) tlsAlert() bool {
	operation, ok := errors.AsType[*net.OpError](e.Err)
	return ok && operation.Op == "remote error"
}

// failure is the error of a request without a complete response.
func (c *Client) failure(r request, err error) *Error {
	e := &Error{Operation: r.operation, Method: r.method, Path: r.path, Err: err}
	message := err.Error()
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		message = wrapped.Err.Error() // without the URL, which Error states itself
	}
	switch {
	case e.Timeout():
		message = fmt.Sprintf("no response within %s (request_timeout)", c.config.RequestTimeout)
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "the response was cut short"
	case errors.Is(err, io.EOF):
		message = "the connection was closed without a response"
	}
	e.Message = c.displayText(message)
	return e
}

// malformed is the error of a response that reports success but cannot be used.
func (c *Client) malformed(r request, err error) *Error {
	return &Error{Operation: r.operation, Method: r.method, Path: r.path, Malformed: true, Err: err,
		Message: "the response cannot be used: " + c.displayText(err.Error())}
}

// rejection is the error of a response with a status other than success.
func (c *Client) rejection(r request, resp response) *Error {
	e := &Error{Operation: r.operation, Method: r.method, Path: r.path,
		Status: resp.status, RequestID: c.displayText(requestID(resp.header))}
	e.retryAfter, e.retryAfterSet = retryAfter(resp.header, time.Now())
	message, fields, ok := c.readProblem(resp.body)
	switch {
	case ok:
	case isHTML(resp.header):
		message = htmlPage
	case !utf8.Valid(resp.body) && bytes.IndexByte(resp.body, 0) >= 0:
		message = "a response that is not text"
	default:
		message = string(resp.body)
	}
	e.Message, e.Fields = c.displayText(message), fields
	return e
}

// readProblem finds the message in the body of a rejection, in the common shapes: detail as text or as a list of {loc, msg},
// problem+json, error.message, error as text, message, errors. It is not ok when the body is no JSON object. The fields are fit
// for a message.
func (c *Client) readProblem(body []byte) (message string, fields []FieldError, ok bool) {
	var problem struct{ Title, Detail, Error, Errors, Message any }
	if json.Unmarshal(body, &problem) != nil {
		return "", nil, false
	}
	fields = append(c.readFieldErrors(problem.Detail), c.readFieldErrors(problem.Errors)...)
	fields = fields[:min(len(fields), maxFields)]
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.String())
	}
	if len(parts) == 0 {
		for _, value := range []any{problem.Title, problem.Detail, problem.Error, problem.Message, problem.Errors} {
			if text := textOf(value, maxLevels-1); text != "" {
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

// readFieldErrors reads a list of {loc, msg}; nil when value is something else.
func (c *Client) readFieldErrors(value any) []FieldError {
	items, _ := value.([]any)
	var fields []FieldError
	for _, item := range items[:min(len(items), maxFields)] {
		object, ok := item.(map[string]any)
		if !ok {
			return nil
		}
		var f FieldError
		if f.Message, _ = object["msg"].(string); f.Message == "" {
			f.Message, _ = object["message"].(string)
		}
		loc, _ := object["loc"].([]any)
		for _, step := range loc[:min(len(loc), maxSteps)] {
			switch step := step.(type) {
			case string:
				f.Loc = append(f.Loc, c.displayText(step))
			case float64:
				if step == math.Trunc(step) && math.Abs(step) <= math.MaxInt32 {
					f.Loc = append(f.Loc, int(step))
				}
			}
		}
		if f.Message = c.displayText(f.Message); f.Message != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// textOf finds the text in a value that is one, has one in a member of a usual name, or is a list of such values, within so
// many levels.
func textOf(value any, levels int) string {
	if text, ok := value.(string); ok || value == nil || levels == 0 {
		return text
	}
	object, _ := value.(map[string]any)
	for _, name := range []string{"message", "msg", "detail", "description"} {
		if text := textOf(object[name], levels-1); text != "" {
			return text
		}
	}
	var texts []string
	list, _ := value.([]any)
	for _, item := range list[:min(len(list), maxFields)] {
		if text := textOf(item, levels-1); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

func isHTML(header http.Header) bool {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// describeNonJSON states why a response could not be decoded.
func describeNonJSON(resp response, err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch):
		return fmt.Errorf("%s: %s is not %s", cmp.Or(mismatch.Field, "the whole response"), mismatch.Value, typeInWords(mismatch.Type))
	case isHTML(resp.header):
		return errors.New("it is an HTML page, not JSON; base_url may lead to a web site instead of the service")
	case len(bytes.TrimSpace(resp.body)) == 0:
		return errors.New("it is empty")
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	return err
}

func typeInWords(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.String, t.Kind() == reflect.Bool:
		return "a " + t.Kind().String()
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Slice:
		return "a list"
	}
	return "an object"
}

// requestID is the id that the service, or a proxy before it, gave to a request.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "X-Correlation-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray"} {
		if id := h.Get(name); id != "" && len(id) <= 128 && !strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
			return id
		}
	}
	return ""
}
