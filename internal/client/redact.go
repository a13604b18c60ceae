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
	// maxReadings bounds how many ways of reading a text are tried. Few texts have more than one.
	maxReadings = 30

	sensitive = "(sensitive value)"
	withheld  = "(withheld: it contains a secret value)"
	removed   = "\xff\x00\xff" // stands for sensitive during a search: a value may be "value"
)

// hiddenValues are what no error and no log shows, for as long as the client lives: reads are batched, so the error of one
// request reaches many callers.
type hiddenValues struct {
	mu    sync.Mutex
	known []string // each on one line, the longest first; replaced when there is another
}

// Hide keeps values out of the client's errors and logs from now on, even where the service repeats them. Values of fewer than 4
// characters are not searched for, nor are numbers and booleans of fewer than 8.
func (c *Client) Hide(values ...string) {
	h := &c.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range values {
		value = oneLine(value)
		if i, found := slices.BinarySearchFunc(h.known, value, longestFirst); searchable(value) && !found {
			h.known = slices.Insert(slices.Clone(h.known), i, value)
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

// longestFirst orders values: of two that begin at one place, the longer one counts.
func longestFirst(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }

func (h *hiddenValues) values() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known
}

// redact replaces the hidden values in a text on one line. Where one is in it as it is written in JSON, a URL or HTML, the text is
// returned without these escapes.
func (h *hiddenValues) redact(text string) string {
	all := readings(text)
	hide := func(remove func(string) string) {
		for i := 0; i < len(all); i++ {
			if without := remove(all[i]); without != all[i] {
				all, i = readings(without), -1
			}
		}
	}
	hide(func(text string) string { return quotedSecrets().ReplaceAllString(text, "$1 "+removed) })
	for _, value := range h.values() {
		hide(func(text string) string { return remove(text, value) })
	}
	return strings.ReplaceAll(all[0], removed, sensitive)
}

// remainIn reports whether a hidden value, or a long part of one, is in a redacted text, however it is written.
func (h *hiddenValues) remainIn(text string) bool {
	return slices.ContainsFunc(readings(strings.ReplaceAll(text, sensitive, removed)), func(reading string) bool {
		runs := map[string]bool{}
		for i := runChars; i <= len(reading); i++ {
			runs[reading[i-runChars:i]] = true
		}
		return slices.ContainsFunc(h.values(), func(value string) bool {
			for i := runChars; i <= len(value) && len(runs) > 0; i++ {
				if runs[value[i-runChars:i]] {
					return true
				}
			}
			return remove(reading, value) != reading
		})
	})
}

// remove removes a value from a text, a short one only where it is a word.
func remove(text, value string) string {
	if len(value) >= longChars {
		return strings.ReplaceAll(text, value, removed)
	}
	text, rest, found := strings.Cut(text, value)
	for found {
		inWord := wordGoesOn(text, value) || wordGoesOn(value, rest)
		var part string
		if part, rest, found = strings.Cut(rest, value); inWord {
			text += value + part
		} else {
			text += removed + part
		}
	}
	return text
}

// wordGoesOn reports whether a word is in both of two parts of a text.
func wordGoesOn(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return inWord(last) && inWord(first)
}

// readings are what a text may mean: itself, and with escapes of HTML, URLs and JSON undone, within each other as well.
func readings(text string) []string {
	all := []string{text}
	for i := 0; i < len(all) && len(all) < maxReadings; i++ {
		for _, undo := range []func(string) string{html.UnescapeString, unescapeURL, unescapeQuery, unescapeJSON} {
			if reading := oneLine(undo(all[i])); !slices.Contains(all, reading) {
				all = append(all, reading)
			}
		}
	}
	return all
}

func unescapeQuery(text string) string { return unescapeURL(strings.ReplaceAll(text, "+", " ")) }

func unescapeURL(text string) string {
	return percentEscapes().ReplaceAllStringFunc(text, func(escapes string) string {
		plain, _ := url.PathUnescape(escapes)
		return plain
	})
}

func unescapeJSON(text string) string {
	return jsonEscapes().ReplaceAllStringFunc(text, func(escapes string) (plain string) {
		_ = json.Unmarshal([]byte(`"`+escapes+`"`), &plain)
		return plain
	})
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
	quotedSecrets = compiled(`(["']secrets["']\s*:)\s*[\[{].*`)
)
