package field

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// mostWords is how many characters of a value a message shows.
const mostWords = 80

// inWords are two values that differ, in words for a message: of a scalar the
// value, of a list of objects what tells the items apart, of a map or a JSON
// object the members that differ. Both are the same where the difference is
// not to be shown.
func (f Field) inWords(wanted, has tftypes.Value) (wantedWords, hasWords string) {
	if f.Hidden || f.Kind == Object {
		return "another value", "another value"
	}
	wantedTree, hasTree := f.tree(wanted), f.tree(has)
	if wanted.IsKnown() && !wanted.IsNull() && !has.IsNull() {
		wantedTree, hasTree = onlyDifferent(wantedTree, hasTree)
	}
	wantedWords, hasWords = words(wanted, wantedTree), words(has, hasTree)
	return excerpts(wantedWords, hasWords)
}

func words(v tftypes.Value, tree any) string {
	switch {
	case v.IsNull():
		return "not set"
	case !v.IsKnown():
		return "a value that is not known yet"
	}
	var text bytes.Buffer
	writer := json.NewEncoder(&text)
	writer.SetEscapeHTML(false)
	if err := writer.Encode(tree); err != nil {
		return "another value"
	}
	return strings.TrimSpace(text.String())
}

// tree is a value as JSON, but for the items of Objects: they are told by
// their keys, or else counted.
func (f Field) tree(v tftypes.Value) any {
	if v.IsNull() {
		return nil
	}
	if !v.IsKnown() {
		return "(not known yet)"
	}
	switch f.Kind {
	case Whole, Number:
		float, _ := number(v).Float64()
		return json.Number(strconv.FormatFloat(float, 'f', -1, 64))
	case Flag:
		var flag bool
		_ = v.As(&flag)
		return flag
	case JSON:
		tree, err := readJSON([]byte(text(v)))
		if err != nil {
			return text(v)
		}
		return tree
	case TextMap:
		tree := map[string]any{}
		for name, value := range members(v) {
			tree[name] = Field{Kind: Text}.tree(value)
		}
		return tree
	case List:
		tree := []any{}
		for _, item := range items(v) {
			tree = append(tree, f.elem().tree(item))
		}
		return tree
	case Objects:
		return f.keysTree(items(v))
	default:
		return text(v)
	}
}

func (f Field) keysTree(of []tftypes.Value) any {
	tree := []any{}
	for _, item := range of {
		var keys []string
		for _, name := range f.Key {
			if key := text(members(item)[name]); key != "" {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			return map[string]any{"items": len(of)}
		}
		tree = append(tree, strings.Join(keys, " "))
	}
	return tree
}

// onlyDifferent leaves out of two objects the members that do not make the
// difference.
func onlyDifferent(wanted, has any) (onlyWanted, onlyHas any) {
	wantedMembers, ok1 := wanted.(map[string]any)
	hasMembers, ok2 := has.(map[string]any)
	if !ok1 || !ok2 {
		return wanted, has
	}
	lessWanted, lessHas := map[string]any{}, map[string]any{}
	for name, value := range wantedMembers {
		there, ok := hasMembers[name]
		if value == nil || treeEmpty(value) && treeEmpty(there) || treeCovers(there, value) {
			continue
		}
		lessWanted[name], there = onlyDifferent(value, there)
		if ok {
			lessHas[name] = there
		}
	}
	return lessWanted, lessHas
}

// excerpts shortens two texts to where they begin to differ.
func excerpts(a, b string) (shortA, shortB string) {
	runesA, runesB := []rune(a), []rune(b)
	if max(len(runesA), len(runesB)) <= mostWords {
		return a, b
	}
	same := 0
	for same < min(len(runesA), len(runesB)) && runesA[same] == runesB[same] {
		same++
	}
	return excerpt(runesA, same), excerpt(runesB, same)
}

// excerpt shows at most mostWords of a text, around a place in it.
func excerpt(text []rune, around int) string {
	start := max(0, min(around-mostWords/2, len(text)-mostWords))
	end := min(len(text), start+mostWords)
	short := string(text[start:end])
	if start > 0 {
		short = "…" + short
	}
	if end < len(text) {
		short += "…"
	}
	return short
}
