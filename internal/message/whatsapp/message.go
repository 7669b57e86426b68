package whatsapp

import (
	"strconv"
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
	Ref string `json:"biz_opaque_callback_data,omitempty"`
	// Template is set for the type "template", Text for the type "text".
	Template *MessageTemplate `json:"template,omitempty"`
	Text     *FreeText        `json:"text,omitempty"`
	// Interactive is set for the type "interactive": a text with buttons.
	Interactive *Interactive `json:"interactive,omitempty"`
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
	Text string `json:"text,omitempty"`
	// Payload is the ID of a quick reply.
	Payload string `json:"payload,omitempty"`
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
	for i, answer := range text.Answers {
		m.Template.Components = append(m.Template.Components, Component{
			Type: "button", SubType: "quick_reply", Index: strconv.Itoa(i), Parameters: []Parameter{{Type: "payload", Payload: answer.ID}},
		})
	}
	for i, link := range text.Links {
		i += len(text.Answers)
		token := link[strings.LastIndexByte(link, '/')+1:]
		m.Template.Components = append(m.Template.Components, Component{
			Type: "button", SubType: "url", Index: strconv.Itoa(i), Parameters: []Parameter{{Type: "text", Text: token}},
		})
	}
	return m
}

// Interactive is a text with buttons, or with a list if there are more than maxButtons.
type Interactive struct {
	Type string   `json:"type"`
	Body FreeBody `json:"body"`
	// Action has the buttons, or the list.
	Action Action `json:"action"`
}

// FreeBody is the text of an Interactive.
type FreeBody struct {
	Text string `json:"text"`
}

// Action has the buttons of an Interactive, or the text that opens its list, and the list.
type Action struct {
	Buttons  []ReplyButton `json:"buttons,omitempty"`
	Button   string        `json:"button,omitempty"`
	Sections []Section     `json:"sections,omitempty"`
}

// ReplyButton is a button that answers.
type ReplyButton struct {
	Type  string `json:"type"`
	Reply Row    `json:"reply"`
}

// Section is a part of a list.
type Section struct {
	Rows []Row `json:"rows"`
}

// Row is a button of an Interactive or a line of its list.
type Row struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// WhatsApp shows at most maxButtons buttons, and maxRows lines of a list.
const (
	maxButtons = 3
	maxRows    = 10
)

// newAnswer returns the request for an answer to a person who just wrote.
func newAnswer(to string, a message.ChatAnswer) Message {
	m := Message{Product: "whatsapp", Recipient: "individual", To: strings.TrimPrefix(to, "+"), Type: "text"}
	if len(a.Buttons) == 0 {
		m.Text = &FreeText{a.Text}
		return m
	}
	m.Type, m.Interactive = "interactive", &Interactive{Type: "button", Body: FreeBody{a.Text}}
	if len(a.Buttons) <= maxButtons {
		for _, b := range a.Buttons {
			m.Interactive.Action.Buttons = append(m.Interactive.Action.Buttons, ReplyButton{"reply", Row{b.ID, b.Text}})
		}
		return m
	}
	list := Section{}
	for _, b := range a.Buttons[:min(len(a.Buttons), maxRows)] {
		list.Rows = append(list.Rows, Row{b.ID, b.Text})
	}
	m.Interactive.Type, m.Interactive.Action = "list", Action{Button: a.Choose, Sections: []Section{list}}
	return m
}

// brandVariable is filled in when the template is created.
const brandVariable = "brand"

// parameterText returns s as a value: without line breaks and runs of spaces, which Meta
// refuses.
func parameterText(s string) string { return strings.Join(strings.Fields(s), " ") }
