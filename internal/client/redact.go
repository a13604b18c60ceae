package client

import (
	"encoding/base64"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// Shorter values are not searched for, nor are numbers and booleans shorter than longChars: they cannot be
	// distinguished from ordinary text.
	minChars = 4
	// Shorter values are not searched for within words.
	longChars = 8
	// The first so many characters of a value, or of a part of it, are hidden like all of it: services cut long values.
	prefixChars = 12
	// maxParts is how much of a value is searched for parts.
	maxParts = 128 << 10

	sensitive = "(sensitive value)"
)

// hiddenValues are what no error and no log shows, for as long as the client lives: reads are batched, so the error of
// one request reaches many callers.
type hiddenValues struct {
	mu    sync.Mutex
	known map[string]bool
	forms []string // of what is known, sorted
	added []string // forms that are not in forms yet
}

// Hide keeps values out of the client's errors and logs, and out of what [Client.Clean] returns, from now on. Values of
// fewer than 4 characters are not searched for, nor are numbers and booleans of fewer than 8.
func (c *Client) Hide(values ...string) {
	h := &c.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range values {
		if !searchable(value) || h.known[value] {
			continue
		}
		h.known[value] = true
		for _, part := range append(tellingParts(value), value, passwordOf(value)) {
			h.add(part)
		}
	}
}

// add adds the forms of a value: as it is, and with the escapes undone that it has itself.
func (h *hiddenValues) add(value string) {
	text := newEscapedText(value[:min(len(value), maxText)])
	last := ""
	for level := range text.levels + 1 {
		if form := text.plain(level); form != last && searchable(form) {
			h.added, last = append(h.added, form), form
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

// hideCredential hides the value of a header, and what it consists of: "Bearer TOKEN", "Token token=TOKEN", and the
// password of "Basic …".
func (c *Client) hideCredential(value string) {
	c.Hide(value)
	_, credential, _ := strings.Cut(value, " ")
	c.Hide(strings.TrimSpace(credential))
	for _, parameter := range strings.Split(credential, ",") {
		_, token, _ := strings.Cut(parameter, "=")
		c.Hide(strings.Trim(token, `" `))
	}
	if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credential)); err == nil {
		_, password, _ := strings.Cut(string(plain), ":")
		c.Hide(string(plain), password)
	}
}

// hideProxyPasswords hides the passwords of the proxies that net/http uses.
func (c *Client) hideProxyPasswords() {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		_, address, found := strings.Cut(os.Getenv(name), "://")
		if !found {
			address = os.Getenv(name)
		}
		c.Hide(passwordOf("://" + address))
	}
}

// passwordOf is the password in the user info of a URL, which may be malformed; empty if there is none.
func passwordOf(address string) string {
	_, authority, _ := strings.Cut(address, "://")
	userInfo, _, found := strings.Cut(authority, "@")
	if !found || strings.ContainsAny(userInfo, "/?#") {
		return ""
	}
	_, password, _ := strings.Cut(userInfo, ":")
	return password
}

func searchable(value string) bool {
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notBool := strconv.ParseBool(value)
	return len(value) >= longChars || len(value) >= minChars && notNumber != nil && notBool != nil
}

// tellingParts are the parts of a value that are secret by themselves, wherever they are found.
func tellingParts(value string) (parts []string) {
	for _, word := range words(value[:min(len(value), maxParts)]) {
		if len(word) >= prefixChars && telling(word, false) {
			parts = append(parts, word)
		}
	}
	return parts
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// telling reports whether a text, which may be cut within its last word, consists of more than ordinary words: a
// message that has those in common with a secret, such as "postgresql://", does not reveal it.
func telling(text string, cut bool) bool {
	random := 0 // characters that are hardly words
	all := words(text)
	for i, word := range all {
		letters := strings.IndexFunc(word, unicode.IsDigit) < 0
		digits := strings.IndexFunc(word, unicode.IsLetter) < 0
		mixedCase := word[1:] != strings.ToLower(word[1:]) && word != strings.ToUpper(word)
		switch {
		case letters && (len(word) > 20 || cut && i == len(all)-1 && len(word) >= prefixChars):
			return true
		case letters && mixedCase, !letters && !digits, digits && len(word) >= longChars:
			random += len(word)
		}
	}
	return random >= longChars
}

// sorted returns the forms of all hidden values, sorted.
func (h *hiddenValues) sorted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.added) > 0 {
		slices.Sort(h.added)
		h.forms, h.added = merge(h.forms, h.added), nil
	}
	return h.forms
}

// merge merges two sorted lists. (Sorting all of them again would be felt where values are added often.)
func merge(a, b []string) []string {
	merged := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] > b[0] {
			a, b = b, a
		}
		merged, a = append(merged, a[0]), a[1:]
	}
	return append(append(merged, a...), b...)
}

// redact replaces the hidden values in a text, however they are escaped there: it searches for them from each position
// on, at each level of escapes. Cut states that the text continued.
func (h *hiddenValues) redact(text string, cut bool) string {
	search := search{forms: h.sorted(), escapedText: newEscapedText(text), cut: cut, escapeEnds: map[int]bool{}}
	var shown strings.Builder
	hidden := 0 // up to here
	for i := range len(text) {
		end := i
		for level := range search.levels + 1 {
			end = max(end, search.match(i, level))
		}
		for end > i && end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		switch {
		case end > i && i >= hidden:
			shown.WriteString(sensitive)
		case i >= hidden:
			shown.WriteByte(text[i])
		}
		hidden = max(hidden, end)
	}
	return quotedSecrets().ReplaceAllString(shown.String(), "$1 "+sensitive)
}

// search searches a text for the forms of values.
type search struct {
	*escapedText
	forms      []string // sorted
	cut        bool     // the text continued
	escapeEnds map[int]bool
}

// match returns the end of the longest hidden value, or telling prefix of one, that begins at a position; 0 if there is
// none.
func (s *search) match(start, level int) (end int) {
	low, high, depth := 0, len(s.forms), 0 // of the forms that begin with what was read
	at, word, space := start, start, false // word is the end of what was read without a space at the end
	for at < len(s.text) {
		chars, next := s.at(at, level)
		if next > at+1 {
			s.escapeEnds[next] = true
		}
		if isSpace(chars) {
			if chars = " "; space {
				at = next
				continue
			}
		}
		l, h := low, high
		for i := range len(chars) {
			l, h = narrow(s.forms, l, h, depth+i, chars[i])
		}
		if l == h {
			break
		}
		low, high, depth, at, space = l, h, depth+len(chars), next, chars == " "
		if !space {
			word = at
		}
		if len(s.forms[low]) == depth && (depth >= longChars || s.isWord(start, at, level)) {
			end = at
		}
	}
	if depth == 0 {
		return 0
	}
	form := s.forms[high-1] // if there is a longer one, this is one
	switch within := depth < len(form) && isWordByte(form[depth-1]) && isWordByte(form[depth]); {
	case s.cut && at == len(s.text):
		return at
	case word > end && depth >= prefixChars && telling(form[:depth], within):
		return s.endOfCutValue(word)
	}
	return end
}

// endOfCutValue is where a value ends of which the beginning and the end are shown, as in "abc...xyz".
func (s *search) endOfCutValue(at int) int {
	if rest := s.text[at:]; strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…") {
		end := strings.IndexAny(rest, "\"'` ")
		if end < 0 {
			end = len(rest)
		}
		return at + end
	}
	return at
}

// narrow returns the part of sorted forms, all of which begin with the same depth characters, that go on with next.
func narrow(forms []string, low, high, depth int, next byte) (int, int) {
	first := func(least int) int {
		return low + sort.Search(high-low, func(i int) bool {
			form := forms[low+i]
			return len(form) > depth && int(form[depth]) >= least
		})
	}
	return first(int(next)), first(int(next) + 1)
}

// isWord reports whether a part of the text is not within a longer word.
func (s *search) isWord(start, end, level int) bool {
	if start > 0 && isWordByte(s.text[start]) && isWordByte(s.text[start-1]) && !s.escapeEnds[start] {
		return false
	}
	if end == len(s.text) {
		return true
	}
	after, _ := s.at(end, level)
	return !isWordByte(s.text[end-1]) || !isWordByte(after[0])
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// compiled compiles a regular expression when it is first needed: every run starts up, and few encounter an error.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// quotedSecrets is where a service quotes the secrets of a deployment or of a request as JSON. With an import, or a
// refresh with secrets_wo, their values are unknown here: all that follows is removed, as the end of the list is not
// determined.
var quotedSecrets = compiled(`(?s)((?:["']|&quot;|&#34;)secrets\\*(?:["']|&quot;|&#34;)\s*:)\s*[\[{].*`)
