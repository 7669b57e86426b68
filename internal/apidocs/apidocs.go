// Package apidocs reads an OpenAPI document into what a page shows of it:
// operations by tag, tables of fields, examples, and the problems of each call.
// It knows nothing of HTML pages but the marks in descriptions, and holds on to
// nothing of the document's tree.
//
// It reads the parts of OpenAPI 3.1 that our document uses, not all there are.
package apidocs

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Reference is the document as the page at /docs shows it.
type Reference struct {
	Title, Version, Summary string
	Description             template.HTML
	Groups                  []Group
	Objects                 []Object
}

// Group is the operations of one tag.
type Group struct {
	ID, Name    string
	Description template.HTML
	Operations  []Operation
}

// Operation is one method of one path.
type Operation struct {
	Link
	Summary     string
	Description template.HTML
	// Open operations need no sign-in; Either take it without too.
	Open, Either bool
	Parameters   []Parameter
	Body         *Payload
	Answers      []Answer
	Problems     []Problem
}

// Link names an operation elsewhere.
type Link struct{ ID, Method, Path string }

// Parameter is one in the path, the query or the headers.
type Parameter struct {
	Name, In    string
	Required    bool
	Type        Type
	Description template.HTML
}

// Payload is what a body holds.
type Payload struct {
	Types    []string
	Optional bool
	// Of are the objects that the body may be; most have one.
	Of      []Object
	Example string
}

// Answer is one that is no problem.
type Answer struct {
	Status      string
	Reason      string
	Description template.HTML
	Headers     []Parameter
	Body        *Payload
}

// Problem is a status with the codes that come with it.
type Problem struct {
	Status      string
	Codes       []string
	Description template.HTML
}

// New reads what a page shows of a document, given as YAML.
func New(document []byte) (*Reference, error) {
	root, err := parse(document)
	if err != nil {
		return nil, err
	}
	r := &Reference{
		Title:       root.at("info", "title").text(),
		Version:     root.at("info", "version").text(),
		Summary:     root.at("info", "summary").text(),
		Description: prose(root.at("info", "description").text()),
	}
	for _, tag := range root.at("tags").items() {
		name := tag.at("name").text()
		r.Groups = append(r.Groups, Group{ID: "tag-" + slug(name), Name: name, Description: prose(tag.at("description").text())})
	}
	for _, path := range root.at("paths").members() {
		shared := path.value.at("parameters").items()
		for _, method := range path.value.members() {
			if method.name == "parameters" {
				continue
			}
			op, err := newOperation(path.name, method.name, shared, method.value)
			if err != nil {
				return nil, err
			}
			tag := method.value.at("tags").items()[0].text()
			i := slices.IndexFunc(r.Groups, func(g Group) bool { return g.Name == tag })
			r.Groups[i].Operations = append(r.Groups[i].Operations, op)
		}
	}
	for _, s := range root.at("components", "schemas").members() {
		// What only a request sends is shown where it is sent.
		if isObject(s.value) && !strings.HasSuffix(s.name, "Request") || s.name == "Request" {
			r.Objects = append(r.Objects, newObject(s.name, s.value))
		}
	}
	return r, nil
}

func newOperation(path, method string, shared []node, n node) (Operation, error) {
	op := Operation{
		Link:        Link{n.at("operationId").text(), strings.ToUpper(method), path},
		Summary:     n.at("summary").text(),
		Description: prose(n.at("description").text()),
	}
	if s := n.at("security"); s.exists() {
		op.Open, op.Either = len(s.items()) == 0, len(s.items()) == 2
	}
	for _, p := range append(shared, n.at("parameters").items()...) {
		op.Parameters = append(op.Parameters, newParameter(p.at("name").text(), p))
	}
	var err error
	if op.Body, err = newPayload(n.at("requestBody")); err != nil {
		return op, err
	}
	for _, m := range n.at("responses").members() {
		if problem := m.value.at("content", "application/problem+json", "schema"); problem.exists() {
			op.Problems = append(op.Problems, Problem{m.name, problemCodes(problem), Inline(m.value.at("description").text())})
			continue
		}
		status, _ := strconv.Atoi(m.name)
		a := Answer{Status: m.name, Reason: http.StatusText(status), Description: Inline(m.value.at("description").text())}
		for _, h := range m.value.at("headers").members() {
			a.Headers = append(a.Headers, newParameter(h.name, h.value))
		}
		if a.Body, err = newPayload(m.value); err != nil {
			return op, err
		}
		op.Answers = append(op.Answers, a)
	}
	return op, nil
}

func newParameter(name string, n node) Parameter {
	return Parameter{
		Name:        name,
		In:          n.at("in").text(),
		Required:    n.at("required").text() == "true",
		Type:        newType(n.at("schema")),
		Description: Inline(n.at("description").text()),
	}
}

// newPayload reads the content of a body; nil where there is none.
func newPayload(n node) (*Payload, error) {
	media := n.at("content").members()
	if len(media) == 0 {
		return nil, nil
	}
	p := &Payload{Optional: n.at("required").text() == "false"}
	for _, m := range media {
		p.Types = append(p.Types, m.name)
	}
	schema := media[0].value.at("schema")
	for _, choice := range append(schema.at("oneOf").items(), schema) {
		if isObject(choice) && choice.at("properties").exists() {
			p.Of = append(p.Of, newObject(refName(choice), choice))
		}
	}
	var err error
	if e := media[0].value.at("example"); e.exists() {
		p.Example, err = pretty(e)
	} else if len(p.Of) > 0 {
		p.Example, err = p.Of[0].example()
	}
	return p, err
}

// problemCodes are those that a response narrows the shared Problem to.
func problemCodes(schema node) []string {
	var codes []string
	for _, part := range schema.at("allOf").items() {
		if part.ref() != "" {
			continue
		}
		for _, c := range part.at("properties", "code", "enum").items() {
			codes = append(codes, c.text())
		}
	}
	return codes
}

// AnsweredBy turns the problems of all operations around.
func (r *Reference) AnsweredBy() map[string][]Link {
	by := map[string][]Link{}
	for _, g := range r.Groups {
		for _, op := range g.Operations {
			for _, p := range op.Problems {
				for _, code := range p.Codes {
					by[code] = append(by[code], op.Link)
				}
			}
		}
	}
	return by
}

// pretty returns n as people read it: a text as it is, all else as JSON.
func pretty(n node) (string, error) {
	if s := n.text(); s != "" {
		return strings.TrimSpace(s), nil
	}
	raw, err := n.json()
	if err != nil {
		return "", err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return "", err
	}
	return buf.String(), nil
}

func slug(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }
