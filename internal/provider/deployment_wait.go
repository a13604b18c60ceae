package provider

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// defaultTimeout is the time limit of an operation if it is omitted.
const defaultTimeout = 20 * time.Minute

// limit returns a time limit.
func (a attributes) limit(name string) time.Duration {
	limit, err := time.ParseDuration(a.text(name))
	if err != nil { // it is omitted: others are not valid
		return defaultTimeout
	}
	return limit
}

// operation is what makes a revision, in the words of messages about it.
type operation struct {
	done  string // of the deployment
	limit string // the argument that limits the wait
	again string // how to try the same again

	redeploys string // what a redeployment does
	unrevised string // what it means if that made no revision, and what to do
}

var (
	creating = operation{done: "created", limit: "timeouts.create"}
	updating = operation{done: "updated", limit: "timeouts.update", again: "change redeploy_triggers",
		redeploys: "the change of redeploy_triggers made a new one", unrevised: "The change of redeploy_triggers is not " +
			"applied. Contact the service operator, or set redeploy_triggers back."}
	redeploying = operation{done: "redeployed", limit: "timeout", again: "invoke the action again",
		redeploys: "there is a new one", unrevised: "Contact the service operator."}
)

// observation is what was read of a deployment and of its latest revision. Services report in two ways that a revision
// runs, and some in neither: active_revision_id follows latest_revision_id, or the revision has the status DEPLOYED.
type observation struct {
	*client.Deployment
	revisionStatus string // "" if it is unknown
}

func (o observation) ready() bool {
	return o.Status == client.StatusReady || o.Status == client.StatusUnused
}

// active reports whether the latest revision is the active one.
func (o observation) active() bool {
	return o.LatestRevisionID != "" && strings.EqualFold(o.LatestRevisionID, o.ActiveRevisionID)
}

// runs reports whether the latest revision runs, as far as the service reports it.
func (o observation) runs() bool { return o.active() || o.revisionStatus == client.RevisionDeployed }

// failed reports whether the latest revision will never run.
func (o observation) failed() bool { return client.RevisionFailed(o.revisionStatus) && !o.active() }

// situation states what was read.
func (o observation) situation(p *providerData) trusted {
	text, latest := p.format("The status of the deployment is %s.", statusOf(o.Deployment)), o.LatestRevisionID
	if o.revisionStatus != "" {
		latest += " (" + o.revisionStatus + ")"
	}
	switch {
	case o.LatestRevisionID == "":
		return text + " It reports no revision."
	case o.active():
		return text + p.format(" Its latest revision %s is active.", o.LatestRevisionID)
	case o.ActiveRevisionID == "":
		return text + p.format(" Its latest revision is %s. No revision is active.", latest)
	default:
		return text + p.format(" Its latest revision is %s. The active revision is %s.", latest, o.ActiveRevisionID)
	}
}

// rollout waits until a deployment that was created or changed runs as wait_until requires.
type rollout struct {
	*providerData
	operation operation
	until     string               // wait_until; "" if it is omitted
	limit     time.Duration        // of the wait
	before    *client.Deployment   // before the change; nil for a create
	progress  func(message string) // reports each poll; nil if nothing does

	last observation
	// Of the latest revision:
	polls    int       // that have shown it
	deployed time.Time // since when its status is DEPLOYED
	retrying time.Time // since when its status cannot be read, for a transient reason
}

// wait waits, beginning with what was read or written last, and reports what ended the wait, unless that is success. It
// returns the last read result; nil if the deployment no longer exists.
func (w *rollout) wait(ctx context.Context, first *client.Deployment, diags *diag.Diagnostics) *client.Deployment {
	w.last = observation{Deployment: first}
	if w.until == waitCreated {
		return first
	}
	waiting, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	_, err := w.client.Wait(waiting, first, func(d *client.Deployment) bool { return w.reached(waiting, d) })
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		err = ctx.Err()
	}
	w.explain(err, diags)
	if errors.Is(err, client.ErrNotFound) {
		return nil
	}
	return w.last.Deployment
}

// reached takes a read result for the last one, and reports whether there is nothing more to wait for.
func (w *rollout) reached(ctx context.Context, d *client.Deployment) bool {
	isBeingDeleted := d.Status == client.StatusAwaitingDelete
	isOlder := w.before != nil && strings.EqualFold(d.LatestRevisionID, w.before.LatestRevisionID) // than the change
	if isOlder && !isBeingDeleted {
		return false
	}
	w.follow(d)
	if isBeingDeleted {
		return true
	}
	reported := w.readStatus(ctx)
	w.logProgress(ctx)
	switch {
	case w.last.failed():
		return w.isStillLatest(ctx)
	case !w.last.ready():
		return false
	case w.until == waitReady, w.last.active():
		return true
	case w.until == "" && !reported:
		return true // what the service does not report is not waited for
	default:
		return !w.deployed.IsZero() && time.Since(w.deployed) >= w.client.ConsistencyTimeout()
	}
}

// follow takes a read result for the last one. What is known of its revision stays, unless it has another one.
func (w *rollout) follow(d *client.Deployment) {
	if !strings.EqualFold(w.last.LatestRevisionID, d.LatestRevisionID) {
		w.last.revisionStatus, w.polls, w.deployed, w.retrying = "", 0, time.Time{}, time.Time{}
	}
	w.last.Deployment = d
	w.polls++
}

// readStatus reads the status of the latest revision, unless that runs or is not waited for. It returns whether the
// service reports that a revision runs, or may still do so: it had an active one before, or has a status.
func (w *rollout) readStatus(ctx context.Context) (reported bool) {
	if w.last.LatestRevisionID == "" {
		return false
	}
	if w.until == waitReady || w.last.runs() {
		return true
	}
	status, err := w.client.RevisionStatus(ctx, w.last.ID, w.last.LatestRevisionID, w.polls)
	switch {
	case err == nil:
		w.last.revisionStatus, w.retrying = status, time.Time{}
		if w.last.runs() {
			w.deployed = time.Now()
		}
		return true
	case !client.Transient(err):
		w.retrying = time.Time{}
	case w.retrying.IsZero():
		w.retrying = time.Now()
	}
	hadActive := w.before != nil && w.before.ActiveRevisionID != ""
	isRetried := !w.retrying.IsZero() && time.Since(w.retrying) < w.client.ConsistencyTimeout()
	// The first poll may be too early: a 404 counts once two polls have shown the revision.
	tooEarly := w.polls < 2 && !errors.Is(err, client.ErrNotSupported)
	return hadActive || w.last.revisionStatus != "" || isRetried || tooEarly
}

// isStillLatest reads the deployment once more, and reports whether the revision that failed is still its latest one,
// and does not run.
func (w *rollout) isStillLatest(ctx context.Context) bool {
	d, err := w.client.DeploymentNow(ctx, w.last.ID)
	if err != nil || !strings.EqualFold(d.LatestRevisionID, w.last.LatestRevisionID) {
		return false // the next poll shows more
	}
	w.last.Deployment = d
	return w.last.failed()
}

func (w *rollout) logProgress(ctx context.Context) {
	tflog.Info(ctx, "Waiting for a deployment", map[string]any{"id": w.last.ID, "status": statusOf(w.last.Deployment),
		"latest_revision_id": client.Sanitize(w.last.LatestRevisionID),
		"active_revision_id": client.Sanitize(w.last.ActiveRevisionID), "revision_status": w.last.revisionStatus})
	if w.progress != nil {
		w.progress(string(w.last.situation(w.providerData)))
	}
}

// explain reports what ended a wait. What is an error for an update, which does not taint it, is a warning for a
// create: a tainted deployment would be replaced by the next apply.
func (w *rollout) explain(err error, diags *diag.Diagnostics) {
	r, at, isCreate := w.report(diags), path.Empty(), w.before == nil
	was := w.format("Deployment %q (%s) was %s", w.last.Name, w.last.ID, w.operation.done)
	situation, expired := w.last.situation(w.providerData), errors.Is(err, context.DeadlineExceeded)
	unlessCreated := r.errorf
	if isCreate {
		unlessCreated = r.warnf
	}
	seen := situation
	if failed, ok := errors.AsType[*client.Error](err); ok {
		seen += " The last read failed: " + w.sentence(failed)
	}
	const rollBack trusted = "\n  - To roll back, set the former values, and apply."
	toWaitLonger := w.format("\n  - To wait longer, raise %s.", w.operation.limit)
	switch {
	case errors.Is(err, client.ErrNotFound):
		r.errorf(at, "Deployment no longer exists", "%s, and then disappeared while the provider waited for it. It was "+
			"probably deleted outside Terraform. Apply again to create it. The last read: %s", was, situation)
	case err == nil && w.last.Status == client.StatusAwaitingDelete:
		r.errorf(at, "Deployment is being deleted", "%s, and is being deleted now, outside Terraform. %s Once it no longer "+
			"exists, apply again to create it.", was, situation)
	case err == nil && w.last.failed() && isCreate:
		r.errorf(at, "Revision failed", "%s, but its first revision never ran. %s The service shows why.\n\nThe "+
			"resource is tainted: the next apply replaces the deployment. Options:\n"+
			"  - Correct the configuration, and apply again.\n"+
			"  - To keep the deployment and only change it, first run terraform untaint ADDRESS, with the address of the "+
			"resource.",
			was, situation)
	case err == nil && w.last.failed():
		r.errorf(at, "Revision failed", "%s, but the new revision does not run. %s The service shows why.\n"+
			"  - Correct the configuration, and apply again.\n"+
			"  - To try the same configuration again, %s.%s", was, situation, w.operation.again, rollBack)
	case err == nil:
	case errors.Is(err, context.Canceled):
		unlessCreated(at, "Wait was interrupted", "%s, but the provider did not wait until it runs. %s The next plan shows "+
			"its status.", was, seen)
	case expired && w.last.ready() && w.last.revisionStatus == client.RevisionDeployed:
		// it runs: only active_revision_id was still awaited
	case expired && w.last.runs() && !w.last.ready():
		r.warnf(at, "Deployment is not ready yet", "%s and its new revision runs, but after %s the deployment is not "+
			"ready. %s\n  - The next plan shows its status.%s", was, w.limit, seen, toWaitLonger)
	case expired && isCreate:
		r.warnf(at, "Deployment is not ready yet", "%s, but after %s it does not run as wait_until requires. %s\n"+
			"  - It continues in the background: the next plan shows its status.%s", was, w.limit, seen, toWaitLonger)
	case expired:
		r.errorf(at, "New revision does not run yet", "%s, but after %s the new revision does not run. %s\n"+
			"  - It continues in the background: the next plan shows its status.%s%s", was, w.limit, seen, toWaitLonger,
			rollBack)
	default:
		unlessCreated(at, "Cannot wait for the deployment", "%s, but the provider could not wait until it runs. %s\n\n%s"+
			"\n\n%s", was, situation, w.sentence(err), w.advice(err))
	}
}
