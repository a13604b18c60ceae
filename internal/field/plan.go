package field

import "github.com/hashicorp/terraform-plugin-go/tftypes"

// Plan returns the planned values of these attributes, for [With]. A null state means a create.
//
// What is set is planned: as it is in the state, where that means the same, or has more that was never set. What is
// omitted is null if it was set before; otherwise it stays, as after an import, or the service chooses it.
func (fs Fields) Plan(config, state tftypes.Value, record Record) Values {
	p := planner{creating: isNull(state)}
	held := fs.Encode(state)
	planned := p.object(fs, fs.Encode(config), held, fs.owned(held, record))
	return fs.render(planned, Members(state), Members(config))
}

// planner plans trees. Moved is set within an item that the state has elsewhere in its list, where Terraform does not
// look for it: what is set must be planned as it is configured.
type planner struct{ creating, moved bool }

func (p planner) object(fs Fields, config, state, owned map[string]any) map[string]any {
	var exclusive any // the exclusive member that the configuration sets
	for _, f := range fs {
		if f.Exclusive && config[f.wire()] != nil {
			exclusive = config[f.wire()]
		}
	}
	planned := make(map[string]any, len(fs))
	for _, f := range fs {
		name := f.wire()
		var value any
		switch replaced := f.Exclusive && exclusive != nil && config[name] == nil; {
		case !replaced:
			value = p.value(f, config[name], state[name], owned[name])
		case exclusive == Unknown && state[name] != nil:
			value = Unknown // the other may turn out null
		}
		if value != nil {
			planned[name] = value
		}
	}
	return planned
}

func (p planner) value(f Field, config, state, owned any) any {
	switch {
	case config == nil:
		return p.omitted(f, state, owned)
	case config == Unknown:
		return config
	}
	switch k := f.Kind.(type) {
	case Object:
		return p.object(k.Fields, asObject(config), asObject(state), asObject(owned))
	case ObjectList:
		return p.list(k, asList(config), state, asList(owned))
	}
	if !p.moved &&
		isKnown(config) && // what is unknown satisfies, and is satisfied by, anything
		!f.equal(owned, state) && // the state has more than what was set, as after an import
		f.satisfies(state, config) && // what is set now is in it
		f.satisfies(config, owned) { // what was set still is
		return state
	}
	return config
}

// omitted plans an attribute that the configuration does not set.
func (p planner) omitted(f Field, state, owned any) any {
	object := kind[Object](f)
	switch {
	case p.creating && f.isChosen():
		return Unknown
	case object.Present:
		held := asObject(state)
		if owned != nil { // it is removed as a whole, with what is imported in it
			held = object.Fields.ofService(held)
		}
		return p.object(object.Fields, nil, held, asObject(owned))
	case owned == nil:
		return state
	case f.Access == OptionalComputed:
		return Unknown // it was set, and the service may choose another value now
	}
	return nil
}

// ofService returns the part of a state that the service sets or may choose.
func (fs Fields) ofService(state map[string]any) map[string]any {
	part := map[string]any{}
	for _, f := range fs {
		if value, found := state[f.wire()]; found && f.isChosen() {
			part[f.wire()] = value
		}
	}
	return part
}

// list plans a list of objects. Where it has the items of the state, and their order has no meaning, it is the state's.
// Owned has an item for each of the state, or none.
func (p planner) list(l ObjectList, config []any, state any, owned []any) any {
	held := asList(state)
	hasMore := state != nil && !Field{Kind: l}.equal(owned, state)
	partners := l.match(config, held)
	plan := func(p planner, i int) any {
		item, isObject := config[i].(map[string]any)
		switch {
		case !isObject:
			return config[i] // it is unknown
		case hasMore && l.keyIsUnknown(item):
			return unknownOmitted(l.Fields, item) // it may turn out to be any item of the state
		}
		return p.object(l.Fields, item, asObject(itemAt(held, partners[i])), asObject(itemAt(owned, partners[i])))
	}
	same := state != nil && !p.moved && len(config) == len(held)
	for i, j := range partners {
		same = same && j >= 0 && (i == j || !l.Ordered) && l.item().equal(plan(p, i), held[j])
	}
	if same {
		return state
	}
	planned := make([]any, len(config))
	for i, j := range partners {
		planned[i] = plan(planner{creating: p.creating, moved: p.moved || i != j}, i)
	}
	return planned
}

// unknownOmitted plans an object whose omitted members are known after apply.
func unknownOmitted(fs Fields, config map[string]any) map[string]any {
	planned := make(map[string]any, len(fs))
	for _, f := range fs {
		name := f.wire()
		switch value := config[name]; {
		case value == nil:
			planned[name] = Unknown
		case is[Object](f) && value != Unknown:
			planned[name] = unknownOmitted(kind[Object](f).Fields, asObject(value))
		default:
			planned[name] = value
		}
	}
	return planned
}
