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
)

const (
	// Values of so many characters are searched for, but as numbers and booleans
	// of severalChars only: shorter ones cannot be told apart from ordinary text.
	fewChars = 4
	// Values of so many characters are found within a word, too.
	severalChars = 8
	// So many characters of a value in a row are hidden like all of it: services cut long values.
	manyChars = 12

	sensitive = "(sensitive value)"
	withheld  = "(withheld: it contains a secret value)"
)

// hiddenValues are what no error and no log shows, for as long as the client
// lives: reads are batched, so the error of one request reaches many callers.
type hiddenValues struct {
	mu      sync.RWMutex
	known   map[string]bool
	encoded []hiddenText // as they are usually written, longest first
	decoded []hiddenText
}

// hiddenText is a way of writing a value. Word is whether that is too short to be
// searched for within words; on one line it may be shorter than the value.
type hiddenText struct {
	text string
	word bool
}

// Hide keeps values, and the credential of a value such as "Bearer abc", out of the client's errors and logs from now on, even
// where the service repeats them. Values of fewer than 4 characters are not searched for, nor are numbers and booleans of fewer
// than 8.
func (c *Client) Hide(values ...string) {
	h := &c.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	var added []hiddenText
	for _, value := range values {
		parts := []string{value}
		if words := strings.Fields(value); len(words) == 2 {
			parts = append(parts, words[1])
		}
		for _, part := range parts {
			if h.known[part] || !searchable(part) {
				continue
			}
			if h.known == nil {
				h.known = map[string]bool{}
			}
			h.known[part] = true
			word := len(part) < severalChars
			for _, text := range encodings(part) {
				added = append(added, hiddenText{text, word})
			}
			if plain := decode(part); searchable(plain) {
				h.decoded = append(h.decoded, hiddenText{plain, word})
			}
		}
	}
	if len(added) > 0 { // a new slice: others may be reading the one that was
		h.encoded = slices.Concat(h.encoded, added)
		slices.SortFunc(h.encoded, func(a, b hiddenText) int { return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.text, b.text)) })
		h.encoded = slices.Compact(h.encoded)
	}
}

func (c *Client) hideSecrets(secrets []Secret) {
	var values []string
	for _, s := range secrets {
		values = append(values, s.Value)
	}
	c.Hide(values...)
}

func (h *hiddenValues) all() (encoded, decoded []hiddenText) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.encoded, h.decoded
}

// searchable reports whether a value can be told apart from ordinary text.
func searchable(value string) bool {
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notBool := strconv.ParseBool(value)
	return len(value) >= severalChars || len(value) >= fewChars && notNumber != nil && notBool != nil
}

// encodings are how a value is usually written: plain, as JSON, as JSON in JSON, in a URL, in HTML; each on one line.
func encodings(value string) []string {
	once, _ := json.Marshal(value)
	twice, _ := json.Marshal(string(once[1 : len(once)-1]))
	query := url.QueryEscape(value)
	forms := []string{value, string(once[1 : len(once)-1]), string(twice[1 : len(twice)-1]),
		query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value), html.EscapeString(value)}
	for i, form := range forms {
		forms[i] = oneLine(form)
	}
	return slices.DeleteFunc(forms, func(form string) bool { return form == "" })
}

// redact replaces the hidden values in a text that is on one line, where they are written as usual.
func (h *hiddenValues) redact(text string) string {
	encoded, _ := h.all()
	for _, form := range encoded {
		var b strings.Builder
		for at := form.index(text); at >= 0; at = form.index(text) {
			b.WriteString(text[:at] + sensitive)
			text = text[at+len(form.text):]
		}
		text = b.String() + text
	}
	return quotedSecrets().ReplaceAllString(text, "$1 "+sensitive)
}

// remainIn reports whether a hidden value, or a long part of one, is in a text, however that is written.
func (h *hiddenValues) remainIn(text string) bool {
	_, decoded := h.all()
	text = decode(text)
	runs := map[string]bool{}
	for i := manyChars; i <= len(text); i++ {
		runs[text[i-manyChars:i]] = true
	}
	return slices.ContainsFunc(decoded, func(value hiddenText) bool {
		for i := manyChars; i <= len(value.text) && len(runs) > 0; i++ {
			if runs[value.text[i-manyChars:i]] {
				return true
			}
		}
		return len(value.text) < manyChars && value.index(text) >= 0
	})
}

// index is where h is in a text, -1 if it is not.
func (h hiddenText) index(text string) int {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], h.text)
		if i < 0 {
			return -1
		}
		from += i
		if !h.word || !inWord(text, from) && !inWord(text, from+len(h.text)) {
			return from
		}
	}
}

// inWord reports whether there are letters or digits on both sides of text[i:].
func inWord(text string, i int) bool {
	letter := func(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' }
	return 0 < i && i < len(text) && letter(text[i-1]) && letter(text[i])
}

// decode undoes escapes of JSON, URLs and HTML until there are none, up to four
// within each other, so that texts can be compared however they are written.
func decode(text string) string {
	for range 4 {
		before := text
		text = percentEscapes().ReplaceAllStringFunc(html.UnescapeString(text), func(escapes string) string {
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

// compiled compiles a regular expression when it is first needed: every run starts up, and few encounter an error.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var (
	percentEscapes = compiled(`(?:%[0-9A-Fa-f]{2})+`)
	jsonEscapes    = compiled(`(?:\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt])+`)
	// quotedSecrets is where a service quotes the secrets of a deployment or of a request as JSON. With an import, or a refresh
	// with secrets_wo, their values are unknown here: all that follows is removed, as the end of the list is not determined.
	quotedSecrets = compiled(`((?:["']|&quot;|&#34;)secrets\\*(?:["']|&quot;|&#34;)\s*:)\s*[\[{].*`)
)
