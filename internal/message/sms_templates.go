package message

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The names of SMS templates. Providers in India register each with its text.
const (
	templateOTPCoach          = "otp_coach"
	templateOTPParty          = "otp_party"
	templateRequestGuardian   = "request_guardian"
	templateRequestStudent    = "request_student"
	templateAgainGuardian     = "request_again_guardian"
	templateAgainStudent      = "request_again_student"
	templateReminderGuardian  = "reminder_guardian"
	templateReminderStudent   = "reminder_student"
	templateQuestionsGuardian = "questions_guardian"
	templateQuestionsStudent  = "questions_student"
	templateQuestionsBoth     = "questions_both"
	templatePlayerRemoved     = "player_removed"
	templateCoachLeft         = "coach_left"
	templateTrainingAdded     = "training_added"
	templateTrainingChanged   = "training_changed"
	templateTrainingRestored  = "training_restored"
	templateTrainingAsked     = "training_asked"
	templateTrainingCancelled = "training_cancelled"
	// templateTeam is a text that a coach writes.
	templateTeam = "team"
)

// smsTemplates are the texts of SMS by language and name, with variables in braces. A request
// says who asks and for which student in its first eight words, then what the app would do, what the app
// is, and that it may be the wrong person. "Tap to say" keeps it from being read as a format to reply in. Its link is last, so that nothing is taken for a part of it.
var smsTemplates = map[string]map[string]string{
	"en": {
		templateOTPCoach:          "{code} is your {brand} code. It works for {validity}. Never share it. {brand} will never ask for it.",
		templateOTPParty:          "{code} is your {brand} code. It works for {validity}. Do not tell it to anyone, not even the coach.",
		templateRequestGuardian:   "{coach} added {student} to {batch}. May {brand}, a sports app, send you news? Tap to say yes, no or not my child: code {short_code} or {link}",
		templateRequestStudent:    "{coach} added {student} to {batch}. May {brand}, a sports app, send you training news? Tap to say yes, no or not me: code {short_code} or {link}",
		templateAgainGuardian:     "{coach} added {student} to {batch} and asks again: may {brand}, a sports app, send you news? Tap to say yes, no or not my child: code {short_code} or {link}",
		templateAgainStudent:      "{coach} added {student} to {batch} and asks again: may {brand}, a sports app, send you news? Tap to say yes, no or not me: code {short_code} or {link}",
		templateReminderGuardian:  "Reminder: {coach} added {student} to {batch}. May {brand}, a sports app, send you news? Tap to say yes, no or not my child: code {short_code} or {link}",
		templateReminderStudent:   "Reminder: {coach} added {student} to {batch}. May {brand}, a sports app, send you training news? Tap to say yes, no or not me: code {short_code} or {link}",
		templateQuestionsGuardian: "{coach} added {students}. May {brand}, a sports app, send you news? Tap to say yes or no for each: code {short_code} or {link}",
		templateQuestionsStudent:  "{coach} added {students}. May {brand}, a sports app, send you training news? Tap to say yes or no, each of you: code {short_code} or {link}",
		templateQuestionsBoth:     "{coach} added {students}. May {brand}, a sports app, send you news? Tap to say yes or no. Guardian: {link} For {others} to answer: {other_link}",
		templatePlayerRemoved:     "{coach} took {student} off the list at {brand}. The app is off for {student} there. You need not do anything.",
		templateCoachLeft:         "{coach} closed their account at {brand}. The app is off for {students} there. You need not do anything.",
		templateTrainingAdded:     "{coach}: {what} for {student} on {when}{place}. Does {student} come? {link}",
		templateTrainingChanged:   "{coach}: {what} for {student} is now on {when}{place}. Does {student} come? {link}",
		templateTrainingRestored:  "{coach}: {what} for {student} on {when} takes place after all. Does {student} come? {link}",
		templateTrainingAsked:     "{coach} asks: does {student} come to {what} on {when}{place}? {link}",
		templateTrainingCancelled: "{coach}: no {what} for {student} on {when}. It is cancelled.{reason}",
	},
	"hi": {
		templateOTPCoach:          "{code} आपका {brand} कोड है, {validity} तक। इसे किसी को न बताएँ। हम इसे कभी नहीं माँगते।",
		templateOTPParty:          "{code} आपका {brand} कोड है, {validity} तक। इसे किसी को न बताएँ, कोच को भी नहीं।",
		templateRequestGuardian:   "{coach} ने {student} को {batch} में जोड़ा। क्या खेल ऐप {brand} आपको खबरें भेजे? दबाकर हाँ, ना या मेरा बच्चा नहीं कहें: कोड {short_code} या {link}",
		templateRequestStudent:    "{coach} ने {student} {batch} में जोड़ा। क्या खेल ऐप {brand} अभ्यास की खबरें भेजे? दबाकर हाँ, ना या मैं नहीं कहें: कोड {short_code} या {link}",
		templateAgainGuardian:     "{coach} ने {student} को {batch} में जोड़ा और फिर पूछा है: क्या खेल ऐप {brand} आपको खबरें भेजे? दबाकर हाँ, ना या मेरा बच्चा नहीं कहें: कोड {short_code} या {link}",
		templateAgainStudent:      "{coach} ने {student} {batch} में जोड़ा और फिर पूछा है: क्या खेल ऐप {brand} अभ्यास की खबरें भेजे? दबाकर हाँ, ना या मैं नहीं कहें: कोड {short_code} या {link}",
		templateReminderGuardian:  "याद दिलाना: {coach} ने {student} को {batch} में जोड़ा। क्या खेल ऐप {brand} आपको खबरें भेजे? दबाकर हाँ, ना या मेरा बच्चा नहीं कहें: कोड {short_code} या {link}",
		templateReminderStudent:   "याद दिलाना: {coach} ने {student} {batch} में जोड़ा। क्या खेल ऐप {brand} अभ्यास की खबरें भेजे? दबाकर हाँ, ना या मैं नहीं कहें: कोड {short_code} या {link}",
		templateQuestionsGuardian: "{coach} ने {students} को जोड़ा। क्या खेल ऐप {brand} आपको खबरें भेजे? हर एक के लिए दबाकर हाँ या ना कहें: कोड {short_code} या {link}",
		templateQuestionsStudent:  "{coach} ने {students} को जोड़ा। क्या खेल ऐप {brand} अभ्यास की खबरें भेजे? हर कोई खुद दबाकर हाँ या ना कहे: कोड {short_code} या {link}",
		templateQuestionsBoth:     "{coach} ने {students} को जोड़ा। क्या खेल ऐप {brand} आपको खबरें भेजे? दबाकर हाँ या ना कहें। अभिभावक: {link} {others} खुद: {other_link}",
		templatePlayerRemoved:     "{coach} ने {brand} पर {student} को सूची से हटाया। वहाँ {student} के लिए ऐप बंद है। आपको कुछ नहीं करना है।",
		templateCoachLeft:         "{coach} ने {brand} पर अपना खाता बंद किया। वहाँ {students} के लिए ऐप बंद है। आपको कुछ नहीं करना है।",
		templateTrainingAdded:     "{coach}: {student} के लिए {what}, {when}{place}। क्या {student} आएँगे? {link}",
		templateTrainingChanged:   "{coach}: {student} के लिए {what} अब {when}{place}। क्या {student} आएँगे? {link}",
		templateTrainingRestored:  "{coach}: {student} के लिए {what}, {when}, अब होगा। क्या {student} आएँगे? {link}",
		templateTrainingAsked:     "{coach} का सवाल: क्या {student} आएँगे? {what}, {when}{place} {link}",
		templateTrainingCancelled: "{coach}: {student} के लिए {what} नहीं होगा, {when}।{reason}",
	},
}

// Text is a message that is made from a template.
type Text struct {
	// Template and Language name the template. Template is empty for a text without one.
	Template, Language string
	// Values has the value of each variable of the template. Body can be shorter than the
	// template with these values.
	Values map[string]string
	Body   string
}

// fill returns the text of a template in the given language, or in the default one.
func fill(name, language string, values map[string]string) Text {
	if smsTemplates[language] == nil {
		language = Languages[0]
	}
	return Text{Template: name, Language: language, Values: values, Body: fillIn(smsTemplates[language][name], values)}
}

var variable = regexp.MustCompile(`\{([a-z_]+)\}`)

func fillIn(template string, values map[string]string) string {
	var text strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		text.WriteString(values[name])
		template = after
	}
}

// readText finds the template among names that made body, and its values. If several values
// make the same body, it returns any of them. If no template fits, the Text has no template.
func readText(body string, names ...string) Text {
	for _, language := range Languages {
		for _, name := range names {
			if values, ok := readValues(smsTemplates[language][name], body); ok {
				return Text{Template: name, Language: language, Values: values, Body: body}
			}
		}
	}
	return Text{Body: body}
}

func readValues(template, body string) (map[string]string, bool) {
	pattern := regexp.QuoteMeta(template)
	var names []string
	for _, m := range variable.FindAllStringSubmatch(template, -1) {
		names = append(names, m[1])
		pattern = strings.Replace(pattern, regexp.QuoteMeta(m[0]), "(.*?)", 1)
	}
	found := regexp.MustCompile(`(?s)^` + pattern + `$`).FindStringSubmatch(body)
	if found == nil {
		return nil, false
	}
	values := map[string]string{}
	for i, name := range names {
		values[name] = found[i+1]
	}
	return values, fillIn(template, values) == body
}

// SMSTemplate is a template as an operator registers it.
type SMSTemplate struct {
	Name, Language, Text string
}

// Key names the template in a setting.
func (t SMSTemplate) Key() string { return t.Name + "." + t.Language }

// SMSTemplates returns the templates of all SMS in the order of their keys. brand and the lines
// that end an OTP are filled in.
func SMSTemplates(brand string, ending OTPEnding) []SMSTemplate {
	var all []SMSTemplate
	for _, language := range Languages {
		for _, name := range slices.Sorted(maps.Keys(smsTemplates[language])) {
			text := strings.ReplaceAll(smsTemplates[language][name], "{brand}", brand)
			if name == templateOTPCoach || name == templateOTPParty {
				text += ending.lines("{code}")
			}
			all = append(all, SMSTemplate{name, language, text})
		}
	}
	return append(all, SMSTemplate{templateTeam, Languages[0], "{text}"})
}
