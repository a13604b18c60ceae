package client

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func repeated(before, item string, n int, after string) string {
	return before + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + after
}

func TestDeploymentBounds(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, test := range map[string]struct{ text, want string }{
		"a deployment":        {fullDeployment, ""},
		"no JSON":             {`]}]"`, ""},
		"nothing":             {``, ""},
		"1,000 items":         {repeated(`{"a":[`, `{}`, 1000, `]}`), ""},
		"1,001 items":         {repeated(`{"a":[`, `{}`, 1001, `]}`), "a list in it has more than 1000 items"},
		"1,001 items, deep":   {repeated(`{"a":[{"b":[`, `1`, 1001, `]}]}`), "a list in it has more than 1000 items"},
		"two lists":           {repeated(`{"a":[`, `{}`, 1000, `],`) + repeated(`"b":[`, `{}`, 1000, `]}`), ""},
		"a list around lists": {repeated(`[`, repeated(`[`, `[1,2]`, 40, `]`), 40, `]`), ""},
		"1,001 members":       {repeated(`{`, `"a":1`, 1001, `}`), ""},
		"commas in a text": {`["` + strings.Repeat(",", 2000) + `","\",\\",` + `"` + strings.Repeat("[", 100) + `"]`,
			""},
		"a text that does not end": {`["` + strings.Repeat(",", 2000) + `\`, ""},
		"64 levels":                {nested(64), ""},
		"65 levels":                {nested(65), "it is nested more than 64 levels deep"},
		"a million levels":         {nested(1000000), "it is nested more than 64 levels deep"},
		"levels after one another": {repeated("[", nested(60), 100, "]"), ""},
		"many values":              {repeated(`{`, `"a":1`, 50001, `}`), "it has more than 50000 values"},
		"many values in many lists": {repeated(`[`, repeated(`{"a":[`, `{}`, 400, `]}`), 130, `]`),
			"it has more than 50000 values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if _, err := deploymentBounds.check([]byte(test.text)); err != nil {
				got = err.Error()
			}
			equal(t, "error", got, test.want)
		})
	}
}

// What decoding could cost hundreds of times its size is rejected before that.
func TestResponseOfManyValuesIsRejected(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	for name, test := range map[string]struct{ body, want string }{
		"items":   {repeated(`[`, `{}`, 10<<20, `]`), "the response cannot be used: it has more than 500000 values"},
		"members": {repeated(`[{`, `"a":1`, 5<<20, `}]`), "the response cannot be used: it has more than 500000 values"},
		"levels":  {strings.Repeat(`[`, 32<<20), "the response cannot be used: it is nested more than 66 levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondJSON(test.body))
			_, err := s.client(t).Repositories(t.Context(), idA, unchecked)
			failed := asType[*Error](t, err)
			equal(t, "message", failed.Message, test.want)
			equal(t, "malformed", failed.Cause, CauseMalformed)
			equal(t, "requests", s.count(""), 1)
		})
	}
	s := serve(t, respondJSON(repeated(`[`, fullRepository, 50000, `]`)))
	got, err := s.client(t).Repositories(t.Context(), idA, unchecked)
	equal(t, "error", err, nil)
	equal(t, "repositories", len(got), 50000)
}

// A list ends with an error when all of it costs too much, though no page does.
func TestListBounds(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	numbered := func(offset, n int) (items []string) {
		for i := range n {
			items = append(items, deploymentJSON(numberedID(offset+i), "a"))
		}
		return items
	}
	for name, test := range map[string]struct {
		page  func(offset int) string
		pages int // that are requested
		took  time.Duration
		want  string
	}{
		"1,001 items on a page": {func(offset int) string { return pageJSON(offset+1001, numbered(offset, 1001)...) }, 1, 0,
			"the response cannot be used: the page has more than 1000 items"},
		"items": {func(offset int) string { return pageJSON(offset+1000, numbered(offset, 1000)...) }, 101, 0,
			"the list has more than 100000 items"},
		"time": {func(offset int) string {
			time.Sleep(25 * time.Second)
			return pageJSON(offset+1, numbered(offset, 1)...)
		}, 37, 15*time.Minute + 25*time.Second, "the list takes more than 15m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pages := 0
				c := inMemory(func(w http.ResponseWriter, r *http.Request) {
					pages++
					offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
					_, _ = io.WriteString(w, test.page(offset))
				})
				began := time.Now()
				var err error
				for _, err = range c.items(t.Context(), DeploymentFilter{}, newBudget()) {
				}
				if err == nil || !strings.HasSuffix(err.Error(), test.want) {
					t.Errorf("got %.300v, want %s", err, test.want)
				}
				equal(t, "pages", pages, test.pages)
				equal(t, "time", time.Since(began), test.took)
			})
		})
	}
}

// The responses to one operation are bounded together, by their length and by their values.
func TestBudget(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	for name, test := range map[string]struct {
		raw  []byte
		most int // such responses
	}{
		"long":        {make([]byte, maxBody), 8},
		"many values": {[]byte(repeated("[", "1", 400_000, "]")), 10},
	} {
		cost, spent := newBudget(), 0
		for cost.spend(test.raw) == nil {
			spent++
		}
		equal(t, name, spent, test.most)
	}
}

// The scan agrees with encoding/json on what nests how deep.
func FuzzBounds(f *testing.F) {
	for _, seed := range []string{``, `[]`, `{"a":[1,2,{"b":"],\\\"["}]}`, `[[[[]]]]`, `[1,2,3,4,5]`, `"[[[[[["`,
		fullDeployment} {
		f.Add([]byte(seed))
	}
	small := bounds{items: 3, values: 1000, depth: 4}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := small.check(raw)
		var value any
		if len(raw) > 500 || json.Unmarshal(raw, &value) != nil {
			return // it must not panic
		}
		if want := beyond(value, small); (err != nil) != want && !strings.Contains(string(raw), ":") {
			t.Fatalf("%s: %v, want an error: %v", raw, err, want)
		}
	})
}

// beyond reports whether a value has too many items or levels.
func beyond(value any, b bounds) bool {
	switch value := value.(type) {
	case []any:
		if b.depth == 0 || len(value) > b.items {
			return true
		}
		b.depth--
		for _, item := range value {
			if beyond(item, b) {
				return true
			}
		}
	case map[string]any: // which a repeated member is in once
		if b.depth == 0 {
			return true
		}
		b.depth--
		for _, item := range value {
			if beyond(item, b) {
				return true
			}
		}
	}
	return false
}
