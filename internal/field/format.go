package field

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// String names the attribute of a difference, in the syntax of HCL as far as that reaches:
// source_config.resource_spec.labels["team"], or source_config.resource_spec.sidecars[0].security_context (runAsUser).
func (d Difference) String() string {
	switch {
	case d.Undescribed():
		return inWords(d.Loc)
	case d.items != "":
		return fmt.Sprintf("%s (%s)", d.At, d.items)
	case len(d.rest) == 0:
		return d.At.String()
	case d.field.Kind == StringMap:
		return d.At.AtMapKey(inWords(d.rest)).String()
	}
	return fmt.Sprintf("%s (%s)", d.At, inWords(d.rest))
}

func inWords(loc []any) string {
	var steps []string
	for _, step := range loc {
		if i, ok := step.(int); ok {
			step = indexName(i)
		}
		steps = append(steps, fmt.Sprint(step))
	}
	return strings.Join(steps, ".")
}

// Values are the two values of a difference for a message. They are not shown (ok is false) unless they are numbers, booleans,
// ids, times, enums, or marked as [Field.Shown], because the provider cannot know what Terraform marks as sensitive.
func (d Difference) Values() (want, has string, ok bool) {
	f := d.field
	if f.Shown || len(f.OneOf) > 0 || slices.Contains([]Kind{Int64, Float64, Bool, UUID, Time}, f.Kind) {
		return show(d.Want), show(d.Has), true
	}
	return "", "", false
}

func show(tree any) string {
	switch tree := tree.(type) {
	case nil:
		return "not set"
	case string:
		return fmt.Sprintf("%q", withoutUserInfo(tree))
	default:
		return fmt.Sprint(tree)
	}
}

// withoutUserInfo removes user and password from a URL or an image reference.
func withoutUserInfo(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "", s
	}
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndex(host, "@"); i >= 0 && strings.Contains(host[:i], ":") && !strings.HasPrefix(host[i+1:], "sha256:") {
		host = host[i+1:]
		if path != "" {
			host += "/" + path
		}
		if scheme != "" {
			return scheme + "://" + host
		}
		return host
	}
	return s
}

// itemName names an item of a list of objects.
func itemName(f Field, item any, i int) string {
	if key := f.key(item); key != "" {
		return strings.ReplaceAll(key, "\x00", " ")
	}
	return indexName(i)
}

func indexName(i int) string { return fmt.Sprintf("[%d]", i) }

func itemChanges(added, removed []string) string {
	var parts []string
	if len(added) > 0 {
		parts = append(parts, "missing in the service: "+strings.Join(added, ", "))
	}
	if len(removed) > 0 {
		parts = append(parts, "only in the service: "+strings.Join(removed, ", "))
	}
	return strings.Join(parts, "; ")
}
