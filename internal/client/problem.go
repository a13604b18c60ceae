package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
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

// readProblem finds the message in the body of a rejection, in the common shapes: detail as text or as a list of
// {loc, msg}, problem+json, error.message, error as text, message, errors. Of other JSON, it is all of it. It is not
// ok when the body is not JSON. The fields are fit for a message.
func (c *Client) readProblem(body []byte) (message string, fields []FieldError, ok bool) {
	var problem struct{ Title, Detail, Error, Message, Errors json.RawMessage }
	if !json.Valid(body) {
		return "", nil, false
	}
	_ = json.Unmarshal(body, &problem) // another value than an object has none of these
	fields = append(c.readFieldErrors(decoded(problem.Detail)), c.readFieldErrors(decoded(problem.Errors))...)
	fields = fields[:min(len(fields), maxFields)]
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.String())
	}
	if len(parts) == 0 {
		for _, raw := range []json.RawMessage{problem.Title, problem.Detail, problem.Error, problem.Message, problem.Errors} {
			text := textOf(decoded(raw), maxLevels-1)
			if text == "" && len(raw) > 0 && strings.ContainsRune("[{", rune(raw[0])) {
				text = compactJSON(raw)
			}
			if text != "" {
				parts = append(parts, text)
			}
		}
	}
	if len(parts) == 0 {
		return compactJSON(body), nil, true
	}
	return strings.Join(parts, "; "), fields, true
}

// decoded decodes a member; nil if there is none.
func decoded(raw json.RawMessage) (value any) {
	_ = json.Unmarshal(raw, &value) // it is valid, or omitted
	return value
}

// compactJSON returns JSON without white space; empty if there is nothing in it.
func compactJSON(body []byte) string {
	var compact bytes.Buffer
	_ = json.Compact(&compact, body) // it is valid
	switch text := compact.String(); text {
	case "null", "{}", "[]", `""`:
		return ""
	default:
		return text
	}
}

// String is the place and the message: "body.source_config.cpu: too large".
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

// readFieldErrors reads a list of {loc, msg}; nil when value is something else.
func (c *Client) readFieldErrors(value any) []FieldError {
	items, _ := value.([]any)
	var fields []FieldError
	for _, item := range items[:min(len(items), maxFields)] {
		object, ok := item.(map[string]any)
		if !ok {
			return nil
		}
		var f FieldError
		if f.Message, _ = object["msg"].(string); f.Message == "" {
			f.Message, _ = object["message"].(string)
		}
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
		if f.Message = c.displayText(f.Message); f.Message != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// textOf finds the text in a value that is one, has one in a member of a usual name, or is a list of such values,
// within so many levels.
func textOf(value any, levels int) string {
	if text, ok := value.(string); ok || value == nil || levels == 0 {
		return text
	}
	object, _ := value.(map[string]any)
	for _, name := range []string{"message", "msg", "detail", "description"} {
		if text := textOf(object[name], levels-1); text != "" {
			return text
		}
	}
	var texts []string
	list, _ := value.([]any)
	for _, item := range list[:min(len(list), maxFields)] {
		if text := textOf(item, levels-1); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}
