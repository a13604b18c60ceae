package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Config states how to reach the service. Only BaseURL is required.
type Config struct {
	// BaseURL is the root of the service; a path prefix is kept.
	BaseURL *url.URL
	// Header is sent with every request: the credential, a tenant, and so on. Its values never appear in an error or a
	// log.
	Header http.Header
	// UserAgent identifies the caller.
	UserAgent string
	// RequestTimeout bounds one attempt, the body of the response included. Default 30 s.
	RequestTimeout time.Duration
	// MaxRetries is how often a request that may be retried is retried.
	MaxRetries int
	// RetryWait is the wait before the first retry, which doubles up to RetryWaitMax; both with jitter. Default 0.5 s
	// and 30 s.
	RetryWait, RetryWaitMax time.Duration
	// PollInterval is the wait before the second read of a deployment that is waited for; it grows up to PollIntervalMax.
	// Default 1 s and 15 s.
	PollInterval, PollIntervalMax time.Duration
	// ConsistencyTimeout is how long a write is looked for before it counts as not done. Default RequestTimeout.
	ConsistencyTimeout time.Duration
	// DocumentedOnly restricts the client to the four operations that the API documents: the others send nothing and
	// return [ErrNotAllowed].
	DocumentedOnly bool
	// BatchSize is how many deployments concurrent reads request at once, at most. Default 10, Terraform's default
	// parallelism: once that many reads wait, no others will come. (Half of it would be faster for few of many
	// deployments, but needs twice as many requests.) With 1, nothing is read ahead either.
	BatchSize int
	// CheckDeployment, when not nil, reports what is wrong with a deployment in a response, such as a member of another
	// type. The deployment cannot be read then.
	CheckDeployment func(Tree) error
	// RootCAs are the authorities to trust; nil means the system's.
	RootCAs *x509.CertPool
	// Certificates are the client certificates for mutual TLS.
	Certificates []tls.Certificate
	// Log, when not nil, receives each attempt: never headers or bodies.
	Log func(ctx context.Context, message string, fields map[string]any)
}

// Client calls the service. It is safe for concurrent use; create it with [New].
type Client struct {
	config      Config
	http        *http.Client
	reader      *reader
	names       nameLocks
	taken       takenNames
	created     sync.Map    // ids of the deployments that this client has created
	noRevisions atomic.Bool // the service does not offer the status of revisions
	hidden      hiddenValues
}

// New returns a client of the service at config.BaseURL. It sends nothing yet.
func New(config Config) *Client {
	config.RequestTimeout = cmp.Or(config.RequestTimeout, 30*time.Second)
	config.RetryWait = cmp.Or(config.RetryWait, 500*time.Millisecond)
	config.RetryWaitMax = cmp.Or(config.RetryWaitMax, 30*time.Second)
	config.PollInterval = cmp.Or(config.PollInterval, time.Second)
	config.PollIntervalMax = cmp.Or(config.PollIntervalMax, 15*time.Second)
	config.BatchSize = cmp.Or(config.BatchSize, 10)
	config.ConsistencyTimeout = cmp.Or(config.ConsistencyTimeout, config.RequestTimeout)

	c := &Client{config: config, taken: takenNames{lock: newLock()},
		hidden: hiddenValues{forms: map[string][]string{}, known: map[string]bool{}}}
	for _, values := range config.Header {
		for _, value := range values {
			c.hideCredential(value)
		}
	}
	c.hideProxyPasswords()
	c.http = &http.Client{Transport: newHTTPTransport(config), Timeout: config.RequestTimeout,
		CheckRedirect: c.checkRedirect}
	c.reader = newReader(c)
	return c
}
