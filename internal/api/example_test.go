package api_test

import (
	"reflect"
	"strings"
	"testing"
)

// TestSuccessesHaveExamples: each success with JSON has an example, and the members that the
// example of the request has too have its values. TestExamplesFitTheirSchemas validates both.
func TestSuccessesHaveExamples(t *testing.T) {
	t.Parallel()
	doc := document(t)
	compared := 0
	for path, operations := range doc["paths"].(map[string]any) {
		for method, operation := range operations.(map[string]any) {
			members, ok := operation.(map[string]any)
			if !ok || path == "/openapi.json" { // that example is the document itself
				continue
			}
			body, _ := members["requestBody"].(map[string]any)
			request, _ := jsonExample(body).(map[string]any)
			for status, response := range members["responses"].(map[string]any) {
				response := response.(map[string]any)
				if !strings.HasPrefix(status, "2") || !hasJSON(response) {
					continue
				}
				example := jsonExample(response)
				if example == nil {
					t.Errorf("%s %s: %s has no example", method, path, status)
				}
				object, _ := example.(map[string]any)
				for name, want := range request {
					got, ok := object[name]
					if !ok || !isScalar(want) {
						continue
					}
					compared++
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s %s: %s has %s %v, the request %v", method, path, status, name, got, want)
					}
				}
			}
		}
	}
	if compared < 30 {
		t.Errorf("compared %d members, want more", compared)
	}
}

func hasJSON(of map[string]any) bool {
	content, _ := of["content"].(map[string]any)
	_, ok := content["application/json"]
	return ok
}

// jsonExample returns the example of a body, or nil.
func jsonExample(of map[string]any) any {
	content, _ := of["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	if examples, ok := media["examples"].(map[string]any); ok {
		for _, example := range examples {
			return example.(map[string]any)["value"]
		}
	}
	return media["example"]
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
