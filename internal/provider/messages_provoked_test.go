package provider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// provocation has the provider say something: the messages under one heading
// of the guide.
type provocation struct {
	options fakeserver.Options
	run     func(s *stage)
}

type messageGroup struct {
	title, intro string
	provoked     []provocation
}

const (
	withExtended = `{"extended_operations":true}`
	shop         = `{"name":"shop","source":"internal_docker"}`
	integration  = fakeserver.DemoIntegrationID
)

// plain is a provocation of a service that does nothing unusual.
func plain(run func(s *stage)) provocation { return provocation{run: run} }

// settings are provider blocks that are refused or warned of.
func settings(blocks ...string) (all []provocation) {
	for _, block := range blocks {
		all = append(all, plain(func(s *stage) { s.configure(block) }))
	}
	return all
}

// plans are deployments, without name and source if not given, whose plans are refused.
func plans(arguments ...string) (all []provocation) {
	for _, more := range arguments {
		all = append(all, plain(func(s *stage) {
			s.configure(`{}`)
			s.plan(nil, with(more))
		}))
	}
	return all
}

// with is the deployment shop with more arguments.
func with(arguments string) string {
	var all map[string]any
	_ = json.Unmarshal([]byte(shop), &all)
	if err := json.Unmarshal([]byte("{"+arguments+"}"), &all); err != nil {
		panic(err)
	}
	text, _ := json.Marshal(all)
	return string(text)
}

// failing is a service that answers what is asked for with a fault.
func failing(faults ...fakeserver.Fault) (all []provocation) {
	for _, f := range faults {
		all = append(all, plain(func(s *stage) {
			s.Fail(fakeserver.AnyRoute, -1, f)
			s.configure(`{"max_retries":1,"api_key":"planted"}`)
			s.data("graphdeploy_deployments", `{}`)
		}))
	}
	return all
}

// misshapen is a service that answers a data source with something that is JSON.
func misshapen(source, config string, bodies ...string) provocation {
	return plain(func(s *stage) {
		s.configure(`{}`)
		for _, body := range bodies {
			s.ClearFaults()
			s.Fail(fakeserver.AnyRoute, -1, fakeserver.Fault{Status: 200, Body: body})
			s.data(source, config)
		}
	})
}

const aDeployment = `{"id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee","name":"shop","source":"codehost"}`

// answering has the service answer a create with a fault.
func answering(f fakeserver.Fault) provocation {
	return plain(func(s *stage) {
		s.Fail(fakeserver.CreateDeployment, -1, f)
		s.configure(`{"max_retries":1}`)
		s.apply(nil, with(`"secrets":{"TOKEN":"planted"},"source_config":{"custom_url":"x"}`))
	})
}

func (s *stage) environment(name, value string) {
	s.t.Setenv(name, value)
}

// onList does something with the nth list that is asked for from now on.
func (s *stage) onList(n int, then func()) {
	for range n - 1 {
		s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: func() {}})
	}
	s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: then})
}

func (s *stage) id() string { return s.Deployments()[0]["id"].(string) }

func (s *stage) set(dotted string, value any) {
	s.Edit(s.id(), func(d map[string]any) {
		steps := strings.Split(dotted, ".")
		for _, step := range steps[:len(steps)-1] {
			d = d[step].(map[string]any)
		}
		d[steps[len(steps)-1]] = value
	})
}

func messageGroups() []messageGroup {
	own := fakeserver.Options{Extended: true}
	slow := fakeserver.Options{Extended: true, ReadyAfter: 1000 * time.Hour}
	return []messageGroup{
		{"Settings of the provider", "What the provider block, or the environment in its place, has wrong.", append(append(
			settings(`{"base_url":""}`, `{"base_url":"example.com"}`, `{"base_url":"https://me:planted@deployments.example.com"}`, `{"base_url":"https://deployments.example.com/?x=1"}`,
				`{"base_url":"http://deployments.example.com"}`, `{"api_key":"(unknown)"}`,
				`{"api_key_header":"X Y"}`, `{"api_key_header":"Content-Type"}`, `{"api_key":"planted\n"}`,
				`{"headers":{"X-Tenant":"a","x-tenant":"b"}}`, `{"api_key":"planted","headers":{"X-Api-Key":"planted"}}`, `{"headers":{"X-Tenant":null}}`,
				`{"hosting":"moon"}`, `{"request_timeout":"soon"}`, `{"max_retries":101}`, `{"ca_cert_file":"/etc/ssl/none.pem"}`),
			plain(func(s *stage) {
				file := filepath.Join(s.t.TempDir(), "empty.pem")
				if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
					s.t.Fatal(err)
				}
				s.hide[filepath.Dir(file)] = "/etc/ssl"
				s.configure(fmt.Sprintf(`{"ca_cert_file":%q}`, file))
			})),
			plain(func(s *stage) { s.environment("GRAPHDEPLOY_HOSTING", "moon"); s.configure(`{}`) }),
			plain(func(s *stage) {
				s.environment("GRAPHDEPLOY_EXTENDED_OPERATIONS", "maybe")
				s.configure(`{"hosting":"cloud"}`)
			}),
		)},
		{"Arguments of a deployment", "Told before anything is sent.", append(
			plans(`"name":""`, `"source":"ftp"`, `"wait_until":"never"`, `"deletion_policy":"keep"`,
				`"source_config":{"integration_id":"42"}`,
				`"source_config":{"resource_spec":{"volumes":[{"name":"v","config_map":"{\"planted\""}]}}`,
				`"source_config":{"resource_spec":{"sidecars":[{"name":"proxy","security_context":"[1]"}]}}`,
				`"source_config":{"resource_spec":{"sidecars":[{"name":"proxy","env_from":["planted"]}]}}`,
				`"source_config":{"resource_spec":{"memory_mb":1.5}}`,
				`"source_config":{"resource_spec":{"memory_mb":1e30}}`,
				`"source_config":{"resource_spec":{"labels":{"team":null}}}`,
				`"source_config":{"resource_spec":{"volumes":[null]}}`,
				`"source_revision_config":{"repo_commit_sha":"x"}`,
				`"timeouts":{"create":"soon"}`,
				`"secret_references":[{"name":"A"}]`,
				`"secrets":{"":"planted"}`, `"secrets":{"TOKEN":null}`,
				`"secrets":{"TOKEN":"planted"},"secrets_wo":{"TOKEN":"planted"},"secrets_wo_version":1`,
				`"secrets_wo_version":1`, `"secrets_wo":{"TOKEN":"planted"}`,
				`"deletion_policy":"delete"`),
			plain(func(s *stage) { s.configure(`{"hosting":"self_hosted"}`); s.plan(nil, shop) }),
		)},
		{"Creating", "Told at apply. Unless the message says otherwise, nothing was created.", []provocation{
			plain(func(s *stage) {
				s.configure(`{}`)
				s.apply(nil, shop, func() { s.SeedDeployment(map[string]any{"name": "shop"}) })
			}),
			answering(fakeserver.Fault{Status: 422, Body: `{"detail":[{"loc":["body","source_config","custom_url"],"msg":"must be an https URL"}]}`}),
			answering(fakeserver.Fault{Status: 422, Body: `{"detail":[{"loc":["body","source"],"msg":"<p></p>"}]}`}),
			answering(fakeserver.Fault{Status: 307, Header: http.Header{"Location": {"/v3/deployments"}}}),
			answering(fakeserver.Fault{Status: 400, Body: `{"detail":"the plan of this organization allows no more deployments"}`}),
			answering(fakeserver.Fault{Status: 200, Body: strings.Replace(aDeployment, "}", `,"source_config":{"resource_spec":{"memory_mb":2048.5}}}`, 1)}),
			answering(fakeserver.Fault{Status: 502, ContentType: "text/html", Body: "<html><body><h1>Bad gateway</h1></body></html>"}),
			plain(func(s *stage) {
				s.configure(`{"max_retries":0}`)
				s.apply(nil, shop, func() {
					s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Cut: true, Reached: func() { s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 503}) }})
				})
			}),
			plain(func(s *stage) {
				s.configure(`{}`)
				s.apply(nil, with(`"source_config":{"custom_url":"https://shop.example.com"}`), func() {
					s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{AfterWork: true, Cut: true, Reached: func() { s.set("source_config.custom_url", "https://other.example.com") }})
				})
			}),
		}},
		{"Waiting", "After a create or a change. The deployment is in the state in each case but where it vanished.", []provocation{
			{options: slow, run: func(s *stage) { s.configure(`{}`); s.apply(nil, with(`"timeouts":{"create":"20ms"}`)) }},
			{options: slow, run: func(s *stage) {
				s.configure(`{}`)
				s.onList(3, func() { s.set("status", "AWAITING_DELETE") })
				s.apply(nil, shop)
			}},
			{options: slow, run: func(s *stage) {
				s.configure(`{}`)
				s.onList(4, func() { s.Remove(s.id()) })
				s.apply(nil, shop)
			}},
			{options: slow, run: func(s *stage) {
				s.configure(`{}`)
				s.onList(2, func() { s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403}) })
				s.apply(nil, shop)
			}},
			{options: slow, run: func(s *stage) {
				s.configure(`{}`)
				s.onList(3, s.interrupt)
				s.apply(nil, shop)
			}},
		}},
		{"Changing and replacing", "", []provocation{
			plain(func(s *stage) {
				s.configure(`{}`)
				s.refresh(s.apply(nil, shop))
				s.plan(nil, shop) // as with -replace
			}),
			plain(func(s *stage) {
				s.configure(`{}`)
				made := s.apply(nil, with(`"source_config":{"resource_spec":{"memory_mb":1024}}`))
				s.plan(made, with(`"source_config":{"resource_spec":{"memory_mb":2048}}`))
			}),
			plain(func(s *stage) {
				s.configure(`{}`)
				made := s.apply(nil, with(`"source_config":{"resource_spec":{"sidecars":[{"name":"proxy","command":["run","a"],"env":[{"name":"KEY","value":"planted"}]}]}}`))
				s.plan(made, with(`"source_config":{"resource_spec":{"sidecars":[{"name":"proxy","command":["run","a"],"env":[{"name":"KEY","value":"planted-too"}]}]}}`))
				s.plan(made, with(`"source_config":{"resource_spec":{"sidecars":[{"name":"proxy","command":["(unknown)","b"],"env":[{"name":"KEY","value":"planted"}]}]}}`))
			}),
			plain(func(s *stage) {
				s.configure(`{}`)
				made := s.apply(nil, with(`"secrets":{"TOKEN":"planted"}`))
				s.plan(made, with(`"secrets":{"TOKEN":"planted-too"}`))
			}),
			{options: fakeserver.Options{Secrets: fakeserver.EchoSecrets}, run: func(s *stage) {
				s.configure(`{}`)
				made := s.apply(nil, with(`"secrets_wo":{"TOKEN":"planted"}`))
				s.set("secrets", []any{map[string]any{"name": "TOKEN", "value": "planted-too"}})
				s.NewRevision(s.id())
				s.refresh(made)
			}},
			plain(func(s *stage) {
				s.configure(withExtended)
				s.extended.Store(true)
				s.plan(s.apply(nil, shop), with(`"source":"internal_source"`))
				s.plan(s.apply(nil, with(`"name":"bar"`)), with(`"name":"bar","source":"internal_source","deletion_policy":"abandon"`))
			}),
			plain(func(s *stage) {
				s.configure(`{}`)
				made := s.apply(nil, shop)
				s.plan(made, with(`"name":"shop-2"`))
				s.plan(made, with(`"source":"internal_source"`))
			}),
			{options: own, run: func(s *stage) {
				s.configure(withExtended)
				made := s.apply(nil, shop)
				s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Status: 405})
				s.apply(made, with(`"source_config":{"custom_url":"https://shop.example.com"}`))
				s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Status: 409, Body: `{"detail":"a revision is being made"}`})
				s.apply(made, with(`"source_config":{"custom_url":"https://shop.example.com"}`))
				s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Status: 404, Reached: func() { s.Remove(s.id()) }})
				s.apply(made, with(`"source_config":{"custom_url":"https://shop.example.com"}`))
			}},
			{options: fakeserver.Options{Extended: true, IgnorePatch: true, Secrets: fakeserver.EchoSecrets}, run: func(s *stage) {
				s.configure(withExtended)
				made := s.apply(nil, with(`"secrets":{"TOKEN":"planted"},"source_config":{"resource_spec":{"memory_mb":1024,"sidecars":[{"name":"proxy","env":[{"name":"KEY","value":"planted"}]}]}}`))
				s.apply(made, with(`"secrets":{"TOKEN":"planted-too"},"source_config":{"resource_spec":{"memory_mb":2048,"sidecars":[{"name":"proxy","env":[{"name":"KEY","value":"planted-too"}]}]}}`))
			}},
			{options: fakeserver.Options{Extended: true, IgnorePatch: true, Secrets: fakeserver.EchoSecrets}, run: func(s *stage) {
				s.configure(withExtended)
				made := s.apply(nil, with(`"secrets":{"TOKEN":"planted"}`))
				s.apply(made, with(`"secrets":{"KEY":"planted"}`))
			}},
			{options: fakeserver.Options{Extended: true, IgnorePatch: true}, run: func(s *stage) {
				s.configure(`{"extended_operations":true,"max_retries":0}`)
				made := s.apply(nil, shop)
				s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
					s.onList(2, func() { s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403}) })
				}, Status: 200, Body: `{}`})
				s.apply(made, with(`"source_config":{"custom_url":"https://shop.example.com"},"wait_until":"created"`))
			}},
		}},
		{"Destroying", "", []provocation{
			plain(func(s *stage) {
				s.configure(`{}`)
				s.apply(s.apply(nil, shop), "")
			}),
			{options: own, run: func(s *stage) {
				s.configure(withExtended)
				s.apply(s.apply(nil, with(`"deletion_policy":"abandon"`)), "")
			}},
			{options: own, run: func(s *stage) {
				s.configure(withExtended)
				made := s.apply(nil, shop)
				s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Status: 405})
				s.apply(made, "")
				s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Status: 403})
				s.apply(made, "")
			}},
			{options: fakeserver.Options{Extended: true, KeepDeleted: true}, run: func(s *stage) {
				s.configure(withExtended)
				made := s.apply(nil, with(`"timeouts":{"delete":"20ms"}`))
				s.apply(made, "")
			}},
			{options: fakeserver.Options{Extended: true, KeepDeleted: true}, run: func(s *stage) {
				s.configure(withExtended)
				made := s.apply(nil, shop)
				s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() { s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403}) }})
				s.apply(made, "")
			}},
		}},
		{"Reading, importing, listing", "", []provocation{
			plain(func(s *stage) {
				s.configure(`{}`)
				made := s.apply(nil, shop)
				s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403})
				s.refresh(made)
			}),
			plain(func(s *stage) {
				s.configure(`{}`)
				s.take("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", nil)
				s.take("shop", nil)
				s.take("", s.identity("shop"))
				s.take("", nil)
			}),
			{options: fakeserver.Options{ResolveRefs: true}, run: func(s *stage) {
				s.configure(`{}`)
				s.SeedDeployment(map[string]any{"name": "shop", "source": "codehost", "source_revision_config": map[string]any{"repo_ref": "main"}})
				s.plan(s.take("shop", nil), with(`"source":"codehost","source_revision_config":{"repo_ref":"main"}`))
			}},
			{options: fakeserver.Options{AllowDuplicateNames: true}, run: func(s *stage) {
				s.configure(`{}`)
				s.SeedDeployment(map[string]any{"name": "shop"})
				s.SeedDeployment(map[string]any{"name": "shop", "source": "codehost", "status": "UNUSED"})
				s.take("shop", nil)
				for range 20 {
					s.SeedDeployment(map[string]any{"name": "many"})
				}
				s.take("many", nil)
			}},
			plain(func(s *stage) {
				s.configure(`{}`)
				s.data("graphdeploy_deployment", `{}`)
				s.data("graphdeploy_deployment", `{"id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee","name":"shop"}`)
				s.data("graphdeploy_deployment", `{"id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"}`)
				s.data("graphdeploy_deployment", `{"name":"shop"}`)
				s.data("graphdeploy_deployments", `{"deployment_type":"staging"}`)
				s.data("graphdeploy_deployments", `{"max_results":0}`)
				s.data("graphdeploy_deployments", `{"deployment_ids":[null]}`)
				s.data("graphdeploy_deployments", `{"deployment_ids":["shop"]}`)
				s.data("graphdeploy_deployments", `{"tag_value_ids":[""]}`)
				s.query(`{"tag_value_ids":[""]}`)
				s.query(`{"tag_value_ids":[null]}`)
				s.query(`{"deployment_type":"staging"}`)
				s.Fail(fakeserver.AnyRoute, -1, fakeserver.Fault{Status: 403})
				s.take("shop", nil)
				s.data("graphdeploy_deployment", `{"id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"}`)
				s.data("graphdeploy_deployment", `{"name":"shop"}`)
				s.query(`{}`)
			}),
			plain(func(s *stage) {
				s.configure(`{}`)
				config := fmt.Sprintf(`{"integration_id":%q,"owner":"acme","name":"shop"}`, integration)
				s.data("graphdeploy_codehost_repo", strings.Replace(config, "acme", "", 1))
				s.SeedRepositories(integration)
				s.data("graphdeploy_codehost_repo", config)
				var repos []fakeserver.Repository
				for i := range 14 {
					repos = append(repos, fakeserver.Repository{ID: int64(i + 1), Owner: "acme", Name: fmt.Sprintf("app-%d", i+1)})
				}
				s.SeedRepositories(integration, repos...)
				s.data("graphdeploy_codehost_repo", config)
				s.data("graphdeploy_codehost_repo", strings.Replace(config, "acme", "globex", 1))
				s.SeedRepositories(integration, fakeserver.Repository{ID: 98, Owner: "Acme", Name: "Shop"})
				s.data("graphdeploy_codehost_repo", config)
				s.SeedRepositories(integration, fakeserver.Repository{ID: 98, Owner: "acme", Name: "shop"}, fakeserver.Repository{ID: 99, Owner: "acme", Name: "shop"})
				s.data("graphdeploy_codehost_repo", config)
				s.Fail(fakeserver.AnyRoute, -1, fakeserver.Fault{Status: 404})
				s.data("graphdeploy_codehost_repo", config)
				s.data("graphdeploy_codehost_repos", fmt.Sprintf(`{"integration_id":%q}`, integration))
				s.data("graphdeploy_oauth_providers", `{}`)
			}),
		}},
		{"Requests that fail", "Here with the data sources, which only list; the same comes with every other operation, under what it wanted to do.", append(
			failing(
				fakeserver.Fault{Status: 401, Header: http.Header{"X-Request-Id": {"req-7"}}, Body: `{"detail":"invalid key planted"}`},
				fakeserver.Fault{Status: 404},
				fakeserver.Fault{Status: 429},
				fakeserver.Fault{Status: 500, Body: `{"error":{"message":"the roof is on fire"}}`},
				fakeserver.Fault{Status: 200, ContentType: "text/html", Body: "<html><body><h1>Hello</h1></body></html>"},
				fakeserver.Fault{Status: 200, Body: "hello"},
				fakeserver.Fault{Status: 204},
				fakeserver.Fault{Cut: true},
				fakeserver.Fault{Truncate: true},
				fakeserver.Fault{Status: 302, Header: http.Header{"Location": {"https://elsewhere.example.com/"}}},
				fakeserver.Fault{Status: 302, Header: http.Header{"Location": {"/v2/deployments"}}},
				fakeserver.Fault{Status: 200, Body: strings.Repeat(" ", 32<<20+1)},
			),
			misshapen("graphdeploy_deployments", `{}`, `{"offset":0}`, `{"offset":1,"resources":[null]}`,
				`{"offset":1,"resources":[`+strings.Replace(aDeployment, "shop", "", 1)+`]}`, `{"offset":1,"resources":[`+strings.Replace(aDeployment, "codehost", "", 1)+`]}`,
				`{"offset":1,"resources":[`+strings.Replace(aDeployment, "aaaaaaaa-", "", 1)+`]}`,
				`{"offset":1,"resources":[`+strings.Replace(aDeployment, "}", `,"source_config":{"resource_spec":{"memory_mb":0.5}}}`, 1)+`]}`),
			misshapen("graphdeploy_oauth_providers", `{}`, `null`, `[null]`, `[{}]`),
			misshapen("graphdeploy_codehost_repos", fmt.Sprintf(`{"integration_id":%q}`, integration), `[null]`, `[{}]`),
			plain(func(s *stage) {
				for i := range 30 {
					s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Status: 200, Body: fmt.Sprintf(`{"offset":%d,"resources":[%s]}`, i+1, aDeployment)})
				}
				s.configure(`{}`)
				s.data("graphdeploy_deployments", `{}`)
			}),
			plain(func(s *stage) {
				server := httptest.NewUnstartedServer(s.Server)
				server.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of the handshake
				server.StartTLS()
				s.t.Cleanup(server.Close)
				s.hide[server.URL] = "https://deployments.example.com"
				s.configure(fmt.Sprintf(`{"base_url":%q}`, server.URL))
				s.data("graphdeploy_deployments", `{}`)
			}),
			plain(func(s *stage) {
				s.Fail(fakeserver.AnyRoute, -1, fakeserver.Fault{Status: 401})
				s.configure(`{}`)
				s.data("graphdeploy_deployments", `{}`)
				s.configure(`{"api_key":"planted","api_key_header":"Authorization"}`)
				s.data("graphdeploy_deployments", `{}`)
			}),
			plain(func(s *stage) {
				s.hide[strings.Replace(s.url, "http:", "https:", 1)] = "https://deployments.example.com"
				s.configure(fmt.Sprintf(`{"base_url":%q}`, strings.Replace(s.url, "http:", "https:", 1)))
				s.data("graphdeploy_deployments", `{}`)
			}),
			plain(func(s *stage) {
				s.Fail(fakeserver.AnyRoute, -1, fakeserver.Fault{Hold: make(chan struct{})})
				s.configure(`{"request_timeout":"30ms","max_retries":0}`)
				s.data("graphdeploy_deployments", `{}`)
			}),
			plain(func(s *stage) {
				s.configure(`{"base_url":"http://127.0.0.1:1","max_retries":0}`)
				s.data("graphdeploy_deployments", `{}`)
			}),
			plain(func(s *stage) {
				s.Fail(fakeserver.AnyRoute, -1, fakeserver.Fault{Reached: s.interrupt, Hold: make(chan struct{})})
				s.configure(`{}`)
				s.data("graphdeploy_deployments", `{}`)
			}),
			plain(func(s *stage) {
				for _, d := range provider.Mistake() {
					s.told = append(s.told, told{when: "any time", summary: d.Summary(), detail: d.Detail()})
				}
			}),
		)},
	}
}
