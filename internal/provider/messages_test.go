package provider_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// told is a message as a user gets it.
type told struct {
	when    string // in words: what Terraform was doing
	warning bool
	at      string // the attribute that it points at; "" when none
	summary string
	detail  string
}

// stage plays Terraform to a provider: it takes the steps that Terraform would
// take, and keeps every message. Configurations are JSON; the text (unknown)
// stands for a value that is not known yet.
type stage struct {
	*protocol
	*service
	ctx       context.Context //nolint:containedctx // of the one run of Terraform that it plays
	interrupt context.CancelFunc
	told      []told
	hide      map[string]string // what is another with each run, and what to show for it
}

func newStage(t *testing.T, options fakeserver.Options) *stage {
	t.Helper()
	s := &stage{protocol: &protocol{t: t, server: newServer()},
		service: newService(t, options)}
	s.ctx, s.interrupt = context.WithCancel(t.Context())
	t.Cleanup(s.interrupt)
	s.hide = map[string]string{s.url: "https://deployments.example.com"}
	s.extended.Store(options.Extended)
	schema, err := s.server.GetProviderSchema(s.ctx, &tfprotov6.GetProviderSchemaRequest{})
	s.note("", nil, err)
	s.schema = schema
	return s
}

// note keeps messages, and reports whether there is an error among them.
func (s *stage) note(when string, diags []*tfprotov6.Diagnostic, err error) (failed bool) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range diags {
		m := told{when: when, warning: d.Severity == tfprotov6.DiagnosticSeverityWarning, summary: d.Summary, detail: d.Detail, at: attributeNamed(d.Attribute)}
		failed = failed || !m.warning
		if !slices.Contains(s.told, m) {
			s.told = append(s.told, m)
		}
	}
	return failed
}

// attributeNamed is a path as the provider writes it.
func attributeNamed(at *tftypes.AttributePath) string {
	if at == nil {
		return ""
	}
	var name string
	for _, step := range at.Steps() {
		switch step := step.(type) {
		case tftypes.AttributeName:
			name += "." + string(step)
		case tftypes.ElementKeyString:
			name += fmt.Sprintf("[%q]", string(step))
		case tftypes.ElementKeyInt:
			name += fmt.Sprintf("[%d]", int64(step))
		default:
			name += "[…]"
		}
	}
	return strings.TrimPrefix(name, ".")
}

// object is a configuration of a type, from JSON.
func (s *stage) object(typ tftypes.Type, config string) tftypes.Value {
	s.t.Helper()
	value, err := tfprotov6.DynamicValue{JSON: []byte(config)}.Unmarshal(typ)
	if err == nil {
		value, err = tftypes.Transform(value, func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			if v.Equal(tftypes.NewValue(tftypes.String, "(unknown)")) {
				return tftypes.NewValue(tftypes.String, tftypes.UnknownValue), nil
			}
			return v, nil
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return value
}

func (s *stage) pack(v tftypes.Value) *tfprotov6.DynamicValue {
	s.t.Helper()
	packed, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		s.t.Fatal(err)
	}
	return &packed
}

func (s *stage) unpack(typ tftypes.Type, packed *tfprotov6.DynamicValue) tftypes.Value {
	s.t.Helper()
	value, err := packed.Unmarshal(typ)
	if err != nil {
		s.t.Fatal(err)
	}
	return value
}

// configure gives the provider its settings: {} for the service's URL alone.
func (s *stage) configure(settings string) (ok bool) {
	s.t.Helper()
	typ := s.schema.Provider.ValueType()
	if !strings.Contains(settings, "base_url") {
		settings = strings.Replace(settings, "{", fmt.Sprintf("{%q:%q,", "base_url", s.url), 1)
		settings = strings.Replace(settings, ",}", "}", 1)
	}
	config := s.pack(s.object(typ, settings))
	valid, err := s.server.ValidateProviderConfig(s.ctx, &tfprotov6.ValidateProviderConfigRequest{Config: config})
	if s.note("plan", valid.Diagnostics, err) {
		return false
	}
	resp, err := s.server.ConfigureProvider(s.ctx, &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.14.0", Config: config})
	return !s.note("plan", resp.Diagnostics, err)
}

// instance is a deployment in a state.
type instance struct {
	state   tftypes.Value
	private []byte
}

// plan plans a deployment: a new one when prior is nil, a destroy when the
// configuration is "".
func (s *stage) plan(prior *instance, config string) (planned *instance, wanted tftypes.Value, ok bool) {
	s.t.Helper()
	typ, when := s.deploymentType(), "plan"
	if prior == nil {
		prior = &instance{state: tftypes.NewValue(typ, nil)}
	}
	wanted = tftypes.NewValue(typ, nil)
	if config == "" {
		when = "plan of a destroy"
	} else {
		wanted = s.object(typ, config)
		valid, err := s.server.ValidateResourceConfig(s.ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: typeName, Config: s.pack(wanted),
			ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true}})
		if s.note("plan", valid.Diagnostics, err) {
			return nil, wanted, false
		}
	}
	resp, err := s.server.PlanResourceChange(s.ctx, &tfprotov6.PlanResourceChangeRequest{TypeName: typeName, PriorState: s.pack(prior.state), PriorPrivate: prior.private,
		Config: s.pack(wanted), ProposedNewState: s.pack(s.proposed(prior.state, wanted))})
	if s.note(when, resp.Diagnostics, err) {
		return nil, wanted, false
	}
	return &instance{s.unpack(typ, resp.PlannedState), resp.PlannedPrivate}, wanted, true
}

// proposed is what Terraform proposes: the configuration, and the prior state
// where that leaves something to the provider.
func (s *stage) proposed(prior, wanted tftypes.Value) tftypes.Value {
	if wanted.IsNull() {
		return wanted
	}
	all, before := map[string]tftypes.Value{}, map[string]tftypes.Value{}
	_, _ = wanted.As(&all), prior.As(&before)
	proposed := map[string]tftypes.Value{}
	for _, a := range s.schema.ResourceSchemas[typeName].Block.Attributes {
		switch value := all[a.Name]; {
		case a.WriteOnly, value.IsNull() && (!a.Computed || prior.IsNull()):
			proposed[a.Name] = tftypes.NewValue(a.ValueType(), nil)
		case value.IsNull():
			proposed[a.Name] = before[a.Name]
		default:
			proposed[a.Name] = value
		}
	}
	return tftypes.NewValue(wanted.Type(), proposed)
}

// apply plans and applies. Between is what happens before the apply. A value
// that was not known at plan is known then: known is the configuration of that
// moment.
func (s *stage) apply(prior *instance, config string, between ...func()) *instance {
	s.t.Helper()
	planned, wanted, ok := s.plan(prior, config)
	if !ok {
		return prior
	}
	for _, then := range between {
		then()
	}
	if prior == nil {
		prior = &instance{state: tftypes.NewValue(s.deploymentType(), nil)}
	}
	when := "apply"
	if config == "" {
		when = "destroy"
	}
	resp, err := s.server.ApplyResourceChange(s.ctx, &tfprotov6.ApplyResourceChangeRequest{TypeName: typeName, PriorState: s.pack(prior.state), PlannedState: s.pack(planned.state),
		Config: s.pack(wanted), PlannedPrivate: planned.private})
	s.note(when, resp.Diagnostics, err)
	return &instance{s.unpack(s.deploymentType(), resp.NewState), resp.Private}
}

// refresh reads a deployment again.
func (s *stage) refresh(prior *instance) *instance {
	s.t.Helper()
	resp, err := s.server.ReadResource(s.ctx, &tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: s.pack(prior.state), Private: prior.private})
	s.note("plan", resp.Diagnostics, err)
	return &instance{s.unpack(s.deploymentType(), resp.NewState), resp.Private}
}

// take imports a deployment, by an id or name, or by an identity.
func (s *stage) take(id string, identity *tfprotov6.ResourceIdentityData) *instance {
	s.t.Helper()
	resp, err := s.server.ImportResourceState(s.ctx, &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id, Identity: identity})
	if s.note("import", resp.Diagnostics, err) {
		return nil
	}
	one := resp.ImportedResources[0]
	read, err := s.server.ReadResource(s.ctx, &tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: one.State, Private: one.Private})
	if s.note("import", read.Diagnostics, err) {
		return nil
	}
	return &instance{s.unpack(s.deploymentType(), read.NewState), read.Private}
}

// data reads a data source.
func (s *stage) data(name, config string) {
	s.t.Helper()
	packed := s.pack(s.object(s.schema.DataSourceSchemas[name].ValueType(), config))
	valid, err := s.server.ValidateDataResourceConfig(s.ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: packed})
	if s.note("plan", valid.Diagnostics, err) {
		return
	}
	resp, err := s.server.ReadDataSource(s.ctx, &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: packed})
	s.note("plan", resp.Diagnostics, err)
}

// query runs a list block.
func (s *stage) query(config string) {
	s.t.Helper()
	lists := s.server.(tfprotov6.ListResourceServer)
	packed := s.pack(s.object(s.schema.ListResourceSchemas[typeName].ValueType(), config))
	valid, err := lists.ValidateListResourceConfig(s.ctx, &tfprotov6.ValidateListResourceConfigRequest{TypeName: typeName, Config: packed})
	if s.note("query", valid.Diagnostics, err) {
		return
	}
	stream, err := lists.ListResource(s.ctx, &tfprotov6.ListResourceRequest{TypeName: typeName, Config: packed})
	s.note("query", nil, err)
	for result := range stream.Results {
		s.note("query", result.Diagnostics, nil)
	}
}

// unsaid is what the fake service says of a fault of which the test says nothing.
var unsaid = regexp.MustCompile(`: fault: [A-Z][A-Za-z ]+`)

var anyUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// example takes out of the messages what is another with each run.
func (s *stage) example() []told {
	var ids []string
	for i, m := range s.told {
		for _, text := range []*string{&m.summary, &m.detail} {
			for varies, shown := range s.hide {
				*text = strings.ReplaceAll(*text, varies, shown)
			}
			*text = unsaid.ReplaceAllString(*text, "")
			*text = anyUUID.ReplaceAllStringFunc(*text, func(id string) string {
				if strings.HasPrefix(id, "123e4567") || strings.HasPrefix(id, "aaaaaaaa") {
					return id
				}
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
				return fmt.Sprintf("3f9c1a52-7d04-4b6e-9a1f-%012d", slices.Index(ids, id)+1)
			})
		}
		s.told[i] = m
	}
	return s.told
}

var update = flag.Bool("update", false, "write the guide of messages anew")

const messagesGuide = top + "/templates/guides/messages.md"

// The guide has every message as a user gets it, with example values. It is
// written from messages that were really provoked, so that whoever reads it
// reads what users read; make generate writes it.
//
// This test sets environment variables, and so runs beside no other.
func TestMessagesGuide(t *testing.T) {
	var guide strings.Builder
	guide.WriteString(messagesGuideHead)
	var all []told
	for _, g := range messageGroups() {
		fmt.Fprintf(&guide, "\n## %s\n", g.title)
		if g.intro != "" {
			fmt.Fprintf(&guide, "\n%s\n", g.intro)
		}
		var here []told
		for i, p := range g.provoked {
			t.Run(fmt.Sprintf("%s %d", g.title, i+1), func(t *testing.T) {
				s := newStage(t, p.options)
				p.run(s)
				s.extended.Store(true)
				if len(s.told) == 0 {
					t.Error("the provider said nothing")
				}
				for _, m := range s.example() {
					if !slices.Contains(here, m) {
						here = append(here, m)
					}
				}
			})
		}
		writeMessages(&guide, here)
		all = append(all, here...)
	}
	for _, m := range all {
		assertReadable(t, m)
	}
	assertEveryTextIsTold(t, all)
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(messagesGuide, []byte(guide.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(messagesGuide)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != guide.String() {
		t.Errorf("%s is not what the provider says: run make generate, and read what it changes", messagesGuide)
	}
}

const messagesGuideHead = `---
page_title: "Messages"
subcategory: ""
description: |-
  Every error and warning of the provider, with when it comes and what to do.
---

# Messages

The errors and warnings of the provider, as it shows them, with example values: a deployment "shop", a service at
https://deployments.example.com. Search for the first line of yours. Beside these, Terraform has messages of its own, such as for an
argument that is missing, or for a write-only argument on a version that knows none.

Terraform shows the place in the configuration with each message: newer versions the line itself, older ones, for what stands within
an attribute, only the resource. So the text names the whole path. No message shows the value of a secret, nor of the credential.
`

// writeMessages writes messages, those of one summary together.
func writeMessages(guide *strings.Builder, all []told) {
	var summaries []string
	for _, m := range all {
		if !slices.Contains(summaries, m.summary) {
			summaries = append(summaries, m.summary)
		}
	}
	for _, summary := range summaries {
		fmt.Fprintf(guide, "\n### %s\n", summary)
		written := map[string]bool{}
		for i, m := range all {
			if m.summary != summary || written[m.detail] {
				continue
			}
			written[m.detail] = true
			kind := "Error"
			if m.warning {
				kind = "Warning"
			}
			when := []string{m.when}
			for _, again := range all[i+1:] {
				if again.summary == summary && again.detail == m.detail && !slices.Contains(when, again.when) {
					when = append(when, again.when)
				}
			}
			fmt.Fprintf(guide, "\n%s at %s", kind, strings.Join(when, ", "))
			if m.at != "" {
				fmt.Fprintf(guide, ", of `%s`", m.at)
			}
			fmt.Fprintf(guide, ":\n\n```text\n%s\n```\n", wrapped(strings.TrimSpace(m.detail)))
		}
	}
}

// wrapped breaks long lines, as Terraform does, but for those that are indented.
func wrapped(text string) string {
	const width = 100
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		for !strings.HasPrefix(line, " ") && len(line) > width {
			at := strings.LastIndex(line[:width+1], " ")
			if at < 0 {
				break
			}
			lines, line = append(lines, line[:at]), line[at+1:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// assertReadable holds what can be said of every message.
func assertReadable(t *testing.T, m told) {
	t.Helper()
	whole := m.summary + "\n" + m.detail
	for _, text := range []string{"planted", "!", "%", " ()", "  \n", "<nil>", "..", ":."} {
		if strings.Contains(whole, text) {
			t.Errorf("%q stands in %q", text, whole)
		}
	}
	if len(m.summary) > 100 || len(m.detail) > 1200 {
		t.Errorf("too long to be read: %q", whole)
	}
	if strings.HasSuffix(m.summary, ".") || m.summary != strings.TrimSpace(m.summary) {
		t.Errorf("not a summary: %q", m.summary)
	}
	// Older Terraforms show no line within an attribute.
	if strings.ContainsAny(m.at, ".[") && !strings.Contains(m.detail, strings.TrimSuffix(m.at, "[…]")) && m.summary != "Invalid Configuration for Read-Only Attribute" {
		t.Errorf("the message at %s does not name it: %q", m.at, whole)
	}
}
