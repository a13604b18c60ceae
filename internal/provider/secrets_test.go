package provider

import (
	"slices"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

func deploymentWith(secrets ...client.Secret) *client.Deployment {
	return &client.Deployment{Secrets: secrets}
}

// The question that decides everything.
func TestSentSecrets_shownIn(t *testing.T) {
	t.Parallel()
	a, b, empty := client.Secret{Name: "A", Value: "one"}, client.Secret{Name: "B", Value: "two"}, client.Secret{Name: "C"}
	mask, accented := client.Secret{Name: "A", Value: "********"}, client.Secret{Name: "e\u0301", Value: "x"}
	for name, c := range map[string]struct {
		sent     secretValues
		response []client.Secret
		want     bool
	}{
		"as sent":                 {secretValues{"A": "one"}, []client.Secret{a}, true},
		"with others":             {secretValues{"A": "one"}, []client.Secret{a, b}, true},
		"with an empty one":       {secretValues{"A": "one", "C": ""}, []client.Secret{a, empty}, true},
		"only an empty one":       {secretValues{"C": ""}, []client.Secret{empty}, false},
		"one of two":              {secretValues{"A": "one", "B": "two"}, []client.Secret{a}, false},
		"one of two masked":       {secretValues{"A": "one", "B": "two"}, []client.Secret{mask, b}, false},
		"a mask":                  {secretValues{"A": "one"}, []client.Secret{mask}, false},
		"nothing managed":         {secretValues{}, []client.Secret{a}, false},
		"a name in another form":  {secretValues{"\u00e9": "x"}, []client.Secret{accented}, true},
		"a value without a name":  {secretValues{"A": "one"}, []client.Secret{{Value: "one"}}, false},
		"a null entry in a state": {nil, []client.Secret{a}, false},
	} {
		sent, key := c.sent.sent(), []byte("key")
		if c.sent == nil {
			sent = &sentSecrets{names: []string{"A"}, values: secretValues{}, drifted: true}
		}
		live := secretsIn(deploymentWith(c.response...))
		if got := sent.shownIn(live); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
		if c.sent == nil {
			continue
		}
		recorded := newSentSecrets(c.sent, deploymentWith(c.response...), key)
		recorded.addDigests()
		if got := recorded.shownIn(live); got != c.want || recorded.Shown != c.want {
			t.Errorf("%s: with digests %t, recorded %t, want %t", name, got, recorded.Shown, c.want)
		}
	}
}

func TestSentSecrets_digests(t *testing.T) {
	t.Parallel()
	values, d := secretValues{"A": "one", "B": "one"}, deploymentWith(client.Secret{Name: "A", Value: "one"})
	digested := func(credential []byte) *sentSecrets {
		sent := newSentSecrets(values, d, credential)
		sent.addDigests()
		return sent
	}
	first, second, plain := digested([]byte("key")), digested([]byte("key")), digested(nil)
	if first.Digests["A"] == first.Digests["B"] || first.Digests["A"] == second.Digests["A"] {
		t.Error("equal values can be seen")
	}
	if !slices.Equal([]string{plain.Digests["A"], plain.Digests["B"], plain.Key}, []string{"", "", ""}) ||
		len(plain.Digests) != 2 {
		t.Errorf("without a credential, the digests are %v", plain.Digests)
	}
	if inState := newSentSecrets(values, d, []byte("key")); inState.Digests != nil ||
		!slices.Equal(inState.Listed, []string{"A"}) {
		t.Errorf("of values that are in the state, %+v is recorded", inState)
	}
	first.credential = []byte("other")
	if first.matches(values, "A") || first.comparable() {
		t.Error("digests of another credential are compared")
	}
}

// After a lost response to a create, a deployment is only taken for the created one
// if its secrets can be those of the request.
func TestCreatedWith(t *testing.T) {
	t.Parallel()
	a, b, mask := client.Secret{Name: "A", Value: "one"}, client.Secret{Name: "B", Value: "two"},
		client.Secret{Name: "A", Value: "********"}
	for name, c := range map[string]struct {
		sent     secretValues
		response []client.Secret
		want     bool
	}{
		"as sent":              {secretValues{"A": "one"}, []client.Secret{a}, true},
		"masked":               {secretValues{"A": "one"}, []client.Secret{mask}, true},
		"one as sent, one not": {secretValues{"A": "one", "B": "three"}, []client.Secret{a, b}, false},
		"one is missing":       {secretValues{"A": "one", "B": "two"}, []client.Secret{mask}, false},
		"none asked for":       {nil, []client.Secret{a}, false},
		"none":                 {nil, nil, true},
	} {
		if got := c.sent.createdWith(deploymentWith(c.response...)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
