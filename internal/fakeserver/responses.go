package fakeserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// A response is what the client receives.
type response struct {
	status int
	header http.Header
	body   []byte
}

// jsonResponse returns a response with a JSON body.
func jsonResponse(status int, value any) response {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(fmt.Sprintf("fakeserver: %v", err)) // all values come from decoded JSON
	}
	return response{status, http.Header{"Content-Type": {"application/json"}}, body.Bytes()}
}

// reject returns a response with {"detail": "…"}.
func reject(status int, format string, args ...any) response {
	return jsonResponse(status, map[string]any{"detail": fmt.Sprintf(format, args...)})
}

// invalid returns a 422 response with {"detail": [{"loc": …, "msg": …, "type": …}]}.
func invalid(found ...problem) response {
	return jsonResponse(http.StatusUnprocessableEntity, map[string]any{"detail": found})
}

// SecretsMode is what responses show of secrets. The interface requires the
// array but does not document what is in it.
type SecretsMode int

// What responses show of secrets.
const (
	EchoSecrets         SecretsMode = iota // names and values as sent
	MaskSecrets                            // "********" for every value
	MaskSecretsRandomly                    // a value that differs in each response
	OmitSecrets                            // an empty array
	OmitSecretValues                       // items with a name only
	OmitSecretNames                        // items with a value only
)

// filterFields can be seeded for the filters of the list (section 4.2). They
// are not part of a Deployment, so responses omit them.
var filterFields = []string{"tag_value_ids", "remote_reconciled", "deployment_type"}

// render returns a stored deployment as responses show it.
func (s *Server) render(stored map[string]any) map[string]any {
	d := cloneObject(stored)
	if !s.opts.KeepUnknown {
		for _, name := range filterFields {
			delete(d, name)
		}
	}
	d["secrets"] = s.renderSecrets(d["secrets"])
	if s.opts.NoActiveRevision || s.opts.NoRevisions {
		d["active_revision_id"] = nil
	}
	if s.opts.NoRevisions {
		d["latest_revision_id"] = nil
	}
	if s.opts.ResolveRefs && d["source"] == "codehost" {
		config, _ := d["source_revision_config"].(map[string]any)
		if config["repo_ref"] != nil && config["repo_commit_sha"] != nil {
			config["repo_ref"] = config["repo_commit_sha"]
		}
	}
	if s.opts.NullForEmpty || s.opts.OmitEmpty {
		visit(deploymentShape, d, s.renderEmpty)
	}
	if s.opts.ExtraFields {
		visit(deploymentShape, d, func(_ *shape, object map[string]any) { addExtraFields(object) })
	}
	if s.opts.IntegersAsFloats {
		if config, ok := d["source_config"].(map[string]any); ok {
			config["resource_spec"] = asFloats(config["resource_spec"])
		}
	}
	return d
}

func (s *Server) renderSecrets(stored any) any {
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

func (s *Server) renderEmpty(of *shape, object map[string]any) {
	for _, f := range of.fields {
		if of == deploymentShape && f.name != "secrets" && f.name != "secret_references" {
			continue
		}
		value, present := object[f.name]
		empty := present && (value == nil || isEmpty(value))
		if !empty {
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

// addExtraFields adds undocumented members of each JSON kind.
func addExtraFields(object map[string]any) {
	object["undocumented_text"] = "something newer"
	object["undocumented_number"] = json.Number("1.5")
	object["undocumented_object"] = map[string]any{"list": []any{json.Number("1"), nil, true}}
	object["undocumented_list"] = []any{map[string]any{"name": "x"}}
	object["undocumented_null"] = nil
}

// asFloats writes integers like 2048.0.
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
