package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The API documents no errors (section 7). The shapes understood here are those that such services commonly use.

// maxMessage bounds what is shown of a response, in characters; maxFields, of how many single fields and of how many
// steps of a field's place; maxLevels, how deep in a body it is searched for.
const (
	maxMessage = 600
	maxFields  = 50
	maxSteps   = 16
	maxLevels  = 4
)

// FieldError is the service's message about one field of the request. Loc is its place: member names (string) and
// array indices (int).
type FieldError struct {
	Loc     []any
	Message string
}

// readProblem finds the message in a rejection, in the common shapes: detail as text or as a list of {loc, msg},
// problem+json, error.message, error as text, message, errors. It returns all of other JSON, and of other text. The
// fields can be shown as they are.
func (c *Client) readProblem(resp response) (message string, fields []FieldError) {
	if !json.Valid(resp.body) {
		return textOfNonJSON(resp), nil
	}
	var problem struct{ Title, Detail, Error, Message, Errors json.RawMessage }
	_ = json.Unmarshal(resp.body, &problem) // another value than an object has none of these
	fields = append(c.readFieldErrors(problem.Detail), c.readFieldErrors(problem.Errors)...)
	fields = fields[:min(len(fields), maxFields)]
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.String())
	}
	if len(parts) == 0 {
		for _, raw := range []json.RawMessage{problem.Title, problem.Detail, problem.Error, problem.Message, problem.Errors} {
			text := textOf(decoded(raw), maxLevels)
			isObjectOrList := len(raw) > 0 && (raw[0] == '{' || raw[0] == '[')
			if text == "" && isObjectOrList {
				text = compactJSON(raw)
			}
			if text != "" {
				parts = append(parts, text)
			}
		}
	}
	if len(parts) == 0 {
		return compactJSON(resp.body), nil
	}
	return strings.Join(parts, "; "), fields
}

// textOfNonJSON returns the text of a response, unless that is not for reading.
func textOfNonJSON(resp response) string {
	isBinary := !utf8.Valid(resp.body) && bytes.IndexByte(resp.body, 0) >= 0
	switch {
	case resp.isHTML():
		return htmlPage
	case isBinary:
		return "a response that is not text"
	}
	return string(resp.body)
}

// String returns the place and the message: "body.source_config.cpu: too large".
func (f FieldError) String() string {
	var names []string
	for _, step := range f.Loc {
		names = append(names, fmt.Sprint(step))
	}
	if len(names) == 0 {
		return f.Message
	}
	return strings.Join(names, ".") + ": " + f.Message
}

// readFieldErrors reads a list of {loc, msg}. It returns nil for anything else.
func (c *Client) readFieldErrors(list json.RawMessage) []FieldError {
	items, _ := decoded(list).([]any)
	var fields []FieldError
	for _, item := range items[:min(len(items), maxFields)] {
		object, ok := item.(map[string]any)
		if !ok {
			return nil
		}
		msg, _ := object["msg"].(string)
		message, _ := object["message"].(string)
		f := FieldError{Message: c.displayText(cmp.Or(msg, message))}
		loc, _ := object["loc"].([]any)
		for _, step := range loc[:min(len(loc), maxSteps)] {
			switch step := step.(type) {
			case string:
				f.Loc = append(f.Loc, c.displayText(step))
			case float64:
				if step == math.Trunc(step) && math.Abs(step) <= math.MaxInt32 {
					f.Loc = append(f.Loc, int(step))
				}
			}
		}
		if f.Message != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// decoded decodes a member; nil if there is none.
func decoded(raw json.RawMessage) (value any) {
	_ = json.Unmarshal(raw, &value) // it is valid, or omitted
	return value
}

// compactJSON returns JSON without white space; empty if there is nothing in it.
func compactJSON(raw []byte) string {
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // it is valid
	text := compact.String()
	if slices.Contains([]string{"null", "{}", "[]", `""`}, text) {
		return ""
	}
	return text
}

// textOf finds the text in a value that is one, has one in a member of a usual name, or is a list of such values,
// within so many levels.
func textOf(value any, levels int) string {
	if levels == 0 {
		return ""
	}
	var texts []string
	switch value := value.(type) {
	case string:
		return value
	case map[string]any:
		for _, name := range []string{"message", "msg", "detail", "description"} {
			text := textOf(value[name], levels-1)
			if text != "" {
				return text
			}
		}
	case []any:
		for _, item := range value[:min(len(value), maxFields)] {
			text := textOf(item, levels-1)
			if text != "" {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "; ")
}
