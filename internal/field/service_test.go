package field

import (
	"crypto/sha1"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// service is a model of a service that stores one deployment.
type service struct {
	g         generator
	fs        Fields
	source    string
	patching  string // one of patchings
	nullKeeps bool   // null leaves a value as it is, instead of resetting it
	resolves  bool   // refs are reported as commits
	revision  int
	stored    object
}

// patchings are the ways in which services apply a PATCH: JSON merge patch; keys
// of the config objects set, and resource_spec merged by one level; keys set as
// a whole.
var patchings = []string{"merge deep", "merge spec", "set keys"}

func newService(g generator, fs Fields, source string) *service {
	return &service{g: g, fs: fs, source: source, patching: oneOf(g, patchings...), nullKeeps: g.seldom(),
		resolves: g.half()}
}

func (s *service) create(body object) {
	s.stored = clone(body).(object)
	s.choose(s.fs, s.stored)
}

// choose sets what only the service sets.
func (s *service) choose(fs Fields, tree object) {
	for _, f := range fs {
		switch value := tree[f.wire()]; {
		case value == nil && f.Access == ReadOnly && is[UUID](f):
			tree[f.wire()] = uuids[1]
		case value == nil && f.Access == OptionalComputed && s.g.half():
			tree[f.wire()] = "chosen"
		case is[Object](f) && value != nil:
			s.choose(f.Fields(), asObject(value))
		}
	}
}

// add adds what others and the service itself may add beside what a
// configuration sets: defaults, labels, members of items and of JSON, unknown
// members.
func (s *service) add(fs Fields, stored, want object) {
	if stored == nil {
		return
	}
	for _, f := range fs {
		value, wanted := stored[f.wire()], want[f.wire()]
		isKey := slices.Contains([]string{"name", "at", "mount_path"}, f.Name)
		switch {
		case f.Access == ReadOnly || f.Access == Required || isKey || kind[String](f).ResolvesTo != "":
		case value == nil && f.Access == OptionalComputed:
			if wanted == nil && s.g.half() {
				stored[f.wire()] = "chosen later"
			}
		case value == nil && (wanted == nil && !f.Exclusive || wanted == ""):
			if s.g.seldom() {
				stored[f.wire()] = s.g.value(f)
			}
		case value == nil:
		case is[Object](f):
			s.add(f.Fields(), asObject(value), asObject(wanted))
		case is[ObjectList](f):
			for i, item := range asList(value) {
				if list := asList(wanted); len(list) == len(asList(value)) {
					objects := kind[ObjectList](f)
					if j := slices.Index(objects.keys(list), objects.key(item)); j >= 0 && objects.key(item) != "" {
						i = j // the order may differ
					}
					s.add(f.Fields(), asObject(item), asObject(list[i]))
				}
			}
		case is[StringMap](f) || is[JSON](f):
			s.addMember(asObject(value), asObject(wanted))
		}
	}
	if s.g.seldom() {
		stored["added"] = object{"by": "others"}
	}
}

func (s *service) addMember(tree, wanted object) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		inner, isToo := wanted[name].(map[string]any)
		if _, set := wanted[name]; !set || isToo {
			s.addMember(asObject(tree[name]), inner)
		}
	}
	if tree != nil && s.g.half() {
		tree["added"] = "by others"
	}
}

// patch applies a PATCH.
func (s *service) patch(body object) {
	s.revision++
	for name, value := range clone(body).(object) {
		config, isObject := s.stored[name].(map[string]any)
		keys, isKeys := value.(map[string]any)
		if !isObject || !isKeys {
			s.set(s.stored, name, value)
			continue
		}
		for key, value := range keys {
			before, isObject := config[key].(map[string]any)
			after, isToo := value.(map[string]any)
			switch {
			case s.patching == "merge deep":
				s.merge(config, key, value)
			case s.patching == "merge spec" && isObject && isToo && (key == "resource_spec" || key == "inner"):
				for name, value := range after {
					s.set(before, name, value)
				}
			default:
				s.set(config, key, value)
			}
		}
	}
}

func (s *service) merge(into object, name string, value any) {
	more, ok := value.(map[string]any)
	if !ok {
		s.set(into, name, value)
		return
	}
	before, ok := into[name].(map[string]any)
	if !ok {
		before = object{}
		into[name] = before
	}
	for name, value := range more {
		s.merge(before, name, value)
	}
}

func (s *service) set(into object, name string, value any) {
	switch {
	case value != nil:
		into[name] = value
	case !s.nullKeeps:
		delete(into, name)
	}
}

// response is what the service reports.
func (s *service) response() object {
	tree := s.g.reported(s.fs, clone(s.stored).(object))
	s.resolve(s.fs, tree)
	return tree
}

func (s *service) resolve(fs Fields, tree object) {
	for _, f := range fs {
		value, _ := tree[f.wire()].(string)
		sibling, _ := fs.ByName(kind[String](f).ResolvesTo)
		switch {
		case is[Object](f):
			s.resolve(f.Fields(), asObject(tree[f.wire()]))
		case kind[String](f).ResolvesTo != "" && value != "":
			commit := value
			if !isFullCommit(value) {
				commit = fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, value, s.revision)))
			}
			tree[sibling.wire()] = commit
			if s.resolves {
				tree[f.wire()] = commit
			}
		case kind[String](f).BuiltFor != "" && kind[String](f).BuiltFor == s.source && tree != nil:
			tree[f.wire()] = fmt.Sprint("registry/built:", s.revision)
		}
	}
}

func clone(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		all := make(object, len(tree))
		for name, value := range tree {
			all[name] = clone(value)
		}
		return all
	case []any:
		all := make([]any, len(tree))
		for i := range tree {
			all[i] = clone(tree[i])
		}
		return all
	}
	return tree
}

// places is a tree as a map: its leaves by their places, and which places are
// items and lists. Items are named by their keys.
type places struct {
	leaves map[string]any
	items  map[string]bool
	lists  map[string]bool // and other values that are set, but have no leaves
	absent map[string]bool // exclusive siblings of what is set
}

func placesOf(fs Fields, tree object) places {
	p := places{map[string]any{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	p.object(fs, "", tree)
	return p
}

// without reports whether a place is in an exclusive sibling of what is set.
func (p places) without(place string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(p.absent)), func(sibling string) bool {
		return strings.HasPrefix(place+"/", sibling+"/")
	})
}

func (p places) object(fs Fields, at string, tree object) {
	set := slices.ContainsFunc(fs, func(f Field) bool { return f.Exclusive && tree[f.wire()] != nil })
	for _, f := range fs {
		if f.Exclusive && set && tree[f.wire()] == nil {
			p.absent[at+"/"+f.wire()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		here := at + "/" + name
		f, described := fs.byWire(name)
		switch value := tree[name].(type) {
		case map[string]any:
			if is[JSON](f) && isEmpty(value) {
				p.leaves[here] = value // {} is a value
			}
			none := !slices.ContainsFunc(slices.Collect(maps.Values(value)), func(member any) bool { return member != nil })
			p.lists[here] = p.lists[here] || none && !is[Object](f)
			if !described || !is[Object](f) {
				f = Field{Kind: Object{}}
			}
			p.object(f.Fields(), here, value)
		case []any:
			p.lists[here] = true
			if !is[ObjectList](f) {
				if !isEmpty(value) {
					p.leaves[here] = value
				}
				continue
			}
			for i, item := range value {
				inner := here + "/[" + itemKey(f, item) + "]"
				if kind[ObjectList](f).Key == nil {
					inner = fmt.Sprintf("%s/[#%d]", here, i)
				}
				p.items[inner] = true
				p.object(f.Fields(), inner, asObject(item))
			}
		default:
			switch {
			case f.Access == ReadOnly:
			case !isEmpty(value):
				p.leaves[here] = value
			case value != nil:
				p.lists[here] = true
			}
		}
	}
}
