package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
)

// NameTakenError reports that a deployment with the requested name exists. If its configuration cannot be read, its
// Secrets and Tree are not set.
type NameTakenError struct {
	Existing *Deployment
}

func (e *NameTakenError) Error() string {
	return fmt.Sprintf("a deployment named %q already exists (id %s)", e.Existing.Name, e.Existing.ID)
}

// LostError reports that the response to a create was lost, and that no deployment was found that is certainly the
// requested one. Most likely it was not created, unless Lookup or Candidate is set.
type LostError struct {
	Name      string
	Err       error       // how the response was lost
	Lookup    error       // why the deployment could not be looked up, if it could not
	ID        string      // the id in a response that cannot be used otherwise, if there is one
	Candidate *Deployment // a deployment of that name that has appeared since, if there is one
	Reason    string      // why Candidate is not taken for the requested one: "its created_at is in the future"
}

func (e *LostError) Error() string {
	text := fmt.Sprintf("the response to the request that creates deployment %q was lost", e.Name)
	switch {
	case e.Candidate != nil:
		return fmt.Sprintf("%s (%v), and deployment %s has that name, but %s", text, e.Err, e.Candidate.ID, e.Reason)
	case e.Lookup != nil:
		return fmt.Sprintf("%s (%v), and it is unknown whether the deployment was created: %v", text, e.Err, e.Lookup)
	}
	return fmt.Sprintf("%s, and no deployment of that name is listed: %v", text, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// CreateDeployment creates a deployment (section 4.1). Body has the members of the request (section 2.1), secrets as
// []Secret; what is required and omitted is sent empty. First it looks the name up, and returns a [NameTakenError]
// when it is taken. It repeats the request only where the service certainly did not act on it. When the response is
// lost, it looks for the deployment for Config.ConsistencyTimeout, and takes one that certainly did not exist before,
// was not created by another call, and has everything that was requested, which satisfied reports; recovered is then
// true, because it may still be an identical deployment that somebody else created meanwhile. Otherwise it returns a
// [LostError]. Other errors are an [Error], or that of ctx.
//
// Once the request is sent, ctx only ends the waits before it is repeated: an untracked deployment is worse than a
// late response. What follows the end of ctx takes at most twice Config.RequestTimeout plus
// Config.ConsistencyTimeout.
func (c *Client) CreateDeployment(ctx context.Context, body Tree, satisfied func(*Deployment) bool) (
	d *Deployment, recovered bool, err error,
) {
	request := Tree{"source_config": Tree{}, "source_revision_config": Tree{}, "secrets": []Secret{}}
	maps.Copy(request, body)
	name, _ := body["name"].(string)
	creating := c.names.of(name)
	err = creating.acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	defer creating.release()
	before, err := c.lookUpName(ctx, name, listRequest)
	switch {
	case err != nil:
		return nil, false, err
	case len(before.holders) > 0:
		existing, err := c.decodeHolder(before.holders[0])
		if err != nil {
			return nil, false, err
		}
		return nil, false, &NameTakenError{Existing: existing}
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	}
	creation := &creation{Client: c, name: name, request: request, satisfied: satisfied, before: before}
	d, recovered, err = creation.run(ctx)
	if err == nil {
		c.created.Store(strings.ToLower(d.ID), true)
	}
	return d, recovered, err
}

// CreatedHere reports whether this client has created the deployment.
func (c *Client) CreatedHere(id string) bool {
	_, ok := c.created.Load(strings.ToLower(id))
	return ok
}

// creation is one call of CreateDeployment for a name that is free.
type creation struct {
	*Client
	name      string
	request   Tree
	satisfied func(*Deployment) bool
	before    nameLookup
}

// run sends the request until its outcome is known.
func (c *creation) run(ctx context.Context) (d *Deployment, recovered bool, err error) {
	uncancelable, cost := context.WithoutCancel(ctx), newBudget()
	for attempt := 0; ; attempt++ {
		d, id, err := c.post(ctx)
		failed, ok := errors.AsType[*Error](err)
		if err == nil || !ok || failed.Outcome() == Rejected {
			return d, false, err
		}
		lost := &LostError{Name: c.name, Err: err, ID: id}
		redirected := failed.Cause == CauseRedirect
		if failed.Outcome() == Unknown && !redirected {
			return c.recoverCreated(uncancelable, lost, c.config.ConsistencyTimeout)
		}
		// While waiting nothing is under way: here a canceled ctx counts.
		giveUp := redirected || attempt >= c.config.MaxRetries || c.pause(ctx, cost, attempt, failed) != nil
		if redirected || failed.Status == http.StatusServiceUnavailable {
			// The service reports that it did nothing, or the redirect that is not followed may lead to what was created: one
			// lookup that succeeds is enough, as late as possible.
			d, recovered, lookupErr := c.recoverCreated(uncancelable, lost, 0)
			if d != nil || lost.Lookup != nil || lost.Candidate != nil {
				return d, recovered, lookupErr
			}
		}
		if giveUp {
			return nil, false, err
		}
	}
}

// post sends the request once. When the response cannot be used, id is the id in it, if there is one. A response that
// is certainly not about the requested deployment cannot be used.
func (c *creation) post(ctx context.Context) (d *Deployment, id string, err error) {
	c.hideSecrets(c.request)
	response := writtenDeployment{client: c.Client}
	r := request{operation: "create deployment", method: http.MethodPost, path: deploymentsPath, body: c.request}
	err = c.call(ctx, r, &response)
	d, id = response.deployment, response.id
	if err == nil {
		reason := c.whyOther(d)
		if reason == "" {
			return d, id, nil
		}
		return nil, "", c.malformed(r, fmt.Errorf("it is about deployment %q (id %s): %s", d.Name, d.ID, reason))
	}
	isSecret := c.displayText(id) != id
	existed := c.before.listed[strings.ToLower(id)] || c.CreatedHere(id)
	if !IsUUID(id) || isSecret || existed {
		id = ""
	}
	return nil, id, err
}

// writtenDeployment is the response to a write. The id is known also when the rest cannot be used.
type writtenDeployment struct {
	deployment *Deployment
	id         string
	client     *Client
}

func (w *writtenDeployment) UnmarshalJSON(data []byte) (err error) {
	w.id = summary(data).ID
	w.deployment, err = w.client.readDeployment(data)
	return err
}

// recoverCreated looks for the deployment that a request may have created whose response was lost. A lookup that does
// not find it is repeated while patience lasts, and one that fails for Config.ConsistencyTimeout. If none finds it, it
// returns lost. Its deadline covers everything, whatever Retry-After and pages the service sends.
func (c *creation) recoverCreated(ctx context.Context, lost *LostError, patience time.Duration) (
	d *Deployment, recovered bool, err error,
) {
	began := time.Now()
	longest := c.config.ConsistencyTimeout
	ctx, cancel := context.WithTimeout(ctx, longest+c.config.RequestTimeout) // which is for the last lookup
	defer cancel()
	for attempt := 0; ; attempt++ {
		after, err := c.lookUpName(ctx, c.name, listOnce)
		if err == nil {
			d := c.pick(after, lost)
			if d != nil {
				return d, true, nil
			}
		}
		lost.Lookup = err
		waited := time.Since(began)
		if waited >= longest || err == nil && waited >= patience {
			return nil, false, lost
		}
		_ = sleep(ctx, min(c.retryWait(attempt, err), longest-waited))
	}
}

// pick returns the one of the holders of the name that the request has created. If there is none, lost explains why.
func (c *creation) pick(after nameLookup, lost *LostError) *Deployment {
	var found *Deployment
	for _, item := range after.holders {
		d, err := c.decodeItem(item)
		var reason string
		if err != nil {
			d, reason = summary(item.raw), "it cannot be read: "+err.Error()
		} else {
			reason = c.whyUncertain(d, after.date)
		}
		switch {
		case reason != "":
			lost.Candidate, lost.Reason = d, reason
		case found != nil:
			lost.Candidate, lost.Reason = found, fmt.Sprintf("deployment %s matches the request as well", d.ID)
			return nil
		default:
			found = d
		}
	}
	return found
}

// whyOther explains why a deployment is certainly another than the created one. It is empty if it may be that.
func (c *creation) whyOther(d *Deployment) string {
	switch {
	case !SameName(d.Name, c.name):
		return "it has another name"
	case d.Source != c.request["source"]:
		return fmt.Sprintf("its source is %q", d.Source)
	case c.before.listed[strings.ToLower(d.ID)]:
		return "it existed before the request"
	case c.CreatedHere(d.ID):
		return "another create of this run has created it"
	}
	return ""
}

// whyUncertain explains why a deployment that has appeared is not taken for the created one. It is empty if it is
// taken. Now means the time of the service, zero if it did not send it.
func (c *creation) whyUncertain(d *Deployment, now time.Time) string {
	if reason := c.whyOther(d); reason != "" {
		return reason
	}
	created, err := time.Parse(time.RFC3339, d.CreatedAt)
	switch {
	case c.before.date.IsZero() || now.IsZero():
		return "the service sends no Date header that would show whether it existed before the request"
	case err != nil:
		return "it has no valid created_at that would show whether it existed before the request"
	case created.Before(c.before.date):
		return "it was created before the request, at " + created.UTC().Format(time.RFC3339)
	case !created.Before(now.Add(time.Second)): // a Date has whole seconds
		return "its created_at is in the future: " + created.UTC().Format(time.RFC3339)
	case !c.satisfied(d):
		return "it does not have everything that was requested"
	}
	return ""
}
