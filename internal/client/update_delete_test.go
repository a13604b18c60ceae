package client

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// changed is a change that is easily seen.
var changed = Tree{"source_config": map[string]any{"custom_url": "https://new.example.com"}}

// updating sends a change, whatever the deployment is.
func updating(ctx context.Context, c *Client, id string, change Tree) (Update, error) {
	return c.UpdateDeployment(ctx, id, func(*Deployment) (Tree, error) { return change, nil })
}

func methods(fake *fakeserver.Server) (sent string) {
	for _, r := range fake.Requests() {
		sent += r.Method + " "
	}
	return strings.TrimSpace(sent)
}

// Where the service certainly did not act, the change is computed again from what it has by then.
func TestUpdate_isComputedAgainWhenItWasCertainlyNotDone(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{
		"429": {Status: http.StatusTooManyRequests},
		"503": {Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake, c, ids := manyDeployments(1, fakeserver.Options{})
				fault.Reached = func() {
					fake.Edit(ids[0], func(d map[string]any) {
						d["source_config"].(map[string]any)["install_command"] = "changed by somebody else"
					})
				}
				fake.Fail(fakeserver.UpdateDeployment, 2, fault)
				u, err := c.UpdateDeployment(t.Context(), ids[0], func(live *Deployment) (Tree, error) {
					config := maps.Clone(live.Tree["source_config"].(map[string]any))
					config["custom_url"] = "https://new.example.com"
					return Tree{"source_config": config}, nil
				})
				equal(t, "error", err, nil)
				equal(t, "lost", u.Lost, nil)
				equal(t, "written", u.Written.ID, ids[0])
				equal(t, "sent", methods(fake), "GET PATCH GET PATCH GET PATCH")
				config := fake.Deployment(ids[0])["source_config"].(map[string]any)
				equal(t, "custom_url", config["custom_url"], any("https://new.example.com"))
				equal(t, "install_command", config["install_command"], any("changed by somebody else"))
				equal(t, "before", u.Before.Tree["source_config"].(Tree)["install_command"], any("changed by somebody else"))
				equal(t, "body", u.Sent["source_config"].(Tree)["install_command"], any("changed by somebody else"))
			})
		})
	}
}

// A change may have been done when its response is lost: it is not sent again.
func TestUpdate_isNotRepeatedWhenItsResponseIsLost(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{
		"cut before the work": {Cut: true},
		"cut after the work":  {Cut: true, AfterWork: true},
		"500":                 {Status: http.StatusInternalServerError},
		"502 after the work":  {Status: http.StatusBadGateway, AfterWork: true},
		"503":                 {Status: http.StatusServiceUnavailable},
		"408":                 {Status: http.StatusRequestTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake, c, ids := manyDeployments(1, fakeserver.Options{})
				fake.Fail(fakeserver.UpdateDeployment, 2, fault)
				u, err := updating(t.Context(), c, ids[0], changed)
				equal(t, "error", err, nil)
				equal(t, "lost", asType[*Error](t, u.Lost).Status, fault.Status)
				equal(t, "before", u.Before.ID, ids[0])
				equal(t, "sent", u.Sent, changed)
				equal(t, "written", u.Written, nil)
				equal(t, "requests", methods(fake), "GET PATCH")
			})
		})
	}
}

// What a response to a change has is only used if it is about the deployment that was changed.
func TestUpdate_responseThatIsNotTheDeployment(t *testing.T) {
	t.Parallel()
	const readBody = `{"id":"` + idA + `","name":"app","source":"external_docker"}`
	for name, test := range map[string]struct {
		status int
		body   string
		used   bool
	}{
		"no content":              {204, "", false},
		"empty":                   {200, " ", false},
		"HTML":                    {200, "<html></html>", false},
		"nothing of a deployment": {200, "{}", false},
		"another id":              {200, deploymentJSON(idB, "app"), false},
		"another name":            {200, deploymentJSON(idA, "other"), false},
		"another source":          {200, strings.Replace(readBody, "external_docker", "codehost", 1), false},
		"the id in upper case":    {200, deploymentJSON(strings.ToUpper(idA), "app"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPatch {
					respond(test.status, test.body)(w, r)
					return
				}
				respondJSON(pageJSON(1, readBody))(w, r)
			})
			u, err := updating(t.Context(), s.client(t), idA, changed)
			equal(t, "error", err, nil)
			equal(t, "lost", u.Lost, nil)
			equal(t, "used", u.Written != nil, test.used)
			equal(t, "sent", u.Sent, changed)
			equal(t, "PATCHes", s.count("PATCH"), 1)
		})
	}
}

func TestUpdate_sendsNothing(t *testing.T) {
	t.Parallel()
	fake, c, ids := manyDeployments(1, fakeserver.Options{})
	u, err := updating(t.Context(), c, ids[0], Tree{})
	equal(t, "error of an empty body", err, nil)
	equal(t, "update", []any{u.Before.ID, u.Sent == nil, u.Written == nil, u.Lost}, []any{ids[0], true, true, nil})
	impossible := errors.New("impossible")
	_, err = c.UpdateDeployment(t.Context(), ids[0], func(*Deployment) (Tree, error) { return changed, impossible })
	equal(t, "error of the body", err, impossible)
	equal(t, "requests", len(fake.Requests()), 2) // to read it
}

// With the documented operations only, nothing else is sent.
func TestWrites_documentedOnly(t *testing.T) {
	t.Parallel()
	fake := fakeserver.New(fakeserver.Options{})
	id := fake.SeedDeployment(map[string]any{"name": "app"})
	s := serve(t, fake.ServeHTTP)
	c := s.client(t, func(config *Config) { config.DocumentedOnly = true })
	if _, err := updating(t.Context(), c, id, changed); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("update: %v, want ErrNotAllowed", err)
	}
	if err := c.DeleteDeployment(t.Context(), id); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("delete: %v, want ErrNotAllowed", err)
	}
	equal(t, "requests", s.count(""), 0)
}

func TestUpdate_rejected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(1, fakeserver.Options{})
		var failed *Error
		u, err := updating(t.Context(), c, ids[0], Tree{"source_config": map[string]any{"custom_url": 1},
			"secrets": []Secret{{"A", "planted-value"}}})
		if !errors.As(err, &failed) || failed.Status != http.StatusUnprocessableEntity ||
			strings.Contains(err.Error(), "planted-value") {
			t.Errorf("rejected for a wrong type: %v", err)
		}
		equal(t, "before", u.Before.ID, ids[0])
		equal(t, "members sent", len(u.Sent), 2)
		fake.Fail(fakeserver.UpdateDeployment, -1, fakeserver.Fault{Status: http.StatusTooManyRequests})
		if _, err := updating(t.Context(), c, ids[0], changed); !errors.As(err, &failed) ||
			failed.Status != http.StatusTooManyRequests {
			t.Errorf("never accepted: %v", err)
		}
		fake.ClearFaults()
		fake.Remove(ids[0])
		if _, err := updating(t.Context(), c, ids[0], changed); !errors.Is(err, ErrNotFound) {
			t.Errorf("deleted: %v, want ErrNotFound", err)
		}
	})
}

func TestWrites_notSupported(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			fake, c, ids := manyDeployments(1, fakeserver.Options{})
			fake.Fail(fakeserver.UpdateDeployment, -1, fakeserver.Fault{Status: status})
			fake.Fail(fakeserver.DeleteDeployment, -1, fakeserver.Fault{Status: status})
			if _, err := updating(t.Context(), c, ids[0], changed); !errors.Is(err, ErrNotSupported) {
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
			if _, err := updating(t.Context(), c, ids[0], changed); !errors.Is(err, ErrNotFound) {
				t.Errorf("update of a deleted deployment: %v, want ErrNotFound", err)
			}
		})
	}
}

func TestDelete_isDoneWhenTheDeploymentNoLongerExists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(2, fakeserver.Options{})
		fake.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Cut: true, AfterWork: true})
		if err := c.DeleteDeployment(t.Context(), ids[0]); err != nil {
			t.Errorf("a lost response: %v", err)
		}
		if err := c.DeleteDeployment(t.Context(), ids[0]); err != nil {
			t.Errorf("deleted already: %v", err)
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
		if last, err := c.WaitDeleted(ctx, &Deployment{ID: ids[1], Status: "READY"}); !errors.Is(err, context.Canceled) ||
			last.Status != "READY" {
			t.Errorf("canceled wait: %v, %v", last, err)
		}
	})
}

// A deletion that was accepted before its response was lost is not taken for one that the service does not support.
func TestDelete_repetitionOfAnAcceptedDeletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(1, fakeserver.Options{})
		fake.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Status: http.StatusBadGateway,
			Reached: func() { fake.Edit(ids[0], func(d map[string]any) { d["status"] = StatusAwaitingDelete }) }})
		fake.Fail(fakeserver.DeleteDeployment, -1, fakeserver.Fault{Status: http.StatusNotFound})
		equal(t, "error", c.DeleteDeployment(t.Context(), ids[0]), nil)
	})
}

// What was read ahead of a deployment is not used after a write to it.
func TestRead_afterAWriteIsFresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c, ids := manyDeployments(200, fakeserver.Options{})
		readAll(c, ids[:60], func(_ string, _ *Deployment, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		for _, id := range ids[60:] {
			if _, err := updating(t.Context(), c, id, changed); err != nil {
				t.Fatal(err)
			}
			d, err := c.Deployment(t.Context(), id)
			if err != nil || customURL(d) != "https://new.example.com" {
				t.Fatalf("read after the write: %v, %v", d, err)
			}
		}
	})
}

// An id becomes a part of the path: nothing is sent for one that is not a UUID.
func TestWrites_rejectAnIDThatIsNoUUID(t *testing.T) {
	t.Parallel()
	fake, c, _ := manyDeployments(1, fakeserver.Options{})
	for _, id := range []string{"", ".", "..", "../x", "{" + idA + "}", idA + "/", strings.Repeat("x", 1000)} {
		_, err := updating(t.Context(), c, id, changed)
		if err == nil || !strings.Contains(err.Error(), "is not a UUID") || len(err.Error()) > 120 {
			t.Errorf("update of %.40q: %v", id, err)
		}
		if err := c.DeleteDeployment(t.Context(), id); err == nil || !strings.Contains(err.Error(), "is not a UUID") {
			t.Errorf("delete of %.40q: %v", id, err)
		}
	}
	equal(t, "requests", len(fake.Requests()), 0)
}

// What would only fail again is not repeated.
func TestWrites_permanentFailuresAreNotRepeated(t *testing.T) {
	t.Parallel()
	for name, respond := range map[string]http.HandlerFunc{
		"redirect":  respond(307, "", "Location", "/elsewhere"),
		"too large": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, endless{}, maxBody+1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					respondJSON(pageJSON(1, deploymentJSON(idA, "app")))(w, r)
					return
				}
				respond(w, r)
			})
			c := s.client(t)
			u, err := updating(t.Context(), c, idA, changed)
			equal(t, "error of the update", err, nil) // the service may have acted
			if name == "redirect" {
				equal(t, "lost", asType[*Error](t, u.Lost).Cause, CauseRedirect)
			}
			equal(t, "written", u.Written, nil)
			if err := c.DeleteDeployment(t.Context(), idA); asType[*Error](t, err).Method != "DELETE" {
				t.Error(err)
			}
			equal(t, "writes", s.count("PATCH")+s.count("DELETE"), 2)
		})
	}
}

// Between attempts and while it finds out what a response means, an interrupt ends a write.
func TestWrites_endWithTheirContext(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ write, read http.HandlerFunc }{
		"between attempts": {respond(503, "", "Retry-After", "300"), respondJSON(pageJSON(0))},
		"explaining a 404": {respond(404, ""), respond(503, "", "Retry-After", "300")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := inMemory(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						test.read(w, r)
						return
					}
					test.write(w, r)
				})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				began := time.Now()
				err := c.DeleteDeployment(ctx, idA)
				equal(t, "method", asType[*Error](t, err).Method, "DELETE")
				equal(t, "time", time.Since(began), time.Second)
				time.Sleep(time.Hour) // a read that nobody waits for any longer comes to its end
			})
		})
	}
}

// A deletion that a proxy accepted, and the service never had, is requested again; one that is under way is not.
func TestWaitDeleted_requestsTheDeletionAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(1, fakeserver.Options{})
		fake.Fail(fakeserver.DeleteDeployment, 2, fakeserver.Fault{Body: "<html>", ContentType: "text/html"})
		if err := c.DeleteDeployment(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
		last, err := c.WaitDeleted(t.Context(), &Deployment{ID: ids[0]})
		equal(t, "error", err, nil)
		equal(t, "last", last.ID, ids[0])
		deletions := 0
		for _, r := range fake.Requests() {
			if r.Method == http.MethodDelete {
				deletions++
			}
		}
		equal(t, "deletions", deletions, 3)
	})
	t.Run("deleted slowly", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			fake, c, ids := manyDeployments(1, fakeserver.Options{})
			fake.Edit(ids[0], func(d map[string]any) { d["status"] = StatusAwaitingDelete })
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			last, err := c.WaitDeleted(ctx, &Deployment{ID: ids[0]})
			equal(t, "error", err, context.DeadlineExceeded)
			equal(t, "status", last.Status, StatusAwaitingDelete)
			for _, r := range fake.Requests() {
				equal(t, "method", r.Method, http.MethodGet)
			}
		})
	})
	for _, status := range []int{http.StatusConflict, http.StatusNotFound, http.StatusForbidden} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake, c, ids := manyDeployments(1, fakeserver.Options{})
				fake.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Status: status})
				_, err := c.WaitDeleted(t.Context(), &Deployment{ID: ids[0]})
				if status == http.StatusForbidden {
					equal(t, "status", asType[*Error](t, err).Status, status)
				} else { // requested once more after that
					equal(t, "error", err, nil)
				}
			})
		})
	}
	t.Run("not supported", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			_, c, ids := manyDeployments(1, fakeserver.Options{Documented: true})
			last, err := c.WaitDeleted(t.Context(), &Deployment{ID: ids[0]})
			if !errors.Is(err, ErrNotSupported) || last.ID != ids[0] {
				t.Errorf("got %v, %v", last, err)
			}
		})
	})
}

func TestWaitConsistent_endsAtItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c, ids := manyDeployments(1, fakeserver.Options{})
		began := time.Now()
		never := func(*Deployment) bool { return false }
		last, err := c.WaitConsistent(t.Context(), &Deployment{ID: ids[0]}, never)
		if err != nil || last.Name != "app-0" {
			t.Errorf("got %v, %v", last, err)
		}
		equal(t, "time", time.Since(began), 30*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = c.WaitConsistent(ctx, last, never)
		equal(t, "error of the caller", err, context.DeadlineExceeded)
	})
}

func customURL(d *Deployment) any { return d.Tree["source_config"].(Tree)["custom_url"] }
