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
	// Shorter values are not searched for, nor are numbers and booleans shorter than longChars: they cannot be distinguished
	// from ordinary text.
	minChars = 4
	// Shorter values are not searched for within words.
	longChars = 8
	// A run of so many characters of a value is hidden like all of it: services cut long values.
	runChars = 12

	sensitive = "(sensitive value)"
	withheld  = "(withheld: it contains a secret value)"
)

// hiddenValues are what no error and no log shows, for as long as the client lives: reads are batched, so the error of one
// request reaches many callers.
type hiddenValues struct {
	mu    sync.Mutex
	known map[string]bool
	built *searches // of what is known; nil while it has to be built
}

// searches find values in texts: long ones as they are usually written, short ones as words; and both in decoded texts.
type searches struct {
	long                *strings.Replacer
	short, shortDecoded *regexp.Regexp
	longDecoded         []string
}

// Hide keeps values, and the credential of a value such as "Bearer abc", out of the client's errors and logs from now on, even
// where the service repeats them. Values of fewer than 4 characters are not searched for, nor are numbers and booleans of fewer
// than 8.
func (c *Client) Hide(values ...string) {
	h := &c.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range values {
		parts := []string{value}
		if words := strings.Fields(value); len(words) == 2 {
			parts = append(parts, words[1])
		}
		for _, part := range parts {
			if searchable(part) && !h.known[part] {
				h.known[part], h.built = true, nil
			}
		}
	}
}

// hideSecrets hides those in the body of a request.
func (c *Client) hideSecrets(body Tree) {
	secrets, _ := body["secrets"].([]Secret)
	for _, s := range secrets {
		c.Hide(s.Value)
	}
}

func searchable(value string) bool {
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notBool := strconv.ParseBool(value)
	return len(value) >= longChars || len(value) >= minChars && notNumber != nil && notBool != nil
}

// search builds the searches when something is first searched for: most runs encounter no error.
func (h *hiddenValues) search() *searches {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.built != nil {
		return h.built
	}
	h.built = &searches{}
	var forms, pairs, words, decodedWords []string
	for value := range h.known {
		plain := decode(value)
		if len(value) < longChars {
			words, decodedWords = append(words, encodings(value)...), append(decodedWords, plain)
			continue
		}
		forms = append(forms, encodings(value)...)
		if searchable(plain) {
			h.built.longDecoded = append(h.built.longDecoded, plain)
		}
	}
	// Of two that begin at one place, the longer one.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	for _, form := range slices.Compact(forms) {
		if len(form) <= maxText {
			pairs = append(pairs, form, sensitive)
		}
	}
	h.built.long, h.built.short, h.built.shortDecoded = strings.NewReplacer(pairs...), anyWord(words), anyWord(decodedWords)
	return h.built
}

// anyWord matches each of the words that is not within a longer one.
func anyWord(words []string) *regexp.Regexp {
	alternatives := []string{`[^\s\S]`} // matches nothing
	for _, word := range words {
		expression := regexp.QuoteMeta(string([]rune(word))) // a regular expression sees each byte that is not UTF-8 as U+FFFD
		if first, _ := utf8.DecodeRuneInString(word); isWord(first) {
			expression = `\b` + expression
		}
		if last, _ := utf8.DecodeLastRuneInString(word); isWord(last) {
			expression += `\b`
		}
		alternatives = append(alternatives, expression)
	}
	return regexp.MustCompile(strings.Join(alternatives, "|"))
}

func isWord(r rune) bool {
	return r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) // as \b has it
}

// encodings are how a value is usually written: plain, as JSON, as JSON in JSON, in a URL, in HTML; each on one line.
func encodings(value string) (forms []string) {
	once, _ := json.Marshal(value)
	twice, _ := json.Marshal(string(once[1 : len(once)-1]))
	query := url.QueryEscape(value)
	for _, form := range []string{value, string(once[1 : len(once)-1]), string(twice[1 : len(twice)-1]),
		query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value), html.EscapeString(value)} {
		if form = oneLine(form); form != "" {
			forms = append(forms, form)
		}
	}
	return forms
}

// redact replaces the hidden values in a text that is on one line, where they are written as usual.
func (h *hiddenValues) redact(text string) string {
	search := h.search()
	text = search.short.ReplaceAllLiteralString(search.long.Replace(text), sensitive)
	return quotedSecrets().ReplaceAllString(text, "$1 "+sensitive)
}

// remainIn reports whether a hidden value, or a long part of one, is in a redacted text, however that is written.
func (h *hiddenValues) remainIn(text string) bool {
	search := h.search()
	text = decode(strings.ReplaceAll(text, sensitive, "\x00"))
	runs := map[string]bool{}
	for i := runChars; i <= len(text); i++ {
		runs[text[i-runChars:i]] = true
	}
	return search.shortDecoded.MatchString(text) || slices.ContainsFunc(search.longDecoded, func(value string) bool {
		for i := runChars; i <= len(value) && len(runs) > 0; i++ {
			if runs[value[i-runChars:i]] {
				return true
			}
		}
		return len(value) < runChars && strings.Contains(text, value)
	})
}

// decode undoes escapes of JSON, URLs and HTML until there are none, up to four within each other, so that texts can be
// compared however they are written.
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
