package client

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A page gives deployments that pass the check, or an error; it never panics.
func FuzzListPage(f *testing.F) {
	for _, seed := range []string{
		pageJSON(0), pageJSON(1, deploymentJSON(idA, "a")), `{"resources":[` + fullDeployment + `],"offset":1.0}`,
		`null`, `[]`, `{}`, `{"resources":null,"offset":0}`, `{"resources":[null],"offset":1}`,
		`{"resources":{},"offset":[]}`,
		`{"resources":[{"source_config":{"resource_spec":{"memory_mb":1e999999999,"cpu":"x","volumes":[{"csi":null}]}}}],` +
			`"offset":1e99}`,
		`{"resources":[],"offset":9223372036854775808}`, "\x00", `{"resources":[]`, `{"resources":[],"offset":0}x`,
		`{"RESOURCES":[],"Offset":7}`,
	} {
		f.Add([]byte(seed))
	}
	empty := []byte(pageJSON(0))
	f.Fuzz(func(t *testing.T, body []byte) {
		c := New(Config{BaseURL: &url.URL{Scheme: "http", Host: "service.example"}})
		next := body
		c.http.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(next))}
			next = empty // so that a page whose offset advances is not the same for ever
			return resp, nil
		})
		for d, err := range c.Deployments(t.Context(), DeploymentFilter{}) {
			switch {
			case err != nil && d != nil:
				t.Fatal("both an error and a deployment")
			case err != nil:
				_ = asType[*Error](t, err)
				checkShown(t, err.Error())
			case d.check() != nil:
				t.Fatal(d.check())
			default:
				if _, err := json.Marshal(d); err != nil {
					t.Fatal(err) // what was read can be written
				}
			}
		}
	})
}

const planted = `pl4nted/"value"&<x>+%20 and-more`

// Whatever the service responds, what is shown of it is readable, bounded and
// free of secrets.
func FuzzErrorBody(f *testing.F) {
	for _, seed := range []string{
		"", "null", `{"detail":"text"}`, `{"detail":[{"loc":["body",0,null,1e300],"msg":"m"}]}`,
		`{"title":"t","errors":[{"detail":"d"}]}`,
		`{"error":{"message":"m"}}`, `{"message":["a",{"msg":"b"}]}`, "<html><head>x</head><!-- c --><p>y</p>",
		"\xff\x00\x1b[31m", planted,
		`{"detail":"pl4nted/\"value\"&<x>+%20 and-more"}`,
		`{"detail":"pl4nted/\\\"value\\\"\u0026\u003cx\u003e+%20 and-more"}`, url.QueryEscape(planted),
		"pl4nted/\"value\"&<x>+%20\nand-more",
	} {
		f.Add([]byte(seed), "text/html", "req-1")
		f.Add([]byte(seed+planted), "", planted)
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType, id string) {
		if hasOnlyAPart(string(body)) || hasOnlyAPart(id) {
			return
		}
		c := New(Config{BaseURL: &url.URL{}, Header: http.Header{"X-Api-Key": {planted}}})
		resp := response{400, http.Header{"Content-Type": {contentType}, "X-Request-Id": {id}}, body}
		c.Hide("an0ther-secret")
		e := c.rejection(request{operation: "try", method: "GET", path: "/x"}, resp)
		checkShown(t, e.Message)
		checkShown(t, e.RequestID)
		if len(e.Fields) > maxFields {
			t.Fatalf("%d fields", len(e.Fields))
		}
		for _, field := range e.Fields {
			checkShown(t, field.Message)
			for _, step := range field.Loc {
				switch step := step.(type) {
				case string:
					checkShown(t, step)
				case int:
				default:
					t.Fatalf("a step of kind %T", step)
				}
			}
		}
		checkShown(t, c.displayText(string(body)))
	})
}

// hasOnlyAPart reports whether a text has the end of the planted secret without the rest.
func hasOnlyAPart(text string) bool {
	text = strings.Join(strings.Fields(text), " ")
	for _, encode := range usualEncodings {
		text = strings.ReplaceAll(text, strings.Trim(encode(planted), `"`), "")
	}
	return strings.Contains(text, "and-more")
}

func checkShown(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("invalid UTF-8: %q", text)
	}
	if utf8.RuneCountInString(text) > maxMessage+200 { // the rest is of the error itself
		t.Fatalf("%d characters", utf8.RuneCountInString(text))
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Fatalf("not printable: %q", text[i:])
	}
	if strings.Contains(text, planted) || strings.Contains(text, "and-more") || strings.Contains(text, "an0ther-secret") {
		t.Fatalf("a secret: %q", text)
	}
}

// A wait is from zero to the longest, and zero when none is asked for.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "7", "1.5", "-3", "NaN", "Inf", "-Inf", "1e300", "0x1p4",
		"Wed, 02 Jan 2030 03:04:35 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "soon"} {
		f.Add(seed, int64(0))
		f.Add(seed, int64(1893553445))
	}
	f.Fuzz(func(t *testing.T, text string, now int64) {
		got, ok := retryAfter(http.Header{"Retry-After": {text}}, time.Unix(now, 0))
		if got < 0 || got > maxPauses || !ok && got != 0 {
			t.Fatalf("%v, %v", got, ok)
		}
	})
}

// Sanitized text is printable, valid, and the same when it is sanitized again;
// what was printable stays.
func FuzzSanitize(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\nb", "\x1b[31m", "\u009b", "\x9b", "\u202e", "\u2066x\u2069", "\xff\xfe",
		"\u2028", "\U000e0001", "\ufffd", "é日😀"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Sanitize(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("not printable: %q", got)
		}
		if again := Sanitize(got); again != got {
			t.Fatalf("%q is changed again to %q", got, again)
		}
		if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) &&
			got != text {
			t.Fatalf("%q is changed to %q", text, got)
		}
	})
}

// A value of 8 characters or more is not shown in any usual encoding, whatever
// is around it.
func FuzzRedaction(f *testing.F) {
	for _, value := range []string{"hush-hush", planted, "pässwörd", "a+b c%20d", "\\\\\\\\\\", "++++++++", "%41%42%43",
		"&amp;&amp;", "12345678", "yes, maybe", "two\nlines\tof it", "(sensitive value)"} {
		f.Add(value, "got ", ", not this")
		f.Add(value, `{"a":"\`, `\"}`)
		f.Add(value, "%", "x")
	}
	markers := sensitive
	f.Fuzz(func(t *testing.T, value, before, after string) {
		forms := decodings(value)
		shortest, _ := forms[len(forms)-1].read(0, maxText)
		short := len(strings.TrimSpace(shortest)) < longChars // then it may be a part of a word
		if short || strings.Contains(markers, value) || !utf8.ValidString(value) {
			return
		}
		c := New(Config{BaseURL: &url.URL{}})
		c.Hide(value)
		for name, quote := range usualEncodings {
			text := before + quote(value) + after
			for _, form := range []string{value, quote(value)} {
				if shown := c.displayText(text); strings.Contains(shown, form) &&
					!strings.Contains(c.displayText(before)+c.displayText(after)+sensitive, form) {
					t.Fatalf("%s of %q in %q: %q", name, value, text, shown)
				}
			}
		}
	})
}
