// Package apidocs converts an OpenAPI document to JSON and to the data of a reference
// page: operations by tag, tables of fields, examples, and the problems of each operation.
// It supports the parts of OpenAPI 3.1 that our documents use.
package apidocs

import (
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Reference is the data of the page /docs.
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
	// Open operations need no sign-in. OptionalToken operations take an access token, or a
	// refresh token in the body.
	Open, OptionalToken bool
	Parameters          []Parameter
	Body                *Payload
	Responses           []Response
	Problems            []Problem
}

// Link identifies an operation.
type Link struct{ ID, Method, Path string }

// Parameter is a parameter in the path, the query or the headers, or a response header.
type Parameter struct {
	Name, In    string
	Required    bool
	Type        Type
	Description template.HTML
}

// Payload describes a body.
type Payload struct {
	Types    []string // media types
	Optional bool
	// Objects are the alternatives for the body; most bodies have one.
	Objects []Object
	Example string
}

// Response is a response that is not a problem.
type Response struct {
	Status      string
	Reason      string
	Description template.HTML
	Headers     []Parameter
	Body        *Payload
}

// Problem is an error status with its codes.
type Problem struct {
	Status      string
	Codes       []string
	Description template.HTML
}

// New returns the page data of a YAML document.
func New(document []byte) (*Reference, error) {
	root, err := parse(document)
	if err != nil {
		return nil, err
	}
	return newReference(root)
}

func newReference(root node) (*Reference, error) {
	r := &Reference{
		Title:       root.at("info", "title").Value,
		Version:     root.at("info", "version").Value,
		Summary:     root.at("info", "summary").Value,
		Description: prose(root.at("info", "description").Value),
	}
	for _, tag := range root.at("tags").items() {
		name := tag.at("name").Value
		r.Groups = append(r.Groups, Group{ID: "tag-" + slug(name), Name: name, Description: prose(tag.at("description").Value)})
	}
	for path, methods := range root.at("paths").members() {
		shared := methods.at("parameters").items()
		for method, n := range methods.members() {
			if method == "parameters" {
				continue
			}
			op, err := newOperation(path, method, shared, n)
			if err != nil {
				return nil, err
			}
			tag := n.at("tags").texts()[0]
			i := slices.IndexFunc(r.Groups, func(g Group) bool { return g.Name == tag })
			r.Groups[i].Operations = append(r.Groups[i].Operations, op)
		}
	}
	for name, schema := range root.at("components", "schemas").members() {
		// The operation shows the body of its request.
		if isObject(schema) && !strings.HasSuffix(name, "Request") || name == "Request" {
			r.Objects = append(r.Objects, newObject(name, schema))
		}
	}
	return r, nil
}

func newOperation(path, method string, shared []node, n node) (Operation, error) {
	op := Operation{
		Link:        Link{n.at("operationId").Value, strings.ToUpper(method), path},
		Summary:     n.at("summary").Value,
		Description: prose(n.at("description").Value),
	}
	if s := n.at("security"); s.exists() {
		op.Open, op.OptionalToken = len(s.items()) == 0, len(s.items()) == 2
	}
	for _, p := range append(shared, n.at("parameters").items()...) {
		op.Parameters = append(op.Parameters, newParameter(p.at("name").Value, p))
	}
	var err error
	if op.Body, err = newPayload(n.at("requestBody")); err != nil {
		return op, err
	}
	for status, response := range n.at("responses").members() {
		description := Inline(response.at("description").Value)
		if codes := response.at("x-problem-codes"); codes.exists() {
			op.Problems = append(op.Problems, Problem{status, codes.texts(), description})
			continue
		}
		code, _ := strconv.Atoi(status)
		r := Response{Status: status, Reason: http.StatusText(code), Description: description}
		for name, h := range response.at("headers").members() {
			r.Headers = append(r.Headers, newParameter(name, h))
		}
		if r.Body, err = newPayload(response); err != nil {
			return op, err
		}
		op.Responses = append(op.Responses, r)
	}
	return op, nil
}

func newParameter(name string, n node) Parameter {
	return Parameter{
		Name:        name,
		In:          n.at("in").Value,
		Required:    n.at("required").Value == "true",
		Type:        newType(n.at("schema")),
		Description: Inline(n.at("description").Value),
	}
}

// newPayload returns the content of a request or response, or nil if it has none. All its
// media types have the same schema.
func newPayload(n node) (*Payload, error) {
	var media node
	p := &Payload{Optional: n.at("required").Value == "false"}
	for name, m := range n.at("content").members() {
		p.Types = append(p.Types, name)
		if media.Node == nil {
			media = m
		}
	}
	if media.Node == nil {
		return nil, nil
	}
	schema := media.at("schema")
	for _, choice := range append(schema.at("oneOf").items(), schema) {
		if isObject(choice) && choice.at("properties").exists() {
			p.Objects = append(p.Objects, newObject(refName(choice), choice))
		}
	}
	sample := media.at("example")
	if sample.Value != "" {
		p.Example = strings.TrimSpace(sample.Value)
		return p, nil
	}
	if !sample.exists() && len(p.Objects) > 0 {
		sample = example(schema)
	}
	if !sample.exists() {
		return p, nil
	}
	var err error
	p.Example, err = sample.indented()
	return p, err
}

// OperationsByCode returns the operations that return each problem code.
func (r *Reference) OperationsByCode() map[string][]Link {
	operations := map[string][]Link{}
	for _, g := range r.Groups {
		for _, op := range g.Operations {
			for _, p := range op.Problems {
				for _, code := range p.Codes {
					operations[code] = append(operations[code], op.Link)
				}
			}
		}
	}
	return operations
}
