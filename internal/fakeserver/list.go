package fakeserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A listQuery holds the query parameters of section 4.2.
type listQuery struct {
	limit, offset int
	filters       []func(d *deployment) bool
	ids           []string // in lower case; nil without deployment_ids
}

// readListQuery checks the query parameters. Parameters that the interface
// does not document, or that are repeated, are rejected.
func (s *Server) readListQuery(c call) (q listQuery, found []problem) {
	q.limit = 20
	bad := func(name, kind, message string) {
		found = append(found, problem{[]any{"query", name}, message, kind})
	}
	where := func(f func(d *deployment) bool) { q.filters = append(q.filters, f) }
	for _, name := range sortedKeys(c.query) {
		if len(c.query[name]) > 1 {
			bad(name, "repeated", "must not be repeated")
			continue
		}
		value := c.query[name][0]
		switch name {
		case "limit":
			q.limit, found = readInt(name, value, 1, 100, found)
		case "offset":
			q.offset, found = readInt(name, value, 0, math.MaxInt, found)
		case "name_contains":
			part := strings.ToLower(value)
			where(func(d *deployment) bool { return strings.Contains(strings.ToLower(d.str("name")), part) })
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
			if !allUUIDs(ids) {
				bad(name, "uuid_parsing", "should be a comma-separated list of UUIDs")
			}
			if !s.opts.IgnoreIDFilter {
				q.ids = ids
			}
		default:
			found = append(found, unknownParameter(name))
		}
	}
	return q, found
}

// readInt reads an integer parameter. It adds to found what is wrong with it.
func readInt(name, value string, least, most int, found []problem) (int, []problem) {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		found = append(found, problem{[]any{"query", name}, "should be a valid integer", "int_parsing"})
	case n < least || n > most:
		message := fmt.Sprintf("should be between %d and %d", least, most)
		found = append(found, problem{[]any{"query", name}, message, "value_error"})
	}
	return n, found
}

func unknownParameter(name string) problem {
	return problem{[]any{"query", name}, "is not a known query parameter", "extra_forbidden"}
}

func allUUIDs(values []string) bool {
	return !slices.ContainsFunc(values, func(value string) bool { return !isUUID(value) })
}

// candidates returns the deployments that a query can match, oldest first.
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

// list lists deployments (section 4.2). The returned offset counts items of the
// filtered list; at its end, it stays what it was.
func (s *Server) list(c call) response {
	q, found := s.readListQuery(c)
	if len(found) > 0 {
		return invalid(found...)
	}
	var matching []*deployment
	for _, d := range s.candidates(q) {
		fails := func(matches func(*deployment) bool) bool { return !matches(d) }
		if !slices.ContainsFunc(q.filters, fails) {
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
			resources = append(resources, s.render(d.tree))
		}
	}
	envelope := map[string]any{"resources": resources, "offset": json.Number(strconv.Itoa(next))}
	if s.opts.ExtraFields {
		addExtraFields(envelope)
	}
	return jsonResponse(http.StatusOK, envelope)
}

// checkNoQuery reports every query parameter. The interface documents none for
// the two lists that are plain arrays.
func checkNoQuery(query url.Values) []problem {
	var found []problem
	for _, name := range sortedKeys(query) {
		found = append(found, unknownParameter(name))
	}
	return found
}
