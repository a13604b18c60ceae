package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func inJSON(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// quotings are ways in which a service repeats a value.
var quotings = map[string]func(string) string{
	"plain":                  func(s string) string { return s },
	"JSON":                   inJSON,
	"JSON in JSON":           func(s string) string { return inJSON(inJSON(s)) },
	"JSON in JSON in JSON":   func(s string) string { return inJSON(inJSON(inJSON(s))) },
	"JSON of ASCII":          strconv.QuoteToASCII,
	"JSON of ASCII, twice":   func(s string) string { return inJSON(strconv.QuoteToASCII(s)) },
	`JSON with \/`:           func(s string) string { return strings.ReplaceAll(inJSON(s), "/", `\/`) },
	"HTML":                   html.EscapeString,
	"HTML in hexadecimal":    func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "&#39;", "&#x27;") },
	"HTML in JSON":           func(s string) string { return inJSON(html.EscapeString(s)) },
	"JSON in HTML":           func(s string) string { return html.EscapeString(inJSON(s)) },
	"query":                  url.QueryEscape,
	"query, twice":           func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"path":                   url.PathEscape,
	"query that leaves /":    func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") },
	"percent in lower case":  func(s string) string { return percent.ReplaceAllStringFunc(url.QueryEscape(s), strings.ToLower) },
	"Go":                     strconv.Quote,
	"single quotes":          singleQuoted,
	"single quotes in JSON":  func(s string) string { return inJSON(singleQuoted(s)) },
	"quoted-printable style": func(s string) string { return strings.ReplaceAll(url.PathEscape(s), "%", "=") },
}

var percent = regexp.MustCompile("%[0-9A-F]{2}")

// singleQuoted is how Python shows a text.
func singleQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + "'"
}

// ofSecret are values whose parts are found again wherever they stand.
func ofSecret(random *rand.Rand) (value string, parts []string) {
	between := []string{"'", `"`, `\`, "/", "&", "<", ">", "%", "+", "=", "ö", "\U0001f600", "\n", "\t", " ", "-", "_", ".", "{", `":"`, "\\n", "?", "#", "\x7f", "\u2028"}
	some := func() (text string) {
		for range random.IntN(4) {
			text += between[random.IntN(len(between))]
		}
		return text
	}
	value = some()
	for range 1 + random.IntN(8) {
		part := strings.ToUpper(strconv.FormatUint(random.Uint64(), 36))[:4+random.IntN(8)]
		parts = append(parts, part)
		value += part + some()
		if random.IntN(3) == 0 {
			value += string("abnux2"[random.IntN(6)]) + between[random.IntN(len(between))]
		}
	}
	return value, parts
}

// However a value is quoted, none of its parts is shown, and what stands
// around it is.
func TestSecretIsNotShownInAnyQuoting(t *testing.T) {
	t.Parallel()
	for name, quote := range quotings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			for range 500 {
				value, parts := ofSecret(random)
				text := cleaner(value).clean("the value " + quote(value) + " is refused")
				if !strings.HasPrefix(text, "the value ") || !strings.HasSuffix(text, " is refused") || !strings.Contains(text, "(sensitive value)") {
					t.Fatalf("not readable: %s\n%q\n%s", text, value, quote(value))
				}
				for _, part := range parts {
					if strings.Contains(text, part) {
						t.Fatalf("%q is shown: %s\n%q\n%s", part, text, value, quote(value))
					}
				}
			}
		})
	}
}

// cleaner is a client that hides values.
func cleaner(values ...string) *Client {
	c := New(Config{BaseURL: &url.URL{}})
	c.Hide(values...)
	return c
}

func TestWhatIsHiddenOfAMessage(t *testing.T) {
	t.Parallel()
	const key = "sk0live0kR8vTq2LmZx9AbCdEf"
	for name, test := range map[string]struct{ secret, text, want string }{
		"HTML in hexadecimal":  {"it's-hunter2", "not it&#x27;s-hunter2 here", "not (sensitive value) here"},
		"single quotes":        {`a'b"c-hunter2`, `got 'a\'b"c-hunter2' here`, `got '(sensitive value)' here`},
		"escapes all around":   {`"'abcd'"`, `got \\\"\u0027abcd&#39;%22 here`, "got (sensitive value) here"},
		"a run in an escape":   {"hunter/2", "got hunter&#x2f;2 here", "got (sensitive value) here"},
		"an escape like a run": {"amp&hunt", "got amp&amp;hunt here", "got (sensitive value) here"},
		"no letters":           {`$!'"/`, `got \\u0024 or $!'\"/ here`, `got \\u0024 or (sensitive value) here`},
		"no letters, twice":    {`$!'"/`, `got $!'\\\"/ here`, `got (sensitive value) here`},
		"few letters":          {`a'b"c`, `got a'b\\\"c, not a or b`, `got (sensitive value), not a or b`},
		"a short one, alone":   {"on", `it is on`, withheld},
		"a short one, escaped": {"on", `it is %22on%22`, withheld},
		"a short one, within":  {"on", `it was done once, upon a time`, `it was done once, upon a time`},
		"the same words":       {"hunter-2", "the hunter has 2 dogs", "the hunter has 2 dogs"},
		"the same with spaces": {"hunter 2", "the hunter has 2 dogs, hunter 2", "the hunter has 2 dogs, (sensitive value)"},
		"another number":       {"hunter-2", "hunter-2 and 2 more", "(sensitive value) and 2 more"},
		"cut short":            {key, "the key sk0live0kR8vTq2Lm... is bad", "the key (sensitive value)... is bad"},
		"cut in the middle":    {"first/" + key + "/last", "the key live first\\/sk0live0kR8vTq2Lm… is bad", "the key live (sensitive value)… is bad"},
		"the beginning alone":  {"first/" + key, "first of all", "first of all"},
		"the long part alone":  {"first/" + key, "got " + key, "got (sensitive value)"},
		"a terminal's command": {"ab\x1b[31mcdef", "got ab\x1b[31mcdef", "got (sensitive value)"},
		"a quoted request":     {"", `got {"name": "app", "secrets": [{"name": "A", "value": "unknown]"}]}`, `got {"name": "app", "secrets": (sensitive value)`},
		"quoted twice":         {"", `got {\"secrets\":[{\"name\": \"A\", \"value\": \"unknown]\"}]}`, `got {\"secrets\": (sensitive value)`},
		"the word":             {"", `the field "secrets": not a list`, `the field "secrets": not a list`},
		"without the scheme":   {"Bearer to'ken", "got to&#x27;ken", "got (sensitive value)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, "message", cleaner(test.secret).clean(test.text), test.want)
		})
	}
}

// pem is a value of many runs.
func pem(random *rand.Rand, lines int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN PRIVATE KEY-----\n")
	for range lines {
		var line [48]byte
		for i := range line {
			line[i] = byte(random.Uint32())
		}
		b.WriteString(base64.StdEncoding.EncodeToString(line[:]) + "\n")
	}
	return b.String() + "-----END PRIVATE KEY-----\n"
}

func TestLongSecretIsHiddenWholeAndCut(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, lines := range []int{1, 30, 300, 1000} {
		value := pem(random, lines)
		for name, quote := range quotings {
			text := cleaner(value).clean("before " + quote(value) + " after")
			if want := "before (sensitive value) after"; strings.Trim(strings.NewReplacer(`"`, "", `'`, "", `\`, "", "&#34;", "").Replace(text), " ") != want && lines < 100 {
				t.Errorf("%d lines, %s: %s", lines, name, text)
			}
			for _, line := range strings.Fields(value)[3:] {
				for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == '+' || r == '/' || r == '=' || r == '-' }) {
					if len(part) >= 6 && strings.Contains(text, part) {
						t.Fatalf("%d lines, %s: %s is shown: %s", lines, name, part, text)
					}
				}
			}
		}
	}
}

// The work is bounded, whatever the values and the message.
func TestHidingIsNotSlow(t *testing.T) {
	t.Parallel()
	letters := strings.Repeat("a-", 20000)
	long := strings.Repeat("a"+strings.Repeat("-", 500), 50)
	for _, secret := range []string{letters, long, strings.Repeat("a", 1000), strings.Repeat("ab'", 3000) + "c"} {
		for _, text := range []string{letters, strings.Repeat("a", maxRedacted), long, strings.Repeat("ab&#x27;", 5000), strings.Repeat("a -", 10000)} {
			text := redact(text, hide(secret))
			if len(text) > maxRedacted+100 {
				t.Error(len(text))
			}
		}
	}
}

func BenchmarkClean(b *testing.B) {
	var values []string
	for i := range 1000 {
		values = append(values, fmt.Sprintf("secret'%d-%x", i, rand.Uint64()))
	}
	c := cleaner(values...)
	for b.Loop() {
		_ = c.clean("the value is not known, and so it is refused")
	}
}

func TestHiddenValueStandsInNoLaterErrorAndNoLog(t *testing.T) {
	t.Parallel()
	const value = "it's-planted"
	var told counter
	s := serve(t, answer(400, `{"detail":"has it&#x27;s-planted"}`, "X-Request-Id", "it%27s-planted"))
	c := s.client(t, func(config *Config) { config.Log = told.log })
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			c.Hide(value, "")
			_, err := c.Deployment(t.Context(), idA)
			if err == nil || strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "has (sensitive value)") {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if text := fmt.Sprint(told.told); strings.Contains(text, "planted") {
		t.Error(text)
	}
	same(t, "values", len(c.memory.all()), 2) // and the credential
}
