package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const (
	// maxBody bounds a response, after decompression.
	maxBody = 32 << 20
	// maxErrorBody is how much is read of a response with another status than success.
	maxErrorBody = 256 << 10
	// maxRetryAfter bounds how long one Retry-After is honored.
	maxRetryAfter = maxPauses
	maxRedirects  = 10
)

var (
	errBodyTooLarge      = fmt.Errorf("the response is larger than %d MiB", maxBody>>20)
	errRedirect          = errors.New("redirect rejected")
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

func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	target := *c.config.BaseURL
	target.RawPath = strings.TrimRight(target.EscapedPath(), "/") + r.path
	var err error
	if target.Path, err = url.PathUnescape(target.RawPath); err != nil {
		return nil, err
	}
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

// decode decodes a response. Its error states what it is instead.
func (r response) decode(out any) error {
	err := decodeAs("the whole response", r.body, out)
	if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
		return err
	}
	text := bytes.TrimSpace(r.body)
	switch {
	case isHTML(r.header), bytes.HasPrefix(text, []byte("<")):
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
				fields["request_id"] = c.displayText(requestID(got.header))
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

// checkRedirect follows the redirect of a GET within the base URL, to the same query. Anything else would carry the
// credential elsewhere, list something else, or send a write twice.
func (c *Client) checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case Origin(next.URL) != Origin(first.URL):
		return fmt.Errorf("%w: it leads to another origin, %s, and would carry the credential there", errRedirect,
			Origin(next.URL))
	case first.Method != http.MethodGet:
		return fmt.Errorf("%w: it would repeat a %s", errRedirect, first.Method)
	case next.URL.User != nil:
		return fmt.Errorf("%w: its URL has user info", errRedirect)
	case !within(c.config.BaseURL, next.URL):
		return fmt.Errorf("%w: it leads out of the path of base_url", errRedirect)
	case !equalQuery(first.URL, next.URL):
		return fmt.Errorf("%w: it drops or changes the query", errRedirect)
	case len(via) >= maxRedirects:
		return fmt.Errorf("%w: more than %d in a row", errRedirect, maxRedirects)
	}
	return nil
}

// Origin is the scheme, the host and the port of a URL.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// within reports whether a URL is below the path of base, both as it is written and as a server may resolve it.
func within(base, u *url.URL) bool {
	below := func(path, root string) bool { return strings.HasPrefix(path+"/", strings.TrimRight(root, "/")+"/") }
	return below(u.EscapedPath(), base.EscapedPath()) && below(path.Clean("/"+u.Path), path.Clean("/"+base.Path))
}

func equalQuery(a, b *url.URL) bool {
	queryA, errA := url.ParseQuery(a.RawQuery)
	queryB, errB := url.ParseQuery(b.RawQuery)
	return errA == nil && errB == nil && reflect.DeepEqual(queryA, queryB)
}

// retryWait is how long to wait before a request that failed with err is sent again: as long as the service asks for,
// else longer each time.
func (c *Client) retryWait(attempt int, err error) time.Duration {
	if failed, ok := errors.AsType[*Error](err); ok && failed.retryAfterSet {
		return failed.retryAfter + jitter(min(failed.retryAfter/10, time.Second))
	}
	return backoff(c.config.RetryWait, c.config.RetryWaitMax, attempt)
}

// pause waits for [Client.retryWait]. It returns an error, at once, when ctx would end first, or the service has
// asked for more time than the operation has.
func (c *Client) pause(ctx context.Context, b *budget, attempt int, err error) error {
	wait := c.retryWait(attempt, err)
	if failed, ok := errors.AsType[*Error](err); ok && failed.retryAfterSet {
		if b.paused >= maxPauses {
			return context.DeadlineExceeded
		}
		wait = min(wait, maxPauses-b.paused)
		b.paused += wait
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return context.DeadlineExceeded
	}
	return sleep(ctx, wait)
}

// backoff is how long to wait before attempt+1: twice as long each time, up to longest, with jitter so that many
// clients do not come back together.
func backoff(shortest, longest time.Duration, attempt int) time.Duration {
	wait := longest
	if attempt < 30 && shortest<<attempt < longest && shortest<<attempt > 0 {
		wait = shortest << attempt
	}
	return wait/2 + jitter(wait/2)
}

// jitter is a random duration from 0 to d.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d + 1)
}

// retryAfter reads the Retry-After header of a response: seconds or a date.
func retryAfter(header http.Header, now time.Time) (wait time.Duration, ok bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(seconds) {
		wait = time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	} else if date, err := http.ParseTime(text); err == nil {
		wait = date.Sub(now)
	} else {
		return 0, false
	}
	return min(max(wait, 0), maxRetryAfter), true
}
