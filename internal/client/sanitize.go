package client

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes text of the service fit for a terminal, on one line: whatever is not printable (control characters,
// C1 and the escape sequences that they begin, bidirectional overrides, line breaks, spaces other than the ordinary
// one, bytes that are not UTF-8) is escaped visibly, as in \u009b. Other text is returned as it is. The result is not
// bounded.
func Sanitize(text string) string { return sanitize(text, "") }

// SanitizeLines does what [Sanitize] does, but keeps line feeds and tabs.
func SanitizeLines(text string) string { return sanitize(text, "\n\t") }

func sanitize(text, keep string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.IsPrint(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case strings.ContainsRune("\n\r\t", r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Clean makes any text fit for a message: without values that are hidden, sanitized, bounded.
func (c *Client) Clean(text string) string {
	return bounded(Sanitize(c.hidden.redact(text)), 2*maxMessage)
}

// displayText makes a message of the service fit for a message: without values that are hidden, without markup, on one
// line, bounded.
func (c *Client) displayText(text string) string {
	return bounded(Sanitize(oneLine(withoutMarkup(c.hidden.redact(text)))), maxMessage)
}

func bounded(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + " […]"
	}
	return text
}

// oneLine writes each run of white space as one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

const htmlPage = "an HTML page, which is not shown"

var (
	htmlDocument = regexp.MustCompile(`(?i)<(?:!doctype\s+html|html|head|body|script|style)\b`)
	// Only elements that services use in messages: <name> may be meant as it is.
	htmlElement = regexp.MustCompile(`(?i)</?(?:div|span|p|br|hr|h[1-6]|a|b|i|u|em|strong|small|code|pre|tt|center|` +
		`font|ul|ol|li|dl|dt|dd|table|tr|td|th|img)(?:[\s/][^<>]*)?>`)
)

// withoutMarkup states that a text is an HTML page, or removes the elements of HTML from another.
func withoutMarkup(text string) string {
	if htmlDocument.MatchString(text) {
		return htmlPage
	}
	return htmlElement.ReplaceAllString(text, " ")
}
