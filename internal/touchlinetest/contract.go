package touchlinetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const documentURL = "https://touchline.test/openapi.json"

// contract is the OpenAPI document, ready to judge answers. Schemas are
// compiled by a validator of JSON Schema 2020-12, which is what OpenAPI 3.1
// means, at their first use and once.
type contract struct {
	document any
	paths    []pathTemplate

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// pathTemplate is one key of paths.
type pathTemplate struct {
	text  string
	parts []string
}

// pointer is a place in the document, by the names that lead there.
type pointer []string

func (p pointer) to(names ...string) pointer {
	return append(append(pointer{}, p...), names...)
}

// String returns p as a URI fragment (RFC 6901, section 6).
func (p pointer) String() string {
	var b strings.Builder
	b.WriteByte('#')
	for _, name := range p {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
		b.WriteString("/" + url.PathEscape(name))
	}
	return b.String()
}

func newContract(raw []byte) (*contract, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := &contract{document: document, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(documentURL, document); err != nil {
		return nil, err
	}
	paths, ok := c.get(pointer{"paths"})
	if !ok {
		return nil, errors.New("the document has no paths")
	}
	for text := range paths.(map[string]any) {
		c.paths = append(c.paths, pathTemplate{text, strings.Split(text, "/")})
	}
	return c, nil
}

// get returns what is at p, without following references.
func (c *contract) get(p pointer) (any, bool) {
	at := c.document
	for _, name := range p {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = object[name]; !ok {
			return nil, false
		}
	}
	return at, true
}

// follow returns where p leads to once references are followed, and whether
// there is anything.
func (c *contract) follow(p pointer) (pointer, bool) {
	for {
		at, ok := c.get(p)
		if !ok {
			return nil, false
		}
		object, _ := at.(map[string]any)
		ref, isRef := object["$ref"].(string)
		if !isRef {
			return p, true
		}
		p = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	}
}

// found says how far an operation was found.
type found struct{ path, method bool }

// operation returns the operation that answers method and path. Of several
// templates that fit, the one with fewer parameters goes first, as in ServeMux.
func (c *contract) operation(method, path string) (pointer, found) {
	var (
		best pointer
		f    found
		most = -1
	)
	if method == http.MethodHead {
		method = http.MethodGet
	}
	parts := strings.Split(path, "/")
	for _, t := range c.paths {
		literal, ok := t.fit(parts)
		if !ok {
			continue
		}
		f.path = true
		op := pointer{"paths", t.text, strings.ToLower(method)}
		if _, has := c.get(op); has && literal > most {
			best, most, f.method = op, literal, true
		}
	}
	return best, f
}

// fit says whether a path fits, and how many of its parts are literal.
func (t pathTemplate) fit(parts []string) (literal int, ok bool) {
	if len(parts) != len(t.parts) {
		return 0, false
	}
	for i, want := range t.parts {
		switch {
		case strings.HasPrefix(want, "{"):
			if parts[i] == "" {
				return 0, false
			}
		case want != parts[i]:
			return 0, false
		default:
			literal++
		}
	}
	return literal, true
}

// checkHeaders holds headers against those that a response documents.
func (c *contract) checkHeaders(response pointer, got http.Header) error {
	documented, _ := c.get(response.to("headers"))
	headers, _ := documented.(map[string]any)
	for name := range headers {
		header, ok := c.follow(response.to("headers", name))
		if !ok {
			return fmt.Errorf("header %s: its reference leads nowhere", name)
		}
		text := got.Get(name)
		if text == "" {
			if required, _ := c.get(header.to("required")); required == true {
				return fmt.Errorf("there is no header %s", name)
			}
			continue
		}
		var value any = text
		if kind, _ := c.get(header.to("schema", "type")); kind == "integer" {
			if _, err := strconv.Atoi(text); err != nil {
				return fmt.Errorf("header %s: %q is no whole number", name, text)
			}
			value = json.Number(text)
		}
		if err := c.validate(header.to("schema"), value); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	return nil
}

// checkJSON holds a JSON body against the schema at p.
func (c *contract) checkJSON(p pointer, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	return c.validate(p, value)
}

func (c *contract) validate(p pointer, value any) error {
	schema, err := c.schema(p)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func (c *contract) schema(p pointer) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := p.String()
	if s, ok := c.schemas[key]; ok {
		return s, nil
	}
	s, err := c.compiler.Compile(documentURL + key)
	if err != nil {
		return nil, err
	}
	c.schemas[key] = s
	return s, nil
}
