package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// ExistsError says that a deployment of the wanted name was there before.
type ExistsError struct{ Existing *Deployment }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("a deployment named %q exists already, with id %s", e.Existing.Name, e.Existing.ID)
}

// LostError says that the answer to a create was lost, and that the deployment
// was not listed afterwards: most likely, but not certainly, it was not made.
// When Look is set, nothing is known of it.
type LostError struct {
	Name string
	Err  error  // how the answer was lost
	Look error  // why the deployment could not be looked for, if it could not
	ID   string // what the answer says of the id, if it cannot be read otherwise
}

func (e *LostError) Error() string {
	if e.Look != nil {
		return fmt.Sprintf("the answer to the request that creates deployment %q was lost (%v), and whether it was made cannot be found out: %v", e.Name, e.Err, e.Look)
	}
	return fmt.Sprintf("the answer to the request that creates deployment %q was lost, and no deployment of that name is listed since: %v", e.Name, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// CreateDeployment makes a deployment (section 4.1) once. It first looks for
// one of that name, and returns an [ExistsError] when there is one. When the
// answer to the request is lost it finds out whether the deployment was made,
// and returns it if so; it sends the request again only where the service
// certainly did not act on it; a deployment that was there before, or that
// this client made by another call, is never returned. A [LostError] says that
// nothing was found.
//
// Once the request is under way it is seen through even when ctx is cancelled:
// a deployment that nobody knows of would be worse than a late answer.
func (c *Client) CreateDeployment(ctx context.Context, r DeploymentRequest) (*Deployment, error) {
	// Two calls of one name would take each other's deployment for their own.
	defer c.names.lock(r.Name)()
	if r.Secrets == nil {
		r.Secrets = []Secret{} // required, section 2.1
	}
	if existing, err := c.DeploymentsNamed(ctx, r.Name); err != nil {
		return nil, err
	} else if len(existing) > 0 {
		return nil, &ExistsError{Existing: existing[0]}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	made, err := c.createOnce(ctx, r)
	if err != nil {
		return nil, err
	}
	c.created.Store(strings.ToLower(made.ID), true)
	return made, nil
}

// createOnce sends the request until it is certain what became of it.
func (c *Client) createOnce(ctx context.Context, r DeploymentRequest) (*Deployment, error) {
	seenThrough := context.WithoutCancel(ctx)
	for attempt := 0; ; attempt++ {
		made, err := c.postDeployment(seenThrough, r)
		if err == nil {
			return made, nil
		}
		if errors.Is(err, errRedirect) {
			// It may lead to what was made, though it is not followed.
			if made, lookErr := c.lookForMade(seenThrough, r, err, 0); made != nil || lookErr != nil {
				return made, lookErr
			}
			return nil, err
		}
		var failed *Error
		if !errors.As(err, &failed) || !failed.outcomeUnknown() && !failed.notApplied() {
			return nil, err
		}
		if failed.outcomeUnknown() && !failed.asksToWait() {
			if made, lookErr := c.lookForMade(seenThrough, r, err, c.config.ConsistencyTimeout); made != nil || lookErr != nil {
				return made, lookErr
			}
			return nil, &LostError{Name: r.Name, Err: err, ID: failed.createdID}
		}
		// Between attempts nothing is under way: here a cancelled ctx counts.
		givingUp := attempt >= c.config.MaxRetries || c.pause(ctx, attempt, failed) != nil
		if failed.asksToWait() {
			// The service says itself that it did nothing: one look is enough,
			// as late as can be.
			if made, lookErr := c.lookForMade(seenThrough, r, err, 0); made != nil || lookErr != nil {
				return made, lookErr
			}
		}
		if givingUp {
			return nil, err
		}
	}
}

// postDeployment sends the request one time.
func (c *Client) postDeployment(ctx context.Context, r DeploymentRequest) (*Deployment, error) {
	const operation = "create deployment"
	call := request{operation: operation, method: http.MethodPost, path: deploymentsPath, body: r}
	c.hideSecrets(r.Secrets)
	var made Deployment
	if err := c.call(ctx, call, &made); err != nil {
		return nil, err
	}
	if err := made.check(); err != nil {
		return nil, c.malformed(operation, call.method, call.path, err)
	}
	return &made, nil
}

// asksToWait reports whether the service answered that it cannot act now, and
// when to come back.
func (e *Error) asksToWait() bool {
	return e.Status == http.StatusServiceUnavailable && e.retryAfterSet
}

// lookForMade looks for the deployment that a request may have made whose
// answer was lost, again and again for as long as patience. It returns nil when
// none turns up.
func (c *Client) lookForMade(ctx context.Context, r DeploymentRequest, lost error, patience time.Duration) (*Deployment, error) {
	deadline := time.Now().Add(patience)
	for attempt := 0; ; attempt++ {
		found, err := c.DeploymentsNamed(ctx, r.Name)
		if len(found) > 0 {
			d := found[0]
			if _, ours := c.created.Load(strings.ToLower(d.ID)); ours || len(found) > 1 || d.Source != r.Source {
				return nil, &ExistsError{Existing: d} // somebody else's
			}
			return d, nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			if err != nil {
				unusable := &Error{}
				_ = errors.As(lost, &unusable)
				return nil, &LostError{Name: r.Name, Err: lost, Look: err, ID: unusable.createdID}
			}
			return nil, nil
		}
		_ = sleep(ctx, min(left, backoff(c.config.RetryWait, c.config.RetryWaitMax, attempt)))
	}
}

// sleep waits for d, or returns the error of ctx once that ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// nameLocks makes calls that concern one name wait for each other.
type nameLocks struct {
	mu    sync.Mutex
	locks map[string]*nameLock
}

type nameLock struct {
	mu    sync.Mutex
	users int
}

// lock waits for the name and returns what releases it.
func (n *nameLocks) lock(name string) (unlock func()) {
	n.mu.Lock()
	if n.locks == nil {
		n.locks = map[string]*nameLock{}
	}
	l := n.locks[name]
	if l == nil {
		l = &nameLock{}
		n.locks[name] = l
	}
	l.users++
	n.mu.Unlock()

	l.mu.Lock()
	return func() {
		l.mu.Unlock()
		n.mu.Lock()
		if l.users--; l.users == 0 {
			delete(n.locks, name)
		}
		n.mu.Unlock()
	}
}
