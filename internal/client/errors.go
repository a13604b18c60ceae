package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// ErrNotFound means that the service does not list a deployment.
var ErrNotFound = errors.New("not listed by the service")

// Error is a request that failed. Its text states the operation, the method, the path, the status, the id of the
// request and the service's message, free of markup, unprintable characters and secret values.
type Error struct {
	Operation string // in words: "create deployment"
	Method    string
	Path      string       // relative to the base URL
	Status    int          // 0 when no response came, or one that reports success
	Message   string       // the service's message, or what went wrong
	Fields    []FieldError // the service's messages about single fields
	RequestID string       // the service's id of the request, if it gave one
	Cause     Cause        // why there is no usable response, if there is none
	Err       error        // what went wrong, when it was not the service that reported it

	notSent       bool          // no connection was made: the service knows nothing of the request
	retryAfter    time.Duration // the wait that the service asks for, if it does
	retryAfterSet bool
}

// Cause is why a request has no usable response.
type Cause int

// The causes.
const (
	CauseOther             Cause = iota // or the status shows it
	CauseUnreachable                    // the connection was refused, or the host name does not resolve
	CauseTimeout                        // no response came in time
	CauseUntrusted                      // the certificate of the service is not trusted
	CauseClientCertificate              // the service ended the TLS handshake, for want of a client certificate, say
	CausePlainHTTP                      // the service speaks http where https was used
	CauseRedirect                       // the response is a redirect that is not followed
	CauseMalformed                      // the response reports success, but cannot be used
)

// causeOf returns why a request has no response.
func causeOf(err error) Cause {
	const refusedOnWindows = syscall.Errno(10061) // WSAECONNREFUSED; no other system has this number
	var slow interface{ Timeout() bool }
	var lookup *net.DNSError
	var operation *net.OpError
	switch {
	case errors.Is(err, errRedirect):
		return CauseRedirect
	case errors.Is(err, errBodyTooLarge):
		return CauseMalformed
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, new(tls.RecordHeaderError)):
		return CausePlainHTTP
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return CauseUntrusted
	case errors.As(err, &slow) && slow.Timeout():
		return CauseTimeout
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, refusedOnWindows),
		errors.As(err, &lookup) && lookup.IsNotFound:
		return CauseUnreachable
	case errors.As(err, &operation) && operation.Op == "remote error":
		return CauseClientCertificate
	}
	return CauseOther
}

// Outcome is what is known of the effect of a request that failed.
type Outcome int

// The outcomes.
const (
	Rejected   Outcome = iota // it had no effect, and would be rejected again
	NotApplied                // it certainly had no effect, and may be sent again
	Unknown                   // it may have had its effect
)

// Outcome returns what is known of the effect of the request.
func (e *Error) Outcome() Outcome {
	switch {
	case e.Status == http.StatusTooManyRequests, e.Status == http.StatusServiceUnavailable && e.retryAfterSet:
		return NotApplied
	case e.Status == http.StatusRequestTimeout, e.Status >= http.StatusInternalServerError:
		return Unknown
	case e.Status != 0, e.Cause == CauseClientCertificate, e.notSent && !e.mayPass():
		return Rejected
	case e.notSent:
		return NotApplied
	}
	return Unknown
}

// Invalid reports whether the service rejects the content of the request.
func (e *Error) Invalid() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
}

// Transient reports whether a request that failed may succeed when it is sent again: after lost connections and
// timeouts, 408, 429, and 5xx except 501.
func Transient(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Outcome() != Rejected && failed.mayPass() && failed.Status != http.StatusNotImplemented
}

// mayPass reports whether what prevents a usable response may pass.
func (e *Error) mayPass() bool {
	return e.Cause == CauseOther || e.Cause == CauseUnreachable || e.Cause == CauseTimeout
}

// permanentlyRejected reports whether the service responded that a request cannot succeed, now or later.
func permanentlyRejected(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Status != 0 && failed.Outcome() == Rejected
}

func isMalformed(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Cause == CauseMalformed
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

func newError(r request) *Error {
	return &Error{Operation: r.operation, Method: r.method, Path: r.path}
}

// failure returns the error of a request without a complete response.
func (c *Client) failure(r request, err error) *Error {
	e := newError(r)
	e.Err, e.Cause = err, causeOf(err)
	message := err.Error()
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		message = wrapped.Err.Error() // without the URL, which Error states itself
	}
	switch {
	case e.Cause == CauseTimeout:
		message = fmt.Sprintf("no response within %s (request_timeout)", c.config.RequestTimeout)
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "the response was cut short"
	case errors.Is(err, io.EOF):
		message = "the connection was closed without a response"
	}
	e.Message = c.displayText(message)
	return e
}

// malformed returns the error of a response that reports success but cannot be used.
func (c *Client) malformed(r request, err error) *Error {
	e := newError(r)
	e.Err, e.Cause = err, CauseMalformed
	e.Message = "the response cannot be used: " + c.displayText(err.Error())
	return e
}

// rejection returns the error of a response with a status other than success.
func (c *Client) rejection(r request, resp response) *Error {
	e := newError(r)
	e.Status, e.RequestID = resp.status, c.displayText(resp.requestID())
	e.retryAfter, e.retryAfterSet = retryAfter(resp.header, time.Now())
	message, fields := c.readProblem(resp)
	e.Message, e.Fields = c.displayText(message), fields
	return e
}
