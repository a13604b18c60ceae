package provider

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// secretValues are secrets by name. Nil means that none are configured, or
// that they are not known yet.
type secretValues map[string]string

// configuredSecrets are the secrets that a configuration sets, in secrets or
// in secrets_wo.
func configuredSecrets(config attributes) secretValues {
	if values := secretValuesOf(config["secrets_wo"]); values != nil {
		return values
	}
	return secretValuesOf(config["secrets"])
}

func secretValuesOf(v tftypes.Value) secretValues {
	if v.IsNull() || !v.IsFullyKnown() {
		return nil
	}
	values := secretValues{}
	for name := range attributesOf(v) {
		values[name] = attributesOf(v).text(name)
	}
	return values
}

// sorted are the secrets as they are sent: by name.
func (s secretValues) sorted() []client.Secret {
	secrets := []client.Secret{}
	for name, value := range s {
		secrets = append(secrets, client.Secret{Name: name, Value: value})
	}
	sort.Slice(secrets, func(i, j int) bool { return secrets[i].Name < secrets[j].Name })
	return secrets
}

// secretsMemory is what the provider remembers of secrets, in private state:
// digests of what the service echoes, so that a change made elsewhere is
// noticed without a value being kept. A service may echo values, mask them, or
// leave them out; a digest tells the same from another in each case.
type secretsMemory struct {
	Salt []byte `json:"salt"`
	// Seen are the digests of the last reading, by name.
	Seen map[string]string `json:"seen,omitempty"`
	// Applied are those of the reading after the last apply, of the secrets
	// that the configuration set then; nil before the first.
	Applied map[string]string `json:"applied,omitempty"`
	// Unlisted are the names of secrets of the last apply that the service did
	// not list after it.
	Unlisted []string `json:"unlisted,omitempty"`
	// Version and AppliedVersion tell two states of the deployment apart.
	Version        string `json:"version,omitempty"`
	AppliedVersion string `json:"applied_version,omitempty"`
	// Echoes says that what the service echoed after the last apply were the
	// values themselves.
	Echoes bool `json:"echoes,omitempty"`
	// Random says that the service masks at random: its echo says nothing.
	Random bool `json:"random,omitempty"`
}

func newSecretsMemory() *secretsMemory {
	m := &secretsMemory{Salt: make([]byte, 32)}
	_, _ = rand.Read(m.Salt) // never fails, see crypto/rand
	return m
}

func loadSecretsMemory(ctx context.Context, private privateState, diags *diag.Diagnostics) *secretsMemory {
	m := &secretsMemory{}
	loadPrivate(ctx, private, privateSecrets, m, diags)
	if len(m.Salt) == 0 {
		return newSecretsMemory()
	}
	return m
}

func (m *secretsMemory) save(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	savePrivate(ctx, private, privateSecrets, m, diags)
}

// digest stands for a value. Salted, it cannot be looked up in a table, and
// equal values of two deployments do not look equal.
func (m *secretsMemory) digest(name, value string) string {
	mac := hmac.New(sha256.New, m.Salt)
	mac.Write([]byte(name + "\x00" + value))
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}

// see takes in what the service echoes.
func (m *secretsMemory) see(d *client.Deployment) {
	version := orNothing(d.LatestRevisionID) + " " + orNothing(d.UpdatedAt)
	seen := map[string]string{}
	for _, s := range d.Secrets {
		seen[s.Name] = m.digest(s.Name, s.Value)
	}
	// The same deployment, but another echo: nothing has changed but the mask.
	if m.Seen != nil && version == m.Version && differ(m.Seen, seen) {
		m.Random = true
	}
	m.Seen, m.Version = seen, version
	if m.Applied != nil && version == m.AppliedVersion && differ(m.Applied, seen) {
		m.Random = true
	}
}

// differ reports whether a name that both have stands for different values.
func differ(a, b map[string]string) bool {
	for name, digest := range a {
		if other, ok := b[name]; ok && other != digest {
			return true
		}
	}
	return false
}

// apply remembers that the service now has these secrets, as it was last seen.
func (m *secretsMemory) apply(values secretValues) {
	m.Applied, m.Unlisted = map[string]string{}, nil
	for _, s := range values.sorted() {
		if digest, ok := m.Seen[s.Name]; ok {
			m.Applied[s.Name] = digest
		} else {
			m.Unlisted = append(m.Unlisted, s.Name)
		}
	}
	if len(values) > 0 {
		m.Echoes = m.holds(values, nil)
	}
	m.AppliedVersion = m.Version
}

// drifted names the secrets of the last apply of which the service now echoes
// something else, or nothing.
func (m *secretsMemory) drifted() []string {
	if m.Random || m.Version == m.AppliedVersion {
		return nil
	}
	var names []string
	for name, digest := range m.Applied {
		if m.Seen[name] != digest {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// holds reports whether the service is seen to have exactly these values, and
// none of those in gone. That one is not listed says nothing of a service that
// did not list it when it was there.
func (m *secretsMemory) holds(values secretValues, gone []string) bool {
	for name, value := range values {
		if !m.shows(name, value) {
			return false
		}
	}
	for _, name := range gone {
		_, there := m.Seen[name]
		_, listed := m.Applied[name]
		if there || !listed {
			return false
		}
	}
	return true
}

func (m *secretsMemory) shows(name, value string) bool {
	return subtle.ConstantTimeCompare([]byte(m.Seen[name]), []byte(m.digest(name, value))) == 1
}

// notTaken says, of a service that echoes values, how what it showed after a
// change is still as it was before.
func (m *secretsMemory) notTaken(before *secretsMemory, change secretsChange) []string {
	if !before.Echoes || before.Random || differ(before.Applied, before.Seen) {
		return nil
	}
	var still []string
	for _, secret := range change.values.sorted() {
		former, had := before.Seen[secret.Name]
		shown, there := m.Seen[secret.Name]
		switch {
		case m.shows(secret.Name, secret.Value):
		case !had && !there:
			still = append(still, fmt.Sprintf("does not show secret %q, which is new", secret.Name))
		case had && former == shown:
			still = append(still, fmt.Sprintf("still shows the former value of secret %q", secret.Name))
		}
	}
	for _, name := range change.gone {
		if former, had := before.Seen[name]; had && former == m.Seen[name] {
			still = append(still, fmt.Sprintf("still shows secret %q, which was taken out", name))
		}
	}
	return still
}

func orNothing(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// forgetSecrets takes secrets that were changed elsewhere out of the state, so
// that the plan proposes to set them.
func forgetSecrets(state attributes, names []string, refreshed field.Values, diags *diag.Diagnostics) {
	if known := secretValuesOf(state["secrets"]); known != nil {
		left := map[string]tftypes.Value{}
		for name, value := range known {
			if !slices.Contains(names, name) {
				left[name] = tftypes.NewValue(tftypes.String, value)
			}
		}
		refreshed["secrets"] = tftypes.NewValue(state["secrets"].Type(), left)
		return
	}
	if version := state["secrets_wo_version"]; !version.IsNull() {
		refreshed["secrets_wo_version"] = tftypes.NewValue(version.Type(), nil)
		return
	}
	diags.AddAttributeWarning(path.Root("secrets_wo"), "Secrets were changed elsewhere",
		fmt.Sprintf("The service shows other secrets of deployment %s than after the last apply: somebody has changed %s. Without secrets_wo_version no plan can send them again. Set it to a number, and raise that to send them.", describe(state), strings.Join(names, ", ")))
}

// secretsChange is what a plan wants of the secrets in the service.
type secretsChange struct {
	at     path.Path    // where the configuration says so
	values secretValues // all that there shall be, nil when they are not known
	gone   []string     // names of the last apply that are not among them
	needed bool         // the service is not seen to have them so
	open   bool         // whether it has is for the apply to say
}

// secretsChangeOf compares the secrets of a plan with those of the last apply,
// and with what the service shows.
func secretsChangeOf(plan, state, config attributes, memory *secretsMemory) secretsChange {
	c := secretsChange{at: path.Root("secrets")}
	known, wanted := secretValuesOf(state["secrets"]), plan["secrets"]
	if version := plan["secrets_wo_version"]; !version.IsNull() {
		if version.Equal(state["secrets_wo_version"]) {
			return c
		}
		c.at, wanted = path.Root("secrets_wo_version"), config["secrets_wo"]
		// Named in ignore_changes, write-only values come to light at apply only.
		c.needed = wanted.IsNull()
	}
	if wanted.IsNull() {
		return c // left out, they are the service's
	}
	c.values, c.open = secretValuesOf(wanted), !wanted.IsFullyKnown()
	if c.open || known != nil && maps.Equal(known, c.values) {
		return c
	}
	before := slices.Concat(slices.Collect(maps.Keys(known)), slices.Collect(maps.Keys(memory.Applied)), memory.Unlisted)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(before))) {
		if _, stays := c.values[name]; !stays {
			c.gone = append(c.gone, name)
		}
	}
	c.needed = !memory.holds(c.values, c.gone)
	return c
}
