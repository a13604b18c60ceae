package provider_test

import (
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// app is the configuration of a deployment, with more arguments if given.
func appConfig(source string, arguments ...object) object {
	config := object{"name": "app", "source": source}
	for _, more := range arguments {
		for name, value := range more {
			config[name] = value
		}
	}
	return config
}

func resourceSpec(name string, value any) object {
	return object{"source_config": object{"resource_spec": object{name: value}}}
}

func TestPlan_invalidArgumentIsAnErrorAtTheAttribute(t *testing.T) {
	t.Parallel()
	const spec = "source_config.resource_spec."
	for name, c := range map[string]struct {
		config object
		want   protocoltest.Message
	}{
		"empty name": {object{"name": "", "source": "codehost"},
			protocoltest.Error("Empty value", "name", "name must not be empty.")},
		"unknown source": {appConfig("ftp"), protocoltest.Error("Invalid value", "source", "source must be one of: codehost,",
			`got "ftp"`)},
		"integration": {appConfig("codehost", object{"source_config": object{"integration_id": "42"}}),
			protocoltest.Error("Invalid UUID", "source_config.integration_id", `got "42"`)},
		"listener in braces": {appConfig("codehost",
			object{"source_config": object{"listener_id": "{aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee}"}}),
			protocoltest.Error("Invalid UUID", "source_config.listener_id")},
		"references": {appConfig("codehost", object{"secret_references": list{object{"name": "A"}}}),
			protocoltest.Error("Unsupported argument", "", "secret_references", `only for source "external_docker"`)},
		"references and a misspelled source": {appConfig("external_dokcer",
			object{"secret_references": list{object{"name": "A"}}}),
			protocoltest.Error("Invalid value", "source", `got "external_dokcer"`)},
		"malformed JSON": {appConfig("codehost", resourceSpec("volumes", list{object{"config_map": "{"}})),
			protocoltest.Error("Invalid JSON", spec+"volumes[0].config_map", "jsonencode")},
		"JSON that is a list": {appConfig("codehost", resourceSpec("sidecars", list{object{"security_context": "[1]"}})),
			protocoltest.Error("Invalid JSON", spec+"sidecars[0].security_context", "must be a JSON object")},
		"JSON in a list": {appConfig("codehost", resourceSpec("sidecars", list{object{"env_from": list{`"x"`}}})),
			protocoltest.Error("Invalid JSON", spec+"sidecars[0].env_from[0]")},
		"malformed JSON in a list": {appConfig("codehost", resourceSpec("sidecars", list{object{"env_from": list{"{"}}})),
			protocoltest.Error("Invalid JSON", spec+"sidecars[0].env_from[0]")},
		"CPU beyond a 64-bit float": {
			appConfig("codehost", resourceSpec("cpu", new(big.Float).SetMantExp(big.NewFloat(1), 2000))),
			protocoltest.Error("Invalid number", spec+"cpu", "cpu must be in the range of a 64-bit float, got"),
		},
		"fraction of a megabyte": {appConfig("codehost", resourceSpec("memory_mb", 1.5)),
			protocoltest.Error("Invalid number", spec+"memory_mb", "memory_mb must be an integer, got 1.5.")},
		"read-only attribute": {appConfig("codehost", object{"source_revision_config": object{"repo_commit_sha": "x"}}),
			protocoltest.Error("Invalid Configuration for Read-Only Attribute", "source_revision_config.repo_commit_sha")},
		"null label": {appConfig("codehost", resourceSpec("labels", object{"a": nil})),
			protocoltest.Error("Null value", spec+`labels["a"]`)},
		"null volume": {appConfig("codehost", resourceSpec("volumes", list{nil})),
			protocoltest.Error("Null value", "", spec+"volumes[0]")},
		"null secret": {appConfig("codehost", object{"secrets": object{"A": nil}}),
			protocoltest.Error("Null value", "", `secrets["A"]`)},
		"secret without a name": {appConfig("codehost", object{"secrets": object{"": "x"}}),
			protocoltest.Error("Empty name", "", "secrets")},
		"both kinds of secrets": {appConfig("codehost", object{"secrets": object{"A": "x"}, "secrets_wo": object{"A": "x"},
			"secrets_wo_version": "1"}),
			protocoltest.Error("Conflicting arguments", "", "secrets_wo")},
		"version without secrets": {appConfig("codehost", object{"secrets_wo_version": "1"}),
			protocoltest.Error("Missing secrets_wo", "secrets_wo_version")},
		"wait_until": {appConfig("codehost", object{"wait_until": "never"}),
			protocoltest.Error("Invalid value", "wait_until", `got "never"`)},
		"deletion_policy": {appConfig("codehost", object{"deletion_policy": "keep"}),
			protocoltest.Error("Invalid value", "deletion_policy", `got "keep"`)},
		"timeout": {appConfig("codehost", object{"timeouts": object{"create": "soon"}}),
			protocoltest.Error("Invalid duration", "timeouts.create", `got "soon"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			_, diags := newProtocol(t, s).Plan(typeName, nil, c.config)
			protocoltest.Expect(t, diags, c.want)
			if n := s.sent("POST", "/v2/deployments"); n != 0 {
				t.Errorf("%d creates were sent, want none", n)
			}
		})
	}
}

func TestPlan_sourceThatIsNotAvailableIsRejected(t *testing.T) {
	t.Parallel()
	for hosting, source := range map[string]string{"self_hosted": "internal_source", "cloud": "external_docker"} {
		p := newProtocol(t, newService(t, fakeserver.Options{}), object{"hosting": hosting})
		_, diags := p.Plan(typeName, nil,
			appConfig(source, object{"source_revision_config": object{"image_uri": "r.example/a:1"}}))
		protocoltest.Expect(t, diags, protocoltest.Error("Source not available", "source", `"app"`, source, hosting))
	}
}

// What is left of a misspelled name is reported, in one warning of a deployment.
func TestPlan_misspelledNamesAreAWarning(t *testing.T) {
	t.Parallel()
	spec := func(spec object) object { return object{"source_config": object{"resource_spec": spec}} }
	sidecar := func(more object) object {
		one := object{"name": "s", "image": "i"}
		maps.Copy(one, more)
		return spec(object{"sidecars": list{one}})
	}
	const at = "source_config.resource_spec."
	for name, c := range map[string]struct {
		source string
		config object
		lines  []string
	}{
		"no image": {"external_docker", object{},
			[]string{`source_revision_config.image_uri is not set, but source is "external_docker"`}},
		"empty image": {"external_docker", object{"source_revision_config": object{"image_uri": ""}},
			[]string{`source_revision_config.image_uri is not set, but source is "external_docker"`}},
		"image": {"external_docker",
			object{"source_revision_config": object{"image_uri": "r.example/a:1"}}, nil},
		"unknown image": {"external_docker",
			object{"source_revision_config": object{"image_uri": protocoltest.Unknown}}, nil},
		"no repository": {"codehost", object{"source_config": object{"build_command": "make"}},
			[]string{`source_config.repo_url is not set, but source is "codehost"`}},
		"unknown repository": {"codehost", object{"source_config": object{"repo_url": protocoltest.Unknown}},
			nil},
		"unknown object":       {"codehost", object{"source_config": protocoltest.Unknown}, nil},
		"source without needs": {"internal_docker", object{}, nil},
		"empty source_config":  {"internal_docker", object{"source_config": object{}}, nil},
		"empty object": {"internal_docker", spec(object{}),
			[]string{"source_config.resource_spec has nothing in it"}},
		"other empty object": {"internal_docker", object{"source_config": object{"listener_config": object{}}},
			[]string{"source_config.listener_config has nothing in it"}},
		"empty resources": {"internal_docker", sidecar(object{"resources": object{}}),
			[]string{at + "sidecars[0].resources has nothing in it"}},
		"object of an empty map":     {"internal_docker", spec(object{"labels": object{}}), nil},
		"object of an unknown value": {"internal_docker", spec(object{"cpu": protocoltest.Unknown}), nil},
		"volume without a name": {"internal_docker", spec(object{"volumes": list{object{"secret": "{}"}}}),
			[]string{at + "volumes[0] has no name"}},
		"volume without a kind": {"internal_docker", spec(object{"volumes": list{object{"name": "v"}}}),
			[]string{at + "volumes[0] has no kind of volume"}},
		"volume of an unknown kind": {"internal_docker",
			spec(object{"volumes": list{object{"name": "v", "nfs": protocoltest.Unknown}}}), nil},
		"volume of two kinds": {"internal_docker",
			spec(object{"volumes": list{object{"name": "v", "nfs": "{}", "csi": "{}"}}}),
			[]string{at + "volumes[0] has several kinds of volume: nfs, csi"}},
		"volume of perhaps two kinds": {"internal_docker",
			spec(object{"volumes": list{object{"name": "v", "nfs": "{}", "csi": protocoltest.Unknown}}}), nil},
		"mount without anything": {"internal_docker", spec(object{"volume_mounts": list{object{"read_only": true}}}),
			[]string{at + "volume_mounts[0] has no name", at + "volume_mounts[0] has no mount_path"}},
		"mount with an empty path": {"internal_docker",
			spec(object{"volume_mounts": list{object{"name": "v", "mount_path": ""}}}),
			[]string{at + "volume_mounts[0] has no mount_path"}},
		"mount of a container": {"internal_docker", sidecar(object{"volume_mounts": list{object{"name": "v"}}}),
			[]string{at + "sidecars[0].volume_mounts[0] has no mount_path"}},
		"container without a name": {"internal_docker", spec(object{"sidecars": list{object{"image": "i"}}}),
			[]string{at + "sidecars[0] has no name"}},
		"init container without image": {"internal_docker", spec(object{"init_containers": list{object{"name": "i"}}}),
			[]string{at + "init_containers[0] has no image"}},
		"variable without a value": {"internal_docker", sidecar(object{"env": list{object{"name": "A"}}}),
			[]string{at + "sidecars[0].env[0] has no value or value_from"}},
		"variable without a name": {"internal_docker", sidecar(object{"env": list{object{"value": "x"}}}),
			[]string{at + "sidecars[0].env[0] has no name"}},
		"variable with an empty value": {"internal_docker", sidecar(object{"env": list{object{"name": "A", "value": ""}}}),
			nil},
		"variable with unknown value": {"internal_docker",
			sidecar(object{"env": list{object{"name": "A", "value_from": protocoltest.Unknown}}}), nil},
		"two variables of one name": {"internal_docker",
			sidecar(object{"env": list{object{"name": "A", "value": "x"}, object{"name": "A", "value": "y"}}}),
			[]string{at + `sidecars[0].env[1] has the same name "A" as item 0`}},
		"two mounts at one path": {"internal_docker",
			spec(object{"volume_mounts": list{object{"name": "v", "mount_path": "/a"}, object{"name": "v",
				"mount_path": "/a"}}}), []string{at + `volume_mounts[1] has the same name "v" and mount_path "/a" as item 0`}},
		"two mounts of one volume": {"internal_docker",
			spec(object{"volume_mounts": list{object{"name": "v", "mount_path": "/a"},
				object{"name": "v", "mount_path": "/b"}}}), nil},
		"two containers of one name": {"internal_docker",
			spec(object{"sidecars": list{object{"name": "s", "image": "i"}, object{"name": "s", "image": "j"}}}),
			[]string{at + `sidecars[1] has the same name "s" as item 0`}},
		"two items of an unknown name": {"internal_docker",
			sidecar(object{"env": list{object{"name": protocoltest.Unknown, "value": "x"},
				object{"name": protocoltest.Unknown, "value": "y"}}}), nil},
		"in several places of an object": {"external_docker", spec(object{"sidecars": list{object{"name": "s"}}}),
			[]string{`source_revision_config.image_uri is not set, but source is "external_docker"`,
				at + "sidecars[0] has no image"}},
	} {
		_, diags := newProtocol(t, newService(t, fakeserver.Options{})).Plan(typeName, nil, appConfig(c.source, c.config))
		var want []protocoltest.Message
		if c.lines != nil {
			want = append(want, protocoltest.Warning("Names may be misspelled", "", `"app"`, "spelling",
				"\n  - "+strings.Join(c.lines, "\n  - ")))
		}
		t.Log(name)
		protocoltest.Expect(t, diags, want...)
		if len(diags) == 1 && !strings.HasSuffix(diags[0].Detail, strings.Join(c.lines, "\n  - ")) {
			t.Errorf("more than expected:\n%s", diags)
		}
	}
}

func TestPlan_deploymentThatIsBeingDeletedIsAWarning(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, appConfig("internal_docker"))
	s.edit(t, "status", "AWAITING_DELETE")()
	r, diags := p.Read(r)
	p.ExpectNone(diags)
	_, diags = p.Plan(typeName, r, appConfig("internal_docker"))
	protocoltest.Expect(t, diags, protocoltest.Warning("Deployment is being deleted", "", `"app"`, "AWAITING_DELETE"))
}

// What the service rejects is reported at the attribute that it names, with what
// identifies the request.
func TestCreate_rejectedFieldIsAnErrorAtTheAttribute(t *testing.T) {
	t.Parallel()
	config := appConfig("internal_docker", object{
		"source_config": object{"resource_spec": object{"sidecars": list{object{"name": "p", "image": "i",
			"image_pull_policy": "Sometimes"}}}},
		"secrets": object{"A": "planted-one", "B": "planted-two"},
	})
	for name, c := range map[string]struct{ loc, at, says string }{
		"nested": {`["body","source_config","resource_spec","sidecars",0,"imagePullPolicy"]`,
			"source_config.resource_spec.sidecars[0].image_pull_policy",
			"The service rejected source_config.resource_spec.sidecars[0].image_pull_policy: must be nicer"},
		"root":    {`["body","name"]`, "name", "The service rejected name: must be nicer"},
		"secret":  {`["body","secrets",1,"value"]`, "", `The service rejected secrets["B"]: must be nicer`},
		"nowhere": {`["body","nowhere","to","see"]`, "", "body.nowhere.to.see: must be nicer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s)
			s.Fail(fakeserver.CreateDeployment, 1,
				fakeserver.Fault{Status: 422, Header: map[string][]string{"X-Request-Id": {"req-42"}},
					Body: `{"detail": [{"loc": ` + c.loc + `, "msg": "must be nicer", "type": "value_error"}]}`})
			plan, diags := p.Plan(typeName, nil, config)
			p.ExpectNone(diags)
			r, diags := p.Apply(plan)
			protocoltest.Expect(t, diags, protocoltest.Error(`Cannot create deployment "app"`, c.at, c.says,
				"POST /v2/deployments", "422 Unprocessable Entity", "req-42"))
			if r != nil {
				t.Error("the deployment is in the state")
			}
		})
	}
}

// A secret that is too short to be distinguished from ordinary text hides nothing else.
func TestCreate_shortSecretDoesNotHideTheMessage(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s, object{"headers": object{"X-Tenant": "1"}})
	s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Status: 400,
		Body: `{"detail": "min_scale must be at least 1, and build_on_push true; not planted-secret"}`})
	plan, diags := p.Plan(typeName, nil, appConfig("internal_docker",
		object{"secrets": object{"DEBUG": "1", "FLAG": "true", "KEY": "planted-secret"}}))
	p.ExpectNone(diags)
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error(`Cannot create deployment "app"`, "",
		"min_scale must be at least 1, and build_on_push true; not "))
	assertHidden(t, diags, "planted-secret")
}
