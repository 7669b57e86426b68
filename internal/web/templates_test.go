package web

import (
	"html/template"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx"
)

// TestTemplatesAreValid checks what html/template checks only when a template is first
// executed: that every template is valid HTML in every branch.
func TestTemplatesAreValid(t *testing.T) {
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	for _, tmpl := range r.templates.Templates() {
		err := tmpl.Execute(new(strings.Builder), nil)
		if _, isEscape := err.(*template.Error); isEscape {
			t.Errorf("%s: %v", tmpl.Name(), err)
		}
	}
}

// question has the fields that the page of a link has in package approval/handlers.
type question struct {
	Coach, Student  string
	Guardian, Adult bool
	Chat            bool
	Services        []string
}

// The question and the page of a child name the chat only where the service has a transport for it.
func TestChatOnlyWithTransport(t *testing.T) {
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	p := &Pages{Config: Config{Settings: httpx.Settings{Now: time.Now}}, render: r}
	for language, word := range map[string]string{"en": "chat", "hi": "चैट"} {
		for _, chat := range []bool{true, false} {
			for _, data := range []any{question{Chat: chat}, Question{Chat: chat}} {
				var text strings.Builder
				if err := r.templates.ExecuteTemplate(&text, "what-works", []any{p.NewView(&Request{Request: httptest.NewRequest("GET", "/", nil), Language: language}, ""), data}); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(text.String(), word) != chat || !strings.Contains(text.String(), "SMS") {
					t.Errorf("%s, chat %t: %s", language, chat, &text)
				}
			}
		}
	}
}
