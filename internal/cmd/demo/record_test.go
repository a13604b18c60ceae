//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What differs from run to run, and with another Terraform.
var differs = []struct {
	what *regexp.Regexp
	like string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`[0-9a-f]{40}`), "COMMIT"},
	{regexp.MustCompile(`:[0-9a-f]{7}"`), `:COMMIT"`},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`after \d+s`), "after SOME TIME"},
	{regexp.MustCompile(`\d+ readings`), "SOME readings"},
	{regexp.MustCompile(`v\d+\.\d+\.\d+`), "VERSION"},
	{regexp.MustCompile(`(?m)^\$ \S+ `), "$ PROGRAM "},
}

// steps are what a session shows, without what differs. Of what happens at the
// same time, now one comes first and now the other: lines between two that the
// demo says itself are sorted.
func steps(shown string) []string {
	shown = leftOut.ReplaceAllString(shown, "")
	for _, d := range differs {
		shown = d.what.ReplaceAllString(shown, d.like)
	}
	lines := strings.Split(strings.TrimSpace(shown), "\n")
	from := 0
	for i, line := range append(lines, "the end") {
		if !strings.HasPrefix(line, "    ") {
			slices.Sort(lines[from:i])
			from = min(i+1, len(lines))
		}
	}
	return lines
}

func TestReadmeShowsTheDemo(t *testing.T) {
	if os.Getenv("TF_ACC_TERRAFORM_PATH") == "" {
		t.Skip("TF_ACC_TERRAFORM_PATH does not say where Terraform is; make test does")
	}
	t.Chdir("../../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := session.FindSubmatch(readme)
	if found == nil {
		t.Fatal("README.md does not have the demo recorded")
	}
	var shown bytes.Buffer
	if err := demo(t.Context(), &shown, false); err != nil {
		t.Fatal(err)
	}
	got, want := steps("$ make demo\n"+shown.String()), steps(string(found[2]))
	if !slices.Equal(got, want) {
		t.Errorf("README.md shows another demo than this. Record it anew: make demo ARGS='-write README.md'\n\n%s\n\nREADME.md has\n\n%s",
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRecordWritesOverTheDemoOfBefore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "text.md")
	if err := os.WriteFile(file, []byte("before\n<!-- demo -->\n\n```console\nold\n```\nafter\n```\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := record(file, "new\n    (3 more lines)\n    shown\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n<!-- demo -->\n\n```console\n$ make demo\nnew\n    shown\n```\nafter\n```\n"; string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := record(filepath.Join(t.TempDir(), "none"), ""); err == nil {
		t.Error("no error without a file")
	}
	if err := os.WriteFile(file, []byte("no demo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := record(file, "new\n"); err == nil {
		t.Error("no error without a place for it")
	}
}

func TestStepsLeaveOutWhatDiffers(t *testing.T) {
	t.Parallel()
	a := "$ tofu apply\n    b: Creation complete after 2s [id=b10787a6-a9b4-41ac-9f5c-78a6efcaaf28]\n    a: Done\n    (7 more lines)\n\nThen:\n    z\n"
	b := "$ terraform apply\n    a: Done\n    b: Creation complete after 12s [id=00000000-a9b4-41ac-9f5c-78a6efcaaf28]\n\nThen:\n    z\n"
	if !slices.Equal(steps(a), steps(b)) {
		t.Errorf("%q is not %q", steps(a), steps(b))
	}
	for _, other := range []string{strings.Replace(b, "Then", "But", 1), strings.Replace(b, "    z\n", "", 1), strings.Replace(b, "    z\n", "    z\n    y\n", 1), strings.Replace(b, "apply", "plan", 1)} {
		if slices.Equal(steps(a), steps(other)) {
			t.Errorf("%q is taken for %q", steps(a), steps(other))
		}
	}
}
