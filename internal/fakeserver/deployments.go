package fakeserver

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A deployment is what the service stores: the JSON tree of section 2.1 with
// real secrets, and its pending transitions.
type deployment struct {
	tree       map[string]any
	readyAt    time.Time   // zero when it is not pending
	revisions  []*revision // oldest first
	activating bool        // the latest revision becomes active when it is deployed
	number     int         // in the order of creation
	built      bool        // the service set image_uri itself
}

func (d *deployment) id() string { return d.str("id") }

func (d *deployment) str(name string) string {
	value, _ := d.tree[name].(string)
	return value
}

func (d *deployment) revisionConfig() map[string]any {
	config, _ := d.tree["source_revision_config"].(map[string]any)
	return config
}

// applyTransitions performs the transitions that are due: to READY, and to the
// latest revision as the active one.
func (s *Server) applyTransitions(now time.Time) {
	for _, d := range s.deployments {
		if !d.readyAt.IsZero() && !now.Before(d.readyAt) {
			d.readyAt = time.Time{}
			d.tree["status"] = "READY"
		}
		d.activate(now)
	}
}

// add stores a new deployment. The index by id matters to tests that seed a
// hundred thousand.
func (s *Server) add(d *deployment) {
	s.created++
	d.number = s.created
	s.deployments = append(s.deployments, d)
	s.byID[strings.ToLower(d.id())] = d
}

func (s *Server) find(id string) *deployment { return s.byID[strings.ToLower(id)] }

// create creates a deployment (section 4.1).
func (s *Server) create(c call, now time.Time) response {
	body, rejected := s.readBody(c, deploymentShape)
	if rejected != nil {
		return *rejected
	}
	if found := slices.DeleteFunc(checkSource(body["source"], body, nil), s.permits); len(found) > 0 {
		return invalid(found...)
	}
	if !s.opts.AllowDuplicateNames {
		for _, d := range s.deployments {
			if d.tree["name"] == body["name"] {
				return reject(http.StatusConflict, "a deployment named %q already exists", body["name"])
			}
		}
	}
	for _, v := range s.defaults {
		v.complete(body, v.path)
	}
	d := &deployment{tree: body}
	completeConfigs(body)
	s.completeDerived(body)
	body["id"] = uuid.NewString()
	body["tenant_id"] = s.tenant
	body["created_at"] = timestamp(now)
	body["status"] = "AWAITING_DATABASE"
	body["active_revision_id"] = nil
	body["image_version"] = nil
	d.built = body["source"] == "codehost" && d.revisionConfig()["image_uri"] == nil
	d.readyAt = now.Add(s.opts.ReadyAfter)
	s.revise(d, now)
	d.touch(now)
	s.add(d)
	s.applyTransitions(now)
	return jsonResponse(s.opts.CreateStatus, s.render(d.tree))
}

// completeConfigs adds secret_references and the fields of the two
// configurations that are absent, as null. Absent members of resource_spec
// stay absent.
func completeConfigs(d map[string]any) {
	if _, present := d["secret_references"]; !present {
		d["secret_references"] = nil
	}
	shapes := map[string]*shape{"source_config": sourceConfigShape, "source_revision_config": sourceRevisionConfigShape}
	for name, s := range shapes {
		config, ok := d[name].(map[string]any)
		if !ok {
			continue
		}
		for _, f := range s.fields {
			if _, present := config[f.name]; !present {
				config[f.name] = nil
			}
		}
	}
}

// touch advances updated_at, even if the clock does not.
func (d *deployment) touch(now time.Time) {
	if before, err := time.Parse(time.RFC3339, d.str("updated_at")); err == nil && !now.After(before) {
		now = before.Add(time.Millisecond)
	}
	d.tree["updated_at"] = timestamp(now)
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// read responds to GET /v2/deployments/{id}, which the interface does not document.
func (s *Server) read(c call) response {
	d, rejected := s.target(c)
	if rejected != nil {
		return *rejected
	}
	return jsonResponse(http.StatusOK, s.render(d.tree))
}

// delete responds to DELETE /v2/deployments/{id}, which the interface does not
// document.
func (s *Server) delete(c call) response {
	d, rejected := s.target(c)
	if rejected != nil {
		return *rejected
	}
	s.remove(d)
	return response{http.StatusNoContent, http.Header{}, nil}
}

func (s *Server) remove(d *deployment) {
	delete(s.byID, strings.ToLower(d.id()))
	s.deployments = slices.DeleteFunc(s.deployments, func(other *deployment) bool { return other == d })
}

// target finds the deployment that the path names.
func (s *Server) target(c call) (*deployment, *response) {
	if !isUUID(c.param) {
		a := invalid(problem{[]any{"path", "deployment_id"}, "should be a valid UUID", "uuid_parsing"})
		return nil, &a
	}
	d := s.find(c.param)
	if d == nil {
		a := reject(http.StatusNotFound, "no deployment has id %s", c.param)
		return nil, &a
	}
	return d, nil
}
