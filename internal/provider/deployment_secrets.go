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

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// secretValues are secrets by name; nil if there are none, or if they are not completely known.
type secretValues map[string]string

func secretValuesOf(v tftypes.Value) secretValues {
	if v.IsNull() || !v.IsFullyKnown() {
		return nil
	}
	values := secretValues{}
	for name, value := range attributesOf(v) {
		if !value.IsNull() { // null is what a refresh puts in place of drift
			values[name] = attributesOf(v).text(name)
		}
	}
	return values
}

// configuredSecrets are the secrets that a configuration sets, in secrets or in secrets_wo.
func configuredSecrets(config attributes) secretValues {
	if values := secretValuesOf(config["secrets_wo"]); values != nil {
		return values
	}
	return secretValuesOf(config["secrets"])
}

// echoOf is what a response shows of secrets.
func echoOf(d *client.Deployment) secretValues {
	echo := secretValues{}
	for _, s := range d.Secrets {
		echo[s.Name] = s.Value
	}
	return echo
}

func (s secretValues) names() []string { return slices.Sorted(maps.Keys(s)) }

// list are the secrets as they are sent: sorted by name.
func (s secretValues) list() []client.Secret {
	secrets := []client.Secret{}
	for _, name := range s.names() {
		secrets = append(secrets, client.Secret{Name: name, Value: s[name]})
	}
	return secrets
}

// has reports whether all of wanted is in s.
func (s secretValues) has(wanted secretValues) bool {
	for name, value := range wanted {
		if shown, ok := s[name]; !ok || shown != value {
			return false
		}
	}
	return true
}

// secretsRecord is what private state holds of the secrets that the last apply set: digests of what the service echoed after
// it, so that a change made elsewhere is detected without a value being kept.
type secretsRecord struct {
	Salt  []byte   `json:"salt"`
	Key   string   `json:"key"` // a digest of the credential with which Echo was made
	Names []string `json:"names"`
	// Echo are the digests of the echo, by name; a secret that was not echoed has none.
	Echo map[string]string `json:"echo,omitempty"`
	// Shown is whether the echo of every secret was the value that was sent.
	Shown bool `json:"shown,omitempty"`
	// Version identifies the deployment that Echo is of.
	Version string `json:"version"`
	// Random is whether the service masks secrets at random: its echo means nothing.
	Random bool `json:"random,omitempty"`

	credential []byte
}

// loadSecretsRecord is nil where no secrets are managed.
func (p *providerData) loadSecretsRecord(ctx context.Context, private privateState, diags *diag.Diagnostics) *secretsRecord {
	var r *secretsRecord
	loadPrivate(ctx, private, privateSecrets, &r, diags)
	if r == nil || len(r.Salt) == 0 {
		return nil
	}
	r.credential = p.credentialKey
	return r
}

// newSecretsRecord records the secrets of an apply. Former is the record before it, seen what was read of the deployment since
// the write, oldest first: at least its last state.
func (p *providerData) newSecretsRecord(former *secretsRecord, values secretValues, seen ...*client.Deployment) *secretsRecord {
	if values == nil {
		return nil
	}
	r := &secretsRecord{Salt: make([]byte, 16), Names: values.names(), credential: p.credentialKey}
	_, _ = rand.Read(r.Salt) // never fails, see crypto/rand
	if former != nil {
		r.Salt, r.Random = former.Salt, former.Random
	}
	last := seen[len(seen)-1]
	for _, d := range seen {
		r.Random = r.Random || versionOf(d) == versionOf(last) && differ(echoOf(d), echoOf(last))
	}
	r.Shown = len(values) > 0 && echoOf(last).has(values)
	r.observe(last)
	return r
}

// observe takes the echo of a deployment for that of the last apply.
func (r *secretsRecord) observe(d *client.Deployment) {
	r.Key, r.Version, r.Echo = r.credentialDigest(), versionOf(d), map[string]string{}
	echo := echoOf(d)
	for _, name := range r.Names {
		if value, ok := echo[name]; ok {
			r.Echo[name] = r.digest(name, value)
		}
	}
}

// digest is salted and keyed with the credential: from the state alone, not even a short secret can be guessed.
func (r *secretsRecord) digest(name, value string) string {
	mac := hmac.New(sha256.New, append(slices.Clone(r.Salt), r.credential...))
	_, _ = fmt.Fprintf(mac, "%q:%q", name, value)
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil)[:18])
}

func (r *secretsRecord) credentialDigest() string { return r.digest("", "credential") }

// differ reports whether a name that both have stands for different values.
func differ(a, b secretValues) bool {
	for name, value := range a {
		if other, ok := b[name]; ok && other != value {
			return true
		}
	}
	return false
}

// versionOf identifies a state of a deployment.
func versionOf(d *client.Deployment) string {
	return d.LatestRevisionID + " " + d.UpdatedAt
}

// drifted names the secrets for which the service no longer echoes what it echoed after the last apply. If the credential has
// changed, the digests cannot be compared, and the record starts again.
func (r *secretsRecord) drifted(d *client.Deployment) (names []string) {
	if r.Key != r.credentialDigest() {
		r.observe(d)
		return nil
	}
	if r.Random {
		return nil
	}
	echo := echoOf(d)
	for _, name := range r.Names {
		value, echoed := echo[name]
		if digest, known := r.Echo[name]; known && (!echoed || digest != r.digest(name, value)) {
			names = append(names, name)
		}
	}
	if len(names) > 0 && r.Version == versionOf(d) {
		r.Random = true // the deployment is the same: only the mask has changed
		return nil
	}
	return names
}

// forgetSecrets sets secrets that were changed elsewhere to null, or the version of those that are write-only, so that the plan
// proposes to set them.
func (p *providerData) forgetSecrets(state attributes, names []string, refreshed field.Values, diags *diag.Diagnostics) {
	if known := attributesOf(state["secrets"]); known != nil {
		values := maps.Clone(known)
		for _, name := range names {
			if _, ok := values[name]; ok {
				values[name] = tftypes.NewValue(tftypes.String, nil)
			}
		}
		refreshed["secrets"] = tftypes.NewValue(state["secrets"].Type(), map[string]tftypes.Value(values))
		return
	}
	if version := state["secrets_wo_version"]; !version.IsNull() {
		refreshed["secrets_wo_version"] = tftypes.NewValue(version.Type(), nil)
		return
	}
	p.report(diags).warnf(path.Root("secrets_wo"), "Secrets changed outside Terraform",
		"The service reports different values for these secrets_wo of deployment %s than after the last apply. Set secrets_wo_version, so that "+
			"the next plan can send them again:%s", describe(state), names)
}

// secretsChange is what a plan does to the secrets in the service.
type secretsChange struct {
	at       path.Path
	wanted   secretValues // nil if nothing is to be sent
	unknown  bool         // whether they change is known at apply
	unverify bool         // the service does not show whether it has them
	hidden   bool         // the service shows no secrets, not even their names
	removed  []string     // names that the change removes without the configuration having had them
	released []string     // names that the configuration no longer manages, and that stay
	gone     []string     // names that the configuration had, and that the change removes
}

// secretsChangeOf compares the secrets of a plan with those of the last apply, and with what the service shows. Live is nil
// where nothing was read: ok is false if the change depends on it.
func secretsChangeOf(plan, state, config attributes, record *secretsRecord, live *client.Deployment) (c secretsChange, ok bool) {
	c.at = path.Root("secrets")
	before, after := state["secrets"], plan["secrets"]
	managed := secretValuesOf(before).names()
	if record != nil {
		managed = record.Names
	}
	switch version := plan["secrets_wo_version"]; {
	case !version.IsNull() && version.Equal(state["secrets_wo_version"]):
		return c, true
	case !version.IsNull():
		c.at, after = path.Root("secrets_wo_version"), config["secrets_wo"]
		if after.IsNull() { // in ignore_changes, which hides write-only values from the plan only
			c.unknown, c.unverify = true, true
			return c, true
		}
	case !config["secrets_wo"].IsNull():
		return c, true // without a version, no change is detected
	}
	if after.IsNull() {
		if !before.IsNull() || !state["secrets_wo_version"].IsNull() {
			c.released = managed
		}
		return c, true
	}
	wanted := secretValuesOf(after)
	if c.unknown = wanted == nil; c.unknown || !before.IsNull() && after.Equal(before) {
		return c, true
	}
	if live == nil {
		return c, false
	}
	echo := echoOf(live)
	for _, name := range managed {
		if _, stays := wanted[name]; !stays {
			c.gone = append(c.gone, name)
		}
	}
	// Without drift, what the last apply has sent is what the service has.
	former := secretValuesOf(before)
	kept := !before.IsNull() && len(attributesOf(before)) == len(former) && maps.Equal(former, wanted)
	goneAlready := !slices.ContainsFunc(c.gone, func(name string) bool {
		_, echoed := echo[name]
		return echoed || record == nil || record.Echo[name] == ""
	})
	if (kept || echo.has(wanted)) && goneAlready && (len(wanted) > 0 || len(echo) == 0) {
		return c, true
	}
	c.unverify = !echo.has(wanted) && (record == nil || !record.Shown)
	c.hidden = record != nil && len(record.Names) > 0 && len(echo) == 0
	c.wanted = maps.Clone(wanted)
	if len(wanted) == 0 {
		return c, true // {} removes all
	}
	for _, name := range echo.names() {
		if _, ours := wanted[name]; ours || slices.Contains(c.gone, name) {
			continue
		}
		if record != nil && record.Shown {
			c.wanted[name] = echo[name]
		} else {
			c.removed = append(c.removed, name)
		}
	}
	return c, true
}

// notTaken reports how a response shows that the service did not apply a change of secrets.
func (c secretsChange) notTaken(record *secretsRecord, before, after *client.Deployment) (problems []string) {
	if record == nil || !record.Shown || record.Random {
		return nil
	}
	former, shown := echoOf(before), echoOf(after)
	for _, name := range c.wanted.names() {
		if shown[name] != c.wanted[name] && shown[name] == former[name] {
			problems = append(problems, fmt.Sprintf("secret %q still has its former value", name))
		}
	}
	for _, name := range c.gone {
		if value, ok := shown[name]; ok && value == former[name] {
			problems = append(problems, fmt.Sprintf("secret %q still exists", name))
		}
	}
	return problems
}

// hideSecrets keeps the known secrets of a configuration, plan or state out of errors and logs: the error of any request may
// contain secrets that were sent earlier.
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
