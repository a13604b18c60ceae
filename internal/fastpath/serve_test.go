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
	t.Setenv("TF_LOG_SDK", "")
	_ = os.Unsetenv("TF_LOG_SDK")
	t.Setenv("TF_LOG_PROVIDER", "TRACE")
	silenceLibraries()
	if got, set := os.LookupEnv("TF_LOG_SDK"); set {
		t.Errorf("TF_LOG_SDK is %q although logs are requested", got)
	}
	_ = os.Unsetenv("TF_LOG_PROVIDER")
	silenceLibraries()
	if got := os.Getenv("TF_LOG_SDK"); got != "off" {
		t.Errorf("TF_LOG_SDK is %q, want off", got)
	}
}
