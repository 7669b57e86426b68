package message

import (
	"regexp"
	"strings"

	"github.com/touchline/touchline/internal/language"
)

// The names of SMS templates. Providers in India register each with its text, whose key in Texts begins with sms.
// A request says who asks and for which student in its first eight words, then what the app would do, what the app
// is, and that it may be the wrong person. "Tap to say" keeps it from being read as a format to reply in. Its link is
// last, so that nothing is taken for a part of it. The templates of notifications have the names of their types.
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
	templateTurningAdult      = "turning_18_soon"
	templateTurnedAdult       = "turned_18"
	templateSecondMessage     = "second_message"
	// templateTeam is a text that a coach writes.
	templateTeam = "team"
)

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
func fill(name, chosen string, values map[string]string) Text {
	words := textsIn(chosen)
	return Text{Template: name, Language: words.language, Values: values, Body: words.fill("sms."+name, values)}
}

var variable = regexp.MustCompile(`\{([a-z_]+)\}`)

// fillIn returns a template with the values of its variables.
func fillIn(template string, values map[string]string) string {
	return expand(template, func(name string) string { return values[name] })
}

func expand(template string, value func(name string) string) string {
	var text strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		text.WriteString(value(name))
		template = after
	}
}

// readText finds the template among names that made body, and its values. If several values
// make the same body, it returns any of them. If no template fits, the Text has no template.
func readText(body string, names ...string) Text {
	for _, code := range language.Offered() {
		for _, name := range names {
			if values, ok := readValues(textsIn(code).byKey["sms."+name], body); ok {
				return Text{Template: name, Language: code, Values: values, Body: body}
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

// SMSTemplates returns the templates of all SMS in the order of their keys. brand, the page for short codes and the lines that
// end an OTP are filled in. publicURL is the address of the service, appHash that of the Android app or empty.
func SMSTemplates(brand, publicURL, appHash string) []SMSTemplate {
	ending := OTPEnding{Host: OTPHost(publicURL), AppHash: appHash}
	var all []SMSTemplate
	for _, code := range language.Offered() {
		words := textsIn(code)
		for _, name := range words.keys("sms.") {
			if strings.HasSuffix(name, shortEnd) {
				continue // what is registered is not shortened
			}
			text := strings.ReplaceAll(words.byKey["sms."+name], "{brand}", brand)
			if publicURL != "" {
				text = strings.ReplaceAll(text, "{page}", codePage(publicURL+"/a/"))
			}
			if name == templateOTPCoach || name == templateOTPParty {
				text += registeredEnding(text, ending)
			}
			all = append(all, SMSTemplate{name, code, text})
		}
	}
	return append(all, SMSTemplate{templateTeam, language.English, "{text}"})
}
