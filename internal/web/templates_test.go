package web

import (
	"html/template"
	"io/fs"
	"net/http/httptest"
	"os"
	"regexp"
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

// sentMessage has the fields of a conversation.Message that the page shows.
type sentMessage struct {
	ID, Text, Audience    string
	People, PeopleLeftOut int
	Channels              []string
	CreatedAt, ExpandedAt time.Time
	GivenUp               bool
}

// TestMessageOnItsWay: the page of a message says that it is being sent until every recipient has
// a state. For a message that was given up it says so, also after its form is sent again.
func TestMessageOnItsWay(t *testing.T) {
	t.Parallel()
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		message sentMessage
		want    bool
	}{
		{sentMessage{}, true},
		{sentMessage{ExpandedAt: time.Unix(1, 0)}, false},
		{sentMessage{GivenUp: true}, false},
	} {
		v := &View{Language: "en", TitleKey: "team_message.title", Texts: Texts{zone: time.UTC, texts: r.catalogue("en")}, Form: new(Form)}
		tt.message.Audience = "both"
		v.Data = map[string]any{"Message": tt.message, "Counts": map[string]int{}, "Done": "The message is on its way."}
		var page strings.Builder
		if err := r.templates.ExecuteTemplate(&page, "team_message.html", v); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), "We are sending the message."); got != tt.want {
			t.Errorf("%+v: %t, want %t", tt.message, got, tt.want)
		}
		gaveUp, onItsWay := strings.Contains(page.String(), "We could not send the message"), strings.Contains(page.String(), "on its way.")
		if gaveUp != tt.message.GivenUp || onItsWay == gaveUp {
			t.Errorf("%+v: given up: %t, on its way: %t", tt.message, gaveUp, onItsWay)
		}
	}
}

// waitingForm finds the forms that may wait on a phone for the connection.
var waitingForm = regexp.MustCompile(`<form[^>]* action="([^"]*)"[^>]* data-later`)

// TestWaitingForms: a form waits only if it is the whole answer, so that it may arrive twice and a later one may
// replace it. Two payments to one address, for example, are two.
func TestWaitingForms(t *testing.T) {
	files, err := featureFiles("templates/*.html", "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range waitingForm.FindAllStringSubmatch(string(content), -1) {
			if found++; !strings.HasSuffix(form[1], "/attending") {
				t.Errorf("%s: is the form to %s the whole answer? Then add it here.", name, form[1])
			}
		}
		if n := strings.Count(string(content), " data-later"); n != len(waitingForm.FindAllString(string(content), -1)) {
			t.Errorf("%s: %d forms wait, and not all have an action", name, n)
		}
	}
	if found == 0 {
		t.Error("no form waits")
	}
}

// TestScripts: no text of a script goes over several lines or has " // " in it, so that comments and indentation can
// go.
func TestScripts(t *testing.T) {
	files, err := fs.Glob(staticFiles, "static/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		content, err := staticFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(content), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			code, _, _ := strings.Cut(line, " // ")
			for _, quote := range []string{"'", `"`, "`"} {
				if strings.Count(code, quote)%2 != 0 {
					t.Errorf("%s:%d: a text does not end before the comment or the line", name, i+1)
				}
			}
		}
	}
}
