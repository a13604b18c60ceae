package client

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxEscapes is how many layers of escapes are undone: a message may quote a response that quotes a request.
	maxEscapes = 4
	// maxEscape is the length of the longest escape, 16 in "\xf0\x9f\x98\x80".
	maxEscape = 16
)

// decodedText is a text with some layers of its escapes undone, as it is read from each position: chars has the
// character that is there, and ends where that ends. It is folded: in lower case, a run of white space is one space.
type decodedText struct {
	chars []string
	ends  []int
}

// decodings returns a text as it is, and with one layer after the other of its escapes undone.
func decodings(text string) []decodedText {
	decoded := decodedText{make([]string, len(text)), make([]int, len(text))}
	for i := range slices.Backward([]byte(text)) {
		r, size := utf8.DecodeRuneInString(text[i:])
		decoded.set(i, string(r), i+size)
	}
	all := []decodedText{decoded}
	for range maxEscapes {
		next, changed := decoded.unescape()
		if !changed {
			break
		}
		all = append(all, next)
		decoded = next
	}
	return all
}

// set sets the character at a position. Those after it are set already.
func (d decodedText) set(position int, char string, end int) {
	char = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '+' { // which is a space in a URL
			return ' '
		}
		return unicode.ToLower(r)
	}, char)
	if char == " " && end < len(d.chars) && d.chars[end] == " " {
		end = d.ends[end]
	}
	d.chars[position], d.ends[position] = char, end
}

// unescape undoes one layer of escapes.
func (d decodedText) unescape() (next decodedText, changed bool) {
	next = decodedText{make([]string, len(d.chars)), make([]int, len(d.chars))}
	for i, char := range slices.Backward(d.chars) {
		end := d.ends[i]
		if char == `\` || char == "%" || char == "&" {
			text, ends := d.read(i, maxEscape)
			if plain, length := decodeEscape(text); length > 0 {
				char, end, changed = plain, ends[length-1], true
			}
		}
		next.set(i, char, end)
	}
	return next, changed
}

// read returns the first bytes of the text from a position on, and the position where each of them ends.
func (d decodedText) read(position, bytes int) (text string, ends []int) {
	for position < len(d.chars) && len(text) < bytes {
		text += d.chars[position]
		position = d.ends[position]
		for len(ends) < len(text) {
			ends = append(ends, position)
		}
	}
	return text, ends
}

// compare returns how many bytes of a value a text has at a position, and where they end.
func (d decodedText) compare(position int, value string) (common, end int) {
	for position < len(d.chars) && strings.HasPrefix(value[common:], d.chars[position]) {
		common += len(d.chars[position])
		position = d.ends[position]
	}
	return common, position
}

// escapeAtStart matches an escape of JSON (a pair of surrogates is one) or of a similar language, of a URL (all that
// may be of one character), or of HTML, in lower case.
var escapeAtStart = regexp.MustCompile(`^(?:\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|[0-9a-f]{4})|\\["'\\/bfnrt]|` +
	`(?:\\x[0-9a-f]{2})+|(?:%[0-9a-f]{2})+|&#?[0-9a-z]{1,8};)`)

// decodeEscape decodes the escape of a character with which a folded text begins. Its length is 0 if there is none.
func decodeEscape(text string) (plain string, length int) {
	escape := escapeAtStart.FindString(text)
	switch {
	case strings.HasPrefix(escape, `\x`), strings.HasPrefix(escape, "%"):
		bytes, _ := url.PathUnescape(strings.ReplaceAll(escape, `\x`, "%"))
		_, size := utf8.DecodeRuneInString(bytes)
		return bytes[:size], size * len(escape) / len(bytes)
	case escape == `\'`:
		return "'", len(escape) // JSON does not escape it
	case strings.HasPrefix(escape, `\`):
		_ = json.Unmarshal([]byte(`"`+escape+`"`), &plain) // it is valid
		return plain, len(escape)
	}
	plain = html.UnescapeString(escape)
	if plain == escape {
		return "", 0
	}
	return plain, len(escape)
}
