//go:build unix

package provider_test

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// aTerraform is the version of the Terraform of the tests.
type aTerraform struct {
	major, minor int
	tofu         bool
}

func terraformIs(t *testing.T) aTerraform {
	t.Helper()
	name := terraformBinary(t)
	versionOnce.Do(func() {
		c := exec.Command(name, "version")
		c.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
		out, err := c.Output()
		if err == nil {
			is := &version
			var product string
			_, err = fmt.Sscanf(string(out), "%s v%d.%d", &product, &is.major, &is.minor)
			is.tofu = product == "OpenTofu"
		}
		versionErr = err
	})
	if versionErr != nil {
		t.Fatal(versionErr)
	}
	return version
}

var (
	versionOnce sync.Once
	version     aTerraform
	versionErr  error
)

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
