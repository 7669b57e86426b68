package api_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

// strictDocuments returns both OpenAPI documents, each allowing only what it lists.
func strictDocuments(t *testing.T) map[string]map[string]any {
	t.Helper()
	docs := map[string]map[string]any{}
	for name, read := range map[string]func() ([]byte, error){"api": api.Document, "admin": admin.Document} {
		raw, err := read()
		if err == nil {
			raw, err = openapitest.Strict(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		docs[name] = doc.(map[string]any)
	}
	return docs
}

// differs lists members of a request that its response has with another meaning.
var differs = map[string]string{
	"api post /auth/refresh: 200":                                "/refresh_token", // it is the next one
	"api put /api/coach/subscription: 202":                       "/tier",          // requested_tier has it
	"admin post /api/admin/names/{coach_id}/refuse: 200":         "/name",          // the name before stays
	"admin post /api/admin/tier-requests/{coach_id}/refuse: 200": "/tier",          // the tier stays
	"admin patch /api/admin/webhooks/{webhook_id}: 200":          "/events",        // null is all, which reads as an empty list
}

// TestBodiesHaveExamples checks that each body of a request and each success with JSON has an
// example in both documents, and that the members which both have are equal.
// TestExamplesFitTheirSchemas validates them.
func TestBodiesHaveExamples(t *testing.T) {
	t.Parallel()
	compared := 0
	for name, doc := range strictDocuments(t) {
		eachOperation(doc, func(at string, operation map[string]any) {
			at = name + " " + at
			body := resolve(doc, operation["requestBody"])
			for mediaType, media := range content(body) {
				if exampleOf(media) == nil {
					t.Errorf("%s: the request has no example as %s", at, mediaType)
				}
			}
			for status, response := range operation["responses"].(map[string]any) {
				media, ok := content(resolve(doc, response))["application/json"]
				if !strings.HasPrefix(status, "2") || !ok || strings.HasSuffix(at, " /openapi.json") { // that example is the document itself
					continue
				}
				example := exampleOf(media)
				if example == nil {
					t.Errorf("%s: %s has no example", at, status)
				}
				for mediaType, request := range content(body) {
					if !strings.HasSuffix(mediaType, "json") {
						continue
					}
					compareMembers("", exampleOf(request), example, func(pointer string, want, got any) {
						compared++
						if !reflect.DeepEqual(got, want) && differs[at+": "+status] != pointer {
							t.Errorf("%s: %s has %v at %s, the request %v", at, status, got, pointer, want)
						}
					})
				}
			}
		})
	}
	if compared < 60 {
		t.Errorf("compared %d members, want more", compared)
	}
}

// compareMembers calls fn with each member of the request, but objects in lists, that the
// response has too.
func compareMembers(at string, request, response any, fn func(pointer string, want, got any)) {
	switch want := request.(type) {
	case map[string]any:
		got, _ := response.(map[string]any)
		for name, member := range want {
			if value, ok := got[name]; ok {
				compareMembers(at+"/"+name, member, value, fn)
			}
		}
	case []any:
		for _, item := range want {
			if _, isObject := item.(map[string]any); isObject {
				return
			}
		}
		fn(at, request, response)
	default:
		if at != "" {
			fn(at, request, response)
		}
	}
}

// TestExamplesAgreeWithThemselves checks members whose values depend on each other.
func TestExamplesAgreeWithThemselves(t *testing.T) {
	t.Parallel()
	checked := 0
	for name, doc := range strictDocuments(t) {
		eachOperation(doc, func(at string, operation map[string]any) {
			for status, response := range operation["responses"].(map[string]any) {
				walk(exampleOf(content(resolve(doc, response))["application/json"]), "", func(pointer string, o map[string]any) {
					check := func(ok bool, rule string) {
						checked++
						if !ok {
							t.Errorf("%s %s: %s%s: %s", name, at, status, pointer, rule)
						}
					}
					has := func(member string) bool { _, ok := o[member]; return ok }
					if details, ok := o["details"].(map[string]any); ok && has("tier") {
						check(details["name"] == o["tier"], "details are of another tier")
					}
					if has("balance") && has("paid") && has("state") {
						closed := o["state"] == "waived" || o["state"] == "void"
						amount, paid, balance := number(o["amount"]), number(o["paid"]), number(o["balance"])
						check(closed && balance == 0 || !closed && paid+balance == amount, "wrong balance")
						if has("closed_at") {
							check(closed == (o["closed_at"] != nil), "closed_at says something else than state")
						}
						if payments, ok := o["payments"].([]any); ok {
							for _, p := range payments {
								if p := p.(map[string]any); p["reversed_at"] == nil {
									paid -= number(p["amount"])
								}
							}
							check(paid == 0, "paid is not the sum of the payments")
						}
					}
					if has("reversed_at") && has("reversal_reason") {
						check((o["reversed_at"] == nil) == (o["reversal_reason"] == nil), "reversed without a reason, or the reverse")
					}
				})
			}
		})
	}
	if checked < 20 {
		t.Errorf("checked %d rules, want more", checked)
	}
}

func number(v any) float64 {
	var n float64
	_, _ = fmt.Sscan(fmt.Sprint(v), &n) // 0 if it is no number
	return n
}

// eachOperation calls fn with each operation and its method and path.
func eachOperation(doc map[string]any, fn func(at string, operation map[string]any)) {
	for path, operations := range doc["paths"].(map[string]any) {
		for method, operation := range operations.(map[string]any) {
			if members, ok := operation.(map[string]any); ok {
				fn(method+" "+path, members)
			}
		}
	}
}

// resolve returns the object to which v refers, or v.
func resolve(doc map[string]any, v any) map[string]any {
	object, _ := v.(map[string]any)
	reference, ok := object["$ref"].(string)
	if !ok {
		return object
	}
	var at any = doc
	for name := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		at = at.(map[string]any)[name]
	}
	return resolve(doc, at)
}

// content returns the media types of a body.
func content(of map[string]any) map[string]map[string]any {
	all, _ := of["content"].(map[string]any)
	media := map[string]map[string]any{}
	for name, m := range all {
		media[name] = m.(map[string]any)
	}
	return media
}

// exampleOf returns the example of a media type, or nil.
func exampleOf(media map[string]any) any {
	if examples, ok := media["examples"].(map[string]any); ok {
		for _, example := range examples {
			return example.(map[string]any)["value"]
		}
	}
	return media["example"]
}
