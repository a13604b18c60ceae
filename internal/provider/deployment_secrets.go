package provider

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"golang.org/x/text/unicode/norm"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// A service may show the values of secrets, mask or omit them, and have secrets that the configuration does not set.
// What the provider does with a response depends on one question: does it show values? It does if at least one managed
// secret has a value that is not empty, and every managed secret is in the response as it was sent. See
// [sentSecrets.shownIn]. This file has the question, and what was sent; deployment_secrets_change.go has what a plan
// and an update do.

// secretValues are secrets by name: those of a configuration or of a response.
type secretValues map[string]string

// secretsIn returns the secrets in a response, with names in Unicode NFC, into which Terraform brings every name.
func secretsIn(d *client.Deployment) secretValues {
	live := secretValues{}
	for _, s := range d.Secrets {
		if s.Name != "" { // a value without a name is not known to be of any secret
			live[norm.NFC.String(s.Name)] = s.Value
		}
	}
	return live
}

// secretsOf returns the secrets in an argument by name, nil unless the names are known, and their values, nil unless
// all of them are known.
func secretsOf(argument tftypes.Value) (byName attributes, values secretValues) {
	if argument.IsNull() || !argument.IsKnown() {
		return nil, nil
	}
	byName = attributesOf(argument)
	if !argument.IsFullyKnown() {
		return byName, nil
	}
	values = secretValues{}
	for name := range byName {
		values[name] = byName.text(name)
	}
	return byName, values
}

// configuredSecrets returns the secrets that a configuration sets, in secrets or in secrets_wo; nil if it sets none.
func configuredSecrets(config attributes) secretValues {
	if _, values := secretsOf(config["secrets_wo"]); values != nil {
		return values
	}
	_, values := secretsOf(config["secrets"])
	return values
}

func (v secretValues) names() []string { return slices.Sorted(maps.Keys(v)) }

func (v secretValues) has(name string) bool {
	_, has := v[name]
	return has
}

// sorted returns the secrets as they are sent: by name.
func (v secretValues) sorted() []client.Secret {
	secrets := []client.Secret{}
	for _, name := range v.names() {
		secrets = append(secrets, client.Secret{Name: name, Value: v[name]})
	}
	return secrets
}

// sent returns what is known of these secrets once they are sent.
func (v secretValues) sent() *sentSecrets { return &sentSecrets{names: v.names(), values: v} }

// foundIn reports whether a response shows that the service has these secrets.
func (v secretValues) foundIn(live secretValues) bool {
	if len(v) == 0 {
		return len(live) == 0
	}
	return v.sent().shownIn(live)
}

// createdWith reports whether a deployment may be one that was created with these secrets: it has all of them, with
// their values if it shows the value of any, and none if there are none.
func (v secretValues) createdWith(d *client.Deployment) bool {
	live, names := secretsIn(d), v.names()
	shown := func(name string) bool { return v[name] != "" && v[name] == live[name] }
	missing := func(name string) bool { return !live.has(name) }
	if len(v) == 0 || slices.ContainsFunc(names, shown) {
		return v.foundIn(live)
	}
	return !slices.ContainsFunc(names, missing)
}

// sentSecrets are the managed secrets as the last apply sent them, or found them in the service. The state has the
// values of the argument secrets; the fields that are exported are recorded in private state with that apply.
type sentSecrets struct {
	names      []string
	values     secretValues // of the argument secrets, without those that a refresh has set to null; nil for secrets_wo
	drifted    bool         // a refresh has set an entry of secrets, or secrets_wo_version, to null
	credential []byte       // of this process

	Listed []string `json:"listed,omitempty"` // the managed secrets that the response had
	Shown  bool     `json:"shown,omitempty"`  // whether it showed values

	// Digests are those of the values in secrets_wo, by name; empty without a credential. They are salted, and keyed
	// with the credential: whoever has the state alone cannot guess a short secret.
	Digests map[string]string `json:"digests,omitempty"`
	Salt    []byte            `json:"salt,omitempty"`
	Key     string            `json:"key,omitempty"` // a digest of the credential of the digests
}

// newSentSecrets records secrets of the argument secrets that were sent or found, with what a response then shows of
// them. Those of secrets_wo need digests as well.
func newSentSecrets(values secretValues, d *client.Deployment, credential []byte) *sentSecrets {
	s, live := values.sent(), secretsIn(d)
	s.credential = credential
	s.Listed = slices.DeleteFunc(values.names(), func(name string) bool { return !live.has(name) })
	s.Shown = s.shownIn(live)
	return s
}

// loadSentSecrets returns what the state and private state have of the secrets that were sent.
func (p *providerData) loadSentSecrets(ctx context.Context, private privateState, state attributes,
	diags *diag.Diagnostics,
) *sentSecrets {
	s := new(loadPrivate[sentSecrets](ctx, private, privateSecrets, diags))
	s.credential = p.credentialKey
	if state["secrets"].IsNull() {
		s.names, s.drifted = slices.Sorted(maps.Keys(s.Digests)), state["secrets_wo_version"].IsNull()
		return s
	}
	all := attributesOf(state["secrets"])
	s.names, s.values = slices.Sorted(maps.Keys(all)), secretValues{}
	for name, value := range all {
		if !value.IsNull() {
			s.values[name] = field.Text(value)
		}
	}
	s.drifted = len(s.values) < len(s.names)
	return s
}

// shownIn answers the question that decides everything: does a response show values?
func (s *sentSecrets) shownIn(live secretValues) bool {
	notEmpty := func(name string) bool { return live[name] != "" }
	return s.allMatch(live) && slices.ContainsFunc(s.names, notEmpty)
}

// allMatch reports whether a response has every managed secret as it was sent.
func (s *sentSecrets) allMatch(live secretValues) bool {
	differs := func(name string) bool { return !s.matches(live, name) }
	return !slices.ContainsFunc(s.names, differs)
}

// matches reports whether a response has a secret as it was sent.
func (s *sentSecrets) matches(live secretValues, name string) bool {
	value, listed := live[name]
	if sent, known := s.values[name]; known {
		return listed && value == sent
	}
	digest := s.Digests[name]
	return listed && digest != "" && digest == s.digest(name, value)
}

// comparable reports whether responses can be compared with what was sent: the values are in the state, or the digests
// were made with the credential of this process.
func (s *sentSecrets) comparable() bool {
	return len(s.values) > 0 || len(s.Digests) > 0 && s.Key != "" && s.Key == s.credentialDigest()
}

// driftIn returns the names of the managed secrets that others have changed or removed since the last apply.
func (s *sentSecrets) driftIn(live secretValues) (names []string) {
	unchanged := slices.ContainsFunc(s.names, func(name string) bool { return s.matches(live, name) })
	// If none of several is shown as it was sent, they have not all changed: the service no longer shows values.
	showsValues := s.Shown && s.comparable() && (unchanged || len(s.names) == 1)
	for _, name := range s.names {
		setToNull := s.values != nil && !s.values.has(name)
		missing := !live.has(name) && slices.Contains(s.Listed, name)
		changed := live.has(name) && showsValues && !s.matches(live, name)
		if setToNull || missing || changed {
			names = append(names, name)
		}
	}
	return names
}

// addDigests records digests in place of the values, which are write-only.
func (s *sentSecrets) addDigests() {
	s.Salt, s.Digests = make([]byte, 16), map[string]string{}
	_, _ = rand.Read(s.Salt) // never fails, see crypto/rand
	s.Key = s.credentialDigest()
	for name, value := range s.values {
		s.Digests[name] = s.digest(name, value)
	}
	s.values = nil
}

func (s *sentSecrets) credentialDigest() string { return s.digest("", "credential") }

func (s *sentSecrets) digest(name, value string) string {
	if len(s.credential) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, slices.Concat(s.Salt, s.credential))
	_, _ = fmt.Fprintf(mac, "%q:%q", name, value)
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// refreshSecrets sets secrets that others have changed to null, or the version of those that are write-only, so that
// the plan proposes to send them.
func (r *deploymentResource) refreshSecrets(state attributes, sent *sentSecrets, found *client.Deployment,
	refreshed field.Values, diags *diag.Diagnostics,
) {
	drifted := sent.driftIn(secretsIn(found))
	if len(drifted) == 0 {
		return
	}
	if secrets := state["secrets"]; !secrets.IsNull() {
		values := maps.Clone(attributesOf(secrets))
		for _, name := range drifted {
			values[name] = tftypes.NewValue(tftypes.String, nil)
		}
		refreshed["secrets"] = tftypes.NewValue(secrets.Type(), map[string]tftypes.Value(values))
	} else {
		refreshed["secrets_wo_version"] = tftypes.NewValue(tftypes.String, nil)
	}
	r.report(diags).warnf(path.Empty(), "Secrets changed outside Terraform",
		"These secrets of deployment %s were changed or removed since the last apply:%s\n\n"+
			"The next apply sends the configured values again, unless ignore_changes covers them or secrets_wo has no "+
			"secrets_wo_version.", describe(state), drifted)
}

// hideSecrets keeps the known secrets of a configuration, plan or state out of errors and logs: the error of any
// request may contain secrets that were sent earlier.
func (p *providerData) hideSecrets(all ...attributes) {
	if p == nil || p.client == nil {
		return
	}
	for _, a := range all {
		for _, argument := range []string{"secrets", "secrets_wo"} {
			secrets := attributesOf(a[argument])
			for name := range secrets {
				p.client.Hide(secrets.text(name))
			}
		}
	}
}
