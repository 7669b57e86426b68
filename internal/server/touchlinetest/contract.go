package touchlinetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

// contract checks responses against the strict copy of an OpenAPI 3.1 document (see
// openapitest.Strict). It compiles each schema (JSON Schema 2020-12) at its first use.
type contract struct {
	document   *openapi3.T
	components any        // of the document, as JSON, for the references in schemas
	paths      *httpx.Mux // its handlers are documentedPaths

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[*openapi3.Schema]*jsonschema.Schema
}

// documentedPath is one of the document's paths, such as /api/players/{player_id}.
type documentedPath struct{ item *openapi3.PathItem }

// ServeHTTP sets the item of the pathRecorder w.
func (d documentedPath) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.(*pathRecorder).item = d.item
}

// pathRecorder records which documentedPath serves a request.
type pathRecorder struct {
	*httptest.ResponseRecorder
	item *openapi3.PathItem
}

func newContract(read func() ([]byte, error)) (*contract, error) {
	raw, err := read()
	if err != nil {
		return nil, err
	}
	if raw, err = openapitest.Strict(raw); err != nil {
		return nil, err
	}
	c := &contract{paths: httpx.NewMux(http.NotFoundHandler()), compiler: jsonschema.NewCompiler(), schemas: map[*openapi3.Schema]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if c.document, err = openapi3.NewLoader().LoadFromData(raw); err != nil {
		return nil, err
	}
	if c.components, err = jsonValue(c.document.Components); err != nil {
		return nil, err
	}
	for path, item := range c.document.Paths.Map() {
		pattern := path
		if strings.HasSuffix(path, "/") {
			pattern += "{$}" // the document means this path only, not those below it
		}
		c.paths.Handle(pattern, documentedPath{item: item})
	}
	return c, nil
}

// jsonValue returns v as package jsonschema decodes it.
func jsonValue(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(raw))
}

// operation returns the operation for method and path, nil if the document has none, and
// whether it has the path.
func (c *contract) operation(method, path string) (op *openapi3.Operation, hasPath bool) {
	found := &pathRecorder{ResponseRecorder: httptest.NewRecorder()}
	c.paths.ServeHTTP(found, &http.Request{Method: method, URL: &url.URL{Path: path}})
	if found.item == nil {
		return nil, false
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return found.item.Operations()[method], true
}

// checkHeaders checks headers against the documented response.
func (c *contract) checkHeaders(documented *openapi3.Response, got http.Header) error {
	for name, header := range documented.Headers {
		text := got.Get(name)
		if text == "" {
			if header.Value.Required {
				return fmt.Errorf("header %s is missing", name)
			}
			continue
		}
		var value any = text
		if header.Value.Schema.Value.Type.Is("integer") {
			if _, err := strconv.Atoi(text); err != nil {
				return fmt.Errorf("header %s: %q is not an integer", name, text)
			}
			value = json.Number(text)
		}
		if err := c.validate(header.Value.Schema, value); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	return nil
}

// checkJSON checks a JSON body against a schema.
func (c *contract) checkJSON(schema *openapi3.SchemaRef, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("body is not JSON: %w", err)
	}
	return c.validate(schema, value)
}

func (c *contract) validate(schema *openapi3.SchemaRef, value any) error {
	compiled, err := c.compile(schema.Value)
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

func (c *contract) compile(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if compiled, ok := c.schemas[schema]; ok {
		return compiled, nil
	}
	resource, err := jsonValue(schema)
	if err != nil {
		return nil, err
	}
	if object, ok := resource.(map[string]any); ok {
		object["components"] = c.components
	}
	address := fmt.Sprintf("https://touchline.test/%d.json", len(c.schemas))
	if err := c.compiler.AddResource(address, resource); err != nil {
		return nil, err
	}
	compiled, err := c.compiler.Compile(address)
	c.schemas[schema] = compiled
	return compiled, err
}
