package field

import (
	"encoding/json"
	"math/big"
	"testing"
)

func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","source":"codehost","id":"123e4567-e89b-12d3-a456-426614174000"}`,
		`{"source_config":{"resource_spec":{"cpu":0.1,"memory_mb":2048.0,"labels":{"a":"","b":null},` +
			`"image_pull_secrets":[],"volumes":[{"name":"v","configMap":{"a":[1.50,null]},"emptyDir":{}}]}}}`,
		`{"source_config":{"resource_spec":{"sidecars":[{"command":[null,"a"],"envFrom":[{"a":1e3},null],` +
			`"env":[{"valueFrom":{"<":"&"}}],"resources":{}}]},"listener_config":{}}}`,
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
		again, err := deployment.Decode(deployment.Encode(v))
		if err != nil || !again.Equal(v) {
			t.Errorf("%s came back as %s, %v", v, again, err)
		}
	})
}

func FuzzLife(f *testing.F) {
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
			live(t, driven(data), allKinds)
		}
	})
}

func FuzzEqualJSON(f *testing.F) {
	for _, seed := range [][2]string{
		{`{}`, `{"a":null}`}, {`{"a":null}`, `{"a":[]}`}, {`{"a":1}`, `{"a":1.0,"b":2}`},
		{`{"a":[{"b":true}]}`, `{"a":[{"b":true,"c":1}]}`},
		{`{"a":1e9999999999}`, `{"a":1e9999999999}`}, {`{"a":0.1}`, `{"a":0.10000000000000001}`},
		{`{"a":{"b":""}}`, `{"a":{}}`}, {`{"a":"x"}`, `{"a":{}}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, textA, textB string) {
		a, errA := ReadJSON([]byte(textA))
		b, errB := ReadJSON([]byte(textB))
		if errA != nil || errB != nil {
			return
		}
		fs := Fields{{Name: "v", Kind: JSON{}}}
		satisfied := func(has, wanted any) bool { return fs.Satisfies(object{"v": has}, object{"v": wanted}, "") }
		equalJSON := fs[0].equal
		if equalJSON(a, b) != equalJSON(b, a) {
			t.Error("equality depends on the order")
		}
		if !equalJSON(a, a) || !satisfied(a, a) {
			t.Errorf("%s does not equal itself", textA)
		}
		if equalJSON(a, b) && !satisfied(a, b) {
			t.Errorf("%s equals %s, but does not satisfy it", textA, textB)
		}
		m := merger{fields: fs}
		if merged := m.merge(place{}.in("v"), fs[0], b, a, nil, nil); a != nil && !satisfied(merged, a) {
			t.Errorf("merged to %s, which does not satisfy %s", jsonOf(merged), textA)
		}
	})
}

// An integer is decoded as what it is, or not at all.
func FuzzInt64(f *testing.F) {
	for _, seed := range []string{"0", "-0", "2048.0", "2.048e3", "1.5", "1e999999999", "1e-999999999", "0e99",
		"9223372036854775808", "-9223372036854775808", "9007199254740993.0", "1e-400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := ReadJSON([]byte(text))
		number, isNumber := tree.(json.Number)
		if err != nil || !isNumber || len(number) > 400 {
			return
		}
		if (Int64{}).check(number) != nil {
			return
		}
		v := Int64{}.decode(number)
		var got *big.Float
		if err := v.As(&got); err != nil {
			t.Fatal(err)
		}
		want, ok := new(big.Rat).SetString(number.String())
		if exact, _ := got.Rat(nil); ok && want.Cmp(exact) != 0 {
			t.Fatalf("%s: %s", number, got)
		}
	})
}
