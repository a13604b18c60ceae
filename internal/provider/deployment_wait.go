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

// timeout is the time limit of an operation.
func (a attributes) timeout(operation string) time.Duration {
	limit, err := time.ParseDuration(attributesOf(a["timeouts"]).text(operation))
	if err != nil { // it is omitted: others are not valid
		return defaultTimeout
	}
	return limit
}

// defaultTimeout is the time limit of an operation if it is omitted.
const defaultTimeout = 20 * time.Minute

// operation is what a wait follows, in the words of its messages.
type operation struct {
	done  string // of the deployment
	limit string // the argument that limits the wait
	again string // how to try the same again
}

var (
	creating    = operation{done: "created", limit: "timeouts.create"}
	updating    = operation{done: "updated", limit: "timeouts.update", again: "change redeploy_triggers"}
	redeploying = operation{done: "redeployed", limit: "timeout", again: "invoke the action again"}
)

// rollout waits until a deployment that was created or changed runs as wait_until asks for. Services report that in two
// ways, and some in neither: active_revision_id follows latest_revision_id, or the revision has the status DEPLOYED.
type rollout struct {
	*providerData
	operation operation
	until     string               // wait_until; "" if it is omitted
	limit     time.Duration        // of the wait
	before    *client.Deployment   // before the change; nil for a create
	progress  func(message string) // reports each poll

	last     *client.Deployment // the last read result
	revision string             // its latest revision
	reads    int                // how many reads have shown that revision
	status   string             // the last status of that revision; "" if it is unknown
	deployed time.Time          // since when the status is DEPLOYED
	retrying time.Time          // since when the status cannot be read, for a transient reason
	failed   bool               // that revision will never run
}

// rolloutOf is the wait of an apply. Before is nil for a create.
func (r *deploymentResource) rolloutOf(plan attributes, before *client.Deployment) *rollout {
	w := &rollout{providerData: r.providerData, operation: creating, until: plan.text("wait_until"),
		limit:  plan.timeout("create"),
		before: before, progress: func(string) {}}
	if before != nil {
		w.operation, w.limit = updating, plan.timeout("update")
	}
	return w
}

// wait waits, beginning with what was read or written last, and reports what ended the wait, unless that is success. It
// returns the last read result; nil if the deployment no longer exists.
func (w *rollout) wait(ctx context.Context, first *client.Deployment, diags *diag.Diagnostics) *client.Deployment {
	w.follow(first)
	if w.until == waitCreated {
		return first
	}
	w.reads = 0
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
	return w.last
}

// reached reports whether there is nothing more to wait for.
func (w *rollout) reached(ctx context.Context, d *client.Deployment) bool {
	stale := w.before != nil && strings.EqualFold(d.LatestRevisionID, w.before.LatestRevisionID)
	switch {
	case d.Status == client.StatusAwaitingDelete:
		w.last = d
		return true
	case stale: // a list that does not have the change yet
		return false
	}
	w.follow(d)
	reported := w.readStatus(ctx)
	w.logProgress(ctx)
	if client.RevisionFailed(w.status) && !w.active() {
		w.failed = w.isStillLatest(ctx)
		return w.failed
	}
	switch {
	case !w.ready():
		return false
	case w.until == waitReady, w.active():
		return true
	case w.until == "" && !reported:
		return true // what the service does not report is not waited for
	default:
		return !w.deployed.IsZero() && time.Since(w.deployed) >= w.client.ConsistencyTimeout()
	}
}

// follow takes a read result for the last one.
func (w *rollout) follow(d *client.Deployment) {
	w.last = d
	if !strings.EqualFold(w.revision, d.LatestRevisionID) {
		w.revision, w.reads, w.status, w.deployed = d.LatestRevisionID, 0, "", time.Time{}
	}
	w.reads++
}

// readStatus reads the status of the latest revision, unless that runs or is not waited for. Reported is whether the
// service reports that a revision runs: it had an active one before, or has a status.
func (w *rollout) readStatus(ctx context.Context) (reported bool) {
	if w.revision == "" {
		return false
	}
	reported = w.before != nil && w.before.ActiveRevisionID != ""
	if w.until == waitReady || w.runs() {
		return reported || w.status != ""
	}
	status, err := w.client.RevisionStatus(ctx, w.last.ID, w.revision, w.reads)
	// The first poll may be too early: a 404 counts once two polls have shown the revision.
	again := err != nil && w.reads < 2 && !errors.Is(err, client.ErrNotSupported)
	switch {
	case err == nil:
		w.status, w.retrying = status, time.Time{}
		if status == client.RevisionDeployed {
			w.deployed = time.Now()
		}
	case !client.Transient(err):
		w.retrying = time.Time{}
	case w.retrying.IsZero():
		w.retrying = time.Now()
	}
	retry := !w.retrying.IsZero() && time.Since(w.retrying) < w.client.ConsistencyTimeout()
	return reported || w.status != "" || retry || again
}

// isStillLatest reads the deployment once more, and reports whether the revision is still its latest one, and does not
// run.
func (w *rollout) isStillLatest(ctx context.Context) bool {
	d, err := w.client.DeploymentNow(ctx, w.last.ID)
	if err != nil || !strings.EqualFold(d.LatestRevisionID, w.revision) {
		return false // the next poll shows more
	}
	w.last = d
	return !w.active()
}

func (w *rollout) ready() bool {
	return w.last.Status == client.StatusReady || w.last.Status == client.StatusUnused
}

// active reports whether the latest revision is the active one.
func (w *rollout) active() bool { return isActive(w.last) }

func isActive(d *client.Deployment) bool {
	return d.LatestRevisionID != "" && strings.EqualFold(d.LatestRevisionID, d.ActiveRevisionID)
}

// runs reports whether the latest revision runs, as far as the service reports it.
func (w *rollout) runs() bool { return w.active() || !w.deployed.IsZero() }

func (w *rollout) logProgress(ctx context.Context) {
	tflog.Info(ctx, "Waiting for a deployment", map[string]any{"id": w.last.ID, "status": statusOf(w.last),
		"latest_revision_id": client.Sanitize(w.revision), "active_revision_id": client.Sanitize(w.last.ActiveRevisionID),
		"revision_status": w.status})
	w.progress(string(w.situation()))
}

// situation states what the last read has shown.
func (w *rollout) situation() trusted {
	text := w.format("The status of the deployment is %s.", statusOf(w.last))
	switch {
	case w.revision == "":
		return text + " It reports no revision."
	case w.active():
		return text + w.format(" Its latest revision %s is active.", w.revision)
	case w.status != "":
		text += w.format(" Its latest revision is %s (%s).", w.revision, w.status)
	default:
		text += w.format(" Its latest revision is %s.", w.revision)
	}
	if w.last.ActiveRevisionID == "" {
		return text + " No revision is active."
	}
	return text + w.format(" The active revision is %s.", w.last.ActiveRevisionID)
}

// explain reports what ended a wait. What is an error for an update, which does not taint it, is a warning for a
// create: a tainted deployment would be replaced by the next apply.
func (w *rollout) explain(err error, diags *diag.Diagnostics) {
	r, at := w.report(diags), path.Empty()
	who, done, situation := w.format("Deployment %q (%s)", w.last.Name, w.last.ID), w.operation.done, w.situation()
	unlessCreated := r.errorf
	if w.before == nil {
		unlessCreated = r.warnf
	}
	switch {
	case errors.Is(err, client.ErrNotFound):
		r.errorf(at, "Deployment no longer exists", "%s was %s, and then disappeared while the provider waited for it. It "+
			"was probably deleted outside Terraform. Apply again to create it. The last read: %s", who, done, situation)
	case err == nil && w.last.Status == client.StatusAwaitingDelete:
		r.errorf(at, "Deployment is being deleted", "%s was %s, and is being deleted now, outside Terraform. %s Once it no "+
			"longer exists, apply again to create it.", who, done, situation)
	case w.failed && w.before == nil:
		r.errorf(at, "Revision failed", "%s was created, but its first revision never ran. %s The service shows why.\n\nThe "+
			"resource is tainted: the next apply replaces the deployment. Options:\n"+
			"  - Correct the configuration, and apply again.\n"+
			"  - To keep the deployment and only change it, first run terraform untaint ADDRESS, with the address of the "+
			"resource.",
			who, situation)
	case w.failed:
		r.errorf(at, "Revision failed", "%s was %s, but the new revision does not run. %s The service shows why.\n"+
			"  - Correct the configuration, and apply again.\n"+
			"  - To try the same configuration again, %s.\n"+
			"  - To roll back, set the former values, and apply.", who, done, situation, w.operation.again)
	case err == nil:
	case errors.Is(err, context.Canceled):
		unlessCreated(at, "Wait was interrupted", "%s was %s, but the provider did not wait until it runs. %s%s The next "+
			"plan shows its status.", who, done, situation, w.lastFailure(err))
	case errors.Is(err, context.DeadlineExceeded) && w.runs() && !w.ready():
		r.warnf(at, "Deployment is not ready yet", "%s was %s and its new revision runs, but after %s the deployment is not "+
			"ready. %s%s\n"+
			"  - The next plan shows its status.\n"+
			"  - To wait longer, raise %s.", who, done, w.limit, situation, w.lastFailure(err), w.operation.limit)
	case errors.Is(err, context.DeadlineExceeded) && w.before == nil:
		r.warnf(at, "Deployment is not ready yet", "%s was created, but after %s it does not run as wait_until requires. "+
			"%s%s\n"+
			"  - It continues in the background: the next plan shows its status.\n"+
			"  - To wait longer, raise %s.", who, w.limit, situation, w.lastFailure(err), w.operation.limit)
	case errors.Is(err, context.DeadlineExceeded):
		r.errorf(at, "New revision does not run yet", "%s was %s, but after %s the new revision does not run. %s%s\n"+
			"  - It continues in the background: the next plan shows its status.\n"+
			"  - To wait longer, raise %s.\n"+
			"  - To roll back, set the former values, and apply.", who, done, w.limit, situation, w.lastFailure(err),
			w.operation.limit)
	default:
		unlessCreated(at, "Cannot wait for the deployment", "%s was %s, but the provider could not wait until it runs. "+
			"%s\n\n%s\n\n%s",
			who, done, situation, w.sentence(err), w.advice(err))
	}
}

// lastFailure states how the last read of a wait failed, if it did.
func (w *rollout) lastFailure(err error) trusted {
	failed, ok := errors.AsType[*client.Error](err)
	if !ok {
		return ""
	}
	return " The last read failed: " + w.sentence(failed)
}

// pendingRevision is, in private state, the revision of an apply that ended before it ran.
type pendingRevision struct {
	ID string `json:"id"`
}

// savePending records the latest revision if it does not run, and forgets a former one if it does.
func (w *rollout) savePending(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	var pending *pendingRevision
	loadPrivate(ctx, private, privateRevision, &pending, diags)
	switch {
	case w.last.LatestRevisionID != "" && !w.runs():
		savePrivate(ctx, private, privateRevision, pendingRevision{w.last.LatestRevisionID}, diags)
	case pending != nil:
		savePrivate(ctx, private, privateRevision, (*pendingRevision)(nil), diags)
	}
}

// addPending warns of a revision that an earlier apply has made, that is the latest one, and that does not run: the
// next apply has nothing to wait for. Live is what was read of the deployment; nil if nothing was.
func (r *deploymentResource) addPending(ctx context.Context, private privateState, plan, state attributes,
	live *client.Deployment, diags *diag.Diagnostics,
) {
	var pending *pendingRevision
	loadPrivate(ctx, private, privateRevision, &pending, diags)
	if pending == nil || r.client == nil || !strings.EqualFold(pending.ID, state.text("latest_revision_id")) {
		return
	}
	if live == nil {
		var err error
		if live, err = r.client.Deployment(ctx, state.text("id")); err != nil {
			return // whoever needs it reports this
		}
	}
	const readByApplyAndPlan = 2
	w := &rollout{providerData: r.providerData, last: live, revision: live.LatestRevisionID}
	if !strings.EqualFold(pending.ID, w.revision) || w.active() {
		return
	}
	w.status, _ = r.client.RevisionStatus(ctx, live.ID, w.revision, readByApplyAndPlan)
	reported := w.status != "" || live.ActiveRevisionID != "" || plan.text("wait_until") == waitActive
	if !reported || w.status == client.RevisionDeployed {
		return
	}
	const what = "An earlier apply made a revision of deployment %q (%s) that does not run. %s This plan makes no new " +
		"revision, so its apply does not wait for it."
	if client.RevisionFailed(w.status) {
		r.report(diags).warnf(path.Empty(), "Revision does not run", what+"\n"+
			"  - Correct the configuration, or change redeploy_triggers to try the same again.\n"+
			"  - To roll back, set the former values.", live.Name, live.ID, w.situation())
		return
	}
	r.report(diags).warnf(path.Empty(), "Revision does not run", what+"\n"+
		"  - Plan again later to see whether it runs.\n"+
		"  - To roll back, set the former values.", live.Name, live.ID, w.situation())
}
