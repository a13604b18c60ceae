package field

import (
	"slices"
	"strings"
)

// What services make of values is undone here, before anything else looks at a response: see [String.ResolvesTo] and
// [String.BuiltFor].

// asWritten returns live with what the service has made of a value put back to what was written.
func (fs Fields) asWritten(live, written map[string]any, source string) map[string]any {
	for _, f := range fs {
		name := f.wire()
		has, was := live[name], written[name]
		switch k := f.Kind.(type) {
		case Object:
			if has != nil {
				live = with(live, name, k.Fields.asWritten(asObject(has), asObject(was), source))
			}
		case String:
			isBuilt := k.BuiltFor != "" && k.BuiltFor == source && !isEmpty(was) && !isEmpty(has)
			if isBuilt || fs.isMadeOf(f, live, was) {
				live = with(live, name, was)
			}
		}
	}
	return live
}

// isMadeOf reports whether live has, in place of a ref, the commit that it has resolved to. A commit that was written
// must be reported as it is.
func (fs Fields) isMadeOf(f Field, live map[string]any, written any) bool {
	commit, found := fs.ByName(kind[String](f).ResolvesTo)
	has, _ := live[f.wire()].(string)
	ref, _ := written.(string)
	return found && has != "" && has == live[commit.wire()] && ref != "" &&
		(!isFullCommit(ref) || strings.EqualFold(ref, has))
}

// isFullCommit reports whether s is a complete SHA-1 or SHA-256 in hexadecimal.
func isFullCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// withoutCommits returns live without the refs that the service shows only as commits: nothing shows which refs those
// belong to.
func (fs Fields) withoutCommits(live map[string]any) map[string]any {
	for _, f := range fs {
		has := live[f.wire()]
		switch k := f.Kind.(type) {
		case Object:
			if has != nil {
				live = with(live, f.wire(), k.Fields.withoutCommits(asObject(has)))
			}
		case String:
			commit, resolves := fs.ByName(k.ResolvesTo)
			if resolves && has == live[commit.wire()] {
				live = with(live, f.wire(), nil)
			}
		}
	}
	return live
}

// reshaped returns the part of what was written that the service may report in another form, as long as the plan has
// the same. A ref that is removed counts, too: it is still there as its commit.
func (fs Fields) reshaped(written, plan map[string]any, source string) map[string]any {
	part := map[string]any{}
	for _, f := range fs {
		was, now := written[f.wire()], plan[f.wire()]
		switch k := f.Kind.(type) {
		case Object:
			part[f.wire()] = k.Fields.reshaped(asObject(was), asObject(now), source)
		case String:
			isSame := now == was
			if isSame && source != "" && k.BuiltFor == source || (isSame || now == nil) && k.ResolvesTo != "" {
				part[f.wire()] = was
			}
		}
	}
	return part
}

// normalized returns a tree with the names of its members in Unicode NFC, into which Terraform brings every string.
func normalized(tree map[string]any) map[string]any {
	return asObject(Rewrite(tree, func(name string) (string, bool) { return nfc(name), true }, Same))
}

// namedAs returns a tree with names in NFC, but for those that like has in another form at the same place.
func namedAs(tree, like any) any {
	switch tree := tree.(type) {
	case map[string]any:
		theirs, named := asObject(like), make(map[string]any, len(tree))
		forms := make(map[string]string, len(theirs))
		for name := range theirs {
			if nfc := nfc(name); nfc == name || forms[nfc] == "" {
				forms[nfc] = name
			}
		}
		for name, value := range tree {
			if form := forms[name]; form != "" {
				name = form
			}
			named[name] = namedAs(value, theirs[name])
		}
		return named
	case []any:
		named := slices.Clone(tree)
		for i := range named {
			named[i] = namedAs(named[i], itemAt(asList(like), i))
		}
		return named
	}
	return tree
}
