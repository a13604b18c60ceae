package provider_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

const plantedKey = "pl4nted-k3y-0123456789"

// hostileText is what a terminal would act on, the credential, and more than anybody reads.
var hostileText = "a\x1b[2J\u009b31m\u202eb\r" + plantedKey + " " + strings.Repeat("x", 10_000)

// Hostile text in every part of a response reaches no terminal raw, unbounded or
// with the credential, whatever message shows it.
func TestReport_hostileTextInEveryResponse(t *testing.T) {
	t.Parallel()
	const repos, integration = "graphdeploy_codehost_repo", "abcdef00-2222-4333-8444-555555555555"
	text, err := json.Marshal(hostileText)
	if err != nil {
		t.Fatal(err)
	}
	quoted := string(text)
	hostileLabels := map[string]any{hostileText: hostileText}
	image := func(text string) object { return object{"source_revision_config": object{"image_uri": text}} }
	labels := object{"source_config": object{"resource_spec": object{"labels": object{"a": "b"}}}}
	type run struct {
		*protocol
		s *service
	}
	applied := func(p run, config object, prepare func()) protocoltest.Diagnostics {
		plan, diags := p.Plan(typeName, nil, config)
		if plan == nil {
			return diags
		}
		prepare()
		_, more := p.Apply(plan)
		return append(diags, more...)
	}
	updated := func(p run, before, after object, prepare func(d map[string]any)) protocoltest.Diagnostics {
		r := p.MustApply(typeName, nil, before)
		p.s.Edit(p.Values(r)["id"].(string), prepare)
		r, diags := p.Read(r)
		plan, more := p.Plan(typeName, r, after)
		if diags = append(diags, more...); plan == nil {
			return diags
		}
		_, more = p.Apply(plan)
		return append(diags, more...)
	}
	cases := map[string]struct {
		options fakeserver.Options
		provoke func(p run) protocoltest.Diagnostics
	}{
		"update that is not applied": {fakeserver.Options{IgnorePatch: true}, func(p run) protocoltest.Diagnostics {
			return updated(p, appConfig("external_docker", image("a:1")), appConfig("external_docker", image("a:2")),
				func(d map[string]any) {
					d["source_revision_config"].(map[string]any)["image_uri"] = hostileText
				})
		}},
		"update that is rejected at plan": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			p.ExpectNone(p.Configure(object{"base_url": p.s.url, "api_key": plantedKey, "documented_operations_only": true}))
			return updated(p, appConfig("internal_docker", labels), appConfig("internal_docker", image("a:2")),
				func(d map[string]any) {
					d["source_revision_config"].(map[string]any)["image_uri"] = hostileText
				})
		}},
		"secrets of others": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			secrets := func(value string) object { return object{"secrets": object{"A": value}} }
			return updated(p, appConfig("internal_docker", secrets("one")), appConfig("internal_docker", secrets("two")),
				func(d map[string]any) {
					d["secrets"] = []any{map[string]any{"name": "A", "value": "****"},
						map[string]any{"name": hostileText, "value": "****"}}
				})
		}},
		"name taken": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			p.s.SeedDeployment(map[string]any{"name": "app", "status": hostileText})
			return applied(p, appConfig("internal_docker"), func() {})
		}},
		"name taken by hostile text": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			p.s.SeedDeployment(map[string]any{"name": hostileText, "status": hostileText})
			return applied(p, object{"name": hostileText, "source": "internal_docker"}, func() {})
		}},
		"twins": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			for range 2 {
				p.s.SeedDeployment(map[string]any{"name": "twin", "status": hostileText, "source": hostileText})
			}
			_, diags := p.Import(typeName, "twin")
			return diags
		}},
		"deployment that cannot be read": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			id := p.s.SeedDeployment(map[string]any{"name": hostileText, "created_at": hostileText,
				"source_config": map[string]any{"resource_spec": map[string]any{"cpu": hostileText, "labels": hostileLabels}}})
			_, diags := p.Import(typeName, id)
			return diags
		}},
		"repository": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			p.s.SeedRepositories(integration, fakeserver.Repository{Owner: hostileText, Name: hostileText})
			_, diags := p.ReadData(repos, object{"integration_id": integration, "owner": "acme", "name": "web"})
			return diags
		}},
		"repository of the same owner": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			p.s.SeedRepositories(integration, fakeserver.Repository{Owner: "acme", Name: hostileText})
			_, diags := p.ReadData(repos, object{"integration_id": integration, "owner": "acme", "name": "web"})
			return diags
		}},
		"field of a create": {fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
			return applied(p, appConfig("internal_docker", labels), func() {
				p.s.Fail(fakeserver.CreateDeployment, -1, fakeserver.Fault{Status: 422, Body: `{"detail": [` +
					`{"loc": ["body", "source_config", "resource_spec", "labels", ` + quoted + `], "msg": ` + quoted + `},` +
					`{"loc": ["body", "name"], "msg": ` + quoted + `}, {"loc": [` + quoted + `], "msg": ` + quoted + `}]}`})
			})
		}},
	}
	bodies := map[string]string{"text": hostileText, "detail": `{"detail": ` + quoted + `}`,
		"message": `{"error": {"message": ` + quoted + `}}`, "unknown shape": `{` + quoted + `: [` + quoted + `]}`,
		"problem": `{"title": ` + quoted + `, "detail": ` + quoted + `}`}
	for shape, body := range bodies {
		for _, status := range []int{400, 401, 403, 404, 409, 413, 422, 429, 500} {
			cases[fmt.Sprintf("%d, %s", status, shape)] = struct {
				options fakeserver.Options
				provoke func(p run) protocoltest.Diagnostics
			}{fakeserver.Options{}, func(p run) protocoltest.Diagnostics {
				p.s.Fail(fakeserver.AnyRoute, -1, fakeserver.Fault{Status: status, Body: body})
				_, diags := p.ReadData("graphdeploy_deployments", object{})
				_, more := p.Plan(typeName, nil, appConfig("internal_docker"))
				return append(diags, more...)
			}}
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			diags := c.provoke(run{newProtocol(t, s, object{"api_key": plantedKey, "max_retries": 0}), s})
			if len(diags) == 0 {
				t.Fatal("nothing is reported")
			}
			for _, d := range diags {
				checkFitForATerminal(t, d)
			}
		})
	}
}

func checkFitForATerminal(t *testing.T, d *tfprotov6.Diagnostic) {
	t.Helper()
	text := d.Summary + "\n" + d.Detail
	unfit := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if strings.ContainsFunc(text, unfit) || strings.Contains(text, plantedKey) {
		t.Errorf("%q", text)
	}
	for line := range strings.Lines(text) {
		if len(line) > 4000 {
			t.Errorf("a line has %d bytes: %.200q", len(line), line)
		}
	}
}
