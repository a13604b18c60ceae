package provider_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// TestLives plays random lives through the protocol. SEED=… plays one, LIVES=… so
// many of random seeds.
func TestLives(t *testing.T) {
	t.Parallel()
	first, n := seeds(t, 30, 1)
	for seed := first; seed < first+n; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			playLife(t, seed, 12, newInProcess)
		})
	}
}

// seeds are the seeds of the lives to play: those from 1 on, unless the
// environment names one, or how many random ones. Of these, one in some is played.
func seeds(t *testing.T, n, oneIn uint64) (first, count uint64) {
	t.Helper()
	number := func(name string) uint64 {
		v, err := strconv.ParseUint(os.Getenv(name), 10, 64)
		if err != nil {
			t.Fatalf("%s: %s", name, err)
		}
		return v
	}
	switch {
	case os.Getenv("SEED") != "":
		return number("SEED"), 1
	case os.Getenv("LIVES") != "":
		return rand.Uint64() >> 16, number("LIVES") / oneIn
	}
	return 1, n
}

// inProcess is a player that calls the provider through the protocol, as Terraform
// does.
type inProcess struct {
	*testing.T
	s     *service
	i     *instance
	run   terraformRun
	saved plannedChange
}

func newInProcess(t *testing.T, s *service) player {
	t.Helper()
	return &inProcess{T: t, s: s, i: newInstance(t, nil)}
}

func (p *inProcess) plan(name, source string, arguments map[string]any, ignored []string) outcomeOfRun {
	p.Helper()
	p.run = newRun(p.T, p.s, allOperations)
	before := p.i.state
	reported := p.run.refresh(p.i)
	config := maps.Clone(arguments)
	config["name"], config["source"] = name, source
	p.saved = p.run.plan(p.i, config, ignored...)
	reported = append(reported, p.saved.diagnostics...)
	out := outcomeOfRun{failed: reported.HasError(), text: messages(reported)}
	if !out.failed {
		out.noop = !p.saved.replaces && p.saved.isNoop(p.i)
		out.clean = out.noop && before.Equal(p.i.state)
		out.text += "\n" + difference(p.i.state, p.saved.planned) + "\nrefreshed: " + difference(before, p.i.state)
	}
	return out
}

func (p *inProcess) apply(name, source string, arguments map[string]any, ignored []string) outcomeOfRun {
	p.Helper()
	if out := p.plan(name, source, arguments, ignored); out.failed || out.noop {
		return out
	}
	return p.applySaved()
}

func (p *inProcess) applySaved() outcomeOfRun {
	p.Helper()
	if !p.saved.replaces && p.saved.isNoop(p.i) {
		return outcomeOfRun{noop: true}
	}
	reported := p.run.apply(p.i, p.saved)
	return outcomeOfRun{failed: reported.HasError(), text: messages(reported)}
}

func (p *inProcess) destroy() outcomeOfRun {
	p.Helper()
	run := newRun(p.T, p.s, allOperations)
	reported := append(run.refresh(p.i), run.destroy(p.i)...)
	return outcomeOfRun{failed: reported.HasError(), text: messages(reported)}
}

func (p *inProcess) forget() { p.i.set(nil) }

func (p *inProcess) importID(id string) {
	p.Helper()
	r, reported := newRun(p.T, p.s, allOperations).plans.Import(typeName, id)
	p.expectNone(reported)
	p.i.set(r)
}

func (p *inProcess) expectNone(reported protocoltest.Diagnostics) {
	p.Helper()
	if len(reported) > 0 {
		p.Errorf("unexpected: %s", messages(reported))
	}
}

func (p *inProcess) managedIDs() []string {
	p.Helper()
	if p.i.resource == nil {
		return nil
	}
	return []string{textOf(p.T, attributesIn(p.T, p.i.state)["id"])}
}
