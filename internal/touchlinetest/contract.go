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

// contract checks responses against an OpenAPI 3.1 document. It compiles each
// schema (JSON Schema 2020-12) at its first use.
type contract struct {
	document any
	paths    *http.ServeMux // its handlers are documentedPaths

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// documentedPath is one key of "paths", such as /api/players/{player_id}.
type documentedPath string

// ServeHTTP makes documentedPath an http.Handler; it is never called.
func (documentedPath) ServeHTTP(http.ResponseWriter, *http.Request) {}

// pointer is a location in the document, as a list of object keys.
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

func newContract(read func() ([]byte, error)) (*contract, error) {
	raw, err := read()
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := &contract{document: document, paths: http.NewServeMux(), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(documentURL, document); err != nil {
		return nil, err
	}
	paths, ok := c.get(pointer{"paths"})
	if !ok {
		return nil, errors.New("document has no paths")
	}
	for path := range paths.(map[string]any) {
		pattern := path
		if strings.HasSuffix(path, "/") {
			pattern += "{$}" // the document means this path only, not those below it
		}
		c.paths.Handle(pattern, documentedPath(path))
	}
	return c, nil
}

// get returns the value at p without resolving references.
func (c *contract) get(p pointer) (any, bool) {
	value := c.document
	for _, name := range p {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[name]; !ok {
			return nil, false
		}
	}
	return value, true
}

// resolve follows the references at p and returns the location of the value, or
// false if it does not exist.
func (c *contract) resolve(p pointer) (pointer, bool) {
	for {
		value, ok := c.get(p)
		if !ok {
			return nil, false
		}
		object, _ := value.(map[string]any)
		ref, isRef := object["$ref"].(string)
		if !isRef {
			return p, true
		}
		p = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	}
}

// operation returns the operation for method and path, nil if the document has none, and
// whether it has the path.
func (c *contract) operation(method, path string) (op pointer, hasPath bool) {
	h, _ := c.paths.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
	documented, hasPath := h.(documentedPath)
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op = pointer{"paths", string(documented), strings.ToLower(method)}
	if _, exists := c.get(op); !exists {
		return nil, hasPath
	}
	return op, hasPath
}

// checkHeaders checks headers against the documented response.
func (c *contract) checkHeaders(response pointer, got http.Header) error {
	documented, _ := c.get(response.to("headers"))
	headers, _ := documented.(map[string]any)
	for name := range headers {
		header, ok := c.resolve(response.to("headers", name))
		if !ok {
			return fmt.Errorf("header %s: unresolved reference", name)
		}
		text := got.Get(name)
		if text == "" {
			if required, _ := c.get(header.to("required")); required == true {
				return fmt.Errorf("header %s is missing", name)
			}
			continue
		}
		var value any = text
		if kind, _ := c.get(header.to("schema", "type")); kind == "integer" {
			if _, err := strconv.Atoi(text); err != nil {
				return fmt.Errorf("header %s: %q is not an integer", name, text)
			}
			value = json.Number(text)
		}
		if err := c.validate(header.to("schema"), value); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	return nil
}

// checkJSON checks a JSON body against the schema at p.
func (c *contract) checkJSON(p pointer, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("body is not JSON: %w", err)
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
