package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// closedEnums are the enumerations of responses that never get another value.
var closedEnums = []string{
	"coach guardian student", "guardian student", "both guardian student",
	"approved pending rejected", "approved pending rejected revoked", "approved rejected revoked",
	"friday monday saturday sunday thursday tuesday wednesday",
}

// TestResponsesAreOpen: an app in a store must work with the responses of the next release, which
// may have more members and more values of enumerations. Generated clients in Swift and Kotlin
// refuse what a schema excludes.
func TestResponsesAreOpen(t *testing.T) {
	eachDocument(t, func(t *testing.T, doc map[string]any) {
		checked := 0
		walkFrom(doc, isResponse, func(at string, schema map[string]any) {
			checked++
			if schema["additionalProperties"] == false {
				t.Errorf("%s: additionalProperties is false", at)
			}
			if values, ok := schema["enum"].([]any); ok && !slices.Contains(closedEnums, joined(values)) {
				t.Errorf("%s: enum %v; a list that may grow is x-extensible-enum", at, values)
			}
			if values, ok := schema["x-extensible-enum"].([]any); ok {
				if kind := schema["type"]; kind != "string" && fmt.Sprint(kind) != "[string null]" {
					t.Errorf("%s: x-extensible-enum %v of the type %v", at, values, kind)
				}
			}
		})
		if checked < 100 {
			t.Errorf("got %d objects, want more", checked)
		}
	})
}

// TestRequestsAreClosed: the service refuses unknown members of a body with 422.
func TestRequestsAreClosed(t *testing.T) {
	eachDocument(t, func(t *testing.T, doc map[string]any) {
		checked := 0
		walkFrom(doc, isRequest, func(at string, schema map[string]any) {
			if schema["properties"] == nil || schema["type"] == nil {
				return
			}
			checked++
			if schema["additionalProperties"] != false && !foreign(at) {
				t.Errorf("%s: additionalProperties is not false", at)
			}
		})
		if checked < 5 {
			t.Errorf("got %d schemas, want more", checked)
		}
	})
}

// foreign reports whether a schema describes a provider's call or comes from an RFC, which may have more
// members.
func foreign(at string) bool {
	return slices.ContainsFunc([]string{"/paths//receipts/", "/paths//calls/", "/paths//replies/", "/paths//bounces/", "/components/requestBodies/Token/"}, func(prefix string) bool {
		return strings.HasPrefix(at, prefix)
	})
}

func isRequest(member string) bool  { return member == "requestBody" }
func isResponse(member string) bool { return member == "responses" }

// joined returns the values of an enumeration in order, without null.
func joined(values []any) string {
	var words []string
	for _, value := range values {
		if value != nil {
			words = append(words, fmt.Sprint(value))
		}
	}
	return strings.Join(slices.Sorted(slices.Values(words)), " ")
}

// walkFrom calls fn for every object of the operations' members that start accepts, and for every
// object of the components to which they refer, once each.
func walkFrom(doc map[string]any, start func(member string) bool, fn func(at string, object map[string]any)) {
	seen := map[string]bool{}
	var visit func(at string, v any)
	visit = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && !seen[ref] {
				seen[ref] = true
				visit(strings.TrimPrefix(ref, "#"), component(doc, ref))
			}
			if !strings.HasSuffix(at, "/properties") { // its members are named by the service
				fn(at, v)
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				visit(at+"/"+name, v[name])
			}
		case []any:
			for i, item := range v {
				visit(fmt.Sprint(at, "/", i), item)
			}
		}
	}
	for path, operations := range doc["paths"].(map[string]any) {
		for method, operation := range operations.(map[string]any) {
			members, _ := operation.(map[string]any) // "parameters" is a list
			for member, v := range members {
				if start(member) {
					visit("/paths/"+path+"/"+method+"/"+member, v)
				}
			}
		}
	}
}

// component returns what a reference within the document names.
func component(doc map[string]any, ref string) any {
	var v any = doc
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		v = v.(map[string]any)[name]
	}
	return v
}
