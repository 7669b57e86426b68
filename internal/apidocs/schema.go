package apidocs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
)

// Object is a schema of type object, as a table of fields.
type Object struct {
	// Name is that of the component, or "" for an inline schema.
	Name        string
	Description template.HTML
	Fields      []Field
	schema      node
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
	Default string
}

func newObject(name string, n node) Object {
	return Object{Name: name, Description: Inline(n.at("description").text()), Fields: fieldsOf("", n), schema: n}
}

func fieldsOf(prefix string, n node) []Field {
	required := map[string]bool{}
	for _, r := range n.at("required").items() {
		required[r.text()] = true
	}
	var fields []Field
	for _, p := range n.at("properties").members() {
		f := Field{
			Name:        prefix + p.name,
			Required:    required[p.name],
			Type:        newType(p.value),
			Description: Inline(p.value.at("description").text()),
		}
		fields = append(fields, f)
		// Objects of requests have no section to link to.
		if isObject(p.value) && f.Type.Object == "" {
			fields = append(fields, fieldsOf(f.Name+".", p.value)...)
		}
	}
	return fields
}

func newType(n node) Type {
	if choices := n.at("oneOf").items(); len(choices) == 2 {
		t := newType(choices[0])
		t.Null = true
		return t
	}
	var t Type
	kinds := types(n)
	for _, kind := range kinds {
		if kind == "null" && len(kinds) > 1 {
			t.Null = true
			continue
		}
		t.Text = kind
	}
	switch t.Text {
	case "array":
		item := newType(n.at("items"))
		t.Text, t.Object, t.Choices = "list of "+item.Text, item.Object, item.Choices
		if item.Object != "" {
			t.Text = "list of"
		}
		for _, b := range item.Bounds {
			t.Bounds = append(t.Bounds, "each "+b)
		}
	case "object":
		if name := refName(n); name != "" && linked(name) {
			t.Text, t.Object = "", name
		}
	}
	if f := n.at("format").text(); f != "" {
		t.Text = map[string]string{"uuid": "UUID", "date-time": "time", "date": "date", "email": "e-mail address", "uri": "URI", "uri-reference": "URI"}[f]
	}
	if c := n.at("const"); c.exists() {
		t.Choices = []string{c.text()}
	}
	for _, e := range n.at("enum").items() {
		if e.text() != "null" {
			t.Choices = append(t.Choices, e.text())
		}
	}
	t.Bounds = append(t.Bounds, bounds(n)...)
	if d := n.at("default"); d.exists() {
		raw, _ := d.json()
		t.Default = strings.ReplaceAll(strings.Trim(string(raw), `"`), `","`, `", "`)
	}
	return t
}

// bounds describes the limits of a schema in words.
func bounds(n node) []string {
	var out []string
	between := func(low, high, unit string) {
		lo, hi := n.at(low).text(), n.at(high).text()
		switch {
		case lo != "" && lo == hi:
			out = append(out, strings.TrimSpace("exactly "+lo+" "+unit))
		case lo != "" && hi != "":
			out = append(out, strings.TrimSpace(lo+"–"+hi+" "+unit))
		case lo != "":
			out = append(out, strings.TrimSpace("at least "+lo+" "+unit))
		case hi != "":
			out = append(out, strings.TrimSpace("at most "+hi+" "+unit))
		}
	}
	between("minLength", "maxLength", "characters")
	between("minimum", "maximum", "")
	between("minItems", "maxItems", "items")
	if n.at("uniqueItems").text() == "true" {
		out = append(out, "each once")
	}
	if lo := n.at("minProperties").text(); lo != "" && lo == n.at("maxProperties").text() {
		out = append(out, "exactly one member")
	}
	return out
}

// types returns the JSON types that a schema allows.
func types(n node) []string {
	t := n.at("type")
	if s := t.text(); s != "" {
		return []string{s}
	}
	var list []string
	for _, i := range t.items() {
		list = append(list, i.text())
	}
	return list
}

func isObject(n node) bool {
	for _, t := range types(n) {
		if t == "object" {
			return true
		}
	}
	return false
}

// refName returns the name of the component that n refers to, or "".
func refName(n node) string {
	return strings.TrimPrefix(n.ref(), "#/components/schemas/")
}

// linked reports whether a component has a section on the page.
func linked(name string) bool {
	for _, suffix := range []string{"Request", "Patch", "Input"} {
		if strings.HasSuffix(name, suffix) && name != suffix {
			return false
		}
	}
	return true
}

// example returns an example of o as JSON, made from the examples of its fields.
func (o Object) example() (string, error) {
	var raw, out bytes.Buffer
	if err := writeExample(&raw, o.schema); err != nil {
		return "", err
	}
	if err := json.Indent(&out, raw.Bytes(), "", "  "); err != nil {
		return "", fmt.Errorf("example of %s: %w", o.Name, err)
	}
	return out.String(), nil
}

func writeExample(buf *bytes.Buffer, n node) error {
	for _, given := range []node{n.at("const"), n.at("default"), first(n.at("examples")), first(n.at("enum"))} {
		if given.exists() {
			return writeJSON(buf, given.Node)
		}
	}
	if choices := n.at("oneOf").items(); len(choices) > 0 {
		return writeExample(buf, choices[0])
	}
	switch {
	case n.at("properties").exists():
		buf.WriteByte('{')
		for i, p := range n.at("properties").members() {
			if i > 0 {
				buf.WriteByte(',')
			}
			if err := writeString(buf, p.name); err != nil {
				return err
			}
			buf.WriteByte(':')
			if err := writeExample(buf, p.value); err != nil {
				return err
			}
		}
		buf.WriteByte('}')
	case n.at("items").exists():
		buf.WriteByte('[')
		if err := writeExample(buf, n.at("items")); err != nil {
			return err
		}
		buf.WriteByte(']')
	case isObject(n):
		buf.WriteString("{}")
	default:
		buf.WriteString("null")
	}
	return nil
}

func first(list node) node {
	if items := list.items(); len(items) > 0 {
		return items[0]
	}
	return node{}
}
