package client

import (
	"cmp"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// fewChars and more are searched for; numbers and booleans, from severalChars
	// on. What is shorter cannot be told apart from ordinary text.
	fewChars = 4
	// severalChars and more are also found within a word.
	severalChars = 8
	// manyChars of a value in a row are not shown without the rest either:
	// services cut long values.
	manyChars = 12

	sensitive = "(sensitive value)"
	withheld  = "(withheld: it contains a secret value)"
)

// hiddenValues are what no error and no log shows, for as long as the client
// lives: reads are batched, so the error of one request reaches many callers.
type hiddenValues struct {
	mu        sync.RWMutex
	known     map[string]bool
	encoded   []string // in the encodings that occur, longest first
	canonical []string
}

// Hide keeps values, and the credential of a value such as "Bearer abc", out of
// the client's errors and logs from now on, even where the service repeats them.
// Values of fewer than 4 characters are not searched for, nor are numbers and
// booleans of fewer than 8.
func (c *Client) Hide(values ...string) {
	h := &c.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known = map[string]bool{}
	}
	var added []string
	for _, value := range values {
		parts := []string{value}
		if words := strings.Fields(value); len(words) == 2 {
			parts = append(parts, words[1])
		}
		for _, part := range parts {
			if h.known[part] || !searchable(part) {
				continue
			}
			h.known[part] = true
			added = append(added, encodings(part)...)
			if text := decoded(part); searchable(text) {
				h.canonical = append(h.canonical, text)
			}
		}
	}
	if len(added) > 0 { // a copy: others may be reading the slice that was
		h.encoded = append(slices.Clone(h.encoded), added...)
		slices.SortFunc(h.encoded, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
		h.encoded = slices.Compact(h.encoded)
	}
}

func (c *Client) hideSecrets(secrets []Secret) {
	values := make([]string, len(secrets))
	for i, s := range secrets {
		values[i] = s.Value
	}
	c.Hide(values...)
}

// searchable reports whether a value can be told apart from ordinary text.
func searchable(value string) bool {
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notBool := strconv.ParseBool(value)
	return len(value) >= severalChars || len(value) >= fewChars && notNumber != nil && notBool != nil
}

// encodings are how a value is usually written: plain, as JSON, as JSON in JSON,
// in a URL, in HTML; each on one line.
func encodings(value string) []string {
	query := url.QueryEscape(value)
	forms := []string{value, query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value), html.EscapeString(value)}
	for _, escapeHTML := range []bool{false, true} {
		once := inJSON(value, escapeHTML)
		forms = append(forms, once, inJSON(once, escapeHTML))
	}
	for i, form := range forms {
		forms[i] = oneLine(form)
	}
	return slices.DeleteFunc(forms, func(form string) bool { return form == "" })
}

func inJSON(value string, escapeHTML bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(escapeHTML)
	_ = encoder.Encode(value) // a string: never fails
	return strings.TrimSuffix(b.String()[1:], "\"\n")
}

// redact replaces the hidden values in a text where they are encoded as usual.
func (h *hiddenValues) redact(text string) string {
	h.mu.RLock()
	encoded := h.encoded
	h.mu.RUnlock()
	for _, form := range encoded {
		rest := text
		var b strings.Builder
		for at := index(rest, form); at >= 0; at = index(rest, form) {
			b.WriteString(rest[:at] + sensitive)
			rest = rest[at+len(form):]
		}
		text = b.String() + rest
	}
	return quotedSecrets().ReplaceAllString(text, "$1 "+sensitive)
}

// remainIn reports whether a hidden value, or a long part of one, is in a text,
// however that is encoded.
func (h *hiddenValues) remainIn(text string) bool {
	h.mu.RLock()
	canonical := h.canonical
	h.mu.RUnlock()
	text = decoded(text)
	for _, value := range canonical {
		if len(value) < manyChars && index(text, value) >= 0 {
			return true
		}
		for i := 0; len(value) >= manyChars && i <= len(text)-manyChars; i++ {
			if strings.Contains(value, text[i:i+manyChars]) {
				return true
			}
		}
	}
	return false
}

// index is where a value is in a text; a short one not within a word.
func index(text, value string) int {
	inWord := func(text string, i int) bool {
		return 0 <= i && i < len(text) && text[i] < utf8.RuneSelf && (unicode.IsLetter(rune(text[i])) || unicode.IsDigit(rune(text[i])))
	}
	for from := 0; ; from++ {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return -1
		}
		from += i
		end := from + len(value)
		if len(value) >= severalChars ||
			!(inWord(text, from-1) && inWord(value, 0)) && !(inWord(text, end) && inWord(value, len(value)-1)) {
			return from
		}
	}
}

// decoded undoes escapes of JSON, URLs and HTML until there are none, up to
// four within each other, so that texts can be compared whatever their encoding.
func decoded(text string) string {
	for range 4 {
		before := text
		text = html.UnescapeString(text)
		text = percentEscapes().ReplaceAllStringFunc(text, func(escapes string) string {
			plain, _ := url.PathUnescape(escapes)
			return plain
		})
		text = jsonEscapes().ReplaceAllStringFunc(text, func(escapes string) (plain string) {
			_ = json.Unmarshal([]byte(`"`+escapes+`"`), &plain)
			return plain
		})
		if text == before {
			break
		}
	}
	return oneLine(strings.ReplaceAll(text, "+", " "))
}

// compiled is a regular expression that is compiled when it is first needed:
// every run starts up, and few encounter an error.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var (
	percentEscapes = compiled(`(?:%[0-9A-Fa-f]{2})+`)
	jsonEscapes    = compiled(`(?:\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt])+`)
	// quotedSecrets is where a service quotes the secrets of a deployment or of a
	// request as JSON. With an import, or a refresh with secrets_wo, their values
	// are unknown here: where the list ends in the quoting is not determined, and
	// all the rest is removed.
	quotedSecrets = compiled(`((?:["']|&quot;|&#34;)secrets\\*(?:["']|&quot;|&#34;)\s*:)\s*[\[{].*`)
)
