package field

import (
	"fmt"
	"strings"
)

// String names the attribute of a difference, in the syntax of HCL as far as that reaches:
// source_config.resource_spec.labels["team"], or source_config.resource_spec.sidecars[0].security_context (runAsUser).
func (d Difference) String() string {
	switch {
	case d.Undescribed():
		return dotted(d.Loc)
	case d.itemChanges != "":
		return fmt.Sprintf("%s (%s)", d.At, d.itemChanges)
	case len(d.rest) == 0:
		return d.At.String()
	case is[StringMap](d.field):
		return d.At.AtMapKey(dotted(d.rest)).String()
	}
	return fmt.Sprintf("%s (%s)", d.At, dotted(d.rest))
}

func dotted(loc []any) string {
	var steps []string
	for _, step := range loc {
		if i, ok := step.(int); ok {
			step = indexName(i)
		}
		steps = append(steps, fmt.Sprint(step))
	}
	return strings.Join(steps, ".")
}

// Values returns the two values of a difference for a message. They are not shown (ok is false) unless they are
// numbers, booleans, ids, times, enums, or marked as [String.Shown], because the provider cannot know what Terraform
// marks as sensitive.
func (d Difference) Values() (want, has string, ok bool) {
	switch k := d.field.Kind.(type) {
	case Int64, Float64, Bool, UUID, Time:
		ok = true
	case String:
		ok = k.Shown || len(k.OneOf) > 0
	}
	if !ok {
		return "", "", false
	}
	return show(d.Want), show(d.Has), true
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

// withoutUserInfo removes user and password from a URL or an image reference. A digest is no host, and a user alone is
// no secret in an address such as git@host:path.
func withoutUserInfo(s string) string {
	scheme, rest, isURL := "", s, strings.Contains(s, "://")
	if isURL {
		scheme, rest, _ = strings.Cut(s, "://")
		scheme += "://"
	}
	at := strings.LastIndex(rest[:strings.IndexAny(rest+"/", "/?#")], "@")
	if at < 0 || !isURL && (!strings.Contains(rest[:at], ":") || strings.HasPrefix(rest[at+1:], "sha256:")) {
		return s
	}
	return scheme + rest[at+1:]
}

// itemName names an item of a list of objects.
func itemName(l ObjectList, item any, i int) string {
	if key := l.key(item); key != "" {
		return strings.ReplaceAll(key, "\x00", " ")
	}
	return indexName(i)
}

func indexName(i int) string { return fmt.Sprintf("[%d]", i) }

func describeItems(added, removed []string) string {
	var parts []string
	if len(added) > 0 {
		parts = append(parts, "missing in the service: "+strings.Join(added, ", "))
	}
	if len(removed) > 0 {
		parts = append(parts, "only in the service: "+strings.Join(removed, ", "))
	}
	return strings.Join(parts, "; ")
}
