package notifications_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notifications"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

// TestStreamEvents writes a notification of each type to the stream and validates the event
// against its schema in x-events, with only what the document lists.
func TestStreamEvents(t *testing.T) {
	t.Parallel()
	raw, err := api.Document()
	if err == nil {
		raw, err = openapitest.Strict(raw) // allows only what it lists
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	doc := read.(map[string]any)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("https://touchline.test/openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	const events = "/paths/~1api~1notifications~1stream/get/responses/200/content/text~1event-stream/x-events/"
	seen := map[string]bool{}
	for _, kind := range typeConstants(t, "../message/event/event.go") {
		for _, party := range []actor.Role{actor.Guardian, actor.Student} {
			const id = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"
			for _, d := range message.Plan(event.Event{
				Type: event.Type(kind), Party: party, CoachID: id, PlayerID: id, RequestID: id, SessionID: id, MessageID: id, RecordID: id, PartyID: id,
				CoachName: "Asha Rao", StudentName: "Kabir Mehta", GuardianName: "Meera Mehta", Changes: []event.Change{event.NameChanged}, Channel: "sms",
				Count: 3, Waited: 48 * time.Hour, DocumentID: id, Title: "First aid", Day: "2027-03-31", FeeID: id, Reason: "Unreadable",
			}, "Touchline") {
				seen[string(d.Type)] = true
				name, lines := streamEvent(t, message.Notification{ID: id, Seq: 1, Type: d.Type, Title: d.Title, Body: d.Body, Data: d.Data, CreatedAt: time.Unix(1_772_442_912, 0)})
				schema, err := compiler.Compile("https://touchline.test/openapi.json#" + events + name)
				if err != nil {
					t.Fatalf("x-events has no schema of %q: %v", name, err)
				}
				if err := schema.Validate(lines); err != nil {
					t.Errorf("%s for %s: %v", d.Type, party, err)
				}
			}
		}
	}
	if diff := cmp.Diff(typeConstants(t, "../message/notification.go"), slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("types (-package message +sent for an event):\n%s", diff)
	}
	enum := []string{}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for _, v := range schemas["Notification"].(map[string]any)["properties"].(map[string]any)["type"].(map[string]any)["enum"].([]any) {
		enum = append(enum, v.(string))
	}
	slices.Sort(enum)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(seen)), enum); diff != "" {
		t.Errorf("types (-sent for an event +openapi.yaml):\n%s", diff)
	}
}

// streamEvent returns the name of the event that the stream writes for n, and its fields.
func streamEvent(t *testing.T, n message.Notification) (name string, fields map[string]any) {
	t.Helper()
	fields = map[string]any{}
	for line := range strings.Lines(notifications.StreamEvent(n)) {
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "data":
			data, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(value)))
			if err != nil {
				t.Fatal(err)
			}
			fields[field] = data
		case "event", "id":
			fields[field] = value
		}
	}
	name, _ = fields["event"].(string)
	return name, fields
}

// typeConstants returns the values of the constants of type Type in a file, sorted.
func typeConstants(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Type" {
			for _, value := range spec.Values {
				text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, text)
			}
		}
		return true
	})
	slices.Sort(values)
	return values
}
