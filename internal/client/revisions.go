package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// RevisionDeployed is the status of a revision that runs.
const RevisionDeployed = "DEPLOYED"

// RevisionFailed reports whether a revision with a status will never run.
func RevisionFailed(status string) bool {
	return strings.HasSuffix(status, "_FAILED") || status == "SKIPPED" || status == "INTERRUPTED"
}

// errNoRevisionStatus reports a response that has no status of the revision.
var errNoRevisionStatus = errors.New("the response has no status of the revision")

// RevisionStatus reads the status of a revision, once, and returns it fit for a message. Reads is how many reads of the
// deployment have shown the revision as its latest.
//
// Its error is [ErrNotSupported] if the service does not offer this: it responds 403, 405 or 501, or without a status,
// or 404 for a revision that two reads have shown. Then this client does not ask again. Any other error means that the
// next call may succeed. With Config.DocumentedOnly, nothing is sent.
func (c *Client) RevisionStatus(ctx context.Context, deploymentID, revisionID string, reads int) (string, error) {
	if c.config.DocumentedOnly || c.noRevisions.Load() {
		return "", ErrNotSupported
	}
	if !IsUUID(deploymentID) || !IsUUID(revisionID) { // they become a part of the path
		return "", fmt.Errorf("the id of the deployment or of its revision is not a UUID: %w", ErrNotSupported)
	}
	r := request{operation: "read revision", method: http.MethodGet, once: true,
		path: deploymentsPath + "/" + deploymentID + "/revisions/" + revisionID}
	var revision Tree
	status := ""
	err := c.call(ctx, r, &revision)
	if err == nil {
		status, err = statusIn(revision, revisionID)
	}
	if failed, ok := errors.AsType[*Error](err); ok && failed.notOffered(reads) {
		err = fmt.Errorf("%w: %w", ErrNotSupported, failed)
	}
	if errors.Is(err, ErrNotSupported) {
		c.noRevisions.Store(true)
	}
	return c.displayText(status), err
}

// statusIn returns the status in a response that should be a revision.
func statusIn(revision Tree, revisionID string) (string, error) {
	id, hasID := revision["id"].(string)
	isOther := hasID && !strings.EqualFold(id, revisionID) // such as the deployment
	value, hasStatus := revision["status"]
	if isOther || !hasStatus {
		return "", fmt.Errorf("%w: %w", ErrNotSupported, errNoRevisionStatus)
	}
	status, _ := value.(string)
	if status == "" {
		return "", errNoRevisionStatus
	}
	return status, nil
}

// notOffered reports whether a failed read of a revision shows that the service does not offer it.
func (e *Error) notOffered(reads int) bool {
	switch e.Status {
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusNotFound:
		return reads >= 2
	}
	return e.Cause == CauseMalformed // a page of a website, for example
}
