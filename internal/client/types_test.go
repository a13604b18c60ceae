package client

import (
	_ "embed"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// A deployment with every field of sections 2.1 to 2.5, written from the interface.
//
//go:embed testdata/deployment.json
var fullDeployment string

const fullRepository = `{"host_integration_id":"h","id":9007199254740993,"name":"n","owner":"o","url":"u","default_branch":"b"}`

const fullOAuthProvider = `{"id":"i","organization_id":"o","provider_id":"p","name":"n","client_id":"c","auth_url":"a","token_url":"t",
	"uses_pkce":true,"code_challenge_method":"S256","created_at":"c","updated_at":"u","provider_type":"y","mcp_server_url":"m",
	"token_endpoint_auth_method":"none","is_dynamic_client":true}`

func TestEveryFieldHasItsDocumentedName(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		document string
		into     any
	}{
		"deployment":     {fullDeployment, &Deployment{}},
		"repository":     {fullRepository, &Repository{}},
		"OAuth provider": {fullOAuthProvider, &OAuthProvider{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := json.Unmarshal([]byte(test.document), test.into); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(test.into)
			if err != nil {
				t.Fatal(err)
			}
			equalJSON(t, string(got), test.document)
			// The document has each field of the types, so that no field of theirs is left undocumented and untested.
			walk(reflect.ValueOf(test.into), name, map[reflect.Type]bool{}, func(path string, field reflect.Value) {
				if field.IsZero() {
					t.Errorf("the document does not set %s", path)
				}
			})
		})
	}
}

// walk calls do for each struct field below v, entering each struct type once: at the first item of a list.
func walk(v reflect.Value, path string, entered map[reflect.Type]bool, do func(path string, field reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, entered, do)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			walk(v.Index(0), path, entered, do)
		}
	case reflect.Struct:
		if entered[v.Type()] {
			return
		}
		entered[v.Type()] = true
		for i := range v.NumField() {
			here := path + "." + v.Type().Field(i).Name
			do(here, v.Field(i))
			walk(v.Field(i), here, entered, do)
		}
	}
}

func TestRequestHasTheRequestColumnOnly(t *testing.T) {
	t.Parallel()
	var want map[string]any
	if err := json.Unmarshal([]byte(fullDeployment), &want); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "tenant_id", "created_at", "updated_at", "status", "latest_revision_id", "active_revision_id", "image_version"} {
		delete(want, name)
	}
	document, _ := json.Marshal(want)
	var r DeploymentRequest
	if err := json.Unmarshal([]byte(fullDeployment), &r); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	equalJSON(t, string(got), string(document))
}

func TestUnsetIsNotSentAndEmptyIsSentAsEmpty(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		value any
		want  string
	}{
		"request": {DeploymentRequest{Name: "n", Source: "s", Secrets: []Secret{}},
			`{"name":"n","source":"s","source_config":{},"source_revision_config":{},"secrets":[]}`},
		"no references":     {DeploymentRequest{SecretReferences: []SecretReference{}, Secrets: []Secret{}}, `{"name":"","source":"","source_config":{},"source_revision_config":{},"secrets":[],"secret_references":[]}`},
		"secret":            {Secret{}, `{"name":"","value":""}`},
		"secret reference":  {SecretReference{}, `{}`},
		"source config":     {SourceConfig{}, `{}`},
		"set to zero":       {SourceConfig{BuildOnPush: new(bool), CustomURL: new(string)}, `{"build_on_push":false,"custom_url":""}`},
		"empty objects":     {SourceConfig{ResourceSpec: &ResourceSpec{}, ListenerConfig: &ListenerConfig{}}, `{"resource_spec":{},"listener_config":{}}`},
		"revision config":   {SourceRevisionConfig{}, `{}`},
		"resource spec":     {ResourceSpec{}, `{}`},
		"zero numbers":      {ResourceSpec{MinScale: new(Int64), CPU: new(float64)}, `{"min_scale":0,"cpu":0}`},
		"empty maps":        {ResourceSpec{Labels: map[string]string{}, Annotations: map[string]string{}}, `{"labels":{},"annotations":{}}`},
		"volume":            {Volume{}, `{}`},
		"empty volume":      {Volume{EmptyDir: json.RawMessage(`{}`)}, `{"emptyDir":{}}`},
		"mount":             {VolumeMount{ReadOnly: new(bool)}, `{"readOnly":false}`},
		"container":         {Container{}, `{}`},
		"empty resources":   {Container{Resources: &ContainerResources{}}, `{"resources":{}}`},
		"variable":          {EnvVar{Value: new(string)}, `{"value":""}`},
		"image pull secret": {ImagePullSecret{}, `{}`},
		"empty lists of a container": {Container{Command: []string{}, Args: []string{}, Env: []EnvVar{}, EnvFrom: []json.RawMessage{}, VolumeMounts: []VolumeMount{}},
			`{"command":[],"args":[],"env":[],"envFrom":[],"volumeMounts":[]}`},
		"empty lists of a spec": {ResourceSpec{ImagePullSecrets: []ImagePullSecret{}, Volumes: []Volume{}, VolumeMounts: []VolumeMount{}, InitContainers: []Container{}, Sidecars: []Container{}},
			`{"image_pull_secrets":[],"volumes":[],"volume_mounts":[],"init_containers":[],"sidecars":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.value)
			if err != nil {
				t.Fatal(err)
			}
			equalJSON(t, string(got), test.want)
		})
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	var plain, tree any
	_ = json.Unmarshal([]byte(fullDeployment), &plain)
	_ = json.Unmarshal([]byte(fullDeployment), &tree)
	var add func(value any)
	add = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				add(item)
			}
		case map[string]any:
			for name, member := range v {
				// What is free-form, or a map of string, has no unknown fields.
				_, isVolume := v["downwardAPI"]
				switch name {
				case "labels", "annotations", "valueFrom", "envFrom", "limits", "requests", "securityContext":
				default:
					if !isVolume {
						add(member)
					}
				}
			}
			v["undocumented"] = map[string]any{"a": []any{nil, 1.5}}
		}
	}
	add(tree)
	document, _ := json.Marshal(tree)
	var d Deployment
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(d)
	equalJSON(t, string(got), fullDeployment)
}

func TestNullIsUnset(t *testing.T) {
	t.Parallel()
	var tree any
	_ = json.Unmarshal([]byte(fullDeployment), &tree)
	var unset func(value any)
	unset = func(value any) {
		for name, member := range value.(map[string]any) {
			switch name {
			case "source_config", "source_revision_config", "resource_spec", "listener_config":
				unset(member)
			case "id", "name", "source":
			default:
				value.(map[string]any)[name] = nil
			}
		}
	}
	unset(tree)
	document, _ := json.Marshal(tree)
	var d Deployment
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(d)
	equalJSON(t, string(got), `{"name":"support-bot","source":"codehost","id":"11111111-0000-4000-8000-000000000003","source_config":{"resource_spec":{},"listener_config":{}}}`)
}

func TestFreeFormObjectsKeepTheirText(t *testing.T) {
	t.Parallel()
	const text = `{"b":12345678901234567890.10,"a":[1.0,null]}`
	var v Volume
	if err := json.Unmarshal([]byte(`{"configMap":`+text+`}`), &v); err != nil {
		t.Fatal(err)
	}
	equal(t, "text", string(v.ConfigMap), text)
}

func TestWholeReadsWholeNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Int64{
		"2048": 2048, "2048.0": 2048, "2.048e3": 2048, "2048000E-3": 2048, "2.048e+03": 2048,
		"0": 0, "-0": 0, "0.0": 0, "0e99": 0, "-7": -7, "-7.000": -7,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9223372036854775807.0": math.MaxInt64,
	} {
		var got Int64
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	kept := Int64(5)
	if err := json.Unmarshal([]byte("null"), &kept); err != nil || kept != 5 {
		t.Errorf("null: %d, %v", kept, err)
	}
}

func TestWholeRefusesTheRest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.5", `"7"`, `""`, "true", "[]", "{}", "[1]", "1e999999999", "1e-999999999", "1E400", "9223372036854775808", "-9223372036854775809",
		"1e19", "0.1", strings.Repeat("1", 65), "1." + strings.Repeat("0", 64),
	} {
		got := Int64(5)
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != 5 {
			t.Errorf("%.20s: %d, %v", text, got, err)
		}
	}
	// Never through encoding/json, but anyone may call it.
	if err := new(Int64).UnmarshalJSON(nil); err == nil {
		t.Error("no text: no error")
	}
}

func TestFieldOfTheWrongKindIsNamed(t *testing.T) {
	t.Parallel()
	const spec = `"source_config":{"resource_spec":{`
	for name, test := range map[string]struct{ members, want, not string }{
		"fraction":         {spec + `"memory_mb":1.5}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.memory_mb: number 1.5 is not `, ""},
		"text for integer": {spec + `"db_storage_gi":"hush-hush"}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.db_storage_gi: its value is not `, "hush-hush"},
		"huge exponent":    {spec + `"min_scale":1e999999999}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.min_scale: number 1e999999999 is not `, ""},
		"endless number":   {spec + `"min_scale":` + strings.Repeat("7", 5000) + `}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.min_scale: its value is not `, "7777"},
		"beyond 64 bits":   {spec + `"max_scale":9223372036854775808}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.max_scale: number 9223372036854775808 is not `, ""},
		"beyond, short":    {spec + `"max_scale":1e30}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.max_scale: number 1e30 is not `, ""},
		"object":           {spec + `"max_scale":{"hush":1}}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.max_scale: its value is not `, "hush"},
		"text for number":  {spec + `"cpu":"hush-hush"}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.cpu: string is not a number`, "hush-hush"},
		"number for text":  {`"source_config":{"repo_url":5}`, `deployment "n" (id "` + idA + `"): source_config.repo_url: number is not a string`, ""},
		"text for bool":    {`"source_config":{"build_on_push":"hush-hush"}`, `deployment "n" (id "` + idA + `"): source_config.build_on_push: string is not a bool`, "hush-hush"},
		"list for object":  {`"source_config":["hush-hush"]`, `deployment "n" (id "` + idA + `"): source_config: array is not an object`, "hush-hush"},
		"object for list":  {`"secrets":{"hush-hush":1}`, `deployment "n" (id "` + idA + `"): secrets: object is not a list`, "hush-hush"},
		"in a container":   {spec + `"sidecars":[{"volumeMounts":[{"readOnly":1}]}]}}`, `deployment "n" (id "` + idA + `"): source_config.resource_spec.sidecars.volumeMounts.readOnly: number is not a bool`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondJSON(pageJSON(1, `{"id":"`+idA+`","name":"n","source":"s",`+test.members+`}`)))
			got, err := collect(t.Context(), s.client(t), DeploymentFilter{})
			if len(got) != 0 || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %s", got, err, test.want)
			}
			if test.not != "" && strings.Contains(err.Error(), test.not) {
				t.Errorf("shown: %v", err)
			}
			if !asType[*Error](t, err).Malformed {
				t.Error("not marked as malformed")
			}
		})
	}
}

func TestStringMap_readsOtherValuesAsTheirJSON(t *testing.T) {
	t.Parallel()
	var spec ResourceSpec
	if err := json.Unmarshal([]byte(`{"labels":{"s":"text","n":1.50,"b":true,"o":{"a": [1]},"z":null},"annotations":null}`), &spec); err != nil {
		t.Fatal(err)
	}
	equal(t, "labels", spec.Labels, StringMap{"s": "text", "n": "1.50", "b": "true", "o": `{"a": [1]}`})
	equal(t, "annotations", spec.Annotations, nil)
	if err := json.Unmarshal([]byte(`{"labels":[]}`), &spec); err == nil {
		t.Error("a list is no map")
	}
}

func TestRequest_additionalMembersAreMerged(t *testing.T) {
	t.Parallel()
	r := DeploymentRequest{Name: "n", Source: "s", Secrets: []Secret{},
		SourceConfig: SourceConfig{RepoURL: ptr("u"), ResourceSpec: &ResourceSpec{MaxScale: ptr(Int64(9007199254740993))}},
		Additional: map[string]any{"tier": "x", "source_config": map[string]any{"deployment_type": "prod",
			"resource_spec": map[string]any{"gpu": 1}}, "secrets": []any{}}}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "body", string(got), `{"name":"n","secrets":[],"source":"s","source_config":{"deployment_type":"prod","repo_url":"u",`+
		`"resource_spec":{"gpu":1,"max_scale":9007199254740993}},"source_revision_config":{},"tier":"x"}`)
}

func TestDeployment_keepsItsJSON(t *testing.T) {
	t.Parallel()
	text := []byte(`[{"id":"` + idA + `","url":"https://x", "n": 1.50},null]`)
	var all []Deployment
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	want := string(text[1 : len(text)-6])
	clear(text)
	equal(t, "raw", string(all[0].Raw), want)
	equal(t, "null", all[1].Raw, nil)
}
