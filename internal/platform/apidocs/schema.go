package apidocs

import (
	"html/template"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Object is a schema of type object, as a table of fields.
type Object struct {
	// Name is the name of the component, or "" for an inline schema.
	Name        string
	Description template.HTML
	Fields      []Field
}

// Field is one member of an object. The members of an unnamed nested object follow it, as
// outer.inner.
type Field struct {
	Name        string
	Required    bool
	Type        Type
	Description template.HTML
}

// Type describes the type of a value in words.
type Type struct {
	Text string // string, list of, …
	// Object is the component to link to, or "".
	Object string
	Null   bool
	// Bounds are the limits of the value, such as 1–100 characters.
	Bounds []string
	// Choices are the values of an enumeration.
	Choices []string
	// Open is true if Choices may get more values.
	Open    bool
	Default string
}

func newObject(name string, n node) Object {
	return Object{Name: name, Description: Inline(n.at("description").Value), Fields: fieldsOf("", n)}
}

func fieldsOf(prefix string, n node) []Field {
	required := n.at("required").texts()
	var fields []Field
	for name, value := range n.at("properties").members() {
		f := Field{
			Name:        prefix + name,
			Required:    slices.Contains(required, name),
			Type:        newType(value),
			Description: Inline(value.at("description").Value),
		}
		fields = append(fields, f)
		// Objects of requests have no section to link to.
		if isObject(value) && f.Type.Object == "" {
			fields = append(fields, fieldsOf(f.Name+".", value)...)
		}
	}
	return fields
}

// formats are the words for the formats of strings.
var formats = map[string]string{"uuid": "UUID", "date-time": "time", "date": "date", "email": "e-mail address", "uri": "URI", "uri-reference": "URI"}

func newType(n node) Type {
	if choices := n.at("oneOf").items(); len(choices) == 2 {
		t := newType(choices[0])
		t.Null = true
		return t
	}
	var t Type
	for _, kind := range types(n) {
		if kind == "null" && t.Text != "" {
			t.Null = true
			continue
		}
		t.Text = kind
	}
	switch name := refName(n); {
	case t.Text == "array":
		item := newType(n.at("items"))
		t.Text, t.Object, t.Choices, t.Open = strings.TrimSpace("list of "+item.Text), item.Object, item.Choices, item.Open
		for _, b := range item.Bounds {
			t.Bounds = append(t.Bounds, "each "+b)
		}
	case t.Text == "object" && name != "" && linked(name):
		t.Text, t.Object = "", name
	}
	if words, ok := formats[n.at("format").Value]; ok { // int64 is shown as integer
		t.Text = words
	}
	if c := n.at("const"); c.exists() {
		t.Choices = []string{c.Value}
	}
	known := n.at("x-extensible-enum")
	t.Open = t.Open || known.exists()
	for _, choice := range append(n.at("enum").texts(), known.texts()...) {
		if choice != "null" {
			t.Choices = append(t.Choices, choice)
		}
	}
	t.Bounds = append(t.Bounds, bounds(n)...)
	d := n.at("default")
	t.Default = d.Value + strings.Join(d.texts(), ", ")
	return t
}

// bounds describes the limits of a schema in words.
func bounds(n node) []string {
	var out []string
	for _, limit := range []struct{ low, high, unit string }{
		{"minLength", "maxLength", " characters"},
		{"minimum", "maximum", ""},
		{"minItems", "maxItems", " items"},
	} {
		switch low, high := n.at(limit.low).Value, n.at(limit.high).Value; {
		case low == "" && high == "":
		case low == high:
			out = append(out, "exactly "+low+limit.unit)
		case high == "":
			out = append(out, "at least "+low+limit.unit)
		case low == "":
			out = append(out, "at most "+high+limit.unit)
		default:
			out = append(out, low+"–"+high+limit.unit)
		}
	}
	if n.at("uniqueItems").Value == "true" {
		out = append(out, "each once")
	}
	if low := n.at("minProperties").Value; low != "" && low == n.at("maxProperties").Value {
		out = append(out, "exactly one member")
	}
	return out
}

// types returns the JSON types that a schema allows.
func types(n node) []string {
	t := n.at("type")
	if t.Value != "" {
		return []string{t.Value}
	}
	return t.texts()
}

func isObject(n node) bool { return slices.Contains(types(n), "object") }

// refName returns the name of the component that n refers to, or "".
func refName(n node) string {
	return strings.TrimPrefix(n.ref(), "#/components/schemas/")
}

// linked reports whether a component has a section on the page.
func linked(name string) bool {
	return !slices.ContainsFunc([]string{"Request", "Patch", "Input"}, func(suffix string) bool {
		return strings.HasSuffix(name, suffix) && name != suffix
	})
}

// example returns an example value of a schema, made from the examples of its fields.
func example(n node) node {
	for _, given := range []node{n.at("const"), n.at("default"), first(n.at("examples")), first(n.at("enum")), first(n.at("x-extensible-enum"))} {
		if given.exists() {
			return given
		}
	}
	if choice := first(n.at("oneOf")); choice.exists() {
		return example(choice)
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	switch {
	case isObject(n):
		value.Kind = yaml.MappingNode
		for name, property := range n.at("properties").members() {
			value.Content = append(value.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, example(property).Node)
		}
	case n.at("items").exists():
		value.Kind = yaml.SequenceNode
		value.Content = []*yaml.Node{example(n.at("items")).Node}
	}
	return node{value, n.root}
}

func first(list node) node {
	return append(list.items(), node{Node: new(yaml.Node)})[0]
}
