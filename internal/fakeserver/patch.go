package fakeserver

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// PatchKind is how a PATCH changes a deployment. The interface documents no
// PATCH, so this is a choice among what services do. Arrays (secrets and
// secret_references too) are replaced by every kind, and null for one of the four
// members of a PATCH means that it is not given.
type PatchKind int

const (
	// PatchReplaceKeys sets each sent key of source_config and
	// source_revision_config as a whole, resource_spec too.
	PatchReplaceKeys PatchKind = iota

	// PatchMergeSpec differs in that the members of resource_spec are set one by
	// one. Each value is set as a whole, labels and other objects too.
	PatchMergeSpec

	// PatchMergeDeep is a JSON merge patch (RFC 7386): objects are merged at
	// every depth, and null removes a member, also one of labels.
	PatchMergeDeep

	// PatchReplaceConfig replaces source_config or source_revision_config, if
	// sent, as a whole: what is not sent is dropped, or has its default again.
	PatchReplaceConfig
)

// NullKind is what null for a member does in a PATCH.
type NullKind int

const (
	// NullResets sets the member to null (PatchMergeDeep removes it), and then
	// to its default if it has one.
	NullResets NullKind = iota

	// NullKeeps leaves the stored value of the member as it is. Null in an item
	// of an array, and in a free-form object that is set as a whole, is data.
	NullKeeps
)

// merges reports whether an object at a path is merged, member by member, into
// the stored one. Otherwise it replaces the stored one.
func (k PatchKind) merges(path []string) bool {
	switch strings.Join(path, ".") {
	case "":
		return true
	case "source_config", "source_revision_config":
		return k != PatchReplaceConfig
	case "source_config.resource_spec":
		return k == PatchMergeSpec || k == PatchMergeDeep
	}
	return k == PatchMergeDeep
}

// apply returns what a stored value becomes by a PATCH. It may change stored.
func (k PatchKind) apply(path []string, stored, sent any) any {
	changes, ok := sent.(map[string]any)
	if !ok {
		return clone(sent)
	}
	object, had := stored.(map[string]any)
	if !had || !k.merges(path) {
		object = map[string]any{}
	}
	for name, value := range changes {
		if value == nil && k == PatchMergeDeep {
			delete(object, name)
		} else {
			object[name] = k.apply(child(path, name), object[name], value)
		}
	}
	return object
}

func child(path []string, name string) []string { return append(path[:len(path):len(path)], name) }

// keepNulls has members that are sent as null keep their stored values: it
// removes them from sent, or, where sent replaces an object, sets them to the
// stored values.
func (k PatchKind) keepNulls(s *shape, path []string, sent, stored map[string]any) {
	for name, value := range maps.Clone(sent) {
		switch v := value.(type) {
		case nil:
			if s.fields == nil && !k.merges(path) {
				continue
			}
			delete(sent, name)
			if !k.merges(path) && stored[name] != nil {
				sent[name] = clone(stored[name])
			}
		case map[string]any:
			below := freeFormShape
			if f, known := s.field(name); known {
				below = f.shape
			}
			object, _ := stored[name].(map[string]any)
			k.keepNulls(below, child(path, name), v, object)
		}
	}
}

// update responds to PATCH /v2/deployments/{id}, which the interface does not
// document.
func (s *Server) update(c call, now time.Time) response {
	d, rejected := s.target(c)
	if rejected != nil {
		return *rejected
	}
	patch, rejected := s.readBody(c, patchShape)
	if rejected != nil {
		return *rejected
	}
	maps.DeleteFunc(patch, func(name string, value any) bool {
		_, documented := patchShape.field(name)
		return documented && value == nil
	})
	if s.opts.IgnorePatch {
		return jsonResponse(http.StatusOK, s.render(d.tree))
	}
	if s.opts.Null == NullKeeps {
		s.opts.Patch.keepNulls(deploymentShape, nil, patch, d.tree)
	}
	before := d.tree
	after := s.opts.Patch.apply(nil, cloneObject(before), patch).(map[string]any)
	for _, f := range s.defaults {
		f.completeSent(s.opts.Patch, after, patch, before, 0)
	}
	completeConfigs(after)
	if _, given := patch["source_config"]; given {
		s.completeDerived(after)
	}
	found := append(checkSource(before["source"], patch, before), checkFixed(before, after, patch)...)
	found = slices.DeleteFunc(found, s.permits)
	if len(found) > 0 {
		return invalid(found...)
	}
	d.tree = after
	d.keepBuild(before, patch)
	if s.needsRevision(before, after, patch) {
		s.revise(d, now)
	}
	d.touch(now)
	s.applyTransitions(now)
	return jsonResponse(http.StatusOK, s.render(d.tree))
}

// needsRevision reports whether a PATCH makes a new revision: if it changes what
// the interface says so of, and if it has a version, secrets or a resource_spec,
// even those that the deployment has already.
func (s *Server) needsRevision(before, after, patch map[string]any) bool {
	for _, name := range []string{"source_revision_config", "secrets", "secret_references"} {
		if !reflect.DeepEqual(before[name], after[name]) {
			return true
		}
	}
	if s.opts.RevisionsForChangesOnly {
		return false
	}
	config, _ := patch["source_config"].(map[string]any)
	version, _ := patch["source_revision_config"].(map[string]any)
	for _, name := range append(versionFields, "graph_config_path") {
		if version[name] != nil {
			return true
		}
	}
	return patch["secrets"] != nil || config["resource_spec"] != nil
}

// keepBuild restores what the service itself has set in
// source_revision_config and a PATCH that replaces it has dropped.
func (d *deployment) keepBuild(before, patch map[string]any) {
	config, stored := member(d.tree, "source_revision_config"), member(before, "source_revision_config")
	config["repo_commit_sha"] = stored["repo_commit_sha"]
	sent, _ := patch["source_revision_config"].(map[string]any)
	image, given := sent["image_uri"]
	switch {
	case given:
		d.built = image == nil && d.tree["source"] == "codehost"
	case d.built:
		config["image_uri"] = stored["image_uri"]
	default:
		d.built = config["image_uri"] == nil && d.tree["source"] == "codehost"
	}
}
