//go:build unix

package provider_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// aTerraform is the version of the Terraform of the tests.
type aTerraform struct {
	major, minor int
	tofu         bool
}

func terraformIs(t *testing.T) (is aTerraform) {
	t.Helper()
	run := func(args ...string) []byte {
		c := exec.Command(terraformBinary(t), args...)
		c.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var version struct {
		Text string `json:"terraform_version"`
	}
	if err := json.Unmarshal(run("version", "-json"), &version); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(version.Text, "%d.%d", &is.major, &is.minor); err != nil {
		t.Fatal(err)
	}
	is.tofu = strings.HasPrefix(string(run("version")), "OpenTofu")
	return is
}

// since reports whether it is that version or a later one.
func (is aTerraform) since(major, minor int) bool {
	return is.major > major || is.major == major && is.minor >= minor
}

func (is aTerraform) String() string {
	name := "Terraform"
	if is.tofu {
		name = "OpenTofu"
	}
	return fmt.Sprintf("%s %d.%d", name, is.major, is.minor)
}

// buildWithoutRaceDetector builds the provider for one test, as users have it. It
// is for tests of many values, which do not test concurrency and would take three
// times as long.
func buildWithoutRaceDetector(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "provider"), ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the provider: %s\n%s", err, out)
	}
	return dir
}
