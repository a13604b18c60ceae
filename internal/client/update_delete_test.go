package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// changed is a change that is easily seen.
var changed = DeploymentChange{"source_config": map[string]any{"custom_url": "https://new.example.com"}}

func urlOf(d map[string]any) any {
	config, _ := d["source_config"].(map[string]any)
	return config["custom_url"]
}

func TestUpdateIsSentAgainWhenItsAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{
		"cut before the work": {Cut: true},
		"cut after the work":  {Cut: true, AfterWork: true},
		"500":                 {Status: http.StatusInternalServerError},
		"502 after the work":  {Status: http.StatusBadGateway, AfterWork: true},
		"429":                 {Status: http.StatusTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake, c, ids := manyDeployments(1, fakeserver.Options{Extended: true})
				fake.Fail(fakeserver.UpdateDeployment, 2, fault)
				d, err := c.UpdateDeployment(t.Context(), ids[0], changed)
				if err != nil || d == nil || d.ID != ids[0] {
					t.Fatalf("%v, %v", d, err)
				}
				if got := urlOf(fake.Deployment(ids[0])); got != "https://new.example.com" {
					t.Errorf("custom_url is %v", got)
				}
			})
		})
	}
}

func TestUpdateThatIsNotAnsweredWithADeployment(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"empty": " ", "HTML": "<html></html>", "nothing of a deployment": "{}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c, ids := manyDeployments(1, fakeserver.Options{Extended: true})
			fake.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Status: http.StatusOK, Body: body})
			if d, err := c.UpdateDeployment(t.Context(), ids[0], changed); d != nil || err != nil {
				t.Errorf("%v, %v, want neither: a reading has to tell", d, err)
			}
		})
	}
}

func TestUpdateThatIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(1, fakeserver.Options{Extended: true})
		var refused *Error
		_, err := c.UpdateDeployment(t.Context(), ids[0], DeploymentChange{"source_config": map[string]any{"custom_url": 1},
			"secrets": []Secret{{"A", "planted-value"}}})
		if !errors.As(err, &refused) || refused.Status != http.StatusUnprocessableEntity || strings.Contains(err.Error(), "planted-value") {
			t.Errorf("refused for a wrong type: %v", err)
		}
		fake.Fail(fakeserver.UpdateDeployment, -1, fakeserver.Fault{Status: http.StatusInternalServerError})
		if _, err := c.UpdateDeployment(t.Context(), ids[0], changed); !errors.As(err, &refused) || refused.Status != http.StatusInternalServerError {
			t.Errorf("a fault that stays: %v", err)
		}
		fake.ClearFaults()
		fake.Remove(ids[0])
		if _, err := c.UpdateDeployment(t.Context(), ids[0], changed); !errors.Is(err, ErrNotFound) {
			t.Errorf("gone: %v, want ErrNotFound", err)
		}
	})
}

func TestServiceThatOffersNoChanges(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			fake, c, ids := manyDeployments(1, fakeserver.Options{Extended: true})
			fake.Fail(fakeserver.UpdateDeployment, -1, fakeserver.Fault{Status: status})
			fake.Fail(fakeserver.DeleteDeployment, -1, fakeserver.Fault{Status: status})
			if _, err := c.UpdateDeployment(t.Context(), ids[0], changed); !errors.Is(err, ErrNotSupported) {
				t.Errorf("update: %v, want ErrNotSupported", err)
			}
			if err := c.DeleteDeployment(t.Context(), ids[0]); !errors.Is(err, ErrNotSupported) {
				t.Errorf("delete: %v, want ErrNotSupported", err)
			}
			sent := map[string]int{}
			for _, r := range fake.Requests() {
				sent[r.Method]++
			}
			if sent[http.MethodPatch] != 1 || sent[http.MethodDelete] != 1 {
				t.Errorf("sent %v, want each once", sent)
			}
			fake.Remove(ids[0])
			if _, err := c.UpdateDeployment(t.Context(), ids[0], changed); !errors.Is(err, ErrNotFound) {
				t.Errorf("update of what is gone: %v, want ErrNotFound", err)
			}
		})
	}
}

func TestDeleteIsDoneWhenTheDeploymentIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(2, fakeserver.Options{Extended: true})
		fake.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Cut: true, AfterWork: true})
		if err := c.DeleteDeployment(t.Context(), ids[0]); err != nil {
			t.Errorf("a lost answer: %v", err)
		}
		if err := c.DeleteDeployment(t.Context(), ids[0]); err != nil {
			t.Errorf("gone already: %v", err)
		}
		if _, err := c.WaitDeleted(t.Context(), &Deployment{ID: ids[0]}); err != nil {
			t.Errorf("wait: %v", err)
		}
		fake.Fail(fakeserver.DeleteDeployment, -1, fakeserver.Fault{Status: http.StatusServiceUnavailable})
		if err := c.DeleteDeployment(t.Context(), ids[1]); err == nil {
			t.Error("a fault that stays is no error")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if last, err := c.WaitDeleted(ctx, &Deployment{ID: ids[1], Status: "READY"}); !errors.Is(err, context.Canceled) || last.Status != "READY" {
			t.Errorf("cancelled wait: %v, %v", last, err)
		}
	})
}

func TestSettledWaitsOnlyWhereTheAnswerShowedTheChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(1, fakeserver.Options{})
		readings := 0
		never := func(*Deployment) bool { readings++; return false }
		d := &Deployment{ID: ids[0]}
		if _, err := c.WaitConsistent(t.Context(), d, d, never); err != nil || len(fake.Requests()) != 0 {
			t.Errorf("the answer was without it: %v, %d requests, want none", err, len(fake.Requests()))
		}
		third := func(*Deployment) bool { readings++; return readings >= 5 }
		if last, err := c.WaitConsistent(t.Context(), d, nil, third); err != nil || last.Name != "app-0" {
			t.Errorf("shown later: %v, %v", last, err)
		}
	})
}

// What was read ahead of a deployment is not used after a write to it.
func TestReadAfterAWriteIsFresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c, ids := manyDeployments(200, fakeserver.Options{Extended: true})
		readAll(c, ids[:60], func(_ string, _ *Deployment, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		for _, id := range ids[60:] {
			if _, err := c.UpdateDeployment(t.Context(), id, changed); err != nil {
				t.Fatal(err)
			}
			d, err := c.Deployment(t.Context(), id)
			if err != nil || d.SourceConfig.CustomURL == nil || *d.SourceConfig.CustomURL != "https://new.example.com" {
				t.Fatalf("read after the write: %v, %v", d, err)
			}
		}
	})
}
