package client

import (
	"cmp"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// No way of quoting touches ASCII letters and digits, and each writes any other
// character as something else: \u00f6, &#x27;, %252F, and one within the other.
// So a secret value is found by its runs of letters and digits, in their order,
// whatever stands for what is between them.
type hidden struct {
	before, behind gap // what stands outside the first run and the last
	runs           []run
	letters        int      // in all runs
	forms          []string // of a value with too few letters to be told by them
}

// run is a run of letters and digits, and what separates it from the one before.
type run struct {
	gap  gap
	text string
}

// gap is what a value has between two runs: its length, and how many spaces it
// may come to on one line. Unlike letters, spaces are in no escape sequence.
type gap struct{ bytes, spaces int }

const (
	// A value with fewer letters and digits is looked for as it is written.
	fewLetters = 4
	// So much of a value is hidden without the rest: services cut long values.
	manyLetters = 16
	// What one byte of a value may be written as, \\\\u0026#x27; say.
	maxEscape = 12
	// More of a text is not looked at, nor shown.
	maxRedacted = 32 << 10
)

// hiddenValues are what stands in no error and no log, for as long as the client
// lives: reads are merged, so the error of one request reaches many callers.
type hiddenValues struct {
	mu     sync.RWMutex
	known  map[string]bool
	values []*hidden
}

// Hide has values stand in no error and no log of the client from now on, even
// where the service repeats them.
func (c *Client) Hide(values ...string) {
	m := &c.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]bool{}
	}
	for _, value := range values {
		if !m.known[value] {
			m.known[value] = true
			m.values = append(m.values, hide(value)...)
		}
	}
}

func (c *Client) hideSecrets(secrets []Secret) {
	for _, s := range secrets {
		c.Hide(s.Value)
	}
}

// all are the values so far.
func (m *hiddenValues) all() []*hidden {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.values
}

// quotedSecrets is where a service quotes the secrets of a deployment or of a
// request as JSON. With an import, or a refresh with secrets_wo, nobody here
// knows their values: where the list ends in the quoting is not looked into,
// and all the rest goes.
var quotedSecrets = compiled(`((?:["']|&quot;|&#34;)secrets\\*(?:["']|&quot;|&#34;)\s*:)\s*[\[{].*`)

// hide are the ways in which a value is looked for.
func hide(value string) []*hidden {
	if value == "" {
		return nil
	}
	values := []*hidden{skeleton(value)}
	// "Bearer abc" is also secret as "abc".
	if _, token, ok := strings.Cut(value, " "); ok {
		if h := skeleton(token); h.runs != nil {
			values = append(values, h)
		}
	}
	// What looks like a command to a terminal is taken out, letters and all.
	if terminalSequence().MatchString(value) {
		values = append(values, skeleton(oneLine(value)))
	}
	return values
}

func skeleton(value string) *hidden {
	h := &hidden{}
	var between gap
	for i := 0; i < len(value); {
		end := i
		for end < len(value) && isLetter(value[end]) {
			end++
		}
		if end > i {
			h.runs = append(h.runs, run{between, value[i:end]})
			h.letters += end - i
			i, between = end, gap{}
			continue
		}
		r, size := utf8.DecodeRuneInString(value[i:])
		between.bytes += size
		if r == '<' || r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			between.spaces++
		}
		i += size
	}
	h.behind = between
	if h.letters < fewLetters {
		h.runs = nil
		for _, form := range formsOf(value) {
			h.forms = append(h.forms, formsOf(form)...) // escaped twice
		}
		slices.Sort(h.forms)
		h.forms = slices.Compact(h.forms)
		return h
	}
	h.before, h.runs[0].gap = h.runs[0].gap, gap{}
	return h
}

// isLetter reports whether b is an ASCII letter or digit.
func isLetter(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// span is a part of a text, from and to as bytes.
type span struct{ from, to int }

// redact takes secret values out of text, which is on one line, however they
// are quoted. A text in which a very short one stands by itself is withheld
// whole: replacing it would mark every place where its letters occur.
func redact(text string, secret []*hidden) string {
	cut := len(text) > maxRedacted
	if cut {
		text = strings.ToValidUTF8(text[:maxRedacted], "")
	}
	var spans []span
	for _, h := range secret {
		spans = append(spans, h.in(text)...)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	end := 0
	for i := 0; i < len(spans); {
		from, to := spans[i].from, spans[i].to
		for ; i < len(spans) && spans[i].from <= to; i++ {
			to = max(to, spans[i].to)
		}
		if isShort(text[end:from], secret) {
			return withheld
		}
		b.WriteString(text[end:from])
		b.WriteString("(sensitive value)")
		end = to
	}
	if isShort(text[end:], secret) {
		return withheld
	}
	b.WriteString(text[end:])
	text = b.String()
	if cut { // a value may begin at the end, not enough of it to be found
		text = strings.ToValidUTF8(text[:max(0, len(text)-maxRedacted/8)], "")
	}
	return text
}

const withheld = "(withheld: it contains a secret value)"

// isShort reports whether a very short value stands in a text by itself.
func isShort(text string, secret []*hidden) bool {
	for _, h := range secret {
		for _, form := range h.forms {
			if form == "" || len(form) >= fewLetters {
				continue
			}
			for from := range indices(text, form, 0, len(text)) {
				before, after := text[:from], text[from+len(form):]
				if (before == "" || !isLetter(before[len(before)-1]) || !isLetter(form[0]) || escapeBefore().MatchString(before[max(0, len(before)-2*maxEscape):])) &&
					(after == "" || !isLetter(after[0]) || !isLetter(form[len(form)-1])) {
					return true
				}
			}
		}
	}
	return false
}

// in finds the value, or a fair part of it, in a text.
func (h *hidden) in(text string) []span {
	var spans []span
	for _, form := range h.forms {
		if len(form) >= fewLetters {
			for from := range indices(text, form, 0, len(text)) {
				spans = append(spans, span{from, from + len(form)})
			}
		}
	}
	search := &search{hidden: h, text: text, steps: maxSteps}
	for i, r := range h.runs {
		if i == 0 || len(r.text) >= manyLetters {
			spans = append(spans, search.chains(i, spans)...)
		}
	}
	return spans
}

// search is the search for one value in one text.
type search struct {
	*hidden
	text  string
	steps int // that are left: a text and a value can be made to take very many
}

// maxSteps is some milliseconds.
const maxSteps = 1 << 21

// chain is where runs that follow each other begin and end, and how far in the
// value they go: twice as many as there are runs, and one more for part of one.
type chain struct {
	span
	length int
}

// chains finds the runs of the value from the nth on, as many as follow each
// other, where these are all or have many letters, and are not in known.
func (s *search) chains(n int, known []span) []span {
	longest := map[int]chain{} // by where they begin
	add := func(c chain) {
		// A run may stand twice behind a gap, first in an escape; but behind a
		// space the second is the message's.
		other, ok := longest[c.from]
		if !ok || other.length < c.length || other.length == c.length && other.to < c.to && !strings.Contains(s.text[other.to:c.to], " ") {
			longest[c.from] = c
		}
	}
	first := s.runs[n].text
	start := first[:min(len(first), manyLetters)]
	var reached []span
	for from := range indices(s.text, start, 0, len(s.text)) {
		if slices.ContainsFunc(known, func(k span) bool { return k.from <= from && from < k.to }) {
			continue
		}
		alike := common(s.text[from:], first)
		if alike == len(first) {
			reached = append(reached, span{from, from + alike})
		} else {
			add(chain{span{from, from + alike}, 1}) // it was cut short
		}
	}
	letters := 0
	for i := n; len(reached) > 0; i++ {
		letters += len(s.runs[i].text)
		if letters >= manyLetters || letters == s.letters {
			for _, r := range reached {
				add(chain{r, 2 * (i - n + 1)})
			}
		}
		if i == len(s.runs)-1 {
			break
		}
		if s.steps < 0 {
			add(chain{span{reached[0].from, len(s.text)}, 2 * len(s.runs)}) // rather too much than too little
			break
		}
		next := s.runs[i+1]
		if len(next.text) > fewLetters && letters+len(next.text) > manyLetters {
			for _, r := range s.after(reached, next.gap, next.text[:fewLetters]) {
				r.to -= fewLetters
				alike := common(s.text[r.to:], next.text)
				if r.to += alike; letters+alike >= manyLetters {
					add(chain{r, 2*(i-n+1) + 1}) // it was cut short
				}
			}
		}
		reached = s.after(reached, next.gap, next.text)
	}
	var spans []span
	for _, c := range longest {
		if n == 0 {
			c.from = s.before.extendLeft(s.text, c.from)
		}
		if c.length == 2*(len(s.runs)-n) {
			c.to = s.behind.extendRight(s.text, c.to)
		}
		spans = append(spans, c.span)
	}
	return spans
}

// after finds a run behind each of the parts that are reached, as far away as
// the gap may be written. Both are in the order of their ends, and each end is
// there once, so that the work is bounded.
func (s *search) after(reached []span, g gap, run string) []span {
	var found []span
	done := 0 // where the search for the run goes on
	for _, r := range reached {
		// The first of a gap is what it is, or what introduces an escape.
		if s.steps--; r.to >= len(s.text) || isLetter(s.text[r.to]) {
			continue
		}
		limit := min(r.to+g.bytes*maxEscape, len(s.text))
		spaces := 0
		for j := r.to; j < limit; j++ {
			if s.text[j] == ' ' {
				if spaces++; spaces > g.spaces {
					limit = j
				}
			}
		}
		s.steps -= limit - r.to
		for p := range indices(s.text, run, max(r.to+1, done), limit+len(run)) {
			found = append(found, span{r.from, p + len(run)})
			done = p + 1
		}
	}
	return found
}

// indices yields where part stands within text[from:to], overlaps included.
func indices(text, part string, from, to int) func(func(int) bool) {
	to = min(to, len(text))
	return func(yield func(int) bool) {
		for from < to {
			i := strings.Index(text[from:to], part)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + 1
		}
	}
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// What a character that is no letter is written as.
const (
	escape  = `\\+(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[0-7]{3}|.)|&(?:amp;)*#?[0-9A-Za-z]{1,8};|[%=](?:25)*[0-9A-Fa-f]{2}`
	written = escape + `|[^0-9A-Za-z]`
)

var (
	escapeBefore  = compiled(`(?:` + escape + `)$`)
	writtenBefore = compiled(`(?:` + written + `)$`)
	writtenBehind = compiled(`^(?:` + written + `)`)
)

// extendLeft is where the gap before from begins.
func (g gap) extendLeft(text string, last int) (from int) {
	from = last
	spaces := 0
	for range g.bytes {
		window := text[max(0, from-2*maxEscape):from]
		at := writtenBefore().FindStringIndex(window)
		if at == nil {
			break
		}
		if spaces += strings.Count(window[at[0]:], " "); spaces > g.spaces {
			break
		}
		from -= len(window) - at[0]
	}
	for from < last && text[from] == ' ' {
		from++ // it may be the message's
	}
	return from
}

// extendRight is where the gap after to ends.
func (g gap) extendRight(text string, first int) (to int) {
	to = first
	spaces := 0
	for range g.bytes {
		at := writtenBehind().FindStringIndex(text[to:min(len(text), to+4*maxEscape)])
		if at == nil {
			break
		}
		if spaces += strings.Count(text[to:to+at[1]], " "); spaces > g.spaces {
			break
		}
		to += at[1]
	}
	for to > first && text[to-1] == ' ' {
		to--
	}
	return to
}

// formsOf are the ways of writing a value on one line: as it is, in JSON or
// source code with more or fewer escapes, in a URL, in HTML.
func formsOf(value string) []string {
	quoted, _ := json.Marshal(value)
	forms := []string{string(quoted), strconv.Quote(value), strconv.QuoteToASCII(value)}
	for i, form := range forms {
		forms[i] = form[1 : len(form)-1]
	}
	query := url.QueryEscape(value)
	forms = append(forms, value, query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value), html.EscapeString(value))
	for i, form := range forms {
		forms[i] = oneLine(form)
	}
	return forms
}
