package message

import (
	"maps"
	"slices"
	"strings"
)

// templateOTP is the template of OTPs for WhatsApp. WhatsApp writes its text.
const templateOTP = "otp"

// whatsAppTemplates are the texts of WhatsApp messages by language and name. A template
// has the name of the SMS template with the same values. A text neither begins nor ends with a variable, and links
// are buttons: WhatsApp requires both.
var whatsAppTemplates = map[string]map[string]string{
	"en": {
		templateRequestGuardian:   "Hello! {coach} added {student} to {batch}. May {brand}, a sports app, send you news about it? Say yes, no or not my child on the page.",
		templateRequestStudent:    "Hello! {coach} added {student} to {batch}. May {brand}, a sports app, send you training news? Say yes, no or not me on the page.",
		templateAgainGuardian:     "Hello again! {coach} added {student} to {batch} and asks once more: may {brand}, a sports app, send you news about it? Say yes, no or not my child on the page.",
		templateAgainStudent:      "Hello again! {coach} added {student} to {batch} and asks once more: may {brand}, a sports app, send you training news? Say yes, no or not me on the page.",
		templateReminderGuardian:  "A reminder: {coach} added {student} to {batch}. May {brand}, a sports app, send you news about it? Say yes, no or not my child on the page.",
		templateReminderStudent:   "A reminder: {coach} added {student} to {batch}. May {brand}, a sports app, send you training news? Say yes, no or not me on the page.",
		templateQuestionsGuardian: "Hello! {coach} added {students}. May {brand}, a sports app, send you news about them? Say yes or no for each on the page.",
		templateQuestionsStudent:  "Hello! {coach} added {students}. May {brand}, a sports app, send you training news? Each of you says yes or no on the page.",
		templateQuestionsBoth:     "Hello! {coach} asks: may {brand}, a sports app, send you news? The first button is for the guardian of {students}, the second one for {others} to answer.",
	},
	"hi": {
		templateRequestGuardian:   "नमस्ते! {coach} ने {student} को {batch} में जोड़ा। क्या खेल ऐप {brand} आपको इसकी खबरें भेजे? पेज पर हाँ, ना या मेरा बच्चा नहीं कहें।",
		templateRequestStudent:    "नमस्ते! {coach} ने {student} {batch} में जोड़ा। क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? पेज पर हाँ, ना या मैं नहीं कहें।",
		templateAgainGuardian:     "फिर से नमस्ते! {coach} ने {student} को {batch} में जोड़ा और फिर पूछा है: क्या खेल ऐप {brand} आपको इसकी खबरें भेजे? पेज पर हाँ, ना या मेरा बच्चा नहीं कहें।",
		templateAgainStudent:      "फिर से नमस्ते! {coach} ने {student} {batch} में जोड़ा और फिर पूछा है: क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? पेज पर हाँ, ना या मैं नहीं कहें।",
		templateReminderGuardian:  "याद दिलाने के लिए: {coach} ने {student} को {batch} में जोड़ा। क्या खेल ऐप {brand} आपको इसकी खबरें भेजे? पेज पर हाँ, ना या मेरा बच्चा नहीं कहें।",
		templateReminderStudent:   "याद दिलाने के लिए: {coach} ने {student} {batch} में जोड़ा। क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? पेज पर हाँ, ना या मैं नहीं कहें।",
		templateQuestionsGuardian: "नमस्ते! {coach} ने {students} को जोड़ा। क्या खेल ऐप {brand} आपको इनकी खबरें भेजे? पेज पर हर एक के लिए हाँ या ना कहें।",
		templateQuestionsStudent:  "नमस्ते! {coach} ने {students} को जोड़ा। क्या खेल ऐप {brand} आपको अभ्यास की खबरें भेजे? पेज पर हर कोई खुद हाँ या ना कहे।",
		templateQuestionsBoth:     "नमस्ते! {coach} का सवाल: क्या खेल ऐप {brand} आपको खबरें भेजे? पहला बटन {students} के अभिभावक के लिए है, दूसरे से {others} खुद जवाब दें।",
	},
}

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
	// Body has the variables in braces, Buttons are the texts of the buttons with a link.
	Body    string
	Buttons []string
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
}

// WhatsAppOf returns the WhatsApp message for m, in the language of its recipient. ok is false
// if WhatsApp has no template for messages of this kind.
func WhatsAppOf(m Message) (w WhatsAppText, ok bool) {
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
	if len(w.Template.Buttons) > 1 {
		w.Links = append(w.Links, text.Values["other_link"])
	}
	return w, true
}

func whatsAppTemplate(name, language, body string) WhatsAppTemplate {
	buttons := whatsAppButtons[language][:1]
	if name == templateQuestionsBoth {
		buttons = whatsAppButtons[language][1:]
	}
	return WhatsAppTemplate{Name: name, Language: language, Body: body, Buttons: buttons}
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
