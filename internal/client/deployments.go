package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

const (
	deploymentsPath = "/v2/deployments"
	listOperation   = "list deployments"

	// MaxPageSize is the most that List Deployments returns at once (section 8).
	MaxPageSize = 100
)

// listRequest is List Deployments, without a query; listOnce is not repeated if it fails.
var (
	listRequest = request{operation: listOperation, method: http.MethodGet, path: deploymentsPath}
	listOnce    = request{operation: listOperation, method: http.MethodGet, path: deploymentsPath, once: true}
)

// DeploymentFilter selects deployments in List Deployments (section 4.2). A nil field does not filter.
type DeploymentFilter struct {
	NameContains     *string
	Status           *string
	RemoteReconciled *bool
	TagValueIDs      []string
	ImageVersion     *string
	DeploymentType   *string
	// DeploymentIDs may be of any number: requests ask for up to 100. Empty but not nil selects nothing, without a
	// request.
	DeploymentIDs []string
	// PageSize is the limit of each request, 1 to 100; 0 means 100.
	PageSize int
}

func (f DeploymentFilter) query(offset int64) url.Values {
	limit := cmp.Or(f.PageSize, MaxPageSize)
	q := url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.FormatInt(offset, 10)}}
	for name, value := range map[string]*string{"name_contains": f.NameContains, "status": f.Status,
		"image_version": f.ImageVersion, "deployment_type": f.DeploymentType} {
		if value != nil {
			q.Set(name, *value)
		}
	}
	if f.RemoteReconciled != nil {
		q.Set("remote_reconciled", strconv.FormatBool(*f.RemoteReconciled))
	}
	if len(f.TagValueIDs) > 0 {
		q.Set("tag_value_ids", strings.Join(f.TagValueIDs, ","))
	}
	if len(f.DeploymentIDs) > 0 {
		q.Set("deployment_ids", strings.Join(f.DeploymentIDs, ","))
	}
	return q
}

// Deployments lists deployments in the service's order (section 4.2), page by page as the loop needs them, each
// deployment once. A list is not a snapshot: what is created or deleted meanwhile may or may not be in it. An error
// ends the sequence, which is incomplete then; that of a deployment that cannot be read names the deployment.
func (c *Client) Deployments(ctx context.Context, filter DeploymentFilter) iter.Seq2[*Deployment, error] {
	return func(yield func(*Deployment, error) bool) {
		cost := newBudget()
		for _, part := range filter.parts() {
			for item, err := range c.items(ctx, part, cost) {
				var d *Deployment
				if err == nil {
					d, err = c.decodeItem(item)
				}
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}

// parts returns filters that one list each can serve, with few enough ids, each once.
func (f DeploymentFilter) parts() (parts []DeploymentFilter) {
	if f.DeploymentIDs == nil {
		return []DeploymentFilter{f}
	}
	var unique []string
	seen := map[string]bool{}
	for _, id := range f.DeploymentIDs {
		id = strings.ToLower(id)
		if !seen[id] {
			unique = append(unique, id)
		}
		seen[id] = true
	}
	for ids := range slices.Chunk(unique, MaxPageSize) {
		f.DeploymentIDs = ids
		parts = append(parts, f)
	}
	return parts
}

// items lists deployments without decoding them: all, or those of up to 100 ids in lower case.
func (c *Client) items(ctx context.Context, filter DeploymentFilter, cost *budget) iter.Seq2[listItem, error] {
	r := listRequest
	r.budget = cost
	return walkPages(c.pages(ctx, r, filter), maxPages, filter.DeploymentIDs)
}

// Deployment reads one deployment, through List Deployments, since the API documents no single read. Its error is
// [ErrNotFound] when the service does not list the deployment, an [Error], that of ctx, or one about a list beyond its
// bounds. Concurrent reads share a request. Where many are read, a result may be minutes old; it is never from before
// a write of this client, and never ErrNotFound then.
func (c *Client) Deployment(ctx context.Context, id string) (*Deployment, error) {
	if item, ok := c.reader.ahead.take(ctx, id); ok {
		if d, err := c.decodeItem(item); err == nil {
			return d, nil
		}
	}
	return c.DeploymentNow(ctx, id)
}

// DeploymentNow does what [Client.Deployment] does, but only with a request that begins after the call.
func (c *Client) DeploymentNow(ctx context.Context, id string) (*Deployment, error) {
	return c.reader.read(ctx, id)
}

// lookUpIDs reads up to 100 deployments, given by id in lower case. The result has an entry for each. A deployment
// that cannot be read fails alone.
func (c *Client) lookUpIDs(ctx context.Context, ids []string) map[string]readResult {
	results := map[string]readResult{}
	var failed error // what ended the list, or else what is wrong with the first item that may be any of them
	for item, err := range c.items(ctx, DeploymentFilter{DeploymentIDs: ids}, newBudget()) {
		switch {
		case err != nil:
			failed = err
		case item.id != "":
			d, err := c.decodeItem(item)
			results[item.id] = readResult{d, err}
		case failed == nil: // of many, one error is enough
			_, failed = c.decodeItem(item)
		}
	}
	for _, id := range ids {
		if _, ok := results[id]; !ok {
			notFound := fmt.Errorf("deployment %s: %w", id, ErrNotFound)
			results[id] = readResult{err: cmp.Or(failed, notFound)}
		}
	}
	return results
}

// IsUUID reports whether text is a UUID in the usual form of 36 characters.
func IsUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }
