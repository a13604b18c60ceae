package field

import "testing"

func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","source":"codehost","id":"123e4567-e89b-12d3-a456-426614174000"}`,
		`{"source_config":{"resource_spec":{"cpu":0.1,"memory_mb":2048.0,"labels":{"a":"","b":null},"image_pull_secrets":[],"volumes":[{"name":"v","configMap":{"a":[1.50,null]},"emptyDir":{}}]}}}`,
		`{"source_config":{"resource_spec":{"sidecars":[{"command":[null,"a"],"envFrom":[{"a":1e3},null],"env":[{"valueFrom":{"<":"&"}}],"resources":{}}]},"listener_config":{}}}`,
		`{"source_revision_config":{"repo_ref":"main","repo_commit_sha":""},"secret_references":[{},null],"new_field":1}`,
		`{"source_config":null,"SOURCE_CONFIG":{"cpu":-0}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		tree, _ := ReadJSON(body)
		response, ok := tree.(map[string]any)
		if !ok {
			return
		}
		v, err := deployment.Decode(response)
		if err != nil {
			return
		}
		sent, err := deployment.Encode(v)
		if err != nil {
			return // an integer with a fraction
		}
		again, err := deployment.Decode(sent)
		if err != nil || !again.Equal(v) {
			t.Errorf("%s came back as %s, %v", v, again, err)
		}
	})
}
