package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"net/http"
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
	"JSON in JSON in JSON": func(s string) string { return asJSON(asJSON(asJSON(s))) },
	"JSON, few escapes":    func(s string) string { return htmlLiterals.Replace(asJSON(s)) },
	"JSON of ASCII":        inASCII,
	"JSON of ASCII, twice": func(s string) string { return asJSON(inASCII(s)) },
	`JSON with \/`:         func(s string) string { return strings.ReplaceAll(asJSON(s), "/", `\/`) },
	"HTML in hexadecimal":  func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "&#39;", "&#x27;") },
	"HTML in JSON":         func(s string) string { return asJSON(html.EscapeString(s)) },
	"JSON in HTML":         func(s string) string { return html.EscapeString(asJSON(s)) },
	"query, twice":         func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"query that leaves /":  func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") },
	"percent in lower case": func(s string) string {
		return percent.ReplaceAllStringFunc(url.QueryEscape(s),
			strings.ToLower)
	},
	"on one line": func(s string) string { return strings.Join(strings.Fields(s), " ") },
	"wrapped":     func(s string) string { return strings.ReplaceAll(s, " ", "\r\n") },
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
	between := []string{"'", `"`, `\`, "/", "&", "<", ">", "%", "+", "=", "ö", "\U0001f600", "\n", "\t", " ", "-", "_",
		".", "{", `":"`, "\\n", "?", "#", "\x7f", "\u2028"}
	some := func() (text string) {
		for range random.IntN(4) {
			text += between[random.IntN(len(between))]
		}
		return text
	}
	value = some()
	for range 1 + random.IntN(8) {
		part := strings.ToUpper(fmt.Sprintf("%016x", random.Uint64()))[random.IntN(16-prefixChars):]
		parts = append(parts, part)
		value += part + some()
	}
	return strings.TrimSpace(value), parts
}

// A value is hidden however it is encoded, and the message around it is shown.
func TestHiddenValue_isReplacedInEveryEncoding(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	encodings := maps.Clone(usualEncodings)
	maps.Copy(encodings, otherEncodings)
	for name, encode := range encodings {
		random := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			value, parts := someSecret(random)
			got := hiding(value).displayText("the value " + encode(value) + " is rejected")
			shows := func(part string) bool { return strings.Contains(strings.ToLower(got), strings.ToLower(part)) }
			if slices.ContainsFunc(parts, shows) || !strings.HasPrefix(got, "the value ") ||
				!strings.HasSuffix(got, " is rejected") {
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
	const database = "postgresql://admin:hunter2@db.prod.example.com:5432/app"
	for name, test := range map[string]struct{ secret, text, want string }{
		"HTML in hexadecimal":   {"it's-hunter2", "not it&#x27;s-hunter2 here", "not (sensitive value) here"},
		"a slash escaped":       {"hunter/2", `got "hunter\/2" here`, `got "(sensitive value)" here`},
		"no letters":            {`$!'"/`, `got $!'\"/ here`, "got (sensitive value) here"},
		"no letters, twice":     {`$!'"/`, `got $!'\\\"/ here`, "got (sensitive value) here"},
		"in upper case":         {"pässword-1", "PÄSSWORD-1 is rejected", "(sensitive value) is rejected"},
		"escapes of two digits": {"password-1", `\x70assword-1 is rejected`, "(sensitive value) is rejected"},
		"a number":              {"12345678", "got 12345678", "got (sensitive value)"},
		"a short number":        {"1234567", "got 1234567", "got 1234567"},
		"a boolean":             {"true", "true is rejected", "true is rejected"},
		"three characters":      {"abc", "abc is rejected", "abc is rejected"},
		"a word": {"prod", "prod prod, production, reprod",
			"(sensitive value) (sensitive value), production, reprod"},
		"a word, escaped":          {"prod", `%20prod%20 and\nprod`, `%20(sensitive value)%20 and\n(sensitive value)`},
		"a word with an edge":      {"/prod", "a/prod/b, a/production", "a(sensitive value)/b, a/production"},
		"a word with another edge": {"prod/", "prod/b, reprod/", "(sensitive value)b, reprod/"},
		"the placeholder":          {"value", "got value", "got (sensitive value)"},
		"escaped by itself":        {"%80ab", "got %80ab, %2580ab", "got (sensitive value), (sensitive value)"},
		"a long word":              {"database", "databases", "(sensitive value)s"},
		"an escape before it":      {`n"abcdefgh`, `\n\"abcdefgh here`, `\(sensitive value) here`},
		"another number":           {"hunter-2", "hunter-2 and 2 more", "(sensitive value) and 2 more"},
		"cut short":                {key, "the key sk0live0kR8v... is bad", "the key (sensitive value) is bad"},
		"cut in the middle":        {key, "the key 'sk0live0kR8v...AbCdEf' is bad", "the key '(sensitive value)' is bad"},
		"cut with an ellipsis":     {key, "the key sk0live0kR8v…", "the key (sensitive value)"},
		"cut very short":           {key, "the key sk0live0kR8... is bad", "the key sk0live0kR8... is bad"},
		"a part, encoded":          {"first/" + key, "got first%2fsk0live0kR8v...", "got (sensitive value)"},
		"a telling part":           {"first/" + key, "got " + key, "got (sensitive value)"},
		"no password": {"https://example.com:8080/x?mail=a@b.example", "port 8080/x?mail=a",
			"port 8080/x?mail=a"},
		"no URL":            {"note: contact me@b.example", "got contact me", "got contact me"},
		"another character": {key + "ä", "got sk0live0kR8vTq2LmZx9AbCdEfö!", "got (sensitive value)ö!"},
		"a cut UUID":        {"3f2b8c1e-9d4a-4f6b-8a7e-000000000000", "got 3f2b8c1e-9d4a…", "got (sensitive value)"},
		"a long word, cut":  {"qwertzuiopasdfgh", "got qwertzuiopas... here", "got (sensitive value) here"},
		"a scheme": {database, "DSN must begin with postgresql:// or mysql://",
			"DSN must begin with postgresql:// or mysql://"},
		"a host": {database, "cannot reach db.prod.example.com:5432",
			"cannot reach db.prod.example.com:5432"},
		"a scheme and a user":   {database, "got postgresql://admin", "got postgresql://admin"},
		"the password of a URL": {database, "user admin with hunter2", "user admin with (sensitive value)"},
		"words of a sentence": {"correct horse battery staple", "a correct horse battery is expected",
			"a correct horse battery is expected"},
		"a heading": {"-----BEGIN PRIVATE KEY-----\nx", "expected -----BEGIN PRIVATE KEY-----",
			"expected -----BEGIN PRIVATE KEY-----"},
		"an ordinary word of it": {"authentication off", "authentication failed", "authentication failed"},
		"an escape sequence":     {"ab\x1b[31mcdef", "got ab\x1b[31mcdef", "got (sensitive value)"},
		"written as is escaped":  {`ab\u001b[31mcdef`, "got ab\x1b[31mcdef", "got (sensitive value)"},
		"a quoted request": {"", `got {"name": "app", "secrets": [{"name": "A", "value": "unknown]"}]}`,
			`got {"name": "app", "secrets": (sensitive value)`},
		"on several lines": {"", "got {\n\"secrets\":\n[\n{\"name\": \"A\"}\n]}",
			`got { "secrets": (sensitive value)`},
		"quoted twice": {"", `got {\"secrets\":[{\"name\": \"A\", \"value\": \"unknown]\"}]}`,
			`got {\"secrets\": (sensitive value)`},
		"in HTML":                  {"", `got &quot;secrets&quot;: [{&quot;A`, `got &quot;secrets&quot;: (sensitive value)`},
		"the word":                 {"", `the field "secrets": not a list`, `the field "secrets": not a list`},
		"between other letters":    {"hunter2", "密钥hunter2无效", "密钥(sensitive value)无效"},
		"overlapping itself":       {"1.1.1", "version 11.1.1.1 ok", "version 11.(sensitive value) ok"},
		"overlapping itself, long": {"ab-ab-ab-ab", "ab-ab-ab-ab-ab ok", "(sensitive value) ok"},
		"thrice in JSON":           {`ab"cd"ef"gh`, asJSON(asJSON(asJSON(`ab"cd"ef"gh`))), `"\"\\\"(sensitive value)\\\"\""`},
		"a sentence":               {"all the words", "got words", "got words"},
		"a long text in words":     {strings.Repeat("some of it ", 1000), strings.Repeat("some of it ", 500), sensitive},
		"words with an umlaut": {"öffentlich und ähnlich geheim", "nicht öffentlich und ähnlich",
			"nicht öffentlich und ähnlich"},
		"underscores": {"____________a", "got ____________b", "got ____________b"},
		"two URLs":    {"a://b:first-one@c d://e:second-one@f", "first-one, second-one", sensitive + ", " + sensitive},
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
		`A=pa\"ss\"word-of-db, B=DOMAIN\new\user`: {[]string{`pa"ss"word-of-db`, `DOMAIN\new\user`},
			"A=(sensitive value), B=(sensitive value)"},
		url.QueryEscape("https://u:p%40ss@db/x?a&b") + ` B=k%41%42%43`: {[]string{"https://u:p%40ss@db/x?a&b",
			"k%41%42%43"}, "(sensitive value) B=(sensitive value)"},
		url.QueryEscape(`p%41s"w%42z`) + " json " + asJSON(`p%41s"w%42z`): {[]string{`p%41s"w%42z`},
			`(sensitive value) json "(sensitive value)"`},
	} {
		equal(t, text, hiding(c.values...).displayText(text), c.want)
	}
}

// A credential is hidden as a whole and in its parts.
func TestHiddenCredential(t *testing.T) {
	t.Parallel()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:hunter2"))
	for text, test := range map[string]struct{ header, want string }{
		"got abcd":              {"Bearer abcd", "got (sensitive value)"},
		"got to'ken":            {"Bearer to'ken", "got (sensitive value)"},
		"Bearer is expected":    {"Bearer to'ken", "Bearer is expected"},
		"user admin, hunter2":   {basic, "user admin, (sensitive value)"},
		"got " + basic[6:]:      {basic, "got (sensitive value)"},
		"token s3cret is wrong": {`Token token="s3cret", nonce=n0nce`, "token (sensitive value) is wrong"},
		"n0nce is wrong":        {`Token token="s3cret", nonce=n0nce`, "(sensitive value) is wrong"},
	} {
		c := New(Config{BaseURL: &url.URL{}, Header: http.Header{"Authorization": {test.header}}})
		equal(t, text, c.Clean(text), test.want)
	}
}

func TestHiddenProxyPassword(t *testing.T) {
	for proxy, want := range map[string]string{
		"http://user:hunter2@proxy.example:3128": "got (sensitive value)",
		"user:hunter2@proxy.example":             "got (sensitive value)",
		"http://user:hunter2@%zz":                "got (sensitive value)",
		"http://hunter2@proxy.example":           "got hunter2",
		"http://proxy.example":                   "got hunter2",
	} {
		t.Setenv("HTTPS_PROXY", proxy)
		equal(t, proxy, hiding().Clean("got hunter2"), want)
	}
}

// Clean keeps what a user wrote as it is, but for what is hidden and what a terminal would interpret.
func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "",
		"a  <b>name</b> ":                   "a  <b>name</b> ",
		"two\nlines\x1b[31m\u202e":          `two\nlines\u001b[31m\u202e`,
		"has s3cret-value":                  "has (sensitive value)",
		strings.Repeat("é", 2*maxMessage+1): strings.Repeat("é", 2*maxMessage) + " […]",
		strings.Repeat("s3cret-value", 300): strings.Repeat(sensitive, 300)[:2*maxMessage] + " […]",
		strings.Repeat("x", maxText-6) + "s3cret-value": strings.Repeat("x", 2*maxMessage) + " […]",
	} {
		equal(t, text, hiding("s3cret-value").Clean(text), want)
	}
}

// A value that is the beginning of another one does not keep the rest of that from being hidden.
func TestHide_valueThatBeginsAnother(t *testing.T) {
	t.Parallel()
	const short, long = "sk0live0kR8v", "sk0live0kR8vTq2LmZx9AbCdEf"
	for _, values := range [][]string{{short, long}, {long, short}} {
		got := hiding(values...).Clean("the key '" + short + "...AbCdEf' is bad")
		equal(t, "message", got, "the key '(sensitive value)' is bad")
	}
}

// pem is a value of many lines.
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
	inLongRuns(t)
	t.Parallel()
	for _, lines := range []int{1, 30, 300, 1000} {
		value := pem(rand.New(rand.NewPCG(3, 4)), lines)
		for name, encode := range usualEncodings {
			got := hiding(value).displayText("before " + encode(value) + " after")
			want := `^before (\\?"){0,2}\(sensitive value\)(\\n)?(\\?"){0,2}`
			if len(encode(value)) < maxText-100 { // otherwise it is longer than what is looked at
				want += "( |[+]|%0A|%20|\\\\\\\\n|\"|\\\\\")*after"
			}
			if !regexp.MustCompile(want + "$").MatchString(got) {
				t.Errorf("%d lines, %s: %s", lines, name, got)
			}
		}
		line := strings.Split(value, "\n")[1]
		if got := hiding(value).displayText("line 2 is " + line + "!"); strings.Contains(got, line[:prefixChars+1]) {
			t.Errorf("a line of it: %s", got)
		}
	}
}

// A text and a value can be long; the work stays that of the part that is shown.
func TestLongTextAndLongHiddenValue(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	letters := strings.Repeat("a-", 1<<20)
	equal(t, "text", hiding(letters).displayText(letters), sensitive)
	equal(t, "another text", hiding(letters).displayText(strings.Repeat("b", 1<<20)),
		strings.Repeat("b", maxMessage)+" […]")
}

// Many values that are alike are found in little time, also when values are added between messages.
func TestManyHiddenValues(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	c := hiding()
	for i := range 20_000 {
		value := fmt.Sprintf("postgresql://user:pass%05dword@db.example.com/app", i)
		if c.Hide(value); i%400 == 0 {
			equal(t, "message", c.Clean("is "+value), "is "+sensitive)
		}
	}
	for text, want := range map[string]string{
		"begins with postgresql://":   "begins with postgresql://",
		"pass04711word is too short":  sensitive + " is too short",
		strings.Repeat("%26amp;", 50): strings.Repeat("%26amp;", 50),
	} {
		equal(t, text, c.Clean(text), want)
	}
}

func BenchmarkDisplayText(b *testing.B) {
	var values []string
	for i := range 20_000 {
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
			if err == nil || strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "has "+sensitive) {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if text := fmt.Sprint(logged.logged); strings.Contains(text, "planted") {
		t.Error(text)
	}
	equal(t, "forms", len(c.hidden.forms["it's"]), 1)
}
