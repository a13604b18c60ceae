package provider

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

func TestReport_arguments(t *testing.T) {
	t.Parallel()
	p := &providerData{client: client.New(client.Config{})}
	p.client.Hide("hunter2hunter2")
	for name, test := range map[string]struct {
		format string
		arg    any
		want   string
	}{
		"string":        {"%s", "a\x1b[2Jb\u202e", `a\u001b[2Jb\u202e`},
		"quoted string": {"%q", "a b", `"a b"`},
		"line breaks":   {"%s", "a\n\nb", `a\n\nb`},
		"secret":        {"%s", "x hunter2hunter2 y", "x (sensitive value) y"},
		"error":         {"%s", errors.New("hunter2hunter2\a"), `(sensitive value)\u0007`},
		"stringer":      {"%s", path.Root("a").AtMapKey("b"), `a["b"]`},
		"named string":  {"%s", planName("\x1b"), `\u001b`},
		"list":          {"of:%s", []string{"a\x1b", "hunter2hunter2"}, "of:\n  - a\\u001b\n  - (sensitive value)"},
		"number":        {"%d", 5, "5"},
		"fraction":      {"%.1f", 0.25, "0.2"},
		"boolean":       {"%t", true, "true"},
		"duration":      {"%s", 20 * time.Minute, "20m0s"},
		"trusted text":  {"%s", trusted("a\nb"), "a\nb"},
		"error of service": {"%s", &client.Error{Operation: "list", Method: "GET", Path: "/v2\x1b", Status: 500},
			`list failed (GET /v2\u001b): 500 Internal Server Error`},
	} {
		var diags diag.Diagnostics
		p.report(&diags).errorf(path.Empty(), "Summary", test.format, test.arg)
		if got := diags[0].Detail(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

type planName string

func TestReport_bounds(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	var many []string
	for i := range 100 {
		many = append(many, strings.Repeat(fmt.Sprint(i%10), 10_000))
	}
	(*providerData)(nil).report(&diags).warnf(path.Empty(), strings.Repeat("s", 10_000), "%s and %s", many[0], many)
	if got := len(diags[0].Summary()); got > 1300 {
		t.Errorf("the summary has %d bytes", got)
	}
	lines := strings.Split(diags[0].Detail(), "\n")
	if len(lines) != 32 || lines[31] != "  - and 70 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	for _, line := range lines {
		if len(line) > 1300 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
}

func TestReport_places(t *testing.T) {
	t.Parallel()
	spec := path.Root("source_config").AtName("resource_spec")
	for _, test := range []struct {
		at             path.Path
		format         string
		wantAt, detail string
	}{
		{path.Empty(), "wrong", "", "wrong"},
		{path.Root("name"), "wrong", "name", "wrong"},
		{path.Root("additional_properties"), "wrong", "additional_properties", "wrong"},
		{path.Root("base_url"), "wrong", "base_url", "wrong"},
		{spec.AtName("cpu"), "wrong", "source_config.resource_spec.cpu", "wrong"},
		{spec.AtName("labels").AtMapKey("a"), "wrong", `source_config.resource_spec.labels["a"]`, "wrong"},
		{spec.AtName("volumes").AtListIndex(0).AtName("name"), "wrong", "source_config.resource_spec.volumes[0].name",
			"wrong"},
		{spec.AtName("volumes").AtListIndex(0).AtName("config_map"), "wrong",
			"source_config.resource_spec.volumes[0].config_map", "wrong"},
		{spec.AtName("sidecars").AtListIndex(0).AtName("args").AtListIndex(1), "wrong",
			"source_config.resource_spec.sidecars[0].args[1]", "wrong"},
		{path.Root("timeouts").AtName("create"), "wrong", "timeouts.create", "wrong"},

		{path.Root("source_config"), "wrong", "", "source_config: wrong"},
		{path.Root("source_config"), "source_config is wrong", "", "source_config is wrong"},
		{spec, "wrong", "", "source_config.resource_spec: wrong"},
		{spec.AtName("labels"), "wrong", "", "source_config.resource_spec.labels: wrong"},
		{spec.AtName("volumes"), "wrong", "", "source_config.resource_spec.volumes: wrong"},
		{spec.AtName("volumes").AtListIndex(0), "wrong", "", "source_config.resource_spec.volumes[0]: wrong"},
		{spec.AtName("sidecars").AtListIndex(0).AtName("args"), "wrong", "",
			"source_config.resource_spec.sidecars[0].args: wrong"},
		{path.Root("secret_references"), "wrong", "", "secret_references: wrong"},
		{path.Root("timeouts"), "wrong", "", "timeouts: wrong"},
		{path.Root("tag_value_ids"), "wrong", "", "tag_value_ids: wrong"},
		{path.Root("secrets").AtMapKey("A"), "wrong", "", `secrets["A"]: wrong`},
		{path.Root("secrets_wo"), "wrong", "", "secrets_wo: wrong"},
		{path.Root("api_key"), "wrong", "", "api_key: wrong"},
		{path.Root("headers").AtMapKey("Authorization: Bearer T"), "wrong", "", "headers: wrong"},
	} {
		var errs, warnings diag.Diagnostics
		(*providerData)(nil).report(&errs).errorf(test.at, "Summary", test.format)
		(*providerData)(nil).report(&warnings).warnf(test.at, "Summary", test.format)
		for _, found := range []diag.Diagnostic{errs[0], warnings[0]} {
			at := ""
			if placed, ok := found.(diag.DiagnosticWithPath); ok {
				at = placed.Path().String()
			}
			if at != test.wantAt || found.Detail() != test.detail {
				t.Errorf("%s: got %q at %q, want %q at %q", test.at, found.Detail(), at, test.detail, test.wantAt)
			}
		}
	}
}

// Every diagnostic goes through report: nothing else cleans, bounds and locates it.
func TestReport_isTheOnlyPlaceThatBuildsDiagnostics(t *testing.T) {
	t.Parallel()
	builds := regexp.MustCompile(`\.Add(Attribute)?(Error|Warning)\(|diag\.New|Diagnostic\{`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := builds.FindAllString(string(text), -1); found != nil && file != "diagnostics.go" &&
			!strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s builds diagnostics: %q", file, found)
		}
	}
}
