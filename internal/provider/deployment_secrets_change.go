package provider

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"golang.org/x/text/unicode/norm"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// secretsChange has what a plan changes of the secrets, and what an update does for it.
type secretsChange struct {
	secretsUpdate // what compare was called with last

	sent    *sentSecrets
	changes bool // the plan changes secrets; secretsUpdate has what that means for the service

	managed    bool         // the configuration sets secrets
	writeOnly  bool         // it sets secrets_wo
	configured attributes   // by name; nil if the names are not known yet
	values     secretValues // of configured; nil if they are not known yet
	newVersion bool         // secrets_wo_version has changed: secrets are sent, whatever the service shows

	released []string // secrets that are no longer managed, and stay in the service
}

// secretsUpdate is what an update does in the service to change the secrets.
type secretsUpdate struct {
	before secretValues // that the service has
	shown  bool         // before shows values

	found bool         // the service has the configured secrets already
	sends bool         // the update sends secrets, or may do so once they are known
	list  secretValues // what it sends in place of the service's list; nil if that is not known yet
	gone  []string     // secrets that the configuration no longer sets: the update removes them
	lost  []string     // secrets of others that it removes, because their values cannot be sent again
}

// newSecretsChange compares plan and state. Config is the configuration, which alone has write-only values.
func newSecretsChange(plan, state, config attributes, sent *sentSecrets) *secretsChange {
	before, after, writeOnly := state["secrets"], plan["secrets"], config["secrets_wo"]
	formerVersion, version := state["secrets_wo_version"], plan["secrets_wo_version"]
	c := &secretsChange{sent: sent, writeOnly: !version.IsNull() || !writeOnly.IsNull()}
	c.managed = c.writeOnly || !after.IsNull()
	switch {
	case !version.IsNull():
		c.changes = !version.Equal(formerVersion)
		c.newVersion = version.IsKnown() && !formerVersion.IsNull()
		// ignore_changes hides write-only values from the plan: then they are known at apply.
		c.configured, c.values = secretsOf(writeOnly)
		if !version.IsKnown() {
			c.values = nil
		}
	case c.writeOnly: // without a version, no change is detected
	case !after.IsNull():
		c.changes = !after.Equal(before)
		c.configured, c.values = secretsOf(after)
	case !before.IsNull() || !formerVersion.IsNull():
		c.released = sent.names
	}
	return c
}

// compare decides what to send, from what the service has.
func (c *secretsChange) compare(d *client.Deployment) {
	c.secretsUpdate = secretsUpdate{}
	if !c.changes {
		return
	}
	c.before = secretsIn(d)
	c.shown = c.sent.shownIn(c.before)
	c.gone = c.noLongerSet()
	if c.values != nil && !c.newVersion && len(c.gone) == 0 {
		c.found = c.values.foundIn(c.before)
		if c.found || c.onlyMoved() {
			return
		}
	}
	c.sends, c.list = true, maps.Clone(c.values)
	if c.configured != nil {
		c.keepOthers(d.Secrets)
	}
}

// noLongerSet returns the managed secrets that the configuration no longer sets, as far as its names are known, but for
// those that others have removed.
func (c *secretsChange) noLongerSet() (gone []string) {
	listsNames := len(c.before) > 0
	for _, name := range c.sent.names {
		removedByOthers := listsNames && slices.Contains(c.sent.Listed, name) && !c.before.has(name)
		if _, stays := c.configured[name]; !stays && c.configured != nil && !removedByOthers {
			gone = append(gone, name)
		}
	}
	return gone
}

// onlyMoved reports whether the secrets are those of the last apply: they have moved between secrets and secrets_wo.
func (c *secretsChange) onlyMoved() bool {
	sameNumber := len(c.values) > 0 && len(c.values) == len(c.sent.names)
	return sameNumber && c.sent.allMatch(c.values) && !c.sent.drifted
}

// keepOthers adds the secrets that the configuration neither has nor had to the list, if their values are shown:
// otherwise they may be masks.
func (c *secretsChange) keepOthers(all []client.Secret) {
	removesAll := len(c.configured) == 0
	for _, other := range all {
		name := norm.NFC.String(other.Name)
		_, configured := c.configured[name]
		switch {
		case name == "", configured, slices.Contains(c.sent.names, name):
		case !c.shown || removesAll:
			c.lost = append(c.lost, name)
		case c.list != nil:
			c.list[other.Name] = other.Value
		}
	}
}

// notTaken reports how a response shows that the service did not apply the update. Only values that the service has
// shown before are evidence.
func (c *secretsChange) notTaken(d *client.Deployment) (problems []string) {
	after := secretsIn(d)
	if !c.sends || !c.shown {
		return nil
	}
	for _, name := range c.values.names() {
		switch sent, value := c.values[name], after[name]; {
		case !after.has(name) && len(after) > 0:
			problems = append(problems, fmt.Sprintf("secret %q is missing", name))
		case after.has(name) && value != sent && value == c.before[name]:
			problems = append(problems, fmt.Sprintf("secret %q still has its former value", name))
		}
	}
	for _, name := range c.gone {
		if after.has(name) && after[name] == c.before[name] {
			problems = append(problems, fmt.Sprintf("secret %q still exists", name))
		}
	}
	return problems
}

// difference states, for a service that is not updated, how its secrets differ; it is empty if nothing is to be sent,
// or if that is not known yet.
func (c *secretsChange) difference() string {
	switch {
	case !c.sends, c.values == nil && !c.newVersion:
		return ""
	case c.newVersion:
		return "secrets_wo_version: a new version sends the secrets again"
	case c.shown:
		return "secrets: the service has others"
	default:
		return "secrets: the provider cannot verify that the service has them"
	}
}

// warn warns of secrets that the update removes, and of those that stay although the configuration no longer has them.
func (c *secretsChange) warn(r report, deployment string) {
	if len(c.released) > 0 {
		r.warnf(path.Empty(), "Secrets stay in the service",
			"Deployment %s keeps these secrets, which the configuration no longer manages:%s", deployment, c.released)
	}
	const replaces = "The update of deployment %s replaces all of its secrets."
	removed := slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.gone, c.lost))))
	switch {
	case !c.sends:
	case len(removed) > 0:
		r.warnf(path.Empty(), "Secrets will be removed", replaces+" It removes:%s%s", deployment, removed, c.whyRemoved())
	case len(c.before) == 0:
		r.warnf(path.Empty(), "Secrets may be removed", replaces+"%s", deployment, c.whyRemoved())
	}
}

// whyRemoved states why secrets are removed that the configuration neither has nor had.
func (c *secretsChange) whyRemoved() (reason trusted) {
	removesAll := len(c.configured) == 0
	switch {
	case len(c.before) == 0:
		return "\n\nThe service lists no secrets of it. If it has some that are not listed, it loses them."
	case len(c.lost) == 0 || removesAll:
		return ""
	case c.sent.comparable():
		reason = "The service does not show every secret as it was sent: what it shows may be masks"
	default:
		reason = "The provider cannot tell yet whether the service shows the values of secrets"
	}
	return "\n\n" + reason + ", so the provider cannot send those again that are not in the configuration. To keep one, " +
		"add it."
}

// sentAfter returns what is known of the secrets after an update, of which d was read last.
func (c *secretsChange) sentAfter(d *client.Deployment) *sentSecrets {
	if !c.managed {
		return &sentSecrets{}
	}
	after := new(*c.sent) // what was sent and shown then still counts
	if c.sends || c.found {
		after = newSentSecrets(c.values, d, c.sent.credential)
	}
	switch {
	case !c.writeOnly:
		after.Digests, after.Salt, after.Key = nil, nil, ""
	case after.values != nil: // they are not in the state, or leave it
		after.addDigests()
	}
	return after
}
