//go:build unix

package provider_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAccLives plays random lives with the real Terraform: see TestLives, which
// plays many more.
func TestAccLives(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	first, n := seeds(t, 10, 20)
	for seed := first; seed < first+n; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			playLife(t, seed, 4, func(t *testing.T, s *service) player {
				return &inTerraform{newWorkspace(t, built), s}
			})
		})
	}
}

// inTerraform is a player that runs Terraform.
type inTerraform struct {
	*workspace
	s *service
}

func (p *inTerraform) write(name, source string, arguments map[string]any, ignored []string) {
	var lines []string
	for name, value := range arguments {
		lines = append(lines, fmt.Sprintf("%s = %s", name, inJSON(value))) // a valid expression
	}
	slices.Sort(lines)
	lines = append(lines, fmt.Sprintf("lifecycle {\n ignore_changes = [%s]\n}", strings.Join(ignored, ", ")))
	// The timeout is also how long a lost write is looked for.
	p.configure(p.s.provider(`request_timeout = "1s"`), deployment(name, source, lines...))
}

func (p *inTerraform) plan(name, source string, arguments map[string]any, ignored []string) outcomeOfRun {
	p.write(name, source, arguments, ignored)
	out, status := p.run("plan", "-out=saved", "-detailed-exitcode")
	return outcomeOfRun{failed: status == 1, clean: status == 0, noop: status == 0 || !strings.Contains(out, "Plan: "),
		text: out}
}

func (p *inTerraform) apply(name, source string, arguments map[string]any, ignored []string) outcomeOfRun {
	p.write(name, source, arguments, ignored)
	return p.applied("apply", "-auto-approve")
}

func (p *inTerraform) applySaved() outcomeOfRun { return p.applied("apply", "saved") }

func (p *inTerraform) applied(args ...string) outcomeOfRun {
	out, status := p.run(args...)
	return outcomeOfRun{failed: status != 0, noop: strings.Contains(out, "0 added, 0 changed, 0 destroyed"), text: out}
}

func (p *inTerraform) destroy() outcomeOfRun { return p.applied("destroy", "-auto-approve") }

func (p *inTerraform) forget() { p.succeed("state", "rm", this) }

func (p *inTerraform) importID(id string) { p.succeed("import", this, id) }

func (p *inTerraform) managedIDs() (ids []string) {
	for id := range p.managed() {
		ids = append(ids, id)
	}
	return ids
}
