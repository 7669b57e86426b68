package api_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/problem"
)

// parsed is the OpenAPI document as JSON values. Parsing it takes 50 ms.
var parsed = sync.OnceValues(func() (any, error) {
	raw, err := api.Document()
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(raw))
})

// document returns the OpenAPI document as JSON values. The caller must not change them.
func document(t *testing.T) map[string]any {
	t.Helper()
	doc, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

func TestDocumentsAreValid(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func() ([]byte, error){"api": api.Document, "admin": admin.Document} {
		t.Run(name, func(t *testing.T) {
			raw, err := read()
			if err != nil {
				t.Fatal(err)
			}
			doc, err := openapi3.NewLoader().LoadFromData(raw)
			if err != nil {
				t.Fatal(err)
			}
			if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDocumentHasNoDuplicateKeys decodes into maps, which fails for a duplicate key. The
// conversion to JSON would not notice it.
func TestDocumentHasNoDuplicateKeys(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Error(err)
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	doc := document(t)
	seen := map[string]string{}
	for path, methods := range doc["paths"].(map[string]any) {
		for method, value := range methods.(map[string]any) {
			if method == "parameters" {
				continue
			}
			op, name := value.(map[string]any), method+" "+path
			id, _ := op["operationId"].(string)
			if id == "" || seen[id] != "" {
				t.Errorf("%s: operationId %q is empty or belongs to %s", name, id, seen[id])
			}
			seen[id] = name
			for _, member := range []string{"summary", "description"} {
				if text, _ := op[member].(string); text == "" {
					t.Errorf("%s: no %s", name, member)
				}
			}
			want := []string{"500"}
			if strings.HasPrefix(path, "/auth/") || strings.HasPrefix(path, "/api/") {
				want = append(want, "406", "422", "429", "503")
				if op["security"] == nil {
					want = append(want, "401")
				}
			}
			if op["requestBody"] != nil && !strings.HasPrefix(path, "/receipts/") && !strings.HasPrefix(path, "/calls/") && !strings.HasPrefix(path, "/replies/") { // a provider does not read problems
				want = append(want, "400", "413", "415", "422")
			}
			responses := op["responses"].(map[string]any)
			for _, status := range want {
				if responses[status] == nil {
					t.Errorf("%s: no response %s", name, status)
				}
			}
		}
	}
}

func TestExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	for name, doc := range strictDocuments(t) {
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(jsonschema.Draft2020)
		compiler.AssertFormat()
		url := "https://touchline.test/" + name + ".json"
		if err := compiler.AddResource(url, doc); err != nil {
			t.Fatal(err)
		}
		checked := 0
		check := func(at string, example any) {
			checked++
			schema, err := compiler.Compile(url + "#" + at)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(example); err != nil {
				t.Errorf("%s: %s: %v", name, at, err)
			}
		}
		walk(doc, "", func(at string, object map[string]any) {
			if example, ok := object["example"]; ok && object["schema"] != nil {
				check(at+"/schema", example)
			}
			// Inside properties, these names are fields and not keywords.
			if strings.HasSuffix(at, "/properties") {
				return
			}
			if examples, ok := object["examples"].([]any); ok {
				for _, example := range examples {
					check(at, example)
				}
			}
			if value, ok := object["default"]; ok {
				check(at, value)
			}
		})
		if want := map[string]int{"api": 500, "admin": 60}[name]; checked < want {
			t.Errorf("%s: %d examples, want at least %d", name, checked, want)
		}
	}
}

// walk calls fn for every object in v, with its pointer as a URI fragment.
func walk(v any, at string, fn func(at string, object map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		fn(at, v)
		for name, member := range v {
			name = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
			walk(member, at+"/"+name, fn)
		}
	case []any:
		for i, item := range v {
			walk(item, fmt.Sprintf("%s/%d", at, i), fn)
		}
	}
}

// publishedCodes are the codes of the API, by status.
const publishedCodes = `
400 malformed_request
401 token_missing token_invalid token_expired session_revoked refresh_token_invalid refresh_token_expired refresh_token_raced refresh_token_reused
403 role_not_allowed profile_incomplete kyc_required tier_limit approval_pending approval_required destination_blocked fresh_otp_required proof_required account_suspended https_required
404 not_found
405 method_not_allowed
406 not_acceptable
409 name_limit number_in_use player_exists request_pending request_superseded already_approved invalid_transition no_open_request no_contact_number contact_disputed first_guardian voice_not_configured messages_stopped call_too_early call_hours request_in_progress passkey_limit batch_archived training_begun training_cancelled payment_exceeds_balance
410 otp_expired passkey_expired
412 precondition_failed
413 payload_too_large
415 unsupported_media_type
416 range_not_satisfiable
422 validation_failed otp_incorrect passkey_invalid too_many contact_conflict idempotency_key_reused
428 precondition_required
429 otp_resend_too_soon otp_send_limit otp_attempts_exceeded reminder_limit call_limit message_limit rate_limited
500 internal_error
503 overloaded unavailable`

// TestCatalogue: clients depend on the codes, so a test fails when one changes.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	var want, wantCodes []string
	for line := range strings.SplitSeq(strings.TrimSpace(publishedCodes), "\n") {
		words := strings.Fields(line)
		for _, code := range words[1:] {
			want = append(want, words[0]+" "+code)
			wantCodes = append(wantCodes, code)
		}
	}
	var got []string
	for _, p := range problem.Catalogue() {
		if p.Code != "insufficient_scope" && p.Code != "cursor_expired" { // only the admin listener returns them
			got = append(got, fmt.Sprint(p.Status, " ", p.Code))
		}
		if p.Title == "" || p.Meaning == "" || p.WhatToDo == "" {
			t.Errorf("%s: a text is empty", p.Code)
		}
		if found, ok := problem.Lookup(p.Code); !ok || found != p {
			t.Errorf("Lookup(%q) = %v, %v", p.Code, found, ok)
		}
	}
	slices.Sort(want)
	if !slices.IsSorted(got) {
		byStatus := slices.Clone(got)
		slices.SortStableFunc(byStatus, func(a, b string) int { return strings.Compare(a[:3], b[:3]) })
		if !slices.Equal(byStatus, got) {
			t.Error("the catalogue is not sorted by status")
		}
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("catalogue = %v\nwant %v", got, want)
	}
	if _, ok := problem.Lookup("no_such_code"); ok {
		t.Error("Lookup found an unknown code")
	}

	schemas := document(t)["components"].(map[string]any)["schemas"].(map[string]any)
	var published []string
	for _, code := range schemas["ProblemCode"].(map[string]any)["x-extensible-enum"].([]any) {
		published = append(published, code.(string))
	}
	slices.Sort(published)
	slices.Sort(wantCodes)
	if !slices.Equal(published, wantCodes) {
		t.Errorf("ProblemCode = %v\nwant %v", published, wantCodes)
	}
}
