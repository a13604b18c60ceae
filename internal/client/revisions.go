package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// RevisionDeployed is the status of a revision that runs.
const RevisionDeployed = "DEPLOYED"

// RevisionFailed reports whether a revision with a status will never run.
func RevisionFailed(status string) bool {
	return strings.HasSuffix(status, "_FAILED") || status == "SKIPPED" || status == "INTERRUPTED"
}

// revisions is what a client knows about the status of revisions, which the API does not document.
type revisions struct {
	notOffered atomic.Bool
}

// errNoRevisionStatus reports a response that has no status of the revision.
var errNoRevisionStatus = errors.New("the response has no status of the revision")

// RevisionStatus reads the status of a revision, once. It is fit for a message. Reads is how many reads of the
// deployment have shown the revision as its latest.
//
// Its error is [ErrNotSupported] if the service does not offer this: it responds 403, 405 or 501, or without a status,
// or 404 for a revision that two reads have shown. Then this client does not ask again. After any other error the
// status is unknown: the next call may succeed. With Config.DocumentedOnly, nothing is sent.
func (c *Client) RevisionStatus(ctx context.Context, deploymentID, revisionID string, reads int) (string, error) {
	if c.config.DocumentedOnly || c.revisions.notOffered.Load() {
		return "", ErrNotSupported
	}
	if !IsUUID(deploymentID) || !IsUUID(revisionID) { // they become a part of the path
		return "", fmt.Errorf("the id of the deployment or of its revision is not a UUID: %w", ErrNotSupported)
	}
	var revision map[string]any
	err := c.call(ctx, request{operation: "read revision", method: http.MethodGet, once: true,
		path: deploymentsPath + "/" + deploymentID + "/revisions/" + revisionID}, &revision)
	if err == nil {
		status, problem := c.statusIn(revision, revisionID)
		if problem == nil {
			return status, nil
		}
		err = problem
	} else if failed, ok := errors.AsType[*Error](err); ok && failed.noRevisions(reads) {
		err = fmt.Errorf("%w: %w", ErrNotSupported, failed)
	}
	if errors.Is(err, ErrNotSupported) {
		c.revisions.notOffered.Store(true)
	}
	return "", err
}

// statusIn returns the status in a response that should be a revision.
func (c *Client) statusIn(revision map[string]any, revisionID string) (string, error) {
	value, offered := revision["status"]
	if id, ok := revision["id"].(string); ok && !strings.EqualFold(id, revisionID) {
		offered = false // it is something else, such as the deployment
	}
	status, _ := value.(string)
	switch {
	case !offered:
		return "", fmt.Errorf("%w: %w", ErrNotSupported, errNoRevisionStatus)
	case status == "":
		return "", errNoRevisionStatus
	}
	return c.displayText(status), nil
}

// noRevisions reports whether a failed read of a revision shows that the service does not offer it.
func (e *Error) noRevisions(reads int) bool {
	switch e.Status {
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusNotFound:
		return reads >= 2
	}
	return e.Cause == CauseMalformed // a page of a website, for example
}
