// Package openapitest makes the strict copy of an OpenAPI document against which tests check
// responses.
package openapitest

import (
	"bytes"
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Strict returns a copy of a document, as JSON, that allows only what the document lists. The
// published schemas of responses allow members and values that a later release adds; in a test,
// a member or value that the document does not list is a fault of the document.
func Strict(document []byte) ([]byte, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	Close(doc)
	return json.Marshal(doc)
}

// Close changes a document, as decoded JSON, to its strict copy: it closes each schema that
// lists properties, and each list of known values.
func Close(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "requestBody" && name != "requestBodies" { // what is closed there says so
				Close(member)
			}
		}
		// A property that is named type is a schema, and no string.
		if _, isSchema := v["type"].(string); isSchema || isList(v["type"]) {
			if _, given := v["additionalProperties"]; !given && v["properties"] != nil {
				v["additionalProperties"] = false
			}
			if known, ok := v["x-extensible-enum"]; ok {
				v["enum"] = known
			}
		}
	case []any:
		for _, item := range v {
			Close(item)
		}
	}
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}
