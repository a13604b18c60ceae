//go:build unix

package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// A service may repeat a secret that it has, whatever it is asked for: then it
// is the state that knows the value, not the request.
func TestAccSecretsOfTheStateAreNotShown(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	eachKindOfSecrets(t, func(t *testing.T, writeOnly bool) {
		t.Helper()
		testSecretsOfTheStateAreNotShown(t, built, writeOnly)
	})
}

func testSecretsOfTheStateAreNotShown(t *testing.T, built string, writeOnly bool) {
	former, next := plant("the former value", "fOrMeRv4LuE"), plant("the new value", "nExTv4LuE")
	s := newService(t, fakeserver.Options{Extended: true})
	argument := "secrets = { TOKEN = var.token }"
	if writeOnly {
		argument = "secrets_wo = { TOKEN = var.token }\n  secrets_wo_version = var.number"
	}
	w := newWorkspace(t, built, "TF_VAR_token="+former.value)
	w.configure("variable \"token\" {\n  sensitive = true\n}\nvariable \"number\" {\n  default = 1\n}\n",
		s.provider("extended_operations = true", "max_retries = 0"), deployment("app", "internal_docker", argument))
	w.succeed("apply", "-auto-approve")

	quoting := func(status int, values ...planted) fakeserver.Fault {
		text := "quoted:"
		for _, p := range values {
			text += " " + p.value + " and " + asJSON(t, p.value)
		}
		return fakeserver.Fault{Status: status, Body: asJSON(t, map[string]any{"detail": text})}
	}
	// With secrets_wo only a create or a change knows values.
	if !writeOnly {
		s.Fail(fakeserver.ListDeployments, 1, quoting(http.StatusInternalServerError, former))
		w.refuse("Cannot read deployment .* 500 .*quoted", "plan")
		s.Fail(fakeserver.DeleteDeployment, 1, quoting(http.StatusConflict, former))
		w.refuse("Cannot delete deployment .* 409 .*quoted", "destroy", "-auto-approve")
	}
	w.env = append(w.env, "TF_VAR_token="+next.value, "TF_VAR_number=2")
	quoted := []planted{next}
	if !writeOnly {
		quoted = append(quoted, former)
	}
	s.Fail(fakeserver.UpdateDeployment, 1, quoting(http.StatusUnprocessableEntity, quoted...))
	w.refuse("Cannot change deployment .* 422 .*quoted", "apply", "-auto-approve")
	// The reading before a change tells of the values that it was to send.
	s.onList(2, quoting(http.StatusBadRequest, quoted...))
	w.refuse("Cannot change deployment .* 400 .*quoted", "apply", "-auto-approve")

	for _, p := range []planted{former, next} {
		if n := p.in(w.all.Bytes()); n > 0 {
			t.Errorf("%s is shown, %d times: %s", p.what, n, around(w.all.Bytes(), p))
		}
	}
	if !strings.Contains(w.all.String(), "(sensitive value)") {
		t.Error("nothing was hidden: the service quoted nothing")
	}
}

// onList has the nth list from now on fail.
func (s *service) onList(n int, f fakeserver.Fault) {
	for range n - 1 {
		s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: func() {}})
	}
	s.Fail(fakeserver.ListDeployments, 1, f)
}
