//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// latency is how long the service takes to answer.
const latency = 50 * time.Millisecond

// parallelism is how many resources Terraform works on at once by default.
const parallelism = 10

// benchmark is one run of all measurements.
type benchmark struct {
	sizes
	providers
	*program
	began time.Time
	rows  []row

	many, few              string           // folders with a configuration and its state
	manyTrees, fewTrees    []map[string]any // what the service keeps of them
	planned, planUnread    measured         // of many, with and without reading
	plannedSingly          measured         // of many, read one by one
	mostOpened, mostSingly int              // connections of one run
}

const resources = `terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

resource "graphdeploy_deployment" "app" {
  count  = %d
  name   = format("%s-%%05d", count.index)
  source = "external_docker"
  source_config = {
    resource_spec = {
      min_scale = 1
      max_scale = 3
      cpu       = 0.5
      memory_mb = 1024
      labels    = { team = "search" }
    }
  }
  source_revision_config = {
    image_uri = "registry.example/app:1.0"
  }
}
`

// work makes a folder with a configuration.
func (b *benchmark) work(name, configuration string) (string, error) {
	folder := filepath.Join(b.folder, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, "main.tf"), []byte(configuration), 0o600)
}

// prepare makes the states, with a service that answers at once.
func (b *benchmark) prepare(ctx context.Context) (err error) {
	b.say("%d and %d deployments are made, to plan them later", b.state, b.sizes.few)
	b.many, b.manyTrees, err = b.made(ctx, "many", b.state)
	if err == nil {
		b.few, b.fewTrees, err = b.made(ctx, "few", b.sizes.few)
	}
	return err
}

func (b *benchmark) made(ctx context.Context, name string, n int) (string, []map[string]any, error) {
	folder, err := b.work(name, fmt.Sprintf(resources, n, name))
	if err != nil {
		return "", nil, err
	}
	s, err := serve(fakeserver.New(fakeserver.Options{}))
	if err != nil {
		return "", nil, err
	}
	defer s.close()
	_, err = b.run(ctx, provider{binary: b.ours.binary}, s, folder, "apply", "-auto-approve")
	return folder, s.Deployments(), err
}

// serving is a service with the given deployments scattered among others, n in
// all.
func serving(options fakeserver.Options, n int, trees ...map[string]any) (*service, error) {
	fake := fakeserver.New(options)
	for i := range n {
		// Of every n/len(trees), the last is one of the given.
		if before, now := i*len(trees)/n, (i+1)*len(trees)/n; now > before {
			fake.SeedDeployment(trees[before])
		} else {
			fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("other-%06d", i)})
		}
	}
	return serve(fake)
}

// opened remembers how many connections were opened at most.
func (b *benchmark) opened(ours, singly measured) {
	b.mostOpened = max(b.mostOpened, ours.connections)
	b.mostSingly = max(b.mostSingly, singly.connections)
}

// plans is the plan of all that the service has: wall time, against the same
// plan without reading and with reading one by one.
func (b *benchmark) plans(ctx context.Context) error {
	b.say("plans of %d of %[1]d", b.state)
	s, err := serving(fakeserver.Options{Latency: latency}, b.state, b.manyTrees...)
	if err != nil {
		return err
	}
	defer s.close()
	var ours, unread, singly []measured
	for range b.rounds {
		for _, each := range []struct {
			with provider
			args []string
			to   *[]measured
		}{{b.ours, []string{"-refresh=false"}, &unread}, {b.ours, nil, &ours}, {b.providers.singly, nil, &singly}} {
			m, err := b.plan(ctx, each.with, s, b.many, each.args...)
			if err != nil {
				return err
			}
			*each.to = append(*each.to, m)
		}
	}
	b.planned, b.planUnread = middle(ours), middle(unread)
	alone := middle(singly)
	b.plannedSingly = alone
	b.opened(b.planned, alone)
	what := fmt.Sprintf("plan, %s in state, %[1]s in the service", number(b.state))
	most := 0
	for _, m := range ours {
		most = max(most, len(m.requests))
	}
	b.add(what+": requests", "at most 30", fmt.Sprint(most), fmt.Sprint(len(alone.requests)), most <= 30)
	limit := b.planUnread.wall + 1500*time.Millisecond
	b.add(what+": wall", fmt.Sprintf("at most %s (%s with `-refresh=false`, + 1.5 s)", seconds(limit), seconds(b.planUnread.wall)),
		seconds(b.planned.wall), seconds(alone.wall), b.planned.wall <= limit)
	b.add(what+": peak memory of the provider", "measured", megabytes(b.planned), megabytes(alone), true)
	return nil
}

// crowd is plans of a few in a large service.
func (b *benchmark) crowd(ctx context.Context) error {
	b.say("plans of %d and of %d of %d", b.sizes.few, b.state, b.service)
	trees := append(append([]map[string]any{}, b.fewTrees...), b.manyTrees...)
	s, err := serving(fakeserver.Options{Latency: latency}, b.service, trees...)
	if err != nil {
		return err
	}
	defer s.close()
	for _, c := range []struct {
		n, most int
		folder  string
		goal    string
	}{
		{b.sizes.few, 6, b.few, "at most 6"},
		{b.state, 2 * b.state / parallelism, b.many, fmt.Sprintf("at most %d: twice those of %d ids each", 2*b.state/parallelism, parallelism)},
	} {
		ours, err := b.plan(ctx, b.ours, s, c.folder)
		if err != nil {
			return err
		}
		alone, err := b.plan(ctx, b.providers.singly, s, c.folder)
		if err != nil {
			return err
		}
		b.opened(ours, alone)
		b.add(fmt.Sprintf("plan, %s in state, %s in the service: requests", number(c.n), number(b.service)), c.goal,
			fmt.Sprintf("%d (%d of them pages read ahead), %s", len(ours.requests), ours.count(isAhead), seconds(ours.wall)),
			fmt.Sprintf("%d, %s", len(alone.requests), seconds(alone.wall)), len(ours.requests) <= c.most)
	}
	return nil
}

// limited is a plan in a service that allows 120 requests a minute. One by one
// it would take minutes, and is left out.
func (b *benchmark) limited(ctx context.Context) error {
	b.say("a plan of %d, 120 requests a minute allowed", b.state)
	s, err := serving(fakeserver.Options{Latency: latency, RateLimit: 120}, b.state, b.manyTrees...)
	if err != nil {
		return err
	}
	defer s.close()
	ours, err := b.plan(ctx, b.ours, s, b.many)
	if err != nil {
		return err
	}
	refused := ours.count(isRefused)
	b.add(fmt.Sprintf("plan, %s in state, 120 requests a minute allowed", number(b.state)), "succeeds, none refused (429)",
		fmt.Sprintf("succeeds, %d refused, %s", refused, seconds(ours.wall)), "not run: it takes minutes", refused == 0)
	return nil
}

// creates is an apply that makes deployments and waits for them.
func (b *benchmark) creates(ctx context.Context) error {
	b.say("applies that create %d", b.sizes.creates)
	apply := func(name string, with provider) (measured, error) {
		folder, err := b.work(name, fmt.Sprintf(resources, b.sizes.creates, "new"))
		if err != nil {
			return measured{}, err
		}
		s, err := serve(fakeserver.New(fakeserver.Options{Latency: latency, ReadyAfter: time.Second}))
		if err != nil {
			return measured{}, err
		}
		defer s.close()
		if _, err := b.run(ctx, with, s, folder, "plan", "-out=made.tfplan"); err != nil {
			return measured{}, err
		}
		return b.run(ctx, with, s, folder, "apply", "made.tfplan")
	}
	ours, err := apply("creates", b.ours)
	if err != nil {
		return err
	}
	alone, err := apply("creates-singly", b.providers.singly)
	if err != nil {
		return err
	}
	b.opened(ours, alone)
	show := func(m measured) string {
		return fmt.Sprintf("%.2f (%d looks for the name, %d creates) and %d polls, %s",
			float64(len(m.requests)-m.count(byID))/float64(b.sizes.creates), m.count(byName), m.count(isCreate), m.count(byID), seconds(m.wall))
	}
	ok := len(ours.requests)-ours.count(byID) <= 2*b.sizes.creates && ours.count(byID)*2 <= alone.count(byID)
	b.add(fmt.Sprintf("apply that creates %d, ready after 1 s: requests each", b.sizes.creates),
		"at most 2, and the polls shared (half of those one by one, or fewer)", show(ours), show(alone), ok)
	return nil
}

const listing = `terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

data "graphdeploy_deployments" "all" {}

output "found" {
  value = length(data.graphdeploy_deployments.all.deployments)
}
`

// dataSource lists many deployments. What is read one by one does not matter
// to it.
func (b *benchmark) dataSource(ctx context.Context) error {
	b.say("a data source over %d", b.listed)
	folder, err := b.work("listing", listing)
	if err != nil {
		return err
	}
	s, err := serving(fakeserver.Options{Latency: latency}, b.listed, b.manyTrees...)
	if err != nil {
		return err
	}
	defer s.close()
	ours, err := b.run(ctx, b.ours, s, folder, "plan")
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("+ found = %d", b.listed); !strings.Contains(ours.output, want) {
		return fmt.Errorf("the data source did not find %d:\n%s", b.listed, tail(ours.output))
	}
	b.opened(ours, measured{})
	what, most := "data source over "+number(b.listed), b.listed/100+1
	b.add(what+": requests", fmt.Sprintf("at most %d", most), fmt.Sprintf("%d, %s", len(ours.requests), seconds(ours.wall)), "", len(ours.requests) <= most)
	b.add(what+": peak memory of the provider", "under 200 MB", megabytes(ours), "", ours.provider.memory < 200_000_000)
	return nil
}

func megabytes(m measured) string { return fmt.Sprintf("%d MB", m.provider.memory/1_000_000) }

const things = `terraform {
  required_providers {
    minimal = {
      source = "graphdeploy/minimal"
    }
  }
}

resource "minimal_thing" "all" {
  count = %d
  a     = "app-${count.index}"
  b     = "external_docker"
  c     = "registry.example/app:1.0"
  e     = 1
  f     = 1024
  g     = true
}
`

// processor compares the processor time of the plan with that of the same plan
// when the framework goes over every deployment in full, and there with that of
// a plan of as many narrow resources: the rest is the wide schema's.
func (b *benchmark) processor(ctx context.Context) error {
	b.say("plans of %d by the framework alone, and of as many narrow resources, to compare the processor time", b.state)
	s, err := serving(fakeserver.Options{Latency: latency}, b.state, b.manyTrees...)
	if err != nil {
		return err
	}
	defer s.close()
	full, err := b.plan(ctx, b.inFull, s, b.many)
	if err != nil {
		return err
	}
	folder, err := b.work("things", fmt.Sprintf(things, b.state))
	if err != nil {
		return err
	}
	if _, err := b.run(ctx, b.minimal, nil, folder, "apply", "-auto-approve"); err != nil {
		return err
	}
	narrow, err := b.plan(ctx, b.minimal, nil, folder)
	if err != nil {
		return err
	}
	each := func(m measured) float64 { return float64(m.provider.cpu.Microseconds()) / 1000 / float64(b.state) }
	b.say("the provider was started %d times in a plan", b.planned.provider.processes)
	what := "provider's processor time, plan of " + number(b.state) + ": each"
	b.add(what, "measured", fmt.Sprintf("%.2f ms; %.2f ms with `-refresh=false`", each(b.planned), each(b.planUnread)), fmt.Sprintf("%.2f ms", each(b.plannedSingly)), true)
	b.add(what+", by the framework alone", "measured", fmt.Sprintf("%.2f ms; %.2f ms for a narrow resource that asks no service, so that the wide schema and reading account for %.0f %%",
		each(full), each(narrow), 100*(1-each(narrow)/each(full))), "", true)
	return nil
}

// startUp compares the time until the schema is there.
func (b *benchmark) startUp(ctx context.Context) error {
	b.say("start-up")
	took, err := startUps(ctx, b.folder, b.starts, b.ours.binary, b.minimal.binary)
	if err != nil {
		return err
	}
	ratio := float64(took[0]) / float64(took[1])
	b.add("start-up to schema", "at most 1.3 × a minimal provider's", fmt.Sprintf("%.2f × (%d ms, %d ms)", ratio, took[0].Milliseconds(), took[1].Milliseconds()), "", ratio <= 1.3)
	return nil
}

func (b *benchmark) connections() {
	b.add("connections opened, at most in any case", fmt.Sprintf("at most %d", parallelism), fmt.Sprint(b.mostOpened), fmt.Sprint(b.mostSingly), b.mostOpened <= parallelism)
}
