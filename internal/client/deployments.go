package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	deploymentsPath = "/v2/deployments"
	listOperation   = "list deployments"

	// MaxPageSize is the most that List Deployments returns at once (section 8).
	MaxPageSize = 100
)

// listRequest is List Deployments, without a query.
var listRequest = request{operation: listOperation, method: http.MethodGet, path: deploymentsPath}

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
	limit := f.PageSize
	if limit == 0 {
		limit = MaxPageSize
	}
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
		for item, err := range c.items(ctx, filter) {
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

// items is [Client.Deployments] before decoding.
func (c *Client) items(ctx context.Context, filter DeploymentFilter) iter.Seq2[listItem, error] {
	cost := newBudget()
	if filter.DeploymentIDs == nil {
		return walkPages(c.fetcher(ctx, filter, cost), maxPages, everyItem)
	}
	return func(yield func(listItem, error) bool) {
		var unique []string
		seen := map[string]bool{}
		for _, id := range filter.DeploymentIDs {
			if id = strings.ToLower(id); !seen[id] {
				unique, seen[id] = append(unique, id), true
			}
		}
		for ids := range slices.Chunk(unique, MaxPageSize) {
			part := filter
			part.DeploymentIDs = ids
			for item, err := range c.itemsByID(ctx, part, cost) {
				if !yield(item, err) || err != nil {
					return
				}
			}
		}
	}
}

// itemsByID lists up to 100 deployments by id, in lower case, until all are found. What else the service lists is
// skipped, as it may ignore the filter, but for items without a usable id, which may be any of them.
func (c *Client) itemsByID(ctx context.Context, filter DeploymentFilter, cost *budget) iter.Seq2[listItem, error] {
	return func(yield func(listItem, error) bool) {
		missing := map[string]bool{}
		for _, id := range filter.DeploymentIDs {
			missing[id] = true
		}
		wanted := func(item listItem) bool { return item.id == "" || missing[item.id] }
		for item, err := range walkPages(c.fetcher(ctx, filter, cost), maxPages, wanted) {
			if !yield(item, err) || err != nil {
				return
			}
			delete(missing, item.id)
			if len(missing) == 0 {
				return // the empty page at the end is not needed
			}
		}
	}
}

// listItem is an item of a page of which only the id and the name have been looked at.
type listItem struct {
	id, name string // empty if they cannot be read; the id is in lower case, because ids are case-insensitive
	raw      json.RawMessage
	index    int // in the page
}

// listPage is a page of List Deployments.
type listPage struct {
	items []listItem
	next  int64     // the returned offset
	date  time.Time // the service's time of the response; zero if it did not send it
}

func (c *Client) fetcher(ctx context.Context, filter DeploymentFilter, cost *budget) pageFetcher {
	r := listRequest
	r.budget = cost
	return func(offset int64) (listPage, error) {
		r.query = filter.query(offset)
		return c.fetchPage(ctx, r)
	}
}

// fetchPage requests one page.
func (c *Client) fetchPage(ctx context.Context, r request) (listPage, error) {
	if r.budget != nil && time.Since(r.budget.began) > maxListTime {
		return listPage{}, errListTooSlow
	}
	var header http.Header
	var body map[string]json.RawMessage // by their exact names
	r.header = &header
	if err := c.call(ctx, r, &body); err != nil {
		return listPage{}, err
	}
	var items []json.RawMessage
	var offset float64
	err := cmp.Or(decodeMember(body, "resources", &items), decodeMember(body, "offset", &offset))
	switch {
	case err != nil:
		return listPage{}, c.malformed(r, err)
	case len(items) > maxPageItems:
		return listPage{}, c.malformed(r, fmt.Errorf("the page has more than %d items", maxPageItems))
	case offset != math.Trunc(offset) || math.Abs(offset) >= 1<<53: // beyond that, it is not exact
		return listPage{}, c.malformed(r, fmt.Errorf("the offset %v is not an integer", offset))
	}
	page := listPage{next: int64(offset)}
	page.date, _ = http.ParseTime(header.Get("Date"))
	for i, raw := range items {
		if raw[0] != '{' {
			return listPage{}, c.malformed(r, fmt.Errorf("resources[%d] is not an object", i))
		}
		d := summary(raw)
		item := listItem{name: d.Name, raw: raw, index: i}
		if IsUUID(d.ID) {
			item.id = strings.ToLower(d.ID)
		}
		page.items = append(page.items, item)
	}
	return page, nil
}

// decodeMember decodes a required member of a response.
func decodeMember(body map[string]json.RawMessage, name string, value any) error {
	raw, ok := body[name]
	if !ok || string(raw) == "null" {
		return fmt.Errorf("the response has no %q", name)
	}
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, value); errors.As(err, &mismatch) {
		return fmt.Errorf("%s: %s is not %s", name, mismatch.Value, typeInWords(mismatch.Type))
	}
	return nil // it is valid JSON
}

// decodeItem decodes an item that is wanted.
func (c *Client) decodeItem(item listItem) (*Deployment, error) {
	d, err := c.readDeployment(item.raw)
	if err != nil {
		return nil, c.malformed(listRequest, fmt.Errorf("resources[%d]: %w", item.index, err))
	}
	return d, nil
}

// Deployment reads one deployment, through List Deployments, since the API documents no single read. Its error is
// [ErrNotFound] when the service does not list the deployment, an [Error], or that of ctx. Concurrent reads share a
// request. Where many are read, a result may be minutes old; it is never from before a write of this client, and
// never ErrNotFound then.
func (c *Client) Deployment(ctx context.Context, id string) (*Deployment, error) {
	if item, ok := c.reader.ahead.take(ctx, id); ok {
		if d, err := c.decodeItem(item); err == nil {
			return d, nil
		}
	}
	return c.DeploymentNow(ctx, id)
}

// DeploymentNow is [Client.Deployment], but only from a request that begins after the call.
func (c *Client) DeploymentNow(ctx context.Context, id string) (*Deployment, error) {
	return c.reader.read(ctx, id)
}

// lookUpIDs reads up to 100 deployments, given by id in lower case. The result has an entry for each. A deployment
// that cannot be read fails alone.
func (c *Client) lookUpIDs(ctx context.Context, ids []string) map[string]readResult {
	results := map[string]readResult{}
	var failed error
	for item, err := range c.itemsByID(ctx, DeploymentFilter{DeploymentIDs: ids}, newBudget()) {
		if err != nil {
			clear(results)
			failed = err
			break
		}
		if item.id != "" {
			d, err := c.decodeItem(item)
			results[item.id] = readResult{d, err}
		} else if failed == nil { // of many, one error is enough
			_, failed = c.decodeItem(item)
		}
	}
	for _, id := range ids {
		if _, ok := results[id]; !ok {
			err := failed
			if err == nil {
				err = fmt.Errorf("deployment %s: %w", id, ErrNotFound)
			}
			results[id] = readResult{err: err}
		}
	}
	return results
}

// IsUUID reports whether text is a UUID in the usual form of 36 characters.
func IsUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }
