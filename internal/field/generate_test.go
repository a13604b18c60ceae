package field

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// generator generates configurations, changes of them, and what services report.
// Pick chooses one of n; 0 is always the choice that ends soonest.
//
// A plain generator keeps the order of lists, and writes each value in one form:
// only then does a plan with unknown values agree in every part with the final
// one, see TestKnownLimits.
type generator struct {
	pick  func(n int) int
	plain bool
}

func seeded(seed uint64) generator {
	return generator{rand.New(rand.NewPCG(seed, 0)).IntN, seed%2 == 0}
}

// driven is a generator driven by bytes; when they run out, it ends.
func driven(data []byte) generator {
	return generator{plain: len(data)%2 == 0, pick: func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % n
	}}
}

func (g generator) often() bool  { return g.pick(4) > 0 }
func (g generator) half() bool   { return g.pick(2) > 0 }
func (g generator) seldom() bool { return g.pick(6) == 5 }

func oneOf[T any](g generator, of ...T) T { return of[g.pick(len(of))] }

const (
	commitOne = "1111111111111111111111111111111111111111"
	commitTwo = "abcdef0123456789abcdef0123456789abcdef01"
)

var (
	uuids = []string{"123e4567-e89b-12d3-a456-426614174000", "abcdefab-cdef-abcd-efab-cdefabcdefab"}
	times = []string{"2025-01-02T03:04:05Z", "2025-06-07T08:09:10.5Z"}
)

// config is a configuration as a tree.
func (g generator) config(fs Fields) object {
	tree := object{}
	few := g.half() // a typical configuration sets few of many
	for _, f := range fs {
		switch {
		case f.Access == Required:
			tree[f.wire()] = oneOf(g, append([]string{"x"}, kind[String](f).OneOf...)...)
		case f.Access == ReadOnly || few && !g.seldom() || !few && !g.often():
		default:
			g.set(fs, f, tree)
		}
	}
	return tree
}

// set sets one attribute, and removes its exclusive siblings.
func (g generator) set(fs Fields, f Field, tree object) {
	for _, sibling := range fs {
		if f.Exclusive && sibling.Exclusive {
			delete(tree, sibling.wire())
		}
	}
	if tree[f.wire()] = g.value(f); f.Access == OptionalComputed {
		tree[f.wire()] = oneOf(g, "a", "b") // services do not choose ""
	}
}

// value is a value that is not null.
func (g generator) value(f Field) any {
	switch f.Kind.(type) {
	case UUID:
		return oneOf(g, uuids...)
	case Time:
		return oneOf(g, times...)
	case Int64:
		return json.Number(oneOf(g, "0", "1", "2048", "9007199254740993"))
	case Float64:
		return json.Number(oneOf(g, "0", "0.1", "0.5", "2"))
	case Bool:
		return g.half()
	case JSON:
		return g.object(2)
	case StringMap:
		tree := object{}
		for range g.pick(3) {
			tree[oneOf(g, "a", "b", "c.d/e")] = oneOf(g, "1", "2", "")
		}
		return tree
	case List:
		list := []any{}
		for range g.pick(3) {
			list = append(list, g.value(f.item()))
		}
		return list
	case Object:
		return g.config(f.Fields())
	case ObjectList:
		list := []any{}
		odd := g.pick(12) // seldom items that cannot be told apart
		for i := range g.pick(4) {
			list = append(list, g.item(f, fmt.Sprint(i), odd))
		}
		return list
	default:
		return oneOf(g, "", "a", "b", "<é&>", "main", commitOne, commitTwo)
	}
}

func (g generator) item(f Field, suffix string, odd int) object {
	item := g.config(f.Fields())
	for _, name := range kind[ObjectList](f).Key {
		key, _ := f.Fields().ByName(name)
		switch odd {
		case 10:
			item[key.wire()] = "twin"
		case 11:
			delete(item, key.wire())
		default:
			item[key.wire()] = name + suffix
		}
	}
	return item
}

func (g generator) object(depth int) object {
	tree := object{}
	for range g.pick(4) {
		tree[oneOf(g, "a", "b.c", "d")] = g.tree(depth)
	}
	return tree
}

func (g generator) tree(depth int) any {
	switch c := g.pick(8); {
	case c == 1:
		return json.Number(oneOf(g, "1", "0.1", "1e3"))
	case c == 2:
		return g.half()
	case c == 3 && !g.plain:
		return nil
	case c == 4 && depth > 0:
		return []any{g.tree(depth - 1), "x"}
	case c == 5:
		return []any{}
	case c > 5 && depth > 0:
		return g.object(depth - 1)
	default:
		return oneOf(g, "v", "w", "")
	}
}

// change is another configuration: some attributes set, changed and removed.
func (g generator) change(fs Fields, config object) object {
	tree := maps.Clone(config)
	for _, f := range fs {
		value, found := tree[f.wire()]
		switch {
		case f.Access == Required || f.Access == ReadOnly:
		case !found:
			if g.seldom() {
				g.set(fs, f, tree)
			}
		case g.seldom():
			delete(tree, f.wire())
		case g.pick(6) == 4:
			g.set(fs, f, tree)
		default:
			tree[f.wire()] = g.changed(f, value)
		}
	}
	return tree
}

func (g generator) changed(f Field, value any) any {
	switch value := value.(type) {
	case map[string]any:
		if is[Object](f) {
			return g.change(f.Fields(), value)
		}
		tree := maps.Clone(value)
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			switch inner, isObject := tree[name].(map[string]any); {
			case g.seldom():
				delete(tree, name)
			case isObject:
				tree[name] = g.changed(Field{Kind: JSON{}}, inner)
			case g.pick(6) == 4:
				tree[name] = "changed"
			}
		}
		return tree
	case []any:
		if !is[ObjectList](f) {
			return value
		}
		list := slices.Clone(value)
		for i := range list {
			item := asObject(list[i])
			list[i] = g.change(f.Fields(), item)
			for _, name := range kind[ObjectList](f).Key {
				key, _ := f.Fields().ByName(name)
				if value, found := item[key.wire()]; found {
					asObject(list[i])[key.wire()] = value
				} else {
					delete(asObject(list[i]), key.wire())
				}
			}
		}
		if len(list) > 0 && g.seldom() {
			list = list[1:]
		}
		if g.seldom() {
			list = append(list, g.item(f, "new", 0))
		}
		if !g.plain && g.seldom() {
			slices.Reverse(list)
		}
		return list
	}
	return value
}

// ambiguous reports whether a tree has items that cannot be told apart.
func ambiguous(fs Fields, tree object) bool {
	return slices.ContainsFunc(fs, func(f Field) bool {
		switch value := tree[f.wire()].(type) {
		case map[string]any:
			return is[Object](f) && ambiguous(f.Fields(), value)
		case []any:
			if !is[ObjectList](f) || kind[ObjectList](f).Key == nil {
				return false
			}
			seen := map[string]bool{}
			return slices.ContainsFunc(value, func(item any) bool {
				key := itemKey(f, item)
				again := key == "" || seen[key]
				seen[key] = true
				return again || ambiguous(f.Fields(), asObject(item))
			})
		}
		return false
	})
}

func itemKey(f Field, item any) (key string) {
	for _, name := range kind[ObjectList](f).Key {
		child, _ := f.Fields().ByName(name)
		part, _ := asObject(item)[child.wire()].(string)
		if part == "" {
			return ""
		}
		key += part + ";"
	}
	return key
}

// unknowns is a configuration with unknown values, as at a first plan that
// depends on other resources; with deep, within maps and lists, too.
func (g generator) unknowns(fs Fields, config tftypes.Value, deep bool, keep ...string) tftypes.Value {
	values := maps.Clone(Members(config))
	for _, f := range fs {
		if v := values[f.Name]; !slices.Contains(keep, f.Name) {
			values[f.Name] = g.unknown(f, v, deep)
		}
	}
	return tftypes.NewValue(config.Type(), values)
}

func (g generator) unknown(f Field, v tftypes.Value, deep bool) tftypes.Value {
	switch {
	case v.IsNull():
		if f.Access == Optional && !f.Exclusive && g.pick(12) == 11 {
			return f.unknown() // it may turn out null
		}
		return v
	case g.seldom():
		return f.unknown()
	}
	switch f.Kind.(type) {
	case Object:
		return g.unknowns(f.Fields(), v, deep)
	case StringMap:
		values := maps.Clone(Members(v))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if deep && g.seldom() {
				values[name] = Field{Kind: String{}}.unknown()
			}
		}
		return tftypes.NewValue(f.Kind.Type(), values)
	case List, ObjectList:
		values := slices.Clone(Items(v))
		for i := range values {
			switch {
			case deep:
				values[i] = g.unknown(f.item(), values[i], deep)
			case is[ObjectList](f):
				values[i] = g.unknowns(f.Fields(), values[i], deep, kind[ObjectList](f).Key...)
			}
		}
		return tftypes.NewValue(f.Kind.Type(), slices.Concat([]tftypes.Value{}, values))
	}
	return v
}

// reported is how a service reports what it has: in forms of its own.
func (g generator) reported(fs Fields, stored object) object {
	tree := object{}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		f, described := fs.byWire(name)
		if value := stored[name]; described {
			tree[name] = g.reportedValue(f, value)
		} else {
			tree[name] = value
		}
	}
	for _, f := range fs {
		if _, found := tree[f.wire()]; !found && g.seldom() {
			tree[f.wire()] = nil
		}
	}
	return tree
}

func (g generator) reportedValue(f Field, value any) any {
	if !is[Object](f) && !is[JSON](f) && isEmpty(value) && g.half() {
		return nil
	}
	switch value := value.(type) {
	case string:
		switch f.Kind.(type) {
		case UUID:
			return oneOf(g, strings.ToLower, strings.ToUpper)(value)
		case Time:
			at, err := time.Parse(time.RFC3339, value)
			if err != nil {
				return value
			}
			return at.In(time.FixedZone("", 3600*g.pick(3))).Format(time.RFC3339Nano)
		}
	case json.Number:
		if is[Int64](f) && g.half() && !strings.Contains(value.String(), ".") {
			return value + ".0"
		}
	case map[string]any:
		switch f.Kind.(type) {
		case Object:
			return g.reported(f.Fields(), value)
		case StringMap:
			tree := maps.Clone(value)
			maps.DeleteFunc(tree, func(_ string, v any) bool { return isEmpty(v) && g.plain })
			return tree
		default:
			return g.reportedJSON(value)
		}
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = g.reportedValue(f.item(), value[i])
			if list[i] == nil {
				list[i] = value[i]
			}
		}
		objects := kind[ObjectList](f)
		if objects.Key != nil && !objects.Ordered && !g.plain && !ambiguous(Fields{f}, object{f.wire(): value}) {
			for i := range list {
				j := g.pick(i + 1)
				list[i], list[j] = list[j], list[i]
			}
		}
		return list
	}
	return value
}

func (g generator) reportedJSON(value any) any {
	switch value := value.(type) {
	case map[string]any:
		tree := object{}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !isEmpty(value[name]) || g.half() {
				tree[name] = g.reportedJSON(value[name])
			}
		}
		return tree
	case []any:
		list := []any{}
		for _, item := range value {
			list = append(list, g.reportedJSON(item))
		}
		return list
	case json.Number:
		if value == "1e3" && g.half() {
			return json.Number("1000.0")
		}
	}
	return value
}

// drift changes one value of the service that a configuration sets, and reports
// which: ok is false if nothing can drift.
func (g generator) drift(fs Fields, want, stored object, at path.Path) (drifted path.Path, ok bool) {
	var able []Field
	for _, f := range fs {
		if !isRewritten(f) && f.Access != Required && canDrift(f, want[f.wire()]) {
			able = append(able, f)
		}
	}
	if len(able) == 0 {
		return at, false
	}
	f := oneOf(g, able...)
	at = at.AtName(f.Name)
	wanted := want[f.wire()]
	switch f.Kind.(type) {
	case Object:
		return g.drift(f.Fields(), asObject(wanted), asObject(stored[f.wire()]), at)
	case ObjectList:
		list := slices.Clone(asList(stored[f.wire()]))
		i := g.pick(len(list))
		if !g.seldom() {
			without := f.Fields().Without(kind[ObjectList](f).Key...)
			if _, ok := g.drift(without, asObject(asList(wanted)[i]), asObject(list[i]), at); ok {
				return at, true
			}
		}
		stored[f.wire()] = slices.Delete(list, i, i+1)
	case StringMap, JSON:
		tree := asObject(stored[f.wire()])
		for _, name := range slices.Sorted(maps.Keys(asObject(wanted))) {
			if !isEmpty(asObject(wanted)[name]) {
				tree[name] = "drifted"
				break
			}
		}
	case List:
		stored[f.wire()] = append(slices.Clone(asList(stored[f.wire()])), g.value(f.item()))
	case Bool:
		stored[f.wire()] = stored[f.wire()] == false
	case Int64, Float64:
		stored[f.wire()] = json.Number("77")
	case UUID:
		stored[f.wire()] = "99999999-9999-9999-9999-999999999999"
	case Time:
		stored[f.wire()] = "1999-01-01T00:00:00Z"
	default:
		stored[f.wire()] = "drifted"
	}
	return at, true
}

// canDrift reports whether the service could contradict a configured value.
func canDrift(f Field, wanted any) bool {
	if !is[Object](f) {
		return !isEmpty(wanted)
	}
	return slices.ContainsFunc(f.Fields(), func(child Field) bool {
		return !isRewritten(child) && canDrift(child, asObject(wanted)[child.wire()])
	})
}

// isRewritten reports whether services replace values of a field by their own.
func isRewritten(f Field) bool {
	return kind[String](f).ResolvesTo != "" || kind[String](f).BuiltFor != ""
}
