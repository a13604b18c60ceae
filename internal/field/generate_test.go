package field

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// generator makes configurations and what a service may answer to them. Pick
// chooses one of n; 0 is always the choice that ends soonest.
//
// A plain one sets nothing that says nothing and leaves lists in their order:
// only there does a plan with unknowns agree in every part with the final one.
type generator struct {
	pick  func(n int) int
	plain bool
}

func seeded(seed uint64) generator {
	return generator{rand.New(rand.NewPCG(seed, 0)).IntN, seed%2 == 0}
}

// driven is a generator that the bytes decide on; when they run out, it ends.
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

func (g generator) often() bool { return g.pick(4) > 0 }
func (g generator) half() bool  { return g.pick(2) > 0 }
func (g generator) seldom() bool {
	return g.pick(6) == 5
}

func oneOf[T any](g generator, of ...T) T { return of[g.pick(len(of))] }

const (
	commitOne = "1111111111111111111111111111111111111111"
	commitTwo = "abcdef0123456789abcdef0123456789abcdef01"
)

var (
	uuids = []string{"123e4567-e89b-12d3-a456-426614174000", "abcdefab-cdef-abcd-efab-cdefabcdefab"}
	times = []string{"2025-01-02T03:04:05Z", "2025-06-07T08:09:10.5Z"}
	texts = []string{"", "a", "b", "<é&>", "main", commitOne, commitTwo}
)

// ownMembers and ownItems are copies: tftypes shares what a value holds.
func ownMembers(v tftypes.Value) Values { return maps.Clone(members(v)) }

func ownItems(v tftypes.Value) []tftypes.Value { return slices.Clone(items(v)) }

func null(f Field) tftypes.Value { return tftypes.NewValue(f.Type(), nil) }

func str(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }

func num(text string) tftypes.Value {
	n, _, err := big.ParseFloat(text, 10, numberPrecision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return tftypes.NewValue(tftypes.Number, n)
}

// aThird is 1/3 as Terraform calculates it.
func aThird() tftypes.Value {
	n := new(big.Float).SetPrec(numberPrecision)
	return tftypes.NewValue(tftypes.Number, n.Quo(big.NewFloat(1).SetPrec(numberPrecision), big.NewFloat(3).SetPrec(numberPrecision)))
}

// config makes a configuration.
func (g generator) config(fs Fields) tftypes.Value {
	values := g.configured(fs)
	values["beside"] = str("beside")
	if g.plain {
		return plain(fs, tftypes.NewValue(whole(fs), values))
	}
	return tftypes.NewValue(whole(fs), values)
}

// plain takes out of a configuration what says nothing.
func plain(fs Fields, config tftypes.Value) tftypes.Value {
	values := ownMembers(config)
	for _, f := range fs {
		v := values[f.Name]
		switch f.Kind {
		case Object:
			if !v.IsNull() {
				v = plain(f.Fields, v)
			}
		case Objects:
			list := ownItems(v)
			for i := range list {
				list[i] = plain(f.Fields, list[i])
			}
			if len(list) > 0 {
				v = tftypes.NewValue(f.Type(), list)
			}
		case TextMap:
			for _, value := range members(v) {
				if text(value) == "" {
					v = null(f)
				}
			}
		}
		if v.IsNull() || saysNothing(f, v) {
			v = null(f)
		}
		values[f.Name] = v
	}
	return tftypes.NewValue(config.Type(), values)
}

func (g generator) configured(fs Fields) Values {
	values := Values{}
	few := g.half() // a typical configuration sets few of many
	for _, f := range fs {
		switch {
		case f.Access == Required:
			values[f.Name] = str(oneOf(g, "x", "y"))
		case f.Access == ReadOnly || few && !g.seldom() || !few && !g.often():
			values[f.Name] = null(f)
		default:
			values[f.Name] = g.value(f, false)
		}
	}
	return values
}

// value makes a value that is not null: one that a configuration sets, or, with
// shown, one that the service comes up with.
func (g generator) value(f Field, shown bool) tftypes.Value {
	switch f.Kind {
	case UUID:
		return str(oneOf(g, uuids...))
	case Time:
		return str(oneOf(g, times...))
	case Whole:
		return num(oneOf(g, "0", "1", "2048", "9007199254740993"))
	case Number:
		if !shown && g.seldom() {
			return aThird()
		}
		return num(oneOf(g, "0", "0.1", "0.5", "2"))
	case Flag:
		return tftypes.NewValue(tftypes.Bool, g.half())
	case JSON:
		return str(g.json(g.object(2)))
	case TextMap:
		values := Values{}
		for range g.pick(3) {
			values[oneOf(g, "a", "b", "c")] = str(oneOf(g, "1", "2", ""))
		}
		return tftypes.NewValue(f.Type(), values)
	case List:
		values := []tftypes.Value{}
		for range g.pick(3) {
			values = append(values, g.value(f.elem(), shown))
		}
		return tftypes.NewValue(f.Type(), values)
	case Object:
		if shown {
			return tftypes.NewValue(f.Type(), g.answers(f.Fields, nil))
		}
		return tftypes.NewValue(f.Type(), g.configured(f.Fields))
	case Objects:
		values := []tftypes.Value{}
		twins := g.pick(8) == 7 // items that cannot be told apart
		for i := range g.pick(4) {
			item := ownMembers(g.value(f.item(), shown))
			for _, name := range f.Key { // see TestKnownLimits for items without
				item[name] = str(fmt.Sprint(name, i))
				if twins {
					item[name] = str("twin")
				}
			}
			values = append(values, tftypes.NewValue(f.Fields.Type(), item))
		}
		return tftypes.NewValue(f.Type(), values)
	default:
		return str(oneOf(g, texts...))
	}
}

func (g generator) object(depth int) map[string]any {
	tree := map[string]any{}
	for range g.pick(4) {
		tree[oneOf(g, "a", "b", "c")] = g.tree(depth)
	}
	return tree
}

func (g generator) tree(depth int) any {
	switch c := g.pick(8); {
	case c == 1:
		return json.Number(oneOf(g, "1", "0.1", "1e3"))
	case c == 2:
		return g.half()
	case c == 3:
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

// json writes a tree in one of several ways.
func (g generator) json(tree any) string {
	text, err := json.Marshal(tree)
	if err == nil && g.half() {
		text, err = json.MarshalIndent(tree, " ", "\t")
	}
	if err != nil {
		panic(err)
	}
	return string(text)
}

// answer makes what a service that took a configuration may answer: all that
// was configured, in forms of its own, and whatever it adds.
func (g generator) answer(fs Fields, config tftypes.Value) tftypes.Value {
	values := g.answers(fs, ownMembers(config))
	values["beside"] = tftypes.NewValue(tftypes.String, nil)
	return tftypes.NewValue(whole(fs), values)
}

func (g generator) answers(fs Fields, config Values) Values {
	values := Values{}
	for _, f := range fs {
		wanted := orNull(f, config[f.Name])
		values[f.Name] = g.shown(f, wanted)
		if !wanted.IsNull() && saysNothing(f, wanted) && g.seldom() {
			values[f.Name] = g.value(f, true)
		}
	}
	for _, f := range fs {
		ref := text(config[f.Name])
		if f.ResolvesTo == "" || ref == "" || !g.half() {
			continue
		}
		commit := str(oneOf(g, commitOne, commitTwo))
		if len(ref) == len(commitOne) {
			commit = str(ref)
		}
		values[f.Name], values[f.ResolvesTo] = commit, commit
	}
	return values
}

// shown is how the service shows one wanted value.
func (g generator) shown(f Field, wanted tftypes.Value) tftypes.Value {
	switch {
	case wanted.IsNull():
		if f.Access != Required && !g.seldom() {
			return null(f)
		}
		return g.value(f, true)
	case saysNothing(f, wanted) && g.half():
		return null(f)
	}
	switch f.Kind {
	case UUID:
		return str(oneOf(g, strings.ToLower, strings.ToUpper)(text(wanted)))
	case Time:
		at, err := time.Parse(time.RFC3339, text(wanted))
		if err != nil {
			panic(err)
		}
		return str(at.In(time.FixedZone("", 3600*g.pick(3))).Format(time.RFC3339Nano))
	case Whole:
		return wanted
	case Number:
		float, _ := number(wanted).Float64()
		return num(strconv.FormatFloat(float, 'g', -1, 64))
	case JSON:
		tree, err := readJSON([]byte(text(wanted)))
		if err != nil {
			panic(err)
		}
		return str(g.json(g.shownTree(tree)))
	case TextMap:
		values := ownMembers(wanted)
		if values == nil {
			values = Values{}
		}
		for name, value := range values {
			if text(value) == "" && g.half() {
				delete(values, name)
			}
		}
		if g.seldom() {
			values["added"] = str("by the service")
		}
		return tftypes.NewValue(f.Type(), values)
	case List:
		values := ownItems(wanted)
		for i := range values {
			values[i] = g.shown(f.elem(), values[i])
		}
		return tftypes.NewValue(f.Type(), slices.Concat([]tftypes.Value{}, values))
	case Object:
		return tftypes.NewValue(f.Type(), g.answers(f.Fields, ownMembers(wanted)))
	case Objects:
		values := ownItems(wanted)
		shuffle := !f.Ordered && keyed(f, values)
		for i := range values {
			values[i] = tftypes.NewValue(f.Fields.Type(), g.answers(f.Fields, ownMembers(values[i])))
		}
		if shuffle {
			for i := range values {
				j := g.pick(i + 1)
				values[i], values[j] = values[j], values[i]
			}
		}
		return tftypes.NewValue(f.Type(), slices.Concat([]tftypes.Value{}, values))
	default:
		return wanted
	}
}

func (g generator) shownTree(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		shown := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			if !emptyTree(tree[name]) || g.half() {
				shown[name] = g.shownTree(tree[name])
			}
			if tree[name] == nil && g.half() {
				shown[name] = "filled in"
			}
		}
		if g.seldom() {
			shown["added"] = "by the service"
		}
		return shown
	case []any:
		shown := []any{}
		for _, item := range tree {
			shown = append(shown, g.shownTree(item))
		}
		return shown
	case json.Number:
		if tree == "1e3" && g.half() {
			return json.Number("1000.0")
		}
	}
	return tree
}

func emptyTree(tree any) bool {
	switch tree := tree.(type) {
	case nil:
		return true
	case string:
		return tree == ""
	case []any:
		return len(tree) == 0
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(tree)), func(v any) bool { return !emptyTree(v) })
	}
	return false
}

// saysNothing is what null, absent and empty have in common, for a value that
// is not null.
func saysNothing(f Field, v tftypes.Value) bool {
	switch f.Kind {
	case Whole, Number, Flag:
		return false
	case TextMap:
		return len(ownMembers(v)) == 0
	case List, Objects:
		return len(ownItems(v)) == 0
	case Object:
		values := ownMembers(v)
		return !slices.ContainsFunc(f.Fields, func(child Field) bool {
			return !values[child.Name].IsNull() && !saysNothing(child, values[child.Name])
		})
	case JSON:
		tree, err := readJSON([]byte(text(v)))
		return err == nil && emptyTree(tree)
	default:
		return text(v) == ""
	}
}

// keyed reports whether items can be told apart by all of their keys.
func keyed(f Field, of []tftypes.Value) bool {
	seen := map[string]bool{}
	for _, item := range of {
		key := ""
		for _, name := range f.Key {
			part := text(ownMembers(item)[name])
			if part == "" {
				return false
			}
			key += part + "\x00"
		}
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return len(f.Key) > 0
}

// unknowns makes some of a configuration unknown, as at a first plan that
// depends on other resources.
func (g generator) unknowns(fs Fields, config tftypes.Value) tftypes.Value {
	values := ownMembers(config)
	for _, f := range fs {
		values[f.Name] = g.unknown(f, values[f.Name])
	}
	return tftypes.NewValue(config.Type(), values)
}

func (g generator) unknown(f Field, v tftypes.Value) tftypes.Value {
	if v.IsNull() {
		if f.Access == Shared && g.pick(12) == 11 {
			return tftypes.NewValue(f.Type(), tftypes.UnknownValue) // it may turn out null
		}
		return v
	}
	if g.seldom() {
		return tftypes.NewValue(f.Type(), tftypes.UnknownValue)
	}
	switch f.Kind {
	case Object:
		if saysNothing(f, v) {
			return v // see TestKnownLimits
		}
		return g.unknowns(f.Fields, v)
	case TextMap:
		if g.plain {
			return v // see TestKnownLimits
		}
		values := ownMembers(v)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			values[name] = g.unknown(Field{Kind: Text, Access: Required}, values[name])
		}
		return tftypes.NewValue(f.Type(), values)
	case List, Objects:
		if g.plain && f.Kind == List && f.Elem != Text {
			return v // the same limit, for other ways of writing an item
		}
		values := slices.Concat([]tftypes.Value{}, ownItems(v))
		for i := range values {
			switch {
			case f.Kind == List:
				values[i] = g.unknown(f.elem(), values[i])
			case g.plain && len(f.Key) > 0: // see TestPlanOfWhatIsNotKnown for unknown keys
				values[i] = g.unknowns(f.Fields.Without(f.Key...), values[i])
			default:
				values[i] = g.unknown(f.item(), values[i])
			}
		}
		return tftypes.NewValue(f.Type(), values)
	}
	return v
}

// change makes another configuration of one: some attributes anew.
func (g generator) change(fs Fields, config tftypes.Value) tftypes.Value {
	values, other := ownMembers(config), ownMembers(g.config(fs))
	for _, f := range fs {
		if f.Access == Required {
			continue
		}
		values[f.Name] = g.changed(f, values[f.Name], other[f.Name])
	}
	if g.plain {
		return plain(fs, tftypes.NewValue(config.Type(), values))
	}
	return tftypes.NewValue(config.Type(), values)
}

func (g generator) changed(f Field, v, other tftypes.Value, keys ...string) tftypes.Value {
	key := map[string]bool{}
	for _, name := range keys {
		key[name] = true
	}
	switch {
	case v.IsNull():
		return other
	case g.plain && (f.holdsMore() || f.Kind == Object || f.Kind == Objects):
		// a map or JSON with fewer members would keep the state's
	case g.seldom():
		return other
	}
	switch f.Kind {
	case Object:
		values, others := ownMembers(v), ownMembers(g.value(f, false))
		for _, child := range f.Fields {
			if child.Access == Shared && !key[child.Name] {
				values[child.Name] = g.changed(child, values[child.Name], others[child.Name])
			}
		}
		return tftypes.NewValue(f.Type(), values)
	case Objects:
		values := ownItems(v)
		for i := range values {
			values[i] = g.changed(f.item(), values[i], values[i], f.Key...)
			j := i
			if !g.plain && g.seldom() {
				j = g.pick(i + 1)
			}
			values[i], values[j] = values[j], values[i]
		}
		if len(values) > 0 && g.seldom() {
			values = values[1:]
		}
		return tftypes.NewValue(f.Type(), slices.Concat([]tftypes.Value{}, values))
	}
	return v
}

// drift changes one configured value in an answer, and says which.
func (g generator) drift(fs Fields, config, answer tftypes.Value) (tftypes.Value, path.Path, bool) {
	values, shown := ownMembers(config), ownMembers(answer)
	var able []Field
	for _, f := range fs {
		if v := values[f.Name]; !v.IsNull() && canDrift(f, v) {
			able = append(able, f)
		}
	}
	if len(able) == 0 {
		return answer, path.Empty(), false
	}
	f := oneOf(g, able...)
	other, at, ok := g.drifted(f, values[f.Name], shown[f.Name], path.Empty().AtName(f.Name))
	shown[f.Name] = other
	return tftypes.NewValue(answer.Type(), shown), at, ok
}

// canDrift reports whether there is anything in a configured value that the
// service could contradict.
func canDrift(f Field, v tftypes.Value) bool {
	switch f.Kind {
	case Object:
		values := ownMembers(v)
		return slices.ContainsFunc(f.Fields, func(child Field) bool {
			return !values[child.Name].IsNull() && canDrift(child, values[child.Name])
		})
	case TextMap:
		return len(ownMembers(v)) > 0
	case JSON:
		tree, _ := readJSON([]byte(text(v)))
		for _, value := range tree.(map[string]any) {
			if !emptyTree(value) {
				return true
			}
		}
		return false
	}
	return !saysNothing(f, v)
}

func (g generator) drifted(f Field, wanted, shown tftypes.Value, at path.Path) (tftypes.Value, path.Path, bool) {
	switch f.Kind {
	case UUID:
		return str("99999999-9999-9999-9999-999999999999"), at, true
	case Time:
		return str("1999-01-01T00:00:00Z"), at, true
	case Whole, Number:
		return tftypes.NewValue(tftypes.Number, new(big.Float).Add(number(wanted), big.NewFloat(1))), at, true
	case Flag:
		return tftypes.NewValue(tftypes.Bool, !wanted.Equal(tftypes.NewValue(tftypes.Bool, true))), at, true
	case JSON:
		tree, _ := readJSON([]byte(text(wanted)))
		object := tree.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if !emptyTree(object[name]) {
				object[name] = "drifted"
				break
			}
		}
		return str(g.json(object)), at, true
	case TextMap:
		values := maps.Clone(ownMembers(wanted))
		values[slices.Sorted(maps.Keys(values))[0]] = str("drifted")
		return tftypes.NewValue(f.Type(), values), at, true
	case List:
		return tftypes.NewValue(f.Type(), append(ownItems(wanted), g.value(f.elem(), true))), at, true
	case Object:
		if shown.IsNull() {
			shown = tftypes.NewValue(f.Type(), g.answers(f.Fields, nil))
		}
		values, before := ownMembers(wanted), ownMembers(shown)
		var able []Field
		for _, child := range f.Fields {
			if v := values[child.Name]; !v.IsNull() && canDrift(child, v) {
				able = append(able, child)
			}
		}
		if len(able) == 0 {
			return shown, at, false
		}
		child := oneOf(g, able...)
		other, at, ok := g.drifted(child, values[child.Name], before[child.Name], at.AtName(child.Name))
		before[child.Name] = other
		return tftypes.NewValue(f.Type(), before), at, ok
	case Objects:
		values, before := ownItems(wanted), ownItems(shown)
		if len(values) == 0 {
			return tftypes.NewValue(f.Type(), []tftypes.Value{tftypes.NewValue(f.Fields.Type(), g.answers(f.Fields, nil))}), at, true
		}
		if g.seldom() {
			return tftypes.NewValue(f.Type(), before[1:]), at, true
		}
		i := g.pick(len(values))
		j := i
		if keyed(f, values) {
			j = slices.IndexFunc(before, func(item tftypes.Value) bool {
				return !slices.ContainsFunc(f.Key, func(name string) bool {
					return !ownMembers(item)[name].Equal(ownMembers(values[i])[name])
				})
			})
		}
		other, at, ok := g.drifted(f.item(), values[i], before[j], at.AtListIndex(i))
		before = slices.Clone(before)
		before[j] = other
		return tftypes.NewValue(f.Type(), before), at, ok
	default:
		return str(text(wanted) + "-drifted"), at, true
	}
}
