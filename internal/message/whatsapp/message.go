package whatsapp

import (
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// templatePrefix begins the names of the templates at Meta.
const templatePrefix = "touchline_"

// Message is the body of POST /<phone number id>/messages of the Cloud API.
type Message struct {
	Product   string `json:"messaging_product"`
	Recipient string `json:"recipient_type"`
	To        string `json:"to"`
	Type      string `json:"type"`
	// Ref is returned with each status of the message. It names the attempt.
	Ref string `json:"biz_opaque_callback_data"`
	// Template is set for the type "template", Text for the type "text".
	Template *MessageTemplate `json:"template,omitempty"`
	Text     *FreeText        `json:"text,omitempty"`
}

// FreeText is a text without a template.
type FreeText struct {
	Body string `json:"body"`
}

// MessageTemplate names a template and fills in its variables.
type MessageTemplate struct {
	Name     string `json:"name"`
	Language struct {
		Code string `json:"code"`
	} `json:"language"`
	Components []Component `json:"components"`
}

// Component fills in the variables of the body or of one button.
type Component struct {
	Type       string      `json:"type"`
	SubType    string      `json:"sub_type,omitempty"`
	Index      string      `json:"index,omitempty"`
	Parameters []Parameter `json:"parameters"`
}

// Parameter is the value of a variable. Variables of a body have names.
type Parameter struct {
	Type string `json:"type"`
	Name string `json:"parameter_name,omitempty"`
	Text string `json:"text"`
}

// newMessage returns the request for a text.
func newMessage(to string, ref message.MessageRef, text message.WhatsAppText) Message {
	m := Message{Product: "whatsapp", Recipient: "individual", To: strings.TrimPrefix(to, "+"), Type: "template", Ref: ref.String()}
	if text.Body != "" {
		m.Type, m.Text = "text", &FreeText{text.Body}
		return m
	}
	m.Template = &MessageTemplate{}
	m.Template.Name = templatePrefix + text.Template.Name
	m.Template.Language.Code = text.Template.Language
	if text.Template.Code {
		// The button copies the code.
		code := []Parameter{{Type: "text", Text: text.Code}}
		m.Template.Components = []Component{{Type: "body", Parameters: code}, {Type: "button", SubType: "url", Index: "0", Parameters: code}}
		return m
	}
	body := Component{Type: "body"}
	for _, name := range text.Template.Variables() {
		if name != brandVariable {
			body.Parameters = append(body.Parameters, Parameter{Type: "text", Name: name, Text: parameterText(text.Values[name])})
		}
	}
	m.Template.Components = []Component{body}
	for i, link := range text.Links {
		token := link[strings.LastIndexByte(link, '/')+1:]
		m.Template.Components = append(m.Template.Components, Component{
			Type: "button", SubType: "url", Index: string(rune('0' + i)), Parameters: []Parameter{{Type: "text", Text: token}},
		})
	}
	return m
}

// brandVariable is filled in when the template is created.
const brandVariable = "brand"

// parameterText returns s as a value: without line breaks and runs of spaces, which Meta
// refuses.
func parameterText(s string) string { return strings.Join(strings.Fields(s), " ") }
