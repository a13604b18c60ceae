//go:build unix

package provider_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// A configuration that does not fit what is imported plans a replacement. What
// becomes of the old deployment is said at plan; one that is to be abandoned is
// not deleted.
func TestAccReplacementSaysWhatBecomesOfTheOld(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker"})
	for name, c := range map[string]struct {
		setting, name, source, more string
		says                        string
		refused                     bool
	}{
		"another source":                     {extended, `"app"`, "internal_source", "", `Deployment "app" will be deleted .*A new source replaces deployment "app" \(` + id + `\).*set source to "internal_docker"`, false},
		"another name":                       {extended, `"other"`, "internal_docker", "", `Deployment "app" will be deleted .*A new name replaces deployment "app" \(` + id + `\).*set name to "app"`, false},
		"a name that is not known":           {extended, `terraform_data.late.output`, "internal_docker", "", `Deployment "app" will be deleted .*A new name`, false},
		"to be abandoned":                    {extended, `"app"`, "internal_source", `deletion_policy = "abandon"`, `The deployment would be deleted .*deletion_policy = "abandon" holds only from the apply on that puts it into the state`, true},
		"to be kept by Terraform":            {extended, `"app"`, "internal_source", "lifecycle {\n    prevent_destroy = true\n  }", `prevent_destroy`, true},
		"another name without operations":    {"", `"other"`, "internal_docker", "", `Deployment "app" keeps running`, false},
		"an unknown name without operations": {"", `terraform_data.late.output`, "internal_docker", "", `Deployment "app" keeps running`, false},
		"another source without operations":  {"", `"app"`, "internal_source", "", `A replacement needs a new name`, true},
		"to be abandoned without operations": {"", `"other"`, "internal_docker", `deletion_policy = "abandon"`, `Deployment "app" keeps running`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, built)
			w.configure(s.provider(c.setting), fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\nresource \"terraform_data\" \"late\" {\n  input = \"app\"\n}\nresource %q \"this\" {\n  name   = %s\n  source = %q\n  %s\n}\n",
				this, id, typeName, c.name, c.source, c.more))
			if c.refused {
				w.refuse(c.says, "plan")
				return
			}
			out := unwrapped(w.succeed("plan"))
			if !regexp.MustCompile(c.says).MatchString(out) || !strings.Contains(out, "1 to import, 2 to add, 0 to change, 1 to destroy") {
				t.Errorf("want a replacement that says %q:\n%s", c.says, out)
			}
		})
	}
	t.Cleanup(func() {
		for _, r := range s.Requests() {
			if r.Method != http.MethodGet {
				t.Errorf("a plan sent %s %s", r.Method, r.Path)
			}
		}
	})
}

// Of a replacement for a reason outside the configuration Terraform tells the
// provider only that there is something to create. Where the old deployment
// would keep the name, the plan refuses it all the same, and nothing is lost.
func TestAccReplacementUnderTheSameName(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for name, c := range map[string]struct {
		setting, argument string
		taint, refused    bool
	}{
		"-replace":                           {"", "", false, true},
		"tainted":                            {"", "", true, true},
		"-replace of what is to be kept":     {extended, `deletion_policy = "abandon"`, false, true},
		"-replace where it is deleted first": {extended, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Extended: true})
			w := newWorkspace(t, built)
			config, _, _ := strings.Cut(deployment("app", "internal_docker", c.argument), "output ")
			w.configure(s.provider(c.setting), config)
			w.succeed("apply", "-auto-approve")
			id := s.stored(t)["id"]
			args := []string{"apply", "-auto-approve"}
			if c.taint {
				w.succeed("taint", this)
			} else {
				args = append(args, "-replace="+this)
			}
			out, status := w.run(args...)
			if refused := status != 0 && strings.Contains(out, "A replacement needs a new name"); refused != c.refused {
				t.Errorf("refused: %t, want %t:\n%s", refused, c.refused, out)
			}
			if same := s.stored(t)["id"] == id; same != c.refused {
				t.Errorf("the same deployment: %t, want %t", same, c.refused)
			}
			if c.taint {
				w.succeed("untaint", this)
			}
			assertOneDeployment(t, w, s)
			w.succeed("plan", "-detailed-exitcode")
		})
	}
}
