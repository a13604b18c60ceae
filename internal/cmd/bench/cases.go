//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

const (
	latency     = 50 * time.Millisecond // of each response of the service
	parallelism = 10                    // resource operations that Terraform runs at once by default
	listMax     = 500                   // environment variables of a container; a list may have 1,000 items

	// Goals. Times are compared within one run, because machines differ.
	fastPathGoal       = 0.55 // a plan, as a part of the same plan without the fast path
	refreshGoal        = 1.4  // a plan, as a multiple of the same plan with -refresh=false
	variablesGoal      = 4.5  // a plan of four times as many variables, as a multiple
	startUpGoal        = 1.5  // the start-up, as a multiple of that of a minimal provider
	planRequestsGoal   = 30   // of a plan of all deployments
	growthRequestsGoal = 150  // of a plan of five times as many
	createRequestsGoal = 2.1  // for each deployment, without polls
	planLinesGoal      = 47
)

// benchmark is one run of all measurements.
type benchmark struct {
	*program
	sizes     sizes
	providers providers
	started   time.Time
	rows      []row

	many, few                               workspace
	planned, unrefreshed, unbatched         measured // plans of many
	frameworkOnly, frameworkOnlyUnrefreshed measured // the same by the framework only, and without refresh
	connections, connectionsUnbatched       int      // highest of all runs
}

// workspace is a folder with a configuration and its state.
type workspace struct {
	folder      string
	deployments []map[string]any // as the service stores them
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

// newFolder creates a folder with a configuration.
func (b *benchmark) newFolder(name, configuration string) (string, error) {
	folder := filepath.Join(b.folder, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, "main.tf"), []byte(configuration), 0o600)
}

// prepare creates the states that several measurements plan.
func (b *benchmark) prepare(ctx context.Context) (err error) {
	if b.many, err = b.newWorkspace(ctx, "many", b.sizes.many); err == nil {
		b.few, err = b.newWorkspace(ctx, "few", b.sizes.few)
	}
	return err
}

// newWorkspace creates a configuration and a state with n deployments. Terraform creates the first one, with a service
// without latency; the others are copies of it, because Terraform would need a quarter of an hour for 5,000.
func (b *benchmark) newWorkspace(ctx context.Context, name string, n int) (w workspace, err error) {
	b.logf("creating a state of %d", n)
	if w.folder, err = b.newFolder(name, fmt.Sprintf(resources, 1, name)); err != nil {
		return w, err
	}
	s, err := serve(fakeserver.New(fakeserver.Options{}))
	if err != nil {
		return w, err
	}
	defer s.close()
	if _, err = b.run(ctx, provider{binary: b.providers.batched.binary}, s, w.folder, "apply",
		"-auto-approve"); err != nil {
		return w, err
	}
	first, stateFile := s.Deployments()[0], filepath.Join(w.folder, "terraform.tfstate")
	var state struct {
		Version          int            `json:"version"`
		TerraformVersion string         `json:"terraform_version"`
		Serial           int            `json:"serial"`
		Lineage          string         `json:"lineage"`
		Outputs          map[string]any `json:"outputs"`
		Resources        []struct {
			Mode      string            `json:"mode"`
			Type      string            `json:"type"`
			Name      string            `json:"name"`
			Provider  string            `json:"provider"`
			Instances []json.RawMessage `json:"instances"`
		} `json:"resources"`
		CheckResults any `json:"check_results"`
	}
	text, err := os.ReadFile(stateFile)
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return w, err
	}
	template := string(state.Resources[0].Instances[0])
	state.Resources[0].Instances = nil
	for i := range n {
		d := maps.Clone(first)
		d["id"], d["name"] = uuid.NewString(), fmt.Sprintf("%s-%05d", name, i)
		w.deployments = append(w.deployments, d)
		state.Resources[0].Instances = append(state.Resources[0].Instances, json.RawMessage(strings.NewReplacer(
			fmt.Sprint(first["id"]), fmt.Sprint(d["id"]), fmt.Sprint(first["name"]), fmt.Sprint(d["name"]),
			`"index_key": 0`, fmt.Sprintf(`"index_key": %d`, i)).Replace(template)))
	}
	if text, err = json.Marshal(state); err == nil {
		err = os.WriteFile(stateFile, text, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(w.folder, "main.tf"), fmt.Appendf(nil, resources, n, name), 0o600)
	}
	return w, err
}

// serveAmong serves n deployments: the given ones, evenly distributed among others.
func serveAmong(options fakeserver.Options, n int, given ...map[string]any) (*service, error) {
	fake := fakeserver.New(options)
	for i := range n {
		if before, now := i*len(given)/n, (i+1)*len(given)/n; now > before {
			fake.SeedDeployment(given[before])
		} else {
			fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("other-%06d", i)})
		}
	}
	return serve(fake)
}

// variant is one way to plan.
type variant struct {
	provider provider
	args     []string
}

// compare plans with each variant in turn, several rounds. It returns the median run of each.
func (b *benchmark) compare(ctx context.Context, s *service, folder string, rounds int,
	variants ...variant,
) ([]measured, error) {
	runs := make([][]measured, len(variants))
	for range rounds {
		for i, v := range variants {
			m, err := b.plan(ctx, v.provider, s, folder, v.args...)
			if err != nil {
				return nil, err
			}
			runs[i] = append(runs[i], m)
		}
	}
	medians := make([]measured, len(variants))
	for i := range runs {
		medians[i] = medianRun(runs[i])
	}
	return medians, nil
}

func (b *benchmark) recordConnections(batched, unbatched measured) {
	b.connections = max(b.connections, batched.connections)
	b.connectionsUnbatched = max(b.connectionsUnbatched, unbatched.connections)
}

// addRatio adds a row that compares two durations of this run.
func (b *benchmark) addRatio(name string, goal float64, measured, compared time.Duration) {
	ratio := measured.Seconds() / compared.Seconds()
	b.add(name, fmt.Sprintf("at most %.2f", goal),
		fmt.Sprintf("%.2f (%s, %s)", ratio, seconds(measured), seconds(compared)), "", ratio <= goal)
}

// addWall adds a row for the wall time of a plan.
func (b *benchmark) addWall(name string, batched, unbatched measured) {
	b.add(name+": wall time", "", seconds(batched.wall), seconds(unbatched.wall), true)
}

// plans measures plans of all deployments of the service.
func (b *benchmark) plans(ctx context.Context) error {
	b.logf("plans of %d in %[1]d", b.sizes.many)
	s, err := serveAmong(fakeserver.Options{Latency: latency}, b.sizes.many, b.many.deployments...)
	if err != nil {
		return err
	}
	defer s.close()
	unrefreshed := []string{"-refresh=false"}
	runs, err := b.compare(ctx, s, b.many.folder, b.sizes.rounds,
		variant{b.providers.batched, unrefreshed}, variant{b.providers.batched, nil}, variant{b.providers.unbatched, nil},
		variant{b.providers.frameworkOnly, unrefreshed}, variant{b.providers.frameworkOnly, nil})
	if err != nil {
		return err
	}
	b.unrefreshed, b.planned, b.unbatched = runs[0], runs[1], runs[2]
	b.frameworkOnlyUnrefreshed, b.frameworkOnly = runs[3], runs[4]
	b.recordConnections(b.planned, b.unbatched)
	name := planOf(b.sizes.many, b.sizes.many)
	b.add(name+": requests", fmt.Sprintf("at most %d", planRequestsGoal),
		fmt.Sprint(b.planned.mostRequests), fmt.Sprint(b.unbatched.mostRequests), b.planned.mostRequests <= planRequestsGoal)
	b.addWall(name, b.planned, b.unbatched)
	b.addRatio(name+": wall time with and without the fast path", fastPathGoal, b.planned.wall, b.frameworkOnly.wall)
	b.addRatio(name+": wall time with and without refresh", refreshGoal, b.planned.wall, b.unrefreshed.wall)
	b.add(name+": peak memory of the provider", "", megabytes(b.planned), megabytes(b.unbatched), true)
	return nil
}

// growth measures a plan of several times as many deployments, once.
func (b *benchmark) growth(ctx context.Context) error {
	w, err := b.newWorkspace(ctx, "growth", b.sizes.more)
	if err != nil {
		return err
	}
	b.logf("plans of %d in %[1]d", b.sizes.more)
	s, err := serveAmong(fakeserver.Options{Latency: latency}, b.sizes.more, w.deployments...)
	if err != nil {
		return err
	}
	defer s.close()
	runs, err := b.compare(ctx, s, w.folder, 1, variant{b.providers.batched, []string{"-refresh=false"}},
		variant{b.providers.batched, nil}, variant{b.providers.unbatched, nil})
	if err != nil {
		return err
	}
	unrefreshed, batched, unbatched := runs[0], runs[1], runs[2]
	b.recordConnections(batched, unbatched)
	name := planOf(b.sizes.more, b.sizes.more)
	b.add(name+": requests", fmt.Sprintf("at most %d", growthRequestsGoal),
		fmt.Sprint(batched.mostRequests), fmt.Sprint(unbatched.mostRequests), batched.mostRequests <= growthRequestsGoal)
	b.addWall(name, batched, unbatched)
	b.add(name+" with `-refresh=false`: wall time", "", seconds(unrefreshed.wall), "", true)
	b.add(name+": peak memory of the provider", "", megabytes(batched), megabytes(unbatched), true)
	return nil
}

func planOf(state, service int) string {
	return fmt.Sprintf("plan, %s in state, %s in the service", number(state), number(service))
}

// crowd measures plans of a few deployments of a large service.
func (b *benchmark) crowd(ctx context.Context) error {
	b.logf("plans of %d and of %d in %d", b.sizes.few, b.sizes.many, b.sizes.service)
	given := append(append([]map[string]any{}, b.few.deployments...), b.many.deployments...)
	s, err := serveAmong(fakeserver.Options{Latency: latency}, b.sizes.service, given...)
	if err != nil {
		return err
	}
	defer s.close()
	for _, c := range []struct {
		n, goal int
		folder  string
	}{
		{b.sizes.few, 6, b.few.folder},
		{b.sizes.many, 2 * b.sizes.many / parallelism, b.many.folder},
	} {
		runs, err := b.compare(ctx, s, c.folder, b.sizes.rounds, variant{b.providers.batched, nil},
			variant{b.providers.unbatched, nil})
		if err != nil {
			return err
		}
		batched, unbatched := runs[0], runs[1]
		b.recordConnections(batched, unbatched)
		name := planOf(c.n, b.sizes.service)
		b.add(name+": requests", fmt.Sprintf("at most %d", c.goal),
			fmt.Sprintf("%d (%d in the median run, %d of them pages read ahead)",
				batched.mostRequests, len(batched.requests), batched.count(isPage)),
			fmt.Sprint(unbatched.mostRequests), batched.mostRequests <= c.goal)
		b.addWall(name, batched, unbatched)
	}
	return nil
}

// limited measures a plan with a service that allows 120 requests a minute. Without batching it would take minutes.
func (b *benchmark) limited(ctx context.Context) error {
	b.logf("a plan of %d with 120 requests a minute", b.sizes.many)
	s, err := serveAmong(fakeserver.Options{Latency: latency}, b.sizes.many, b.many.deployments...)
	if err != nil {
		return err
	}
	defer s.close()
	s.Fail(fakeserver.AnyRoute, 120, fakeserver.Fault{})
	s.Fail(fakeserver.AnyRoute, -1,
		fakeserver.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"60"}}})
	m, err := b.plan(ctx, b.providers.batched, s, b.many.folder)
	if err != nil {
		return err
	}
	rejected := m.count(isRateLimited)
	b.add(fmt.Sprintf("plan, %s in state, rate limit of 120 requests a minute", number(b.sizes.many)),
		"succeeds, no request rejected (429)", fmt.Sprintf("succeeds, %d rejected, %s", rejected, seconds(m.wall)),
		"not run: takes minutes", rejected == 0)
	return nil
}

// creates measures applies that create deployments and wait until they run, with a service that reports the status of
// revisions and with one that does not.
func (b *benchmark) creates(ctx context.Context) error {
	options := fakeserver.Options{Latency: latency, ReadyAfter: time.Second, ActiveAfter: time.Second}
	if err := b.createsWith(ctx, "creates", "ready and active after 1 s", options); err != nil {
		return err
	}
	options.NoRevisionStatus = true
	return b.createsWith(ctx, "creates-without-status", "ready and active after 1 s, no status of revisions", options)
}

func (b *benchmark) createsWith(ctx context.Context, folder, service string, options fakeserver.Options) error {
	b.logf("applies that create %d, %s", b.sizes.created, service)
	apply := func(name string, with provider) (measured, error) {
		folder, err := b.newFolder(name, fmt.Sprintf(resources, b.sizes.created, "new"))
		if err != nil {
			return measured{}, err
		}
		s, err := serve(fakeserver.New(options))
		if err != nil {
			return measured{}, err
		}
		defer s.close()
		if _, err := b.run(ctx, with, s, folder, "plan", "-out=saved.tfplan"); err != nil {
			return measured{}, err
		}
		return b.run(ctx, with, s, folder, "apply", "saved.tfplan")
	}
	batched, err := apply(folder, b.providers.batched)
	if err != nil {
		return err
	}
	unbatched, err := apply(folder+"-unbatched", b.providers.unbatched)
	if err != nil {
		return err
	}
	b.recordConnections(batched, unbatched)
	each := func(m measured) float64 {
		return float64(len(m.requests)-m.count(isByID)-m.count(isRevision)) / float64(b.sizes.created)
	}
	describe := func(m measured) string {
		return fmt.Sprintf("%.2f (%d name lookups, %d creates), %d polls, %d reads of revisions, %s", each(m),
			m.count(isByName), m.count(isCreate), m.count(isByID), m.count(isRevision), seconds(m.wall))
	}
	met := each(batched) <= createRequestsGoal && batched.count(isByID)*2 <= unbatched.count(isByID)
	b.add(fmt.Sprintf("apply that creates %d, %s: requests per deployment", b.sizes.created, service),
		fmt.Sprintf("at most %.1f, and at most half of the polls that it takes without batching", createRequestsGoal),
		describe(batched), describe(unbatched), met)
	return nil
}

// planLines counts the lines of a plan that creates deployments.
func (b *benchmark) planLines(ctx context.Context) error {
	b.logf("a plan that creates %d", b.sizes.few)
	folder, err := b.newFolder("lines", fmt.Sprintf(resources, b.sizes.few, "new"))
	if err != nil {
		return err
	}
	s, err := serve(fakeserver.New(fakeserver.Options{}))
	if err != nil {
		return err
	}
	defer s.close()
	m, err := b.run(ctx, b.providers.batched, s, folder, "plan")
	if err != nil {
		return err
	}
	_, changes, begins := strings.Cut(m.output, "\n  # graphdeploy_deployment.app[")
	changes, _, ends := strings.Cut(changes, fmt.Sprintf("\nPlan: %d to add, 0 to change, 0 to destroy.", b.sizes.few))
	if !begins || !ends {
		return fmt.Errorf("the plan does not create %d:\n%s", b.sizes.few, tail(m.output))
	}
	lines := float64(strings.Count(changes, "\n")+1) / float64(b.sizes.few)
	b.add(fmt.Sprintf("plan that creates %d with six arguments each: lines per deployment", b.sizes.few),
		fmt.Sprintf("at most %d", planLinesGoal), fmt.Sprintf("%.1f", lines), "", lines <= planLinesGoal)
	return nil
}

const variables = `terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

resource "graphdeploy_deployment" "app" {
  name   = "large"
  source = "external_docker"
  source_config = {
    resource_spec = {
      sidecars = [for c in range(%d) : {
        name  = "sidecar-${c}"
        image = "registry.example/sidecar:1.0"
        env   = [for i in range(%d) : { name = format("VARIABLE_%%05d", i), value = "value ${i}" }]
      }]
    }
  }
  source_revision_config = {
    image_uri = "registry.example/app:1.0"
  }
}
`

// large measures deployments with many environment variables.
func (b *benchmark) large(ctx context.Context) error {
	var plans []time.Duration
	for _, n := range b.sizes.variables {
		b.logf("one deployment with %d environment variables", n)
		folder, err := b.newFolder(fmt.Sprintf("variables-%d", n), fmt.Sprintf(variables, n/listMax, listMax))
		if err != nil {
			return err
		}
		next, err := b.largeOf(ctx, folder, n)
		if err != nil {
			return err
		}
		plans = append(plans, next.wall)
	}
	fewest, most := b.sizes.variables[0], b.sizes.variables[len(plans)-1]
	b.addRatio(fmt.Sprintf("next plan, %s variables and %s: wall time", number(most), number(fewest)), variablesGoal,
		plans[len(plans)-1], plans[0])
	return nil
}

// largeOf plans and applies a deployment with n variables, and plans again. It returns the last plan.
func (b *benchmark) largeOf(ctx context.Context, folder string, n int) (m measured, err error) {
	s, err := serve(fakeserver.New(fakeserver.Options{Latency: latency}))
	if err != nil {
		return m, err
	}
	defer s.close()
	for _, step := range []struct {
		name string
		args []string
	}{
		{"plan that creates it", []string{"plan", "-out=saved.tfplan"}},
		{"apply of that plan", []string{"apply", "saved.tfplan"}},
		{"next plan", []string{"plan", "-detailed-exitcode"}},
	} {
		if m, err = b.run(ctx, b.providers.batched, s, folder, step.args...); err != nil {
			return m, err
		}
		b.add(fmt.Sprintf("one deployment with %s environment variables, %s: wall time", number(n), step.name), "",
			fmt.Sprintf("%s (CPU time of the provider: %s)", seconds(m.wall), seconds(m.provider.cpu)), "", true)
	}
	return m, nil
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

// dataSource measures a data source that lists many deployments. Batching does not affect it.
func (b *benchmark) dataSource(ctx context.Context) error {
	b.logf("a data source over %d", b.sizes.listed)
	folder, err := b.newFolder("listing", listing)
	if err != nil {
		return err
	}
	s, err := serveAmong(fakeserver.Options{Latency: latency}, b.sizes.listed, b.many.deployments...)
	if err != nil {
		return err
	}
	defer s.close()
	m, err := b.run(ctx, b.providers.batched, s, folder, "plan")
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("+ found = %d", b.sizes.listed); !strings.Contains(m.output, want) {
		return fmt.Errorf("the data source did not find %d:\n%s", b.sizes.listed, tail(m.output))
	}
	b.recordConnections(m, measured{})
	name, goal := "data source over "+number(b.sizes.listed), b.sizes.listed/100+1
	b.add(name+": requests", fmt.Sprintf("at most %d", goal),
		fmt.Sprintf("%d, %s (CPU time of the provider: %s)", len(m.requests), seconds(m.wall), seconds(m.provider.cpu)), "",
		len(m.requests) <= goal)
	b.add(name+": peak memory of the provider", "", megabytes(m), "", true)
	return nil
}

func megabytes(m measured) string { return fmt.Sprintf("%d MB", m.provider.memory/1_000_000) }

const narrow = `terraform {
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

// cpu compares the provider's CPU time of the plans with that of a plan of as many narrow resources.
func (b *benchmark) cpu(ctx context.Context) error {
	b.logf("a plan of %d narrow resources", b.sizes.many)
	folder, err := b.newFolder("narrow", fmt.Sprintf(narrow, b.sizes.many))
	if err != nil {
		return err
	}
	if _, err := b.run(ctx, b.providers.minimal, nil, folder, "apply", "-auto-approve"); err != nil {
		return err
	}
	minimal, err := b.plan(ctx, b.providers.minimal, nil, folder)
	if err != nil {
		return err
	}
	each := func(m measured) string {
		return fmt.Sprintf("%.2f ms", float64(m.provider.cpu.Microseconds())/1000/float64(b.sizes.many))
	}
	name := "plan of " + number(b.sizes.many) + ": CPU time of the provider per deployment"
	b.add(name, "", fmt.Sprintf("%s; %s with `-refresh=false`", each(b.planned), each(b.unrefreshed)),
		each(b.unbatched), true)
	b.add(name+", without the fast path", "", fmt.Sprintf("%s; %s with `-refresh=false`; %s for a narrow resource",
		each(b.frameworkOnly), each(b.frameworkOnlyUnrefreshed), each(minimal)), "", true)
	return nil
}

// startUp compares the time until the provider returns its schema.
func (b *benchmark) startUp(ctx context.Context) error {
	b.logf("start-up")
	medians, err := startUps(ctx, b.folder, b.sizes.starts, b.providers.batched.binary, b.providers.minimal.binary)
	if err != nil {
		return err
	}
	ratio := float64(medians[0]) / float64(medians[1])
	b.add("start-up until the schema is returned", fmt.Sprintf("at most %.1f × that of a minimal provider", startUpGoal),
		fmt.Sprintf("%.2f × (%d ms, %d ms)", ratio, medians[0].Milliseconds(), medians[1].Milliseconds()), "",
		ratio <= startUpGoal)
	return nil
}

func (b *benchmark) addConnections() {
	b.add("connections of one run, highest of all cases", fmt.Sprintf("at most %d", parallelism),
		fmt.Sprint(b.connections), fmt.Sprint(b.connectionsUnbatched), b.connections <= parallelism)
}
