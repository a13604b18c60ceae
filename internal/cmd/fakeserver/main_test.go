package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func TestServesUntilStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, stdout := io.Pipe()
	var stderr bytes.Buffer // read only after run has returned
	exit := make(chan int)
	go func() {
		args := []string{"-listen", "127.0.0.1:0", "-path-prefix", "/api/", "-api-key", "sesame", "-seed", "7"}
		exit <- run(ctx, args, stdout, &stderr)
	}()

	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base, found := strings.CutPrefix(strings.TrimSpace(line), "fake graphdeploy service at ")
	if !found || !strings.HasPrefix(base, "http://127.0.0.1:") || !strings.HasSuffix(base, "/api") {
		t.Fatalf("first line: %q", line)
	}
	for key, want := range map[string]int{"sesame": 200, "wrong": 401} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v2/deployments?name_contains=billing", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("key %s: status %d, want %d", key, resp.StatusCode, want)
		}
		if want == 200 && strings.Count(string(data), `"name":"billing-agent-dev"`) != 1 {
			t.Errorf("the seeded deployment is not listed: %s", data)
		}
	}
	stop()
	if code := <-exit; code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
	log := stderr.String()
	for _, want := range []string{"GET /api/v2/deployments 200 ", "GET /api/v2/deployments 401 "} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	for _, secret := range []string{"sesame", "billing"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log shows %q:\n%s", secret, log)
		}
	}
}

func TestOptions_propertiesThatAreNotDocumentedAreKept(t *testing.T) {
	t.Parallel()
	c, err := parse(nil, io.Discard)
	if err != nil || !c.options.KeepUnknown {
		t.Errorf("options %+v, error %v", c.options, err)
	}
}

func TestSeedFlags(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want fakeserver.Counts
	}{
		"none":        {nil, fakeserver.Counts{Secrets: 2}},
		"deployments": {[]string{"-seed", "5001"}, fakeserver.Counts{Deployments: 5001, Repositories: 1001, Secrets: 2}},
		"all": {[]string{"-seed", "10", "-seed-repositories", "0", "-seed-secrets", "7"},
			fakeserver.Counts{Deployments: 10, Secrets: 7}},
		"repositories without": {[]string{"-seed-repositories", "3"}, fakeserver.Counts{Repositories: 3, Secrets: 2}},
	} {
		c, err := parse(test.args, io.Discard)
		if err != nil || c.seed != test.want {
			t.Errorf("%s: %+v, error %v, want %+v", name, c.seed, err, test.want)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-help"}, &stdout, &stderr); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
	for _, want := range []string{`provider "graphdeploy"`, "fake graphdeploy service at", "-ready-after",
		"-active-after", "-failing-versions", "-no-revision-status", "-seed-repositories", "-secrets", "-path-prefix",
		"additional_properties"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("-help lacks %s", want)
		}
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
}

func TestRejectsFlags(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an address of all interfaces":     {[]string{"-listen", ":0"}, "-allow-remote"},
		"an address that is remote":        {[]string{"-listen", "192.0.2.1:0"}, "-allow-remote"},
		"an address without a port":        {[]string{"-listen", "127.0.0.1"}, "-listen"},
		"an unknown mode of secrets":       {[]string{"-secrets", "shout"}, "-secrets must be one of: echo, mask, "},
		"an unknown flag":                  {[]string{"-loud"}, "-loud"},
		"a negative number of deployments": {[]string{"-seed", "-1"}, "-seed"},
		"a negative number of secrets":     {[]string{"-seed-secrets", "-1"}, "-seed-secrets"},
		"an argument that is no flag":      {[]string{"now"}, `"now"`},
		"an invalid duration":              {[]string{"-latency", "soon"}, "-latency"},
		"a negative port":                  {[]string{"-listen", "127.0.0.1:-1"}, "port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), test.args, &stdout, &stderr); code == 0 {
				t.Error("exit status 0")
			}
			if !strings.Contains(stderr.String(), test.want) {
				t.Errorf("stderr lacks %q: %s", test.want, stderr.String())
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout: %s", stdout.String())
			}
		})
	}
}
