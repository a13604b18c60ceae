package client

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxEscapes is how many escapes within each other are undone.
	maxEscapes = 4
	// maxEntity is the length of the longest entity of HTML that is undone.
	maxEntity = 10
)

// escapedText is a folded text with escapes of JSON, URLs and HTML, possibly within each other, that is read from any
// position on with some of them undone.
type escapedText struct {
	text   string
	levels int                   // of escapes that it may have
	read   [maxEscapes][]escaped // by level and position: what was read there, as it may be read often
}

// escaped is a character, or a byte of one, and where it ends.
type escaped struct {
	char string
	end  int
}

func newEscapedText(text string) *escapedText {
	e := &escapedText{text: fold(text)}
	if strings.ContainsAny(text, `\%&`) {
		e.levels = maxEscapes
		for level := range e.read {
			e.read[level] = make([]escaped, len(text))
		}
	}
	return e
}

// fold writes a text in lower case, and white space as spaces, without moving a position.
func fold(text string) string {
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		lower := unicode.ToLower(r)
		switch {
		case unicode.IsSpace(r):
			b.WriteString(strings.Repeat(" ", size))
		case r != utf8.RuneError && utf8.RuneLen(lower) == size:
			b.WriteRune(lower)
		default:
			b.WriteString(text[i : i+size])
		}
	}
	return b.String()
}

// isSpace reports whether a character separates words; in a URL, + does.
func isSpace(char string) bool { return char == " " || char == "+" }

// plain returns the text with so many levels of escapes undone, and each run of spaces as one.
func (e *escapedText) plain(level int) string {
	var b strings.Builder
	space := false
	for at := 0; at < len(e.text); {
		var char string
		char, at = e.at(at, level)
		if isSpace(char) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
		}
		space = false
		b.WriteString(char)
	}
	return strings.TrimSpace(b.String())
}

// at returns the character, or the byte of one, at a position with so many levels of escapes undone, and where it ends.
func (e *escapedText) at(position, level int) (char string, end int) {
	if level == 0 {
		return e.text[position : position+1], position + 1
	}
	known := &e.read[level-1][position]
	if known.end == 0 {
		known.char, known.end = e.decode(position, level)
	}
	return known.char, known.end
}

func (e *escapedText) decode(position, level int) (char string, end int) {
	level--
	char, end = e.at(position, level)
	switch char {
	case `\`:
		if plain, next := e.decodeJSON(end, level); plain != "" {
			return fold(plain), next
		}
	case "%":
		if plain, next := e.decodePercent(position, level); plain != "" {
			return fold(plain), next
		}
	case "&":
		entity, next := char, end
		for last := ""; len(entity) < maxEntity && last != ";" && next < len(e.text); entity += last {
			last, next = e.at(next, level)
		}
		if plain := html.UnescapeString(entity); strings.HasSuffix(entity, ";") && plain != entity {
			return fold(plain), next
		}
	}
	return char, end
}

// decodeJSON decodes the escape in JSON after a backslash, and \x70 of other languages; empty if there is none.
func (e *escapedText) decodeJSON(position, level int) (char string, end int) {
	kind, end := e.take(position, level, 1)
	switch kind {
	case "u":
		r, next, ok := e.hex(end, level, 4)
		if !ok {
			return "", end
		}
		if prefix, low := e.take(next, level, 2); utf16.IsSurrogate(r) && prefix == `\u` {
			if second, last, ok := e.hex(low, level, 4); ok {
				r, next = utf16.DecodeRune(r, second), last
			}
		}
		return string(r), next
	case "x":
		if b, next, ok := e.hex(end, level, 2); ok {
			return string([]byte{byte(b)}), next //nolint:gosec // it has two digits
		}
	case "n", "r", "t", "f":
		return " ", end
	case "b":
		return "\b", end
	case `"`, `\`, "/", "'":
		return kind, end
	}
	return "", end
}

// decodePercent decodes the escapes in a URL of the bytes of one character, or of one byte that is none; empty if there
// are none.
func (e *escapedText) decodePercent(position, level int) (char string, end int) {
	for !utf8.FullRuneInString(char) {
		percent, digits := e.take(position, level, 1)
		b, next, ok := e.hex(digits, level, 2)
		if percent != "%" || !ok {
			break
		}
		char, position = char+string([]byte{byte(b)}), next //nolint:gosec // it has two digits
	}
	return char, position
}

// take returns the next n characters, fewer at the end of the text, and where they end.
func (e *escapedText) take(position, level, n int) (chars string, end int) {
	for ; n > 0 && position < len(e.text); n-- {
		var char string
		char, position = e.at(position, level)
		chars += char
	}
	return chars, position
}

// hex reads n hexadecimal digits.
func (e *escapedText) hex(position, level, n int) (value rune, end int, ok bool) {
	digits, end := e.take(position, level, n)
	number, err := strconv.ParseUint(digits, 16, 16)
	return rune(number), end, err == nil && len(digits) == n
}
