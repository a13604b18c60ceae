package fakeserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// SecretsMode says what answers show of secrets. The interface requires the
// array but does not say what is in it.
type SecretsMode int

// What answers show of secrets.
const (
	EchoSecrets         SecretsMode = iota // names and values as they were sent
	MaskSecrets                            // "********" for every value
	MaskSecretsRandomly                    // a value that differs in each answer
	OmitSecrets                            // an empty array
	OmitSecretValues                       // items with a name only
	OmitSecretNames                        // items with a value only
)

// filterFields can be seeded for the filters of the list (section 4.2). They
// are no part of a Deployment, so answers do not show them.
var filterFields = []string{"tag_value_ids", "remote_reconciled", "deployment_type"}

// dress turns a stored deployment into what answers show of it.
func (s *Server) dress(stored map[string]any) map[string]any {
	d := cloneObject(stored)
	if !s.opts.KeepUnknown {
		for _, name := range filterFields {
			delete(d, name)
		}
	}
	d["secrets"] = s.dressSecrets(d["secrets"])
	if s.opts.ResolveRefs && d["source"] == "codehost" {
		config, _ := d["source_revision_config"].(map[string]any)
		if config["repo_ref"] != nil && config["repo_commit_sha"] != nil {
			config["repo_ref"] = config["repo_commit_sha"]
		}
	}
	if s.opts.NullForEmpty || s.opts.OmitEmpty {
		visit(deploymentShape, d, s.dressEmpty)
	}
	if s.opts.ExtraFields {
		visit(deploymentShape, d, func(_ *shape, object map[string]any) { addExtraFields(object) })
	}
	if s.opts.WholeNumbersAsFloats {
		if config, ok := d["source_config"].(map[string]any); ok {
			config["resource_spec"] = asFloats(config["resource_spec"])
		}
	}
	return d
}

func (s *Server) dressSecrets(stored any) any {
	shown := []any{}
	if s.opts.Secrets == OmitSecrets {
		return shown
	}
	if secrets, ok := stored.([]any); ok {
		shown = append(shown, secrets...)
	}
	for _, name := range sortedKeys(s.opts.ExtraSecrets) {
		shown = append(shown, map[string]any{"name": name, "value": s.opts.ExtraSecrets[name]})
	}
	for _, item := range shown {
		secret, ok := item.(map[string]any)
		switch {
		case !ok:
		case s.opts.Secrets == MaskSecrets:
			secret["value"] = "********"
		case s.opts.Secrets == MaskSecretsRandomly:
			secret["value"] = "****" + uuid.NewString()[:8]
		case s.opts.Secrets == OmitSecretValues:
			delete(secret, "value")
		case s.opts.Secrets == OmitSecretNames:
			delete(secret, "name")
		}
	}
	return shown
}

func (s *Server) dressEmpty(of *shape, object map[string]any) {
	for _, f := range of.fields {
		if of == deploymentShape && f.name != "secrets" && f.name != "secret_references" {
			continue
		}
		value, present := object[f.name]
		if !present || value != nil && !isEmpty(value) {
			continue
		}
		if s.opts.OmitEmpty {
			delete(object, f.name)
		} else {
			object[f.name] = nil
		}
	}
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// addExtraFields adds members of each JSON kind that no interface documents.
func addExtraFields(object map[string]any) {
	object["undocumented_text"] = "something newer"
	object["undocumented_number"] = json.Number("1.5")
	object["undocumented_object"] = map[string]any{"list": []any{json.Number("1"), nil, true}}
	object["undocumented_list"] = []any{map[string]any{"name": "x"}}
	object["undocumented_null"] = nil
}

// asFloats writes whole numbers like 2048.0.
func asFloats(value any) any {
	switch v := value.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return json.Number(fmt.Sprintf("%s.0", v))
		}
	case map[string]any:
		for name := range v {
			v[name] = asFloats(v[name])
		}
	case []any:
		for i := range v {
			v[i] = asFloats(v[i])
		}
	}
	return value
}
