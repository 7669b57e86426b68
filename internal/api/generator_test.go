package api_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// eachDocument runs fn as a subtest with the OpenAPI document of each listener.
func eachDocument(t *testing.T, fn func(t *testing.T, doc map[string]any)) {
	for _, listener := range []string{"api", "admin"} {
		t.Run(listener, func(t *testing.T) {
			raw, err := os.ReadFile("../" + listener + "/openapi.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var doc map[string]any
			if err := yaml.Unmarshal(raw, &doc); err != nil {
				t.Fatal(err)
			}
			fn(t, doc)
		})
	}
}

// Generators make types of schemas, parameters and responses in one namespace.
func TestComponentsHaveDistinctNames(t *testing.T) {
	eachDocument(t, func(t *testing.T, doc map[string]any) {
		section := map[string]string{}
		for kind, components := range doc["components"].(map[string]any) {
			if kind == "headers" || kind == "securitySchemes" {
				continue // generators make no types of these
			}
			for name := range components.(map[string]any) {
				name = strings.ToLower(name)
				if other := section[name]; other != "" {
					t.Errorf("%s: the name of components in %s and %s", name, other, kind)
				}
				section[name] = kind
			}
		}
		if len(section) < 20 {
			t.Errorf("got %d components, want more", len(section))
		}
	})
}

// A client has one type for all problems, and the document lists the codes of each response.
func TestProblemsHaveOneSchema(t *testing.T) {
	eachDocument(t, func(t *testing.T, doc map[string]any) {
		problems := doc["components"].(map[string]any)["schemas"].(map[string]any)["Problem"].(map[string]any)
		known, _ := problems["properties"].(map[string]any)["code"].(map[string]any)["x-extensible-enum"].([]any)
		if known == nil {
			known = doc["components"].(map[string]any)["schemas"].(map[string]any)["ProblemCode"].(map[string]any)["x-extensible-enum"].([]any)
		}
		checked := 0
		walk(doc, "", func(at string, response map[string]any) {
			content, _ := response["content"].(map[string]any)
			media, ok := content["application/problem+json"].(map[string]any)
			if !ok {
				return
			}
			checked++
			schema, _ := media["schema"].(map[string]any)
			if len(schema) != 1 || schema["$ref"] != "#/components/schemas/Problem" {
				t.Errorf("%s: schema = %v, want a $ref to Problem", at, schema)
			}
			codes, _ := response["x-problem-codes"].([]any)
			if len(codes) == 0 {
				t.Errorf("%s: no x-problem-codes", at)
			}
			for _, code := range codes {
				if !slices.Contains(known, code) {
					t.Errorf("%s: unknown code %v", at, code)
				}
			}
		})
		if checked < 10 {
			t.Errorf("got %d problem responses, want more", checked)
		}
	})
}

// A generator that sees a default makes the member mandatory, as openapi-typescript does, or sends
// the default in a merge patch. The descriptions say what a member means that is left out.
func TestSchemasHaveNoDefaults(t *testing.T) {
	eachDocument(t, func(t *testing.T, doc map[string]any) {
		walk(doc, "", func(at string, object map[string]any) {
			if strings.HasSuffix(at, "/properties") || strings.Contains(at, "/parameters/") {
				return
			}
			if value, ok := object["default"]; ok {
				t.Errorf("%s: default %v", at, value)
			}
		})
	})
}

// The specification names the parameter of two paths playerId; every other name is in snake_case.
func TestNamesAreInSnakeCase(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	var camel []string
	eachDocument(t, func(t *testing.T, doc map[string]any) {
		walk(doc, "", func(at string, object map[string]any) {
			properties, _ := object["properties"].(map[string]any)
			for name := range properties {
				if strings.HasPrefix(at, "/paths/~1receipts~1") || strings.HasPrefix(at, "/paths/~1calls~1") || strings.HasPrefix(at, "/paths/~1replies~1") {
					continue // the provider names them
				}
				if at == "/components/schemas/PushSubscriptionRequest" && name == "expirationTime" {
					continue // the Push API of browsers names it
				}
				if !snake.MatchString(name) {
					t.Errorf("%s: property %s", at, name)
				}
			}
			if name, _ := object["name"].(string); object["in"] == "query" && !snake.MatchString(name) && !strings.HasPrefix(name, "hub.") { // Meta names them
				t.Errorf("%s: query parameter %s", at, name)
			}
		})
		for path := range doc["paths"].(map[string]any) {
			for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
				if !snake.MatchString(m[1]) {
					camel = append(camel, path)
				}
			}
		}
	})
	want := []string{"/api/players/approval-status/{playerId}", "/api/services/availability/{playerId}"}
	if slices.Sort(camel); !slices.Equal(camel, want) {
		t.Errorf("paths with a camelCase parameter: %v, want %v", camel, want)
	}
}
