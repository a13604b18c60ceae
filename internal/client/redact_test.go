package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func asJSON(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// usualEncodings are found as they are; in the others a value is recognized, and the text withheld.
var usualEncodings = map[string]func(string) string{
	"plain":          func(s string) string { return s },
	"JSON":           asJSON,
	"JSON in JSON":   func(s string) string { return asJSON(asJSON(s)) },
	"HTML":           html.EscapeString,
	"query":          url.QueryEscape,
	"query with %20": func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	"path":           url.PathEscape,
}

var otherEncodings = map[string]func(string) string{
	"JSON in JSON in JSON":  func(s string) string { return asJSON(asJSON(asJSON(s))) },
	"JSON, few escapes":     func(s string) string { return htmlLiterals.Replace(asJSON(s)) },
	"JSON of ASCII":         inASCII,
	"JSON of ASCII, twice":  func(s string) string { return asJSON(inASCII(s)) },
	`JSON with \/`:          func(s string) string { return strings.ReplaceAll(asJSON(s), "/", `\/`) },
	"HTML in hexadecimal":   func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "&#39;", "&#x27;") },
	"HTML in JSON":          func(s string) string { return asJSON(html.EscapeString(s)) },
	"JSON in HTML":          func(s string) string { return html.EscapeString(asJSON(s)) },
	"query, twice":          func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"query that leaves /":   func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") },
	"percent in lower case": func(s string) string { return percent.ReplaceAllStringFunc(url.QueryEscape(s), strings.ToLower) },
	"on one line":           func(s string) string { return strings.Join(strings.Fields(s), " ") },
	"wrapped":               func(s string) string { return strings.ReplaceAll(s, " ", "\r\n") },
}

var htmlLiterals = strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">")

var percent = regexp.MustCompile("%[0-9A-F]{2}")

// inASCII is how Python writes a text as JSON.
func inASCII(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(asJSON(s))) {
		if unit < utf8.RuneSelf {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// someSecret is a value whose parts are recognized by themselves.
func someSecret(random *rand.Rand) (value string, parts []string) {
	between := []string{"'", `"`, `\`, "/", "&", "<", ">", "%", "+", "=", "ö", "\U0001f600", "\n", "\t", " ", "-", "_", ".", "{", `":"`, "\\n", "?", "#", "\x7f", "\u2028"}
	some := func() (text string) {
		for range random.IntN(4) {
			text += between[random.IntN(len(between))]
		}
		return text
	}
	value = some()
	for range 1 + random.IntN(8) {
		part := strings.ToUpper(fmt.Sprintf("%016x", random.Uint64()))[random.IntN(16-runChars):]
		parts = append(parts, part)
		value += part + some()
	}
	return strings.TrimSpace(value), parts
}

func TestHiddenValue_usualEncodingIsReplaced(t *testing.T) {
	t.Parallel()
	for name, encode := range usualEncodings {
		random := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			value, _ := someSecret(random)
			want := "the value " + strings.ReplaceAll(encode("VALUE"), "VALUE", sensitive) + " is rejected"
			if got := hiding(value).displayText("the value " + encode(value) + " is rejected"); got != want {
				t.Fatalf("%s of %q: %s", name, value, got)
			}
		}
	}
}

func TestHiddenValue_otherEncodingIsNotShown(t *testing.T) {
	t.Parallel()
	for name, encode := range otherEncodings {
		random := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			value, parts := someSecret(random)
			got := hiding(value).displayText("the value " + encode(value) + " is rejected")
			if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(got, part) }) {
				t.Fatalf("%s of %q: %s", name, value, got)
			}
		}
	}
}

// hiding is a client that hides values.
func hiding(values ...string) *Client {
	c := New(Config{BaseURL: &url.URL{}})
	c.Hide(values...)
	return c
}

func TestHiddenValueInAMessage(t *testing.T) {
	t.Parallel()
	const key = "sk0live0kR8vTq2LmZx9AbCdEf"
	for name, test := range map[string]struct{ secret, text, want string }{
		"HTML in hexadecimal":   {"it's-hunter2", "not it&#x27;s-hunter2 here", withheld},
		"a slash escaped":       {"hunter/2", `got "hunter\/2" here`, withheld},
		"no letters":            {`$!'"/`, `got $!'\"/ here`, "got (sensitive value) here"},
		"no letters, twice":     {`$!'"/`, `got $!'\\\"/ here`, "got (sensitive value) here"},
		"a number":              {"12345678", "got 12345678", "got (sensitive value)"},
		"a short number":        {"1234567", "got 1234567", "got 1234567"},
		"a boolean":             {"true", "true is rejected", "true is rejected"},
		"three characters":      {"abc", "abc is rejected", "abc is rejected"},
		"a word":                {"prod", "prod prod, production, reprod", "(sensitive value) (sensitive value), production, reprod"},
		"a word, escaped":       {"prod", `%20prod%20 and\nprod`, withheld},
		"a word with an edge":   {"/prod", "a/prod/b, a/production", "a(sensitive value)/b, a/production"},
		"the placeholder":       {"value", "got value", "got (sensitive value)"},
		"not UTF-8, encoded":    {"%80ab", "got %80ab, %2580ab", "got (sensitive value), (sensitive value)"},
		"a long word":           {"database", "databases", "(sensitive value)s"},
		"a space before":        {" 000$000", "0 000$000J", "0 (sensitive value)J"},
		"spaces, encoded":       {"        ", "a%20%20%20%20%20%20%20%20b", "a(sensitive value)b"},
		"plus signs":            {"++++++++", "a ++++++++ b", "a (sensitive value) b"},
		"another number":        {"hunter-2", "hunter-2 and 2 more", "(sensitive value) and 2 more"},
		"cut short":             {key, "the key sk0live0kR8v... is bad", withheld},
		"cut very short":        {key, "the key sk0live0kR8... is bad", "the key sk0live0kR8... is bad"},
		"a part, encoded":       {"first/" + key, "got first%2fsk0live...", withheld},
		"the long part alone":   {"first/" + key, "got " + key, withheld},
		"an escape sequence":    {"ab\x1b[31mcdef", "got ab\x1b[31mcdef", "got (sensitive value)"},
		"written as is escaped": {`ab\u001b[31mcdef`, "got ab\x1b[31mcdef", withheld},
		"a quoted request":      {"", `got {"name": "app", "secrets": [{"name": "A", "value": "unknown]"}]}`, `got {"name": "app", "secrets": (sensitive value)`},
		"on several lines":      {"", "got {\n\"secrets\":\n[\n{\"name\": \"A\"}\n]}", `got { "secrets": (sensitive value)`},
		"quoted twice":          {"", `got {\"secrets\":[{\"name\": \"A\", \"value\": \"unknown]\"}]}`, `got {\"secrets\": (sensitive value)`},
		"in HTML":               {"", `got &quot;secrets&quot;: [{&quot;A`, `got &quot;secrets&quot;: (sensitive value)`},
		"the word":              {"", `the field "secrets": not a list`, `the field "secrets": not a list`},
		"without the scheme":    {"Bearer abcd", "got abcd", "got (sensitive value)"},
		"with the scheme":       {"Bearer to'ken", "got Bearer to'ken", "got (sensitive value)"},
		"between other letters": {"hunter2", "密钥hunter2无效", "密钥(sensitive value)无效"},
		"overlapping itself":    {"1.1.1", "version 11.1.1.1 ok", "version 11.(sensitive value) ok"},
		"thrice in JSON":        {`ab"cd"ef"gh`, asJSON(asJSON(asJSON(`ab"cd"ef"gh`))) + ` &amp;amp;amp;lt; %25252541 a+b+%2B`, withheld},
		"a sentence":            {"all the words", "got words", "got words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			equal(t, "message", hiding(test.secret).displayText(test.text), test.want)
		})
	}
}

func TestSeveralHiddenValuesInAMessage(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		values []string
		want   string
	}{
		`A=pa\"ss\"word-of-db, B=DOMAIN\new\user`:                         {[]string{`pa"ss"word-of-db`, `DOMAIN\new\user`}, "A=(sensitive value), B=(sensitive value)"},
		url.QueryEscape("https://u:p%40ss@db/x?a&b") + ` B=k%41%42%43`:    {[]string{"https://u:p%40ss@db/x?a&b", "k%41%42%43"}, "(sensitive value) B=(sensitive value)"},
		url.QueryEscape(`p%41s"w%42z`) + " json " + asJSON(`p%41s"w%42z`): {[]string{`p%41s"w%42z`}, `(sensitive value) json "(sensitive value)"`},
	} {
		equal(t, text, hiding(c.values...).displayText(text), c.want)
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

func TestLongHiddenValue(t *testing.T) {
	t.Parallel()
	for _, lines := range []int{1, 30, 300, 1000} {
		value := pem(rand.New(rand.NewPCG(3, 4)), lines)
		for name, encode := range usualEncodings {
			want := withheld // where it is longer than what is looked at
			if len(encode(value)) < maxText-100 {
				want = "before " + strings.ReplaceAll(encode("VALUE"), "VALUE", sensitive) + " after"
			}
			equal(t, fmt.Sprint(lines, " lines, ", name), hiding(value).displayText("before "+encode(value)+" after"), want)
		}
	}
}

// A text and a value can be long; the work stays that of the part that is shown.
func TestLongTextAndLongHiddenValue(t *testing.T) {
	t.Parallel()
	letters := strings.Repeat("a-", 1<<20)
	equal(t, "text", hiding(letters).displayText(letters), withheld)
	equal(t, "another text", hiding(letters).displayText(strings.Repeat("b", 1<<20)), strings.Repeat("b", maxMessage)+" […]")
}

func BenchmarkDisplayText(b *testing.B) {
	var values []string
	for i := range 1000 {
		values = append(values, fmt.Sprintf("secret'%d-%x", i, rand.Uint64()))
	}
	c := hiding(values...)
	for b.Loop() {
		_ = c.displayText("the value is not known, and so it is rejected")
	}
}

func TestHiddenValue_isInNoLaterErrorAndNoLog(t *testing.T) {
	t.Parallel()
	const value = "it's-planted"
	var logged counter
	s := serve(t, respond(400, `{"detail":"has it&#x27;s-planted"}`, "X-Request-Id", "it%27s-planted"))
	c := s.client(t, func(config *Config) { config.Log = logged.log })
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			c.Hide(value, "")
			_, err := c.Deployment(t.Context(), idA)
			if err == nil || strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), withheld) {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if text := fmt.Sprint(logged.logged); strings.Contains(text, "planted") {
		t.Error(text)
	}
	equal(t, "values", len(c.hidden.known), 2) // and the credential
}
