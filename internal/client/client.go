package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Config says how to reach the service. Only BaseURL is required.
type Config struct {
	// BaseURL is the root of the service; a path prefix is kept.
	BaseURL *url.URL
	// Header goes with every request: the credential, a tenant, and so on.
	// No value of it ever stands in an error or a log.
	Header http.Header
	// UserAgent names the caller.
	UserAgent string
	// RequestTimeout bounds one attempt, its answer's body included.
	// Default 30 s.
	RequestTimeout time.Duration
	// MaxRetries is how often a request that may be repeated is repeated.
	MaxRetries int
	// RetryWait is the wait before the first repetition, which doubles up to
	// RetryWaitMax; both with jitter. Default 0.5 s and 30 s.
	RetryWait, RetryWaitMax time.Duration
	// PollInterval is the wait before the first look at a deployment that is
	// waited for; it grows up to PollIntervalMax. Default 1 s and 15 s.
	PollInterval, PollIntervalMax time.Duration
	// SettleTime is how long a create whose answer was lost is looked for
	// before it counts as not made. Default: RequestTimeout.
	SettleTime time.Duration
	// ReadSingly has each deployment read by a request of its own: for
	// benchmarks, to compare with.
	ReadSingly bool
	// RootCAs are the authorities to trust; nil means the system's.
	RootCAs *x509.CertPool
	// Log, when not nil, is told of each attempt: never of headers or bodies.
	Log func(ctx context.Context, message string, fields map[string]any)
}

// Client calls the service. It is safe for concurrent use; make it with [New].
type Client struct {
	config Config
	reads  *retryablehttp.Client // repeats what may be repeated
	writes *http.Client          // sends once
	reader *reader
	names  nameLocks
	made   sync.Map // ids of the deployments that this client has made
	memory hiddenValues
}

// New returns a client of the service at config.BaseURL. It sends nothing yet.
func New(config Config) *Client {
	config.RequestTimeout = orDefault(config.RequestTimeout, 30*time.Second)
	config.RetryWait = orDefault(config.RetryWait, 500*time.Millisecond)
	config.RetryWaitMax = orDefault(config.RetryWaitMax, 30*time.Second)
	config.PollInterval = orDefault(config.PollInterval, time.Second)
	config.PollIntervalMax = orDefault(config.PollIntervalMax, 15*time.Second)
	config.SettleTime = orDefault(config.SettleTime, config.RequestTimeout)

	c := &Client{config: config}
	for _, values := range config.Header {
		c.Hide(values...)
	}
	c.writes = &http.Client{
		Transport:     &transport{base: newHTTPTransport(config.RootCAs), log: config.Log, clean: c.clean},
		Timeout:       config.RequestTimeout,
		CheckRedirect: checkRedirect,
	}
	c.reads = &retryablehttp.Client{
		HTTPClient:   c.writes,
		RetryMax:     config.MaxRetries,
		RetryWaitMin: config.RetryWait,
		RetryWaitMax: config.RetryWaitMax,
		CheckRetry:   mayRepeatRead,
		Backoff:      backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	c.reader = c.newReader()
	return c
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// newHTTPTransport keeps as many idle connections as Terraform is likely to
// use at once; the default of two would open a new one for most requests.
func newHTTPTransport(roots *x509.CertPool) *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	t.MaxIdleConns = 128
	t.MaxIdleConnsPerHost = 128
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	return t
}

// request is one call of an operation. Path is relative to the base URL, and
// escaped.
type request struct {
	operation string // in words, for errors
	method    string
	path      string
	query     url.Values
	body      any
	once      bool // a GET that is not repeated
}

// call sends a request and reads the JSON answer into out. Its error is an
// [Error], or the context's.
func (c *Client) call(ctx context.Context, r request, out any) error {
	var body io.Reader
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return fmt.Errorf("%s: the request cannot be written as JSON: %w", r.operation, err)
		}
		body = bytes.NewReader(encoded)
	}
	target := *c.config.BaseURL
	target.RawPath = strings.TrimRight(target.EscapedPath(), "/") + r.path
	var err error
	if target.Path, err = url.PathUnescape(target.RawPath); err != nil {
		return c.failure(r, err)
	}
	target.RawQuery = r.query.Encode()
	connected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), r.method, target.String(), body)
	if err != nil {
		return c.failure(r, err)
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

	answer, err := c.send(req, r.once)
	if err != nil {
		if answer != nil {
			_ = answer.Body.Close() // it came when ctx had ended
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return ctx.Err()
		}
		failed := c.failure(r, err)
		failed.NotSent = !connected
		return failed
	}
	text, err := io.ReadAll(answer.Body) // in memory already, see transport
	_ = answer.Body.Close()
	if err != nil {
		return c.failure(r, err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return c.refusal(r, answer, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		failed := c.malformed(r.operation, r.method, r.path, describeNonJSON(answer, text, err))
		failed.RequestID = c.clean(requestID(answer.Header))
		if r.method == http.MethodPost {
			failed.madeID = c.idIn(text)
		}
		return failed
	}
	return nil
}

// send sends a request, and sends it again where that can do no harm.
func (c *Client) send(req *http.Request, once bool) (*http.Response, error) {
	if once || req.Method != http.MethodGet {
		return c.writes.Do(req)
	}
	repeatable, err := retryablehttp.FromRequest(req)
	if err != nil {
		return nil, err
	}
	return c.reads.Do(repeatable)
}

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.writes.CloseIdleConnections() }
