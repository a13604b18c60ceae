package fastpath

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

type key struct{}

// The framework keeps the context of each request until it is stopped.
func TestContext_isEmptyAfterTheRequest(t *testing.T) {
	t.Parallel()
	ctx := context.WithValue(t.Context(), key{}, "large")
	var kept context.Context
	_, err := handle(ctx, 0, func(ctx context.Context, _ int) (int, error) {
		kept = ctx //nolint:fatcontext // that is what the framework does
		if ctx.Value(key{}) != "large" || ctx.Err() != nil {
			t.Errorf("during the request: value %v, error %v", ctx.Value(key{}), ctx.Err())
		}
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept.Value(key{}) != nil || !errors.Is(kept.Err(), context.Canceled) {
		t.Errorf("after the request: value %v, error %v", kept.Value(key{}), kept.Err())
	}
	<-kept.Done()
	if _, ok := kept.Deadline(); ok {
		t.Error("after the request: there is a deadline")
	}
}

func TestContext_isCanceledWithTheRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, _ = handle(ctx, 0, func(ctx context.Context, _ int) (int, error) {
		cancel()
		<-ctx.Done()
		return 0, nil
	})
}

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
