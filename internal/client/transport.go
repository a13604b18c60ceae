package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"
)

const (
	// maxBody bounds a response, after decompression.
	maxBody = 32 << 20
	// maxErrorBody is how much is read of a response with another status than success.
	maxErrorBody = 256 << 10
)

var (
	errBodyTooLarge      = fmt.Errorf("the response is larger than %d MiB", maxBody>>20)
	errSwitchedProtocols = errors.New("the service switched to another protocol without being asked")
)

// newHTTPTransport keeps as many idle connections as Terraform is likely to use at once; the default of two would
// open a new one for most requests.
func newHTTPTransport(config Config) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		MaxIdleConns:           128,
		MaxIdleConnsPerHost:    128,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: config.RootCAs,
			Certificates: config.Certificates},
	}
}

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// request is one call of an operation. Path is relative to the base URL, and escaped.
type request struct {
	operation string // in words, for errors
	method    string
	path      string
	query     url.Values
	body      any
	once      bool         // sent once, whatever the response
	header    *http.Header // set to the header of the response, if not nil
	budget    *budget      // of the operation that the request is a part of; nil if it is all of it
}

// call sends a request, a GET or DELETE again while that may help, and decodes the JSON response into out. The end of
// ctx does not cancel a write that is sent. Unless the request cannot be written, the error is an [Error], or that of
// ctx.
func (c *Client) call(ctx context.Context, r request, out any) error {
	sending := ctx
	if r.method != http.MethodGet {
		sending = context.WithoutCancel(ctx)
	}
	req, err := c.newRequest(sending, r)
	if err != nil {
		return fmt.Errorf("%s: %w", r.operation, err)
	}
	if r.budget == nil {
		r.budget = newBudget()
	}
	for attempt := 0; ; attempt++ {
		err := c.attempt(req, r, out)
		repeatable := !r.once && (r.method == http.MethodGet || r.method == http.MethodDelete)
		if !repeatable || attempt >= c.config.MaxRetries || !Transient(err) {
			return err
		}
		if c.pause(ctx, r.budget, attempt, err) != nil {
			if ctx.Err() != nil && r.method == http.MethodGet {
				return ctx.Err()
			}
			return err // a write may have been done; or the next attempt would come too late
		}
	}
}

// attempt sends a request once, and decodes the response into out.
func (c *Client) attempt(req *http.Request, r request, out any) error {
	ctx, connected := req.Context(), false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	req = req.Clone(httptrace.WithClientTrace(ctx, trace))
	if req.GetBody != nil {
		req.Body, _ = req.GetBody() // of a bytes.Reader: never fails
	}
	resp, err := c.exchange(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		failed := c.failure(r, err)
		failed.notSent = !connected
		return failed
	}
	if r.header != nil {
		*r.header = resp.header
	}
	switch {
	case !succeeded(resp.status):
		return c.rejection(r, resp)
	case out == nil:
		return nil
	}
	err = r.budget.spend(resp.body)
	if err == nil {
		err = resp.decode(out)
	}
	if err == nil {
		return nil
	}
	failed := c.malformed(r, err)
	failed.RequestID = c.displayText(resp.requestID())
	return failed
}

func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	target := *c.config.BaseURL
	target.RawPath = strings.TrimRight(target.EscapedPath(), "/") + r.path
	path, err := url.PathUnescape(target.RawPath)
	if err != nil {
		return nil, err
	}
	target.Path = path
	target.RawQuery = r.query.Encode()
	var body io.Reader // nil, and not a reader of nothing, for requests without one
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("the request cannot be encoded as JSON: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target.String(), body)
	if err != nil {
		return nil, err
	}
	for name, values := range c.config.Header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	if c.config.UserAgent != "" {
		req.Header.Set("User-Agent", c.config.UserAgent)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// response is a response that was read to its end.
type response struct {
	status int
	header http.Header
	body   []byte
}

// requestID returns the id that the service, or a proxy before it, gave to the request.
func (r response) requestID() string {
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	for _, name := range []string{"X-Request-Id", "X-Correlation-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray"} {
		id := r.header.Get(name)
		if id != "" && len(id) <= 128 && !strings.ContainsFunc(id, unprintable) {
			return id
		}
	}
	return ""
}

func (r response) isHTML() bool {
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// decode decodes a response. Its error states what it is instead.
func (r response) decode(out any) error {
	err := decodeAs("the whole response", r.body, out)
	if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
		return err
	}
	text := bytes.TrimSpace(r.body)
	switch {
	case r.isHTML(), bytes.HasPrefix(text, []byte("<")):
		return errors.New("it is an HTML page, not JSON, probably of a proxy, a login or a website")
	case len(text) == 0:
		return errors.New("it is empty")
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// decodeAs decodes JSON. Its error states in words that what is there is of another type.
func decodeAs(what string, raw []byte, value any) error {
	err := json.Unmarshal(raw, value)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: %s is not %s", what, mismatch.Value, kindOf(mismatch.Type))
	}
	return err
}

// exchange sends a request once, reads its response, and logs both.
func (c *Client) exchange(req *http.Request) (response, error) {
	start := time.Now()
	var got response
	resp, err := c.http.Do(req)
	if err == nil {
		got = response{status: resp.StatusCode, header: resp.Header}
		got.body, err = readBody(resp)
		_ = resp.Body.Close()
	}
	if c.config.Log != nil {
		fields := map[string]any{
			"method": req.Method, "path": req.URL.Path, "query": req.URL.RawQuery,
			"duration_ms": time.Since(start).Milliseconds(),
		}
		if err != nil {
			fields["error"] = c.displayText(err.Error())
		} else {
			fields["status"] = got.status
			fields["bytes"] = len(got.body)
			if !succeeded(got.status) {
				fields["request_id"] = c.displayText(got.requestID())
			}
		}
		c.config.Log(req.Context(), "called the service", fields)
	}
	return got, err
}

// readBody reads a response to its end, so that one cut short is a failed attempt. Of a response that reports an
// error the status matters: its body is what can be read of it, up to maxErrorBody.
func readBody(resp *http.Response) ([]byte, error) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, errSwitchedProtocols // its body is the connection, which may never end
	}
	if !succeeded(resp.StatusCode) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return body, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the response was cut short: %w", err)
	case len(body) > maxBody:
		return nil, errBodyTooLarge
	}
	return body, nil
}

func succeeded(status int) bool { return status >= 200 && status <= 299 }
