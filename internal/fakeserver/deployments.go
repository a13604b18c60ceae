package fakeserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A deployment is what the service keeps: the JSON tree of section 2.1 with
// real secrets, and what is still to come.
type deployment struct {
	tree      map[string]any
	readyAt   time.Time // zero when nothing is to come
	activeAt  time.Time // zero when nothing is to come
	number    int       // in the order of creation
	revisions int
	built     bool // the service made image_uri itself
}

func (d *deployment) id() string { return d.text("id") }

func (d *deployment) text(name string) string {
	value, _ := d.tree[name].(string)
	return value
}

func (d *deployment) revisionConfig() map[string]any {
	config, _ := d.tree["source_revision_config"].(map[string]any)
	return config
}

// settle lets happen what became due: READY, and the active revision.
func (s *Server) settle(now time.Time) {
	for _, d := range s.deployments {
		if !d.readyAt.IsZero() && !now.Before(d.readyAt) {
			d.readyAt = time.Time{}
			d.tree["status"] = "READY"
		}
		if !d.activeAt.IsZero() && !now.Before(d.activeAt) {
			d.activeAt = time.Time{}
			d.tree["active_revision_id"] = d.tree["latest_revision_id"]
		}
	}
}

// add keeps a new deployment. By its id it is found without a search: a test
// may seed a hundred thousand.
func (s *Server) add(d *deployment) {
	s.created++
	d.number = s.created
	s.deployments = append(s.deployments, d)
	s.byID[strings.ToLower(d.id())] = d
}

func (s *Server) find(id string) *deployment { return s.byID[strings.ToLower(id)] }

// create is section 4.1.
func (s *Server) create(c call, now time.Time) answer {
	body, refused := s.readBody(c, deploymentShape)
	if refused != nil {
		return *refused
	}
	if found := checkReferences(body["source"], body["secret_references"]); found != nil {
		return invalid(*found)
	}
	if !s.opts.AllowDuplicateNames {
		for _, d := range s.deployments {
			if d.tree["name"] == body["name"] {
				return refuse(http.StatusConflict, "a deployment named %q exists already", body["name"])
			}
		}
	}
	for _, v := range s.defaults {
		v.complete(body, v.path, false)
	}
	d := &deployment{tree: body}
	completeConfigs(body)
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
	s.settle(now)
	return reply(s.opts.CreateStatus, s.dress(d.tree))
}

// checkReferences is the note of section 2.1 on secret_references.
func checkReferences(source, references any) *problem {
	if source == "external_docker" || references == nil || isEmpty(references) {
		return nil
	}
	return &problem{[]any{"body", "secret_references"}, "applies to source external_docker only", "value_error"}
}

// completeConfigs adds secret_references and the fields of the two
// configurations that are absent, as null. Absent members of resource_spec
// stay absent.
func completeConfigs(d map[string]any) {
	if _, present := d["secret_references"]; !present {
		d["secret_references"] = nil
	}
	for name, s := range map[string]*shape{"source_config": sourceConfigShape, "source_revision_config": sourceRevisionConfigShape} {
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

// revise makes a new latest revision, which becomes active later. For source
// codehost, it is built from a new commit.
func (s *Server) revise(d *deployment, now time.Time) {
	d.revisions++
	d.tree["latest_revision_id"] = uuid.NewString()
	d.activeAt = now.Add(s.opts.ActiveAfter)
	config := d.revisionConfig()
	if d.tree["source"] != "codehost" || config == nil {
		return
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %d", d.text("name"), config["repo_ref"], d.revisions))
	commit := hex.EncodeToString(sum[:20])
	config["repo_commit_sha"] = commit
	if d.built {
		config["image_uri"] = fmt.Sprintf("registry.internal/%s:%s", d.text("name"), commit[:7])
	}
	d.tree["image_version"] = fmt.Sprintf("0.1.%d", d.revisions)
}

// touch moves updated_at, also when the clock stands still.
func (d *deployment) touch(now time.Time) {
	if before, err := time.Parse(time.RFC3339, d.text("updated_at")); err == nil && !now.After(before) {
		now = before.Add(time.Millisecond)
	}
	d.tree["updated_at"] = timestamp(now)
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// delete is DELETE /v2/deployments/{id}, which the interface does not show.
func (s *Server) delete(c call) answer {
	d, refused := s.named(c)
	if refused != nil {
		return *refused
	}
	if !s.opts.KeepDeleted {
		s.remove(d)
	}
	return answer{http.StatusNoContent, http.Header{}, nil}
}

func (s *Server) remove(d *deployment) {
	delete(s.byID, strings.ToLower(d.id()))
	s.deployments = slices.DeleteFunc(s.deployments, func(other *deployment) bool { return other == d })
}

// named finds the deployment that the path names.
func (s *Server) named(c call) (*deployment, *answer) {
	if !isUUID(c.param) {
		a := invalid(problem{[]any{"path", "deployment_id"}, "should be a valid UUID", "uuid_parsing"})
		return nil, &a
	}
	d := s.find(c.param)
	if d == nil {
		a := refuse(http.StatusNotFound, "no deployment has id %s", c.param)
		return nil, &a
	}
	return d, nil
}

// A listQuery holds the query parameters of section 4.2.
type listQuery struct {
	limit, offset int
	filters       []func(d *deployment) bool
	ids           []string // in lower case; nil when not asked for by id
}

// readListQuery checks the query parameters. Parameters that the interface
// does not list, or that are repeated, are refused.
func (s *Server) readListQuery(c call) (q listQuery, found []problem) {
	q.limit = 20
	bad := func(name, kind, format string, args ...any) {
		found = append(found, problem{[]any{"query", name}, fmt.Sprintf(format, args...), kind})
	}
	where := func(f func(d *deployment) bool) { q.filters = append(q.filters, f) }
	for _, name := range sortedKeys(c.query) {
		if len(c.query[name]) > 1 {
			bad(name, "repeated", "is given more than once")
			continue
		}
		value := c.query[name][0]
		switch name {
		case "limit", "offset":
			n, err := strconv.Atoi(value)
			switch {
			case err != nil:
				bad(name, "int_parsing", "should be a valid integer")
			case name == "limit" && (n < 1 || n > 100):
				bad(name, "value_error", "should be between 1 and 100")
			case name == "offset" && n < 0:
				bad(name, "value_error", "should be at least 0")
			case name == "limit":
				q.limit = n
			default:
				q.offset = n
			}
		case "name_contains":
			part := strings.ToLower(value)
			where(func(d *deployment) bool { return strings.Contains(strings.ToLower(d.text("name")), part) })
		case "status", "image_version":
			where(func(d *deployment) bool { return d.tree[name] == value })
		case "deployment_type":
			if !slices.Contains([]string{"dev_free", "dev", "prod"}, value) {
				bad(name, "enum", "should be one of dev_free, dev, prod")
			}
			where(func(d *deployment) bool { return d.tree[name] == value })
		case "remote_reconciled":
			if value != "true" && value != "false" {
				bad(name, "bool_parsing", "should be true or false")
			}
			where(func(d *deployment) bool { return (d.tree[name] == true) == (value == "true") })
		case "tag_value_ids":
			tags := strings.Split(value, ",")
			where(func(d *deployment) bool {
				own, _ := d.tree[name].([]any)
				return slices.ContainsFunc(own, func(tag any) bool {
					str, _ := tag.(string)
					return slices.Contains(tags, str)
				})
			})
		case "deployment_ids":
			ids := strings.Split(strings.ToLower(value), ",")
			if len(ids) > 100 {
				bad(name, "too_long", "should have at most 100 ids, has %d", len(ids))
			}
			if !allUUIDs(ids) {
				bad(name, "uuid_parsing", "should be a comma-separated list of UUIDs")
			}
			if !s.opts.IgnoreIDFilter {
				q.ids = ids
			}
		default:
			bad(name, "extra_forbidden", "is not a known query parameter")
		}
	}
	return q, found
}

func allUUIDs(values []string) bool {
	return !slices.ContainsFunc(values, func(value string) bool { return !isUUID(value) })
}

// list is section 4.2. The returned offset counts items of the filtered list;
// at its end, it stays what it was.
// candidates are the deployments that a query can match, oldest first.
func (s *Server) candidates(q listQuery) []*deployment {
	if q.ids == nil {
		return s.deployments
	}
	named := map[*deployment]bool{}
	for _, id := range q.ids {
		if d := s.byID[id]; d != nil {
			named[d] = true
		}
	}
	return slices.SortedFunc(maps.Keys(named), func(a, b *deployment) int { return a.number - b.number })
}

func (s *Server) list(c call) answer {
	q, found := s.readListQuery(c)
	if len(found) > 0 {
		return invalid(found...)
	}
	var matching []*deployment
	for _, d := range s.candidates(q) {
		if !slices.ContainsFunc(q.filters, func(matches func(*deployment) bool) bool { return !matches(d) }) {
			matching = append(matching, d)
		}
	}
	if s.opts.NewestFirst {
		slices.Reverse(matching)
	}
	size := q.limit
	if s.opts.MaxPage > 0 {
		size = min(size, s.opts.MaxPage)
	}
	resources, next := []any{}, q.offset
	if q.offset <= len(matching) {
		repeated := min(s.opts.RepeatLast, q.offset, size-1)
		next = q.offset + min(size-repeated, len(matching)-q.offset)
		for _, d := range matching[q.offset-repeated : next] {
			resources = append(resources, s.dress(d.tree))
		}
	}
	envelope := map[string]any{"resources": resources, "offset": json.Number(strconv.Itoa(next))}
	if s.opts.ExtraFields {
		addExtraFields(envelope)
	}
	return reply(http.StatusOK, envelope)
}
