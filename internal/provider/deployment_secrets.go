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
// [sentSecrets.valuesShownIn].

// secretValues are secrets by name.
type secretValues map[string]string

func (v secretValues) names() []string { return slices.Sorted(maps.Keys(v)) }

// sent returns what is known of these secrets once they are sent.
func (v secretValues) sent() sentSecrets { return sentSecrets{names: v.names(), values: v} }

// sorted returns the secrets as they are sent: by name.
func (v secretValues) sorted() []client.Secret {
	secrets := []client.Secret{}
	for _, name := range v.names() {
		secrets = append(secrets, client.Secret{Name: name, Value: v[name]})
	}
	return secrets
}

// foundIn reports whether a response shows that the service has these secrets.
func (v secretValues) foundIn(live shownSecrets) bool {
	if len(v) == 0 {
		return len(live) == 0
	}
	return v.sent().valuesShownIn(live)
}

// createdWith reports whether a deployment may be one that was created with these secrets: it has all of them, with
// their values if it shows the value of any, and none if there are none.
func (v secretValues) createdWith(d *client.Deployment) bool {
	live, sent := secretsIn(d), v.sent()
	showsOne := func(name string) bool { return v[name] != "" && sent.matches(live, name) }
	if len(v) == 0 || slices.ContainsFunc(sent.names, showsOne) {
		return v.foundIn(live)
	}
	return !slices.ContainsFunc(sent.names, func(name string) bool { return !live.has(name) })
}

// knownSecrets returns the names in a map of secrets, if they are known, and the values, if all of them are.
func knownSecrets(v tftypes.Value) (names []string, values secretValues, namesKnown bool) {
	if v.IsNull() || !v.IsKnown() {
		return nil, nil, false
	}
	all := attributesOf(v)
	names = slices.Sorted(maps.Keys(all))
	if !v.IsFullyKnown() {
		return names, nil, true
	}
	values = secretValues{}
	for _, name := range names {
		values[name] = all.text(name)
	}
	return names, values, true
}

// configuredSecrets returns the secrets that a configuration sets, in secrets or in secrets_wo; nil if it sets none.
func configuredSecrets(config attributes) secretValues {
	if _, values, _ := knownSecrets(config["secrets_wo"]); values != nil {
		return values
	}
	_, values, _ := knownSecrets(config["secrets"])
	return values
}

// shownSecrets are the secrets in a response, by name in Unicode NFC, into which Terraform brings every name.
type shownSecrets map[string]client.Secret

func secretsIn(d *client.Deployment) shownSecrets {
	live := shownSecrets{}
	for _, s := range d.Secrets {
		if s.Name != "" { // a value without a name is not known to be of any secret
			live[norm.NFC.String(s.Name)] = s
		}
	}
	return live
}

func (l shownSecrets) has(name string) bool {
	_, listed := l[name]
	return listed
}

// sentSecrets are the managed secrets as the last apply sent them or found them in the service, as far as known.
type sentSecrets struct {
	names   []string
	values  secretValues   // of the argument secrets; without those that a refresh has set to null
	digests *secretsRecord // of secrets_wo; nil for the argument secrets
	drifted bool           // a refresh has found that the service has others
}

func sentBefore(state attributes, record *secretsRecord) sentSecrets {
	if state["secrets"].IsNull() {
		return sentSecrets{names: slices.Sorted(maps.Keys(record.Digests)), digests: record,
			drifted: state["secrets_wo_version"].IsNull()}
	}
	all := attributesOf(state["secrets"])
	sent := sentSecrets{names: slices.Sorted(maps.Keys(all)), values: secretValues{}}
	for name, value := range all {
		if value.IsNull() {
			sent.drifted = true
			continue
		}
		sent.values[name] = field.Text(value)
	}
	return sent
}

// known reports whether responses can be compared with what was sent.
func (s sentSecrets) known() bool {
	return len(s.values) > 0 || s.digests != nil && len(s.names) > 0 && s.digests.comparable()
}

// setToNull reports whether a refresh has set a secret to null.
func (s sentSecrets) setToNull(name string) bool {
	_, known := s.values[name]
	return s.digests == nil && !known
}

// is reports whether a secret was sent with this value.
func (s sentSecrets) is(name, value string) bool {
	if s.digests != nil {
		return s.digests.is(name, value)
	}
	sent, known := s.values[name]
	return known && sent == value
}

// matches reports whether a response has a secret as it was sent.
func (s sentSecrets) matches(live shownSecrets, name string) bool {
	return live.has(name) && s.is(name, live[name].Value)
}

// equal reports whether exactly these secrets were sent.
func (s sentSecrets) equal(values secretValues) bool {
	differs := func(name string) bool { return !s.is(name, values[name]) }
	return slices.Equal(s.names, values.names()) && !slices.ContainsFunc(s.names, differs)
}

// valuesShownIn is the question that decides everything: does a response show values?
func (s sentSecrets) valuesShownIn(live shownSecrets) bool {
	notEmpty := false
	for _, name := range s.names {
		if !s.matches(live, name) {
			return false
		}
		notEmpty = notEmpty || live[name].Value != ""
	}
	return notEmpty
}

// secretsRecord records, in private state, the last apply that sent the managed secrets or found them in the service.
// It is empty if no secrets are managed.
type secretsRecord struct {
	Listed []string `json:"listed,omitempty"` // the managed secrets that the response had
	Shown  bool     `json:"shown,omitempty"`  // whether it showed values

	// Digests are those of the values in secrets_wo, by name; empty without a credential. They are salted, and keyed
	// with the credential: whoever has the state alone cannot guess a short secret.
	Digests map[string]string `json:"digests,omitempty"`
	Salt    []byte            `json:"salt,omitempty"`
	Key     string            `json:"key,omitempty"` // a digest of the credential of the digests

	credential []byte // of this process
}

func (p *providerData) loadSecretsRecord(ctx context.Context, private privateState,
	diags *diag.Diagnostics,
) *secretsRecord {
	r := &secretsRecord{credential: p.credentialKey}
	loadPrivate(ctx, private, privateSecrets, r, diags)
	return r
}

// newSecretsRecord records secrets that were sent or found, and what the response then showed. Digests are made of
// write-only values, and only of those.
func (p *providerData) newSecretsRecord(values secretValues, writeOnly bool, d *client.Deployment) *secretsRecord {
	live := secretsIn(d)
	r := &secretsRecord{Shown: values.sent().valuesShownIn(live), credential: p.credentialKey}
	for _, name := range values.names() {
		if live.has(name) {
			r.Listed = append(r.Listed, name)
		}
	}
	if writeOnly {
		r.digestAll(values)
	}
	return r
}

// readAgain returns a deployment as reads show it, or what is known of it already.
func (p *providerData) readAgain(ctx context.Context, known *client.Deployment) *client.Deployment {
	if read, err := p.client.Deployment(ctx, known.ID); err == nil {
		return read
	}
	return known
}

func (r *secretsRecord) digestAll(values secretValues) {
	r.Salt, r.Digests = make([]byte, 16), map[string]string{}
	_, _ = rand.Read(r.Salt) // never fails, see crypto/rand
	r.Key = r.credentialDigest()
	for name, value := range values {
		r.Digests[name] = r.digest(name, value)
	}
}

func (r *secretsRecord) digest(name, value string) string {
	if len(r.credential) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, slices.Concat(r.Salt, r.credential))
	_, _ = fmt.Fprintf(mac, "%q:%q", name, value)
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil)[:18])
}

func (r *secretsRecord) credentialDigest() string { return r.digest("", "credential") }

// comparable reports whether the digests were made with the credential of this process.
func (r *secretsRecord) comparable() bool { return r.Key != "" && r.Key == r.credentialDigest() }

func (r *secretsRecord) is(name, value string) bool {
	return r.comparable() && r.Digests[name] == r.digest(name, value)
}

func (r *secretsRecord) listed(name string) bool { return slices.Contains(r.Listed, name) }

// driftedSecrets returns the names of the managed secrets that others have changed or removed since the last apply.
func driftedSecrets(sent sentSecrets, record *secretsRecord, live shownSecrets) (names []string) {
	unchanged := slices.ContainsFunc(sent.names, func(name string) bool { return sent.matches(live, name) })
	// If none of several is shown as it was sent, they have not all changed: the service no longer shows values.
	showsValues := record.Shown && sent.known() && (unchanged || len(sent.names) == 1)
	for _, name := range sent.names {
		missing := !live.has(name) && record.listed(name)
		changed := live.has(name) && showsValues && !sent.matches(live, name)
		if missing || changed || sent.setToNull(name) {
			names = append(names, name)
		}
	}
	return names
}

// refreshSecrets sets secrets that others have changed to null, or the version of those that are write-only, so that
// the plan proposes to send them.
func (r *deploymentResource) refreshSecrets(state attributes, record *secretsRecord, found *client.Deployment,
	refreshed field.Values, diags *diag.Diagnostics,
) {
	drifted := driftedSecrets(sentBefore(state, record), record, secretsIn(found))
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

// secretsChange describes how a plan changes the secrets.
type secretsChange struct {
	sent    sentSecrets
	record  *secretsRecord
	changes bool // the plan changes secrets; update says what that means for the service

	managed    bool // the configuration sets secrets
	writeOnly  bool // it sets secrets_wo
	names      []string
	namesKnown bool
	values     secretValues // nil if they are not known yet
	newVersion bool         // secrets_wo_version has changed: secrets are sent, whatever the service shows

	released []string // secrets that are no longer managed, and stay in the service
}

// newSecretsChange compares plan and state. Config is the configuration, which alone has write-only values.
func newSecretsChange(plan, state, config attributes, record *secretsRecord) (c secretsChange) {
	c.sent, c.record = sentBefore(state, record), record
	before, after := state["secrets"], plan["secrets"]
	formerVersion, version := state["secrets_wo_version"], plan["secrets_wo_version"]
	writeOnly := config["secrets_wo"]
	c.writeOnly = !version.IsNull() || !writeOnly.IsNull()
	c.managed = c.writeOnly || !after.IsNull()
	switch {
	case !version.IsNull():
		c.changes = !version.Equal(formerVersion)
		c.newVersion = version.IsKnown() && !formerVersion.IsNull()
		// ignore_changes hides write-only values from the plan: then they are known at apply.
		c.names, c.values, c.namesKnown = knownSecrets(writeOnly)
		if !version.IsKnown() {
			c.values = nil
		}
	case c.writeOnly: // without a version, no change is detected
	case !after.IsNull():
		c.changes = !after.Equal(before)
		c.names, c.values, c.namesKnown = knownSecrets(after)
	case !before.IsNull() || !formerVersion.IsNull():
		c.released = c.sent.names
	}
	return c
}

// onlyMoved reports whether the secrets are those of the last apply: they have moved between secrets and secrets_wo.
func (c secretsChange) onlyMoved() bool {
	return !c.sent.drifted && len(c.sent.names) > 0 && c.sent.equal(c.values)
}

// secretsUpdate describes what an update must do in the service to change the secrets.
type secretsUpdate struct {
	secretsChange
	sends    bool         // the update sends secrets, or may do so once they are known
	list     secretValues // what it sends in place of the service's list; nil if that is not known yet
	found    bool         // the service has the wanted secrets already
	removed  []string     // names of secrets that the service has, and loses
	unlisted bool         // the service lists no names: it may lose others

	before shownSecrets
	shown  bool     // before shows values
	gone   []string // names that the configuration no longer sets
}

// update decides what to send, from what the service has.
func (c secretsChange) update(d *client.Deployment) (u secretsUpdate) {
	u.secretsChange = c
	if !c.changes {
		return u
	}
	u.before = secretsIn(d)
	u.shown = c.sent.valuesShownIn(u.before)
	for _, name := range c.sent.names {
		removedBefore := c.record.listed(name) && !u.before.has(name) && len(u.before) > 0 // which lists names
		if c.namesKnown && !slices.Contains(c.names, name) && !removedBefore {
			u.gone = append(u.gone, name)
		}
	}
	if c.values != nil && !c.newVersion && len(u.gone) == 0 {
		u.found = c.values.foundIn(u.before)
		if u.found || c.onlyMoved() {
			return u
		}
	}
	u.sends, u.list = true, maps.Clone(c.values)
	u.unlisted = len(u.before) == 0
	u.removed = slices.Clone(u.gone)
	for name, other := range u.before {
		switch {
		case !c.namesKnown, slices.Contains(c.names, name), slices.Contains(c.sent.names, name):
		case !u.shown, len(c.names) == 0: // its value may be a mask; and {} removes all
			u.removed = append(u.removed, name)
		case u.list != nil:
			u.list[other.Name] = other.Value
		}
	}
	slices.Sort(u.removed)
	return u
}

// notTaken reports how a response shows that the service did not apply the update. Only values that the service has
// shown before are evidence.
func (u secretsUpdate) notTaken(d *client.Deployment) (problems []string) {
	after := secretsIn(d)
	if !u.sends || !u.shown {
		return nil
	}
	for _, name := range u.names {
		switch sent, value := u.values[name], after[name].Value; {
		case !after.has(name) && len(after) > 0:
			problems = append(problems, fmt.Sprintf("secret %q is missing", name))
		case after.has(name) && value != sent && value == u.before[name].Value:
			problems = append(problems, fmt.Sprintf("secret %q still has its former value", name))
		}
	}
	for _, name := range u.gone {
		if after.has(name) && after[name] == u.before[name] {
			problems = append(problems, fmt.Sprintf("secret %q still exists", name))
		}
	}
	return problems
}

// difference states, for a service that is not updated, how its secrets differ; it is empty if nothing is to be sent,
// or if that is not known yet.
func (u secretsUpdate) difference() string {
	switch {
	case !u.sends, u.values == nil && !u.newVersion:
		return ""
	case u.newVersion:
		return "secrets_wo_version: a new version sends the secrets again"
	case u.shown:
		return "secrets: the service has others"
	default:
		return "secrets: the provider cannot verify that the service has them"
	}
}

// warn warns of secrets that the update removes, and of those that stay although the configuration no longer has them.
func (u secretsUpdate) warn(r report, deployment string) {
	if len(u.released) > 0 {
		r.warnf(path.Empty(), "Secrets stay in the service",
			"Deployment %s keeps these secrets, which the configuration no longer manages:%s", deployment, u.released)
	}
	const replaces = "The update of deployment %s replaces all of its secrets."
	switch {
	case len(u.removed) > 0:
		r.warnf(path.Empty(), "Secrets will be removed", replaces+" It removes:%s%s", deployment, u.removed, u.whyRemoved())
	case u.unlisted:
		r.warnf(path.Empty(), "Secrets may be removed", replaces+"%s", deployment, u.whyRemoved())
	}
}

// whyRemoved states why secrets are removed that the configuration neither has nor had.
func (u secretsUpdate) whyRemoved() (reasons trusted) {
	if u.unlisted {
		reasons = "\n\nThe service lists no secrets of it. If it has some that are not listed, it loses them."
	}
	others := slices.ContainsFunc(u.removed, func(name string) bool { return !slices.Contains(u.gone, name) })
	switch {
	case !others || len(u.names) == 0: // {} removes all
		return reasons
	case u.sent.known():
		reasons += "\n\nThe service does not show every secret as it was sent: what it shows may be masks"
	default:
		reasons += "\n\nThe provider cannot tell yet whether the service shows the values of secrets"
	}
	return reasons + ", so the provider cannot send those again that are not in the configuration. To keep one, add it."
}

// recordAfter returns the record after an update, of which d was read last.
func (u secretsUpdate) recordAfter(p *providerData, d *client.Deployment) *secretsRecord {
	if !u.managed {
		return &secretsRecord{}
	}
	if u.sends || u.found {
		return p.newSecretsRecord(u.values, u.writeOnly, d)
	}
	r := *u.record // what was sent and shown then still counts
	if u.writeOnly && u.sent.digests == nil {
		r.digestAll(u.sent.values) // they leave the state
	}
	return &r
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
