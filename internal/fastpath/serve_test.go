package fastpath

import (
	"os"
	"strings"
	"testing"
)

func TestSilenceLibraries_unlessLogsAreRequested(t *testing.T) {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "TF_LOG") {
			t.Setenv(name, value) // restores it
			_ = os.Unsetenv(name)
		}
	}
	for _, variable := range silenced {
		t.Setenv(variable, "")
		_ = os.Unsetenv(variable)
	}
	t.Setenv("TF_LOG_PROVIDER", "TRACE")
	silenceLibraries()
	for _, variable := range silenced {
		if got, set := os.LookupEnv(variable); set {
			t.Errorf("%s is %q although logs are requested", variable, got)
		}
	}
	_ = os.Unsetenv("TF_LOG_PROVIDER")
	silenceLibraries()
	for _, variable := range silenced {
		if got := os.Getenv(variable); got != "off" {
			t.Errorf("%s is %q, want off", variable, got)
		}
	}
}
