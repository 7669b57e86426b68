package message

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// templateOTP is the template of OTPs for WhatsApp. WhatsApp writes its text.
const templateOTP = "otp"

// whatsAppTemplates are the texts of WhatsApp messages by language and name. A template
// has the name of the SMS template with the same values. A text neither begins nor ends with a variable, and links
// are buttons: WhatsApp requires both.
var whatsAppTemplates = map[string]map[string]string{
	"en": {
		templateRequestGuardian:   "Hello! {coach} added {student} to {batch}. May {brand}, a sports app, send you news about it? Tap a button, or answer on the page.",
		templateRequestStudent:    "Hello! {coach} added {student} to {batch}. May {brand}, a sports app, send you training news? Tap a button, or answer on the page.",
		templateAgainGuardian:     "Hello again! {coach} added {student} to {batch} and asks once more: may {brand}, a sports app, send you news about it? Tap a button, or answer on the page.",
		templateAgainStudent:      "Hello again! {coach} added {student} to {batch} and asks once more: may {brand}, a sports app, send you training news? Tap a button, or answer on the page.",
		templateReminderGuardian:  "A reminder: {coach} added {student} to {batch}. May {brand}, a sports app, send you news about it? Tap a button, or answer on the page.",
		templateReminderStudent:   "A reminder: {coach} added {student} to {batch}. May {brand}, a sports app, send you training news? Tap a button, or answer on the page.",
		templateQuestionsGuardian: "Hello! {coach} added {students}. May {brand}, a sports app, send you news about them? Tap a button, and say yes or no for each.",
		templateQuestionsStudent:  "Hello! {coach} added {students}. May {brand}, a sports app, send you training news? Tap a button, and each of you says yes or no.",
		templateTeam:              "Message from {coach}: {text}\n\nYou can answer here.",
		templateTeamStop:          "Message from {coach}: {text}\n\nTo get no more messages from this coach, answer STOP.",
		templateQuestionsBoth:     "Hello! {coach} asks: may {brand}, a sports app, send you news? Answer here, or on a page: one is for the guardian of {students}, one for {others} to answer.",
	},
	"hi": {
		templateRequestGuardian:   "नमस्ते! {coach} ने {student} को {batch} में जोड़ा। क्या खेल ऐप {brand} आपको इसकी खबरें भेजे? बटन दबाएँ, या पेज पर जवाब दें।",
		templateRequestStudent:    "नमस्ते! {coach} ने {student} {batch} में जोड़ा। क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? बटन दबाएँ, या पेज पर जवाब दें।",
		templateAgainGuardian:     "फिर से नमस्ते! {coach} ने {student} को {batch} में जोड़ा और फिर पूछा है: क्या खेल ऐप {brand} आपको इसकी खबरें भेजे? बटन दबाएँ, या पेज पर जवाब दें।",
		templateAgainStudent:      "फिर से नमस्ते! {coach} ने {student} {batch} में जोड़ा और फिर पूछा है: क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? बटन दबाएँ, या पेज पर जवाब दें।",
		templateReminderGuardian:  "याद दिलाने के लिए: {coach} ने {student} को {batch} में जोड़ा। क्या खेल ऐप {brand} आपको इसकी खबरें भेजे? बटन दबाएँ, या पेज पर जवाब दें।",
		templateReminderStudent:   "याद दिलाने के लिए: {coach} ने {student} {batch} में जोड़ा। क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? बटन दबाएँ, या पेज पर जवाब दें।",
		templateQuestionsGuardian: "नमस्ते! {coach} ने {students} को जोड़ा। क्या खेल ऐप {brand} आपको इनकी खबरें भेजे? बटन दबाएँ, और हर एक के लिए हाँ या ना कहें।",
		templateQuestionsStudent:  "नमस्ते! {coach} ने {students} को जोड़ा। क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? बटन दबाएँ, और हर कोई खुद हाँ या ना कहे।",
		templateTeam:              "संदेश, {coach} की ओर से: {text}\n\nआप यहीं जवाब दे सकते हैं।",
		templateTeamStop:          "संदेश, {coach} की ओर से: {text}\n\nइस कोच के संदेश नहीं चाहिए तो STOP लिखकर भेजें।",
		templateQuestionsBoth:     "नमस्ते! {coach} का सवाल: क्या खेल ऐप {brand} आपको खबरें भेजे? यहाँ या पेज पर जवाब दें: एक पेज {students} के अभिभावक के लिए है, एक से {others} खुद जवाब दें।",
	},
}

// templateTeamStop is templateTeam for a recipient that never approved.
const templateTeamStop = "team_stop"

// ChatWindow is how long after a person wrote by WhatsApp messages without a template may leave.
const ChatWindow = 24 * time.Hour

// whatsAppButtons are the texts of the buttons by language: of a single button, of the button
// for the guardian, and of the button for the students.
var whatsAppButtons = map[string][]string{
	"en": {"Answer", "As the guardian", "For myself"},
	"hi": {"जवाब दें", "अभिभावक के रूप में", "अपने लिए"},
}

// WhatsAppTemplate is a template of a WhatsApp message.
type WhatsAppTemplate struct {
	Name, Language string
	// Code is true for OTPs. WhatsApp writes their text, so Body is empty.
	Code bool
	// Body has the variables in braces. Answers are the texts of the buttons that answer, and Buttons those
	// of the buttons with a link, which follow.
	Body             string
	Answers, Buttons []string
}

// Variables returns the names of the variables of t in their order.
func (t WhatsAppTemplate) Variables() []string {
	var names []string
	for _, m := range variable.FindAllStringSubmatch(t.Body, -1) {
		names = append(names, m[1])
	}
	return names
}

// WhatsAppText is a WhatsApp message.
type WhatsAppText struct {
	Template WhatsAppTemplate
	// Values has the value of each variable of the template. Code is the OTP, or "".
	Values map[string]string
	Code   string
	// Links has the link of each button.
	Links []string
	// Body is a text without a template, for a person who wrote less than ChatWindow ago.
	Body string
	// Answers are the buttons with which a question can be answered.
	Answers []ChatButton
}

// String returns the text as a person reads it, with the links of its buttons.
func (w WhatsAppText) String() string {
	text := w.Body + w.Code
	if w.Template.Body != "" {
		text = variable.ReplaceAllStringFunc(w.Template.Body, func(name string) string { return w.Values[strings.Trim(name, "{}")] })
	}
	for i, link := range w.Links {
		text += "\n" + w.Template.Buttons[i] + ": " + link
	}
	return text
}

// maxTemplateText is how many characters the text of a template has at most with its values.
const maxTemplateText = 1024

// teamWhatsApp returns a coach's message, in several parts if it is too long for one template.
func teamWhatsApp(m Message) []WhatsAppText {
	if m.Team.Replied {
		return []WhatsAppText{{Body: TeamText(m.Team)}}
	}
	name, language := templateTeam, m.Language
	if m.Team.Restricted {
		name = templateTeamStop
	}
	if whatsAppTemplates[language] == nil {
		language = Languages[0]
	}
	template := whatsAppTemplate(name, language, whatsAppTemplates[language][name])
	who, text := m.Team.parts()
	words, room := strings.Fields(text), maxTemplateText-utf8.RuneCountInString(template.Body)-utf8.RuneCountInString(who)
	var parts []WhatsAppText
	for len(words) > 0 {
		part := words[0]
		for words = words[1:]; len(words) > 0 && utf8.RuneCountInString(part+" "+words[0]) <= room; words = words[1:] {
			part += " " + words[0]
		}
		for rest := []rune(part); len(rest) > 0; rest = rest[min(len(rest), room):] {
			values := map[string]string{"coach": who, "text": string(rest[:min(len(rest), room)])}
			parts = append(parts, WhatsAppText{Template: template, Values: values})
		}
	}
	return parts
}

// WhatsAppOf returns the WhatsApp messages for m, in the language of its recipient: one, or the parts of
// a long text. It is empty if WhatsApp has no template for messages of this kind.
func WhatsAppOf(m Message) []WhatsAppText {
	if m.Kind == Team {
		return teamWhatsApp(m)
	}
	if w, ok := whatsAppOf(m); ok {
		return []WhatsAppText{w}
	}
	return nil
}

func whatsAppOf(m Message) (w WhatsAppText, ok bool) {
	if m.Kind == OTP {
		language := m.Language
		if whatsAppTemplates[language] == nil {
			language = Languages[0]
		}
		return WhatsAppText{Template: WhatsAppTemplate{Name: templateOTP, Language: language, Code: true}, Code: m.Code}, true
	}
	text := SMSOf(m)
	body := whatsAppTemplates[text.Language][text.Template]
	if body == "" {
		return w, false
	}
	w = WhatsAppText{Template: whatsAppTemplate(text.Template, text.Language, body), Values: text.Values, Links: []string{text.Values["link"]}}
	switch len(w.Template.Answers) {
	case 0:
	case 1:
		w.Answers = []ChatButton{{ChatPress{Action: ChatAsk, ID: m.ID}.String(), w.Template.Answers[0]}}
	default:
		w.Answers = questionButtons(text.Language, m.ID)
	}
	if len(w.Template.Buttons) > 1 {
		w.Links = append(w.Links, text.Values["other_link"])
	}
	return w, true
}

func whatsAppTemplate(name, language, body string) WhatsAppTemplate {
	buttons := whatsAppButtons[language][:1]
	switch name {
	case templateQuestionsBoth:
		buttons = whatsAppButtons[language][1:]
	case templateTeam, templateTeamStop:
		buttons = nil
	}
	t := WhatsAppTemplate{Name: name, Language: language, Body: body, Buttons: buttons}
	switch name {
	case templateRequestGuardian, templateRequestStudent, templateAgainGuardian, templateAgainStudent, templateReminderGuardian, templateReminderStudent:
		w := chatWordsOf(language)
		t.Answers = []string{w.yes, w.no, w.notMe}
	case templateQuestionsGuardian, templateQuestionsStudent, templateQuestionsBoth:
		t.Answers = []string{chatWordsOf(language).answer}
	}
	return t
}

// WhatsAppTemplates returns the templates of all WhatsApp messages by name and language, with
// brand filled in.
func WhatsAppTemplates(brand string) []WhatsAppTemplate {
	var all []WhatsAppTemplate
	for _, language := range Languages {
		all = append(all, WhatsAppTemplate{Name: templateOTP, Language: language, Code: true})
		for _, name := range slices.Sorted(maps.Keys(whatsAppTemplates[language])) {
			all = append(all, whatsAppTemplate(name, language, strings.ReplaceAll(whatsAppTemplates[language][name], "{brand}", brand)))
		}
	}
	return all
}
