package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxBody bounds an answer: what is longer is no answer of this service.
const maxBody = 32 << 20

// maxRetryAfter bounds how long a Retry-After is waited for.
const maxRetryAfter = 5 * time.Minute

var (
	errBodyTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxBody>>20)
	errRedirect     = errors.New("redirect refused")
	errNullList     = errors.New("null instead of a list")
)

// transport reads each answer whole before anything looks at it, so that an
// answer cut short is a failed attempt like any other, and is repeated where a
// failed attempt is repeated.
type transport struct {
	base  http.RoundTripper
	log   func(ctx context.Context, message string, fields map[string]any)
	clean func(text string) string
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := t.base.RoundTrip(req)
	if err == nil {
		err = buffer(resp)
	}
	if t.log != nil {
		fields := map[string]any{
			"method": req.Method, "path": req.URL.Path, "query": req.URL.RawQuery,
			"duration_ms": time.Since(start).Milliseconds(),
		}
		if err != nil {
			fields["error"] = t.clean(err.Error())
		} else {
			fields["status"] = resp.StatusCode
			fields["bytes"] = resp.ContentLength
			fields["request_id"] = t.clean(requestID(resp.Header))
		}
		t.log(req.Context(), "called the service", fields)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// buffer replaces the body of resp by its content.
func buffer(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	_ = resp.Body.Close()
	if err != nil {
		return fmt.Errorf("the answer was cut short: %w", err)
	}
	if len(body) > maxBody {
		return errBodyTooLarge
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	return nil
}

// checkRedirect follows a redirect of a GET within the origin. Anywhere else
// it would carry the credential, and a create would be sent twice or turn into
// a GET.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case origin(next.URL) != origin(first.URL):
		return fmt.Errorf("%w: it leads to another origin, %s, and would carry the credential there", errRedirect, origin(next.URL))
	case first.Method != http.MethodGet:
		return fmt.Errorf("%w: it would repeat a %s", errRedirect, first.Method)
	case len(via) >= 10:
		return fmt.Errorf("%w: more than 10 in a row", errRedirect)
	}
	return nil
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + u.Hostname() + ":" + port
}

// mayRepeatRead decides whether a GET is sent again: after lost connections
// and timeouts, 408, 429 and 5xx, and not once the caller has gone.
func mayRepeatRead(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		return !isPermanent(err), nil
	}
	return temporaryStatus(resp.StatusCode), nil
}

func temporaryStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		(status >= 500 && status != http.StatusNotImplemented)
}

// backoff is how long to wait before attempt+1: what the service asks for in
// Retry-After, else twice as long each time, up to longest, with jitter so
// that many clients do not come back together.
func backoff(shortest, longest time.Duration, attempt int, resp *http.Response) time.Duration {
	if wait, ok := retryAfter(resp, time.Now()); ok {
		return wait + jitter(min(wait/10, time.Second))
	}
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
func retryAfter(resp *http.Response, now time.Time) (time.Duration, bool) {
	if resp == nil {
		return 0, false
	}
	text := resp.Header.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(seconds) {
		wait = time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	} else if date, err := http.ParseTime(text); err == nil {
		wait = date.Sub(now)
	} else {
		return 0, false
	}
	return min(max(wait, 0), maxRetryAfter), true
}
