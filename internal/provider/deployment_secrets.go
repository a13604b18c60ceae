package provider

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
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
	// Version and AppliedVersion tell two states of the deployment apart.
	Version        string `json:"version,omitempty"`
	AppliedVersion string `json:"applied_version,omitempty"`
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
	m.Applied = map[string]string{}
	for name := range values {
		if digest, ok := m.Seen[name]; ok {
			m.Applied[name] = digest
		}
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
// none of those in gone.
func (m *secretsMemory) holds(values secretValues, gone []string) bool {
	for name, value := range values {
		if subtle.ConstantTimeCompare([]byte(m.Seen[name]), []byte(m.digest(name, value))) == 0 {
			return false
		}
	}
	for _, name := range gone {
		if _, there := m.Seen[name]; there {
			return false
		}
	}
	return true
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

// changedSecrets reports whether a plan changes secrets, at which attribute,
// and which names it takes away.
func changedSecrets(plan, state attributes) (at path.Path, gone []string, changed bool) {
	if !plan["secrets_wo_version"].IsNull() && !plan["secrets_wo_version"].Equal(state["secrets_wo_version"]) {
		return path.Root("secrets_wo_version"), nil, true
	}
	at = path.Root("secrets")
	wanted := plan["secrets"]
	if wanted.IsNull() || !wanted.IsFullyKnown() {
		return at, nil, false // left out, it is the service's; not known, it is for the apply to say
	}
	before, after := secretValuesOf(state["secrets"]), secretValuesOf(wanted)
	for name := range before {
		if _, stays := after[name]; !stays {
			gone = append(gone, name)
		}
	}
	for name, value := range after {
		if old, there := before[name]; !there || old != value {
			changed = true
		}
	}
	return at, gone, changed || len(gone) > 0
}
