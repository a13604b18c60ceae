package field

import (
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","source":"codehost","id":"123e4567-e89b-12d3-a456-426614174000","secrets":[{"name":"a","value":"b"}]}`,
		`{"source_config":{"resource_spec":{"cpu":0.1,"memory_mb":2048.0,"labels":{"a":"","b":null},"image_pull_secrets":[],"volumes":[{"name":"v","configMap":{"a":[1.50,null]},"emptyDir":{},"secret":null}]}}}`,
		`{"source_config":{"resource_spec":{"sidecars":[{"command":[null,"a"],"envFrom":[{"a":1e3},null],"env":[{"valueFrom":{"<":"&"}}],"resources":{},"volumeMounts":[{"readOnly":false}]}]},"listener_config":{}}}`,
		`{"source_revision_config":{"repo_ref":"main","repo_commit_sha":""},"secret_references":[{},null],"created_at":"2025-01-02T03:04:05Z","new_field":1}`,
		`{"source_config":null,"secret_references":null,"status":"NEW","SOURCE_CONFIG":{"Resource_Spec":{"cpu":-0}}}`,
		"{\"source_config\":{\"resource_spec\":{\"volumes\":[{\"nfs\":{\"a\":\"\xff\",\"a\":2}}]}}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var response client.Deployment
		if json.Unmarshal(body, &response) == nil {
			assertRoundTrip(t, response)
		}
	})
}

func FuzzPlan(f *testing.F) {
	for seed := range uint64(6) {
		g := seeded(seed)
		data := make([]byte, 400+g.pick(2))
		for i := range data {
			data[i] = byte(g.pick(256))
		}
		f.Add(data, seed%2 == 0)
	}
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, data []byte, all bool) {
		if all {
			live(t, driven(data), deployment)
		} else {
			live(t, driven(data), kinds)
		}
	})
}

func FuzzSameJSON(f *testing.F) {
	for _, seed := range [][2]string{
		{`{}`, `null`}, {`{"a":null}`, `{"a":[]}`}, {`{"a":1}`, `{"a":1.0,"b":2}`}, {`{"a":[{"b":true}]}`, `{"a":[{"b":true,"c":1}]}`},
		{`{"a":1e9999999999}`, `{"a":1e9999999999}`}, {`{"a":0.1}`, `{"a":0.10000000000000001}`}, {`{"a":{"b":""}}`, `{"a":{}}`}, {`{"a":"x"}`, `{"a":{}}`}, {`[`, `{`}, {`{"a":1} 2`, `{"a":1}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		field := Field{Name: "v", Kind: JSON}
		va, vb := tftypes.NewValue(tftypes.String, a), tftypes.NewValue(tftypes.String, b)
		if field.same(va, vb) != field.same(vb, va) {
			t.Error("same depends on the order")
		}
		if field.empty(va) && field.empty(vb) && !field.same(va, vb) {
			t.Error("nothing is not the same as nothing")
		}
		if !json.Valid([]byte(a)) {
			return
		}
		if !field.covers(va, va) {
			t.Error("does not cover itself")
		}
		decoded, err := field.decode(readTree(t, []byte(a)))
		if err != nil {
			t.Fatal(err)
		}
		if decoded.IsNull() {
			return
		}
		if !field.same(va, decoded) {
			t.Errorf("%s is not the same as %s", a, text(decoded))
		}
	})
}
