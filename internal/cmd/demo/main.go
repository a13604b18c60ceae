//go:build unix

// Command demo shows the provider at work: the real Terraform, the provider as
// it is built from this source, and the service in memory. make demo runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func main() {
	// A closed pipe, as of `make demo | head`, ends the demo like an interrupt.
	ctx, stop := signal.NotifyContext(context.Background(),
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	verbose := flag.Bool("verbose", false, "show all that Terraform prints")
	flag.Parse()

	err := demo(ctx, os.Stdout, *verbose)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "\nThe demo was interrupted.")
		os.Exit(130)
	case err != nil:
		fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
		os.Exit(1)
	}
}

// demo does it all in a temporary folder, which it removes.
func demo(ctx context.Context, screen io.Writer, verbose bool) error {
	program := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if program == "" {
		return errors.New("TF_ACC_TERRAFORM_PATH is not set to the path of Terraform; start the demo with make demo")
	}
	if _, err := os.Stat("internal/tools"); err != nil {
		return fmt.Errorf("start it in the top folder of the repository: %w", err)
	}
	folder, err := os.MkdirTemp("", "graphdeploy-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()

	say(screen, "Building the provider into a folder that Terraform installs from. This takes up to a minute.")
	if _, err := run(ctx, output{screen: screen, all: verbose}, "", nil, "internal/tools/mirror.sh",
		filepath.Join(folder, "mirror")); err != nil {
		return err
	}
	fake := fakeserver.New(fakeserver.Options{ReadyAfter: takes, ActiveAfter: takes, FailingVersions: failing})
	fake.SeedDemo()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: fake, ReadHeaderTimeout: 10 * time.Second}
	defer func() { _ = server.Close() }()
	go func() { _ = server.Serve(listener) }()
	say(screen, "The service is a fake in memory. A new version takes 2 seconds to run. This is main.tf:")

	baseURL := "http://" + listener.Addr().String()
	env, err := environment(folder)
	if err != nil {
		return err
	}
	t := terraform{program: program, env: env, folder: folder, screen: screen, verbose: verbose}
	return t.story(ctx, baseURL, fake)
}

const (
	takes   = 2 * time.Second // for a new deployment, and for a new version
	failing = "broken"        // in the image of a version that fails
)

const configuration = `terraform {
  required_providers {
    graphdeploy = { source = "graphdeploy/graphdeploy" }
  }
}

provider "graphdeploy" {
  base_url = "BASE_URL"
}

resource "graphdeploy_deployment" "shop" {
  name   = "shop"
  source = "external_docker"

  source_config = {
    resource_spec = { memory_mb = 1024 }
  }
  source_revision_config = {
    image_uri = "registry.example/shop:1"
  }
}
`

const imported = `
import {
  to = graphdeploy_deployment.bot
  id = "legacy-bot" # a name or an ID
}

resource "graphdeploy_deployment" "bot" {
  name   = "legacy-bot"
  source = "external_docker"
}
`

const (
	results = `^Plan:|^No changes|: (Creation|Modifications|Destruction|Import) complete` +
		`|^(Apply|Destroy) complete|^Warning|^Error`
	changes = results + `|^ +[~+-] +(image_uri|memory_mb) `
)

// story does what users do with a deployment.
func (t terraform) story(ctx context.Context, baseURL string, fake *fakeserver.Server) error {
	text := strings.Replace(configuration, "BASE_URL", baseURL, 1)
	show(t.screen, text)
	version := func(n string) error {
		return t.write(strings.Replace(text, "shop:1", "shop:"+n, 1))
	}
	apply, plan := []string{"apply", "-auto-approve"}, []string{"plan"}
	steps := []step{
		{explanation: "Terraform installs the provider.", before: func() error { return t.write(text) },
			args: []string{"init"}, show: `^- Installed`},
		{explanation: "Create the deployment. The apply ends when its first version runs.", args: apply, show: results},
		{explanation: "The next plan is empty, although the service has filled in its defaults.", args: plan, show: results},
		{explanation: "Version 2 is a change of the image. The apply ends when it runs.",
			before: func() error { return version("2") }, args: apply, show: changes},
		{explanation: "A broken version: the apply fails when the service reports it. Version 2 still runs.",
			before: func() error { return version("broken") }, args: apply, show: changes, fails: true},
		{explanation: "Rolling back is a change to the former image.",
			before: func() error { return version("2") }, args: apply, show: changes},
		{explanation: "Somebody doubles the memory in the service. The plan shows the drift.",
			before: func() error { return doubleMemory(fake) }, args: plan, show: changes},
		{explanation: "The apply corrects it, and imports a deployment that exists. main.tf has this, too:\n" +
			strings.TrimRight(imported, "\n"),
			before: func() error { return t.write(strings.Replace(text, "shop:1", "shop:2", 1) + imported) },
			args:   apply, show: changes},
		{explanation: "The plan is empty again.", args: plan, show: results},
		{explanation: "Destroying deletes the deployments from the service.",
			args: []string{"destroy", "-auto-approve"}, show: results},
	}
	for _, s := range steps {
		if err := t.take(ctx, s); err != nil {
			return err
		}
	}
	t.say("\nThe service now has %d deployments.", len(fake.Deployments()))
	t.say("To try it yourself, read docs/guides/getting-started.md: make install, then make fakeserver in another shell.")
	return nil
}

// A step is a command of Terraform.
type step struct {
	explanation string
	before      func() error // called before the command, if given
	args        []string
	show        string // the lines of the output to show
	fails       bool   // the command must fail
}

// take explains and runs a step.
func (t terraform) take(ctx context.Context, s step) error {
	t.say("\n%s", s.explanation)
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	_, err := t.run(ctx, s.show, s.args...)
	if s.fails && ctx.Err() == nil {
		if err == nil {
			return errors.New("the command should have failed")
		}
		return nil
	}
	return err
}

func (t terraform) write(text string) error {
	return os.WriteFile(filepath.Join(t.folder, "main.tf"), []byte(text), 0o600)
}

// doubleMemory changes the deployment as somebody else than Terraform does.
func doubleMemory(fake *fakeserver.Server) error {
	for _, d := range fake.Deployments() {
		if d["name"] == "shop" {
			id, _ := d["id"].(string)
			fake.Edit(id, func(d map[string]any) {
				config, _ := d["source_config"].(map[string]any)
				spec, _ := config["resource_spec"].(map[string]any)
				spec["memory_mb"] = 2048
			})
			return nil
		}
	}
	return errors.New("the service has no deployment shop")
}

// environment returns what Terraform gets: nothing of the user's own settings for
// it, and the folder to install the provider from.
func environment(folder string) ([]string, error) {
	config := filepath.Join(folder, "terraform.rc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n",
		filepath.Join(folder, "mirror"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	env := []string{
		"TF_CLI_CONFIG_FILE=" + config, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1",
	}
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "TF_") && !strings.HasPrefix(setting, "GRAPHDEPLOY_") {
			env = append(env, setting)
		}
	}
	return env, nil
}

// show prints a text, indented.
func show(screen io.Writer, text string) {
	for line := range strings.Lines(text) {
		say(screen, "%s", strings.TrimRight("    "+line, " \n"))
	}
}

func say(screen io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(screen, format+"\n", args...)
}
