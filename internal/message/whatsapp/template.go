package whatsapp

import (
	"regexp"

	"github.com/touchline/touchline/internal/message"
)

// Template is the body of POST /<business account id>/message_templates, which creates a
// template.
type Template struct {
	Name       string              `json:"name"`
	Language   string              `json:"language"`
	Category   string              `json:"category"`
	Format     string              `json:"parameter_format,omitempty"`
	TTL        int                 `json:"message_send_ttl_seconds,omitempty"`
	Components []TemplateComponent `json:"components"`
}

// TemplateComponent is the body, or the buttons, of a template.
type TemplateComponent struct {
	Type    string           `json:"type"`
	Text    string           `json:"text,omitempty"`
	Secure  bool             `json:"add_security_recommendation,omitempty"`
	Example *TemplateExample `json:"example,omitempty"`
	Buttons []TemplateButton `json:"buttons,omitempty"`
}

// TemplateExample has an example of each variable.
type TemplateExample struct {
	Named []NamedExample `json:"body_text_named_params"`
}

// NamedExample is an example of a variable.
type NamedExample struct {
	Name    string `json:"param_name"`
	Example string `json:"example"`
}

// TemplateButton copies a code or opens a link.
type TemplateButton struct {
	Type    string   `json:"type"`
	OTPType string   `json:"otp_type,omitempty"`
	Text    string   `json:"text,omitempty"`
	URL     string   `json:"url,omitempty"`
	Example []string `json:"example,omitempty"`
}

var variable = regexp.MustCompile(`\{([a-z_]+)\}`)

// examples are the examples of variables that Meta's reviewers see.
var examples = map[string]string{
	"coach": "Coach Meera Nair", "student": "Asha Rao", "students": "Asha Rao and Bela Rao", "others": "Chetan Rao", "batch": "U12 Evening", "text": "Training is at five tomorrow.",
}

// NewTemplates returns the templates to create at Meta. base is the address of the service.
func NewTemplates(brand, base string) []Template {
	var all []Template
	for _, t := range message.WhatsAppTemplates(brand) {
		created := Template{Name: templatePrefix + t.Name, Language: t.Language}
		if t.Code {
			created.Category, created.TTL = "authentication", 60
			created.Components = []TemplateComponent{
				{Type: "body", Secure: true},
				{Type: "buttons", Buttons: []TemplateButton{{Type: "otp", OTPType: "copy_code"}}},
			}
			all = append(all, created)
			continue
		}
		created.Category, created.Format = "utility", "named"
		var named []NamedExample
		for _, name := range t.Variables() {
			named = append(named, NamedExample{name, examples[name]})
		}
		buttons := TemplateComponent{Type: "buttons"}
		for _, text := range t.Answers {
			buttons.Buttons = append(buttons.Buttons, TemplateButton{Type: "quick_reply", Text: text})
		}
		for _, text := range t.Buttons {
			buttons.Buttons = append(buttons.Buttons, TemplateButton{Type: "url", Text: text, URL: base + "/a/{{1}}", Example: []string{base + "/a/example"}})
		}
		created.Components = []TemplateComponent{
			{Type: "body", Text: variable.ReplaceAllString(t.Body, "{{$1}}"), Example: &TemplateExample{named}},
		}
		if len(buttons.Buttons) > 0 {
			created.Components = append(created.Components, buttons)
		}
		all = append(all, created)
	}
	return all
}
