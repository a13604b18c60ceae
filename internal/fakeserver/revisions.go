package fakeserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A revision is a version of a deployment. Its status follows from the time
// since its creation.
type revision struct {
	id      string
	created time.Time
	takes   time.Duration // until it has its final status
	final   string
	config  map[string]any // source_revision_config
}

// steps are the statuses of a revision before the final one, for a third of
// ActiveAfter each.
var steps = []string{"QUEUED", "BUILDING", "DEPLOYING"}

// status returns the status of a revision and the time since when it has it.
func (r *revision) status(now time.Time) (string, time.Time) {
	elapsed := now.Sub(r.created)
	if elapsed >= r.takes {
		return r.final, r.created.Add(r.takes)
	}
	third := r.takes / time.Duration(len(steps))
	i := 0
	for i+1 < len(steps) && elapsed >= time.Duration(i+1)*third {
		i++
	}
	return steps[i], r.created.Add(time.Duration(i) * third)
}

// end gives a revision its final status now.
func (r *revision) end(status string, now time.Time) {
	r.final, r.takes = status, now.Sub(r.created)
}

// ended reports whether a revision has its final status.
func (r *revision) ended(now time.Time) bool { return now.Sub(r.created) >= r.takes }

// latest returns the latest revision. Every deployment has one.
func (d *deployment) latest() *revision { return d.revisions[len(d.revisions)-1] }

// revise creates a new latest revision, which becomes active later. For source
// codehost, it is built from a new commit. A revision that is not deployed yet
// is interrupted.
func (s *Server) revise(d *deployment, now time.Time) {
	if len(d.revisions) > 0 && !d.latest().ended(now) {
		d.latest().end("INTERRUPTED", now)
	}
	r := &revision{id: uuid.NewString(), created: now, takes: s.opts.ActiveAfter}
	d.revisions = append(d.revisions, r)
	d.activating = true
	d.tree["latest_revision_id"] = r.id
	config := d.revisionConfig()
	if d.tree["source"] == "codehost" && config != nil {
		d.build(config)
	}
	r.config = cloneObject(config)
	r.final = s.finalStatus(d)
}

// build sets what the service sets in source_revision_config for each commit.
func (d *deployment) build(config map[string]any) {
	n := len(d.revisions)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %d", d.str("name"), config["repo_ref"], n))
	commit := hex.EncodeToString(sum[:20])
	config["repo_commit_sha"] = commit
	if d.built {
		config["image_uri"] = fmt.Sprintf("registry.internal/%s:%s", d.str("name"), commit[:7])
	}
	d.tree["image_version"] = fmt.Sprintf("0.1.%d", n)
}

// finalStatus returns the status in which the latest revision of d ends.
func (s *Server) finalStatus(d *deployment) string {
	if len(s.outcomes) > 0 {
		status := s.outcomes[0]
		s.outcomes = s.outcomes[1:]
		return status
	}
	if s.opts.FailingVersions != "" {
		for _, name := range versionFields {
			if version, _ := d.revisionConfig()[name].(string); strings.Contains(version, s.opts.FailingVersions) {
				if d.tree["source"] == "external_docker" {
					return "DEPLOY_FAILED"
				}
				return "BUILD_FAILED"
			}
		}
	}
	return "DEPLOYED"
}

// versionFields are the fields of source_revision_config that name a version.
var versionFields = []string{"repo_ref", "image_uri", "source_tarball_path"}

// activate makes the latest revision the active one if it is deployed.
func (d *deployment) activate(now time.Time) {
	if d.activating && d.latest().ended(now) {
		d.activating = false
		if d.latest().final == "DEPLOYED" {
			d.tree["active_revision_id"] = d.tree["latest_revision_id"]
		}
	}
}

// EndNextRevision has the next revision that is created, of any deployment, end
// in a status other than DEPLOYED, such as BUILD_FAILED. Calls queue up.
func (s *Server) EndNextRevision(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes = append(s.outcomes, status)
}

// EndRevision ends the latest revision of a deployment now, in any status. With
// DEPLOYED, it becomes active. It panics when there is no deployment of that id.
func (s *Server) EndRevision(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	d := s.must(id)
	d.latest().end(status, now)
	d.activating = true
	d.activate(now)
}

// NewRevision creates a new revision, as a push to the repository does: a new
// latest_revision_id and, for source codehost, a new commit, image_uri and
// image_version. It panics when there is no deployment of that id.
func (s *Server) NewRevision(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	d := s.must(id)
	d.activate(now)
	s.revise(d, now)
	d.touch(now)
	d.activate(now)
}

// readRevision responds to GET /v2/deployments/{id}/revisions/{revision_id}.
func (s *Server) readRevision(c call, now time.Time) response {
	d, rejected := s.target(c)
	if rejected != nil {
		return *rejected
	}
	if !isUUID(c.revision) {
		return invalid(problem{[]any{"path", "revision_id"}, "should be a valid UUID", "uuid_parsing"})
	}
	for _, r := range d.revisions {
		if strings.EqualFold(r.id, c.revision) {
			return jsonResponse(http.StatusOK, d.renderRevision(r, now))
		}
	}
	return reject(http.StatusNotFound, "deployment %s has no revision with id %s", c.param, c.revision)
}

// listRevisions responds to GET /v2/deployments/{id}/revisions: newest first, in
// pages like those of the list of deployments.
func (s *Server) listRevisions(c call, now time.Time) response {
	d, rejected := s.target(c)
	if rejected != nil {
		return *rejected
	}
	limit, offset, status := 20, 0, ""
	var found []problem
	for _, name := range sortedKeys(c.query) {
		switch value := c.query.Get(name); name {
		case "limit":
			limit, found = readInt(name, value, 1, 100, found)
		case "offset":
			offset, found = readInt(name, value, 0, math.MaxInt, found)
		case "status":
			status = value
		default:
			found = append(found, unknownParameter(name))
		}
	}
	if len(found) > 0 {
		return invalid(found...)
	}
	matching := []any{}
	for i := len(d.revisions) - 1; i >= 0; i-- {
		if has, _ := d.revisions[i].status(now); status == "" || status == has {
			matching = append(matching, d.renderRevision(d.revisions[i], now))
		}
	}
	from := min(offset, len(matching))
	next := min(from+limit, len(matching))
	envelope := map[string]any{"resources": matching[from:next], "offset": json.Number(strconv.Itoa(max(offset, next)))}
	return jsonResponse(http.StatusOK, envelope)
}

// renderRevision returns a revision as responses show it. The configuration of
// the latest one is that of the deployment (section 2.1).
func (d *deployment) renderRevision(r *revision, now time.Time) map[string]any {
	config := r.config
	if r == d.latest() {
		config = d.revisionConfig()
	}
	status, since := r.status(now)
	return map[string]any{
		"id":                     r.id,
		"created_at":             timestamp(r.created),
		"updated_at":             timestamp(since),
		"status":                 status,
		"source":                 d.tree["source"],
		"source_revision_config": config,
	}
}
