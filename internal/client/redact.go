package client

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

const (
	// Shorter values are not searched for, nor are numbers and booleans shorter than longChars: they cannot be
	// distinguished from ordinary text.
	minChars = 4
	// Shorter values are not searched for within words.
	longChars = 8
	// The first so many characters of a value, or of a part of it, are hidden like all of it: services cut long values.
	prefixChars = 12
	// Longer beginnings of a value are hidden whatever words they are.
	fewWords = 100
	// maxShown is how much is shown of a text, and maxText how much of it is searched: a value that begins in the part
	// that is shown is recognized.
	maxShown = 7 * maxMessage
	maxText  = 8 * maxMessage

	sensitive = "(sensitive value)"
)

// hiddenValues are what no error and no log shows, for as long as the client lives: reads are batched, so the error of
// one request reaches many callers.
type hiddenValues struct {
	mu    sync.Mutex
	forms map[string][]string // what texts are searched for, by its first minChars bytes
	known map[string]bool     // the values
}

// Hide keeps values out of the client's errors and logs, and out of what [Client.Clean] returns, from now on. Values of
// fewer than 4 characters are not searched for, nor are numbers and booleans of fewer than 8.
func (c *Client) Hide(values ...string) {
	h := &c.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range values {
		h.add(value)
		for _, password := range passwordsIn(value) {
			h.add(password)
		}
		for _, word := range words(value) {
			if len(word) >= prefixChars && telling(word) {
				h.add(word)
			}
		}
	}
}

// add adds the forms of a value: as it is, and with its own escapes undone, as in a text that is decoded too often.
func (h *hiddenValues) add(value string) {
	if h.known[value] {
		return
	}
	h.known[value] = true
	for _, decoded := range decodings(value[:min(len(value), maxText)]) {
		text, _ := decoded.read(0, maxText)
		form := strings.TrimSpace(text)
		if searchable(form) {
			h.forms[form[:minChars]] = append(h.forms[form[:minChars]], form)
		}
	}
}

// searchable reports whether a value can be distinguished from ordinary text.
func searchable(value string) bool {
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notBool := strconv.ParseBool(value)
	return len(value) >= longChars || len(value) >= minChars && notNumber != nil && notBool != nil
}

// redact replaces the hidden values in a text, however they are escaped there, and telling beginnings of them. Of a
// long text, it returns the first part.
func (h *hiddenValues) redact(text string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	searched := text[:min(len(text), maxText)]
	ends := make([]int, len(searched)) // by position, of what is to be hidden from there on
	for _, decoded := range decodings(searched) {
		for start := range ends {
			ends[start] = max(ends[start], h.find(searched, decoded, start))
		}
	}
	var shown strings.Builder
	hidden := 0 // up to here
	for i := range min(len(text), maxShown) {
		if i >= hidden && ends[i] > i {
			shown.WriteString(sensitive)
		}
		hidden = max(hidden, ends[i])
		if i >= hidden {
			shown.WriteByte(text[i])
		}
	}
	return quotedSecrets.ReplaceAllString(shown.String(), "$1 "+sensitive)
}

// restOfCutValue matches what follows the beginning of a value that is cut in the middle, as in "abc...xyz".
var restOfCutValue = regexp.MustCompile("^(?:\\.\\.\\.|…)[^\"'`\\s]*")

// find returns the end of the longest value at a position, or of the telling beginning of one; 0 if there is none.
func (h *hiddenValues) find(text string, decoded decodedText, start int) (end int) {
	key, _ := decoded.read(start, minChars)
	longest, common := "", 0 // the form that has most in common with the text, and how much
	for _, form := range h.forms[key[:min(len(key), minChars)]] {
		n, at := decoded.compare(start, form)
		if n == len(form) && (n >= longChars || decoded.isWord(form, start, at)) {
			end = max(end, at)
		}
		if n > common || n == common && len(form) > len(longest) {
			longest, common = form, n
		}
	}
	prefix := strings.TrimRight(longest[:common], " ")
	if common < len(longest) && len(prefix) >= prefixChars && (telling(prefix) || breaksWord(longest, common)) {
		_, cut := decoded.compare(start, prefix)
		end = max(end, cut+len(restOfCutValue.FindString(text[cut:])))
	}
	return end
}

// isWord reports whether a value at a position of a text is not within a longer word.
func (d decodedText) isWord(value string, start, end int) bool {
	if end < len(d.chars) && isWordByte(value[len(value)-1]) && isWordByte(d.chars[end][0]) {
		return false
	}
	for i, char := range d.chars[:start] {
		if d.ends[i] == start && !isWordByte(char[0]) {
			return true // an escape may end here, as in \nvalue
		}
	}
	return start == 0 || !isWordByte(value[0])
}

func isWordByte(b byte) bool { return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' }

func separatesWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func words(text string) []string { return strings.FieldsFunc(text, separatesWords) }

// telling reports whether a text is more than a few ordinary words: a message that has those in common with a secret,
// such as "postgresql://", does not reveal it.
func telling(text string) bool {
	random := 0 // characters that are hardly words
	for _, word := range words(text) {
		letters := !strings.ContainsFunc(word, unicode.IsDigit)
		digits := !strings.ContainsFunc(word, unicode.IsLetter)
		mixedCase := strings.LastIndexFunc(word, unicode.IsUpper) > 0 && word != strings.ToUpper(word)
		switch {
		case letters && len(word) > 20:
			return true
		case letters && mixedCase, !letters && !digits, digits && len(word) >= longChars:
			random += len(word)
		}
	}
	return random >= longChars || len(text) > fewWords
}

// breaksWord reports whether the first n bytes of a text end within a word of which they have much: a message that has
// an ordinary word in common with a secret has all of it.
func breaksWord(text string, n int) bool {
	word := text[strings.LastIndexFunc(text[:n], separatesWords)+1 : n]
	return len(word) >= prefixChars && isWordByte(text[n])
}

// quotedSecrets matches where a service quotes the secrets of a deployment or of a request as JSON. With an import, or
// a refresh with secrets_wo, their values are unknown here: all that follows is removed, as the end of the list is not
// determined.
var quotedSecrets = regexp.MustCompile(
	`(?s)((?:["']|&quot;|&#34;)secrets\\*(?:["']|&quot;|&#34;)\s*:)\s*[\[{].*`)
