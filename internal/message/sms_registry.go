package message

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The registry of texts for SMS in India (DLT) takes a template whose variables have a type since January 2026. A value of
// alphanumeric has letters, digits and spaces only, at most MaxRegistryValue characters; one of numeric has
// digits only; a url begins with an address that the operator has registered.

// Tag is the type of a variable in the registry.
type Tag string

// The tags.
const (
	TagNumeric      Tag = "numeric"
	TagAlphanumeric Tag = "alphanumeric"
	TagURL          Tag = "url"
)

// MaxRegistryValue is how many characters a value of TagAlphanumeric has at most.
const MaxRegistryValue = 40

// maxVariableShare is how much of a text may be variables, in percent at typical lengths.
const maxVariableShare = 40

// TagOf returns the type of a variable.
func TagOf(variable string) Tag {
	switch {
	case variable == "code":
		return TagNumeric
	case strings.HasSuffix(variable, "link") || variable == "page":
		return TagURL
	}
	return TagAlphanumeric
}

// RegistryValue returns the value of a variable as its tag permits it: each character that is no letter, digit or space
// becomes a space, an apostrophe nothing. A long value is cut.
func RegistryValue(variable, value string) string {
	if TagOf(variable) != TagAlphanumeric {
		return value
	}
	value = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && !unicode.Is(unicode.Variation_Selector, r):
			return r
		case r == '\'' || r == '\u2019' || unicode.Is(unicode.Cf, r):
			return -1
		}
		return ' '
	}, norm.NFC.String(value))
	value = strings.Join(strings.Fields(value), " ")
	if runes := []rune(value); len(runes) > MaxRegistryValue {
		cut := MaxRegistryValue
		for cut > 1 && unicode.IsMark(runes[cut]) {
			cut--
		}
		whole := runes[cut] == ' '
		value = string(runes[:cut])
		if i := strings.LastIndexByte(value, ' '); i > 0 && !whole {
			value = value[:i] // a part of a name would be another name
		}
		value = strings.TrimSpace(value)
	}
	return value
}

// indianPrefix begins the numbers of India.
const indianPrefix = "+91"

// Registered returns t, the SMS of m, as it is registered in India if the number is there: not shortened, with values that
// their tags permit. A text that the registry refuses stays as it is.
func (t Text) Registered(m Message) Text {
	if !strings.HasPrefix(m.To, indianPrefix) {
		return t
	}
	words := textsIn(t.Language).byKey["sms."+t.Template]
	template := SMSTemplate{t.Template, t.Language, strings.NewReplacer("{brand}", m.Brand, "{page}", t.Values["page"]).Replace(words)}
	withoutCode := strings.Contains(words, "{short_code}") && t.Values["short_code"] == ""
	if words == "" || withoutCode || template.Unregistrable() != "" {
		return t
	}
	clean := make(map[string]string, len(t.Values))
	for name, value := range t.Values {
		clean[name] = RegistryValue(name, value)
	}
	text := template.Text
	if m.Kind == OTP {
		text += registeredEnding(text, m.Ending)
	}
	t.Values, t.Body = clean, fillIn(text, clean)
	return t
}

// registeredEnding returns the last lines of the template of an OTP. They depend on nothing that differs between two OTPs.
func registeredEnding(template string, ending OTPEnding) string {
	text := expand(template, func(name string) string { return strings.Repeat("0", typicalLength(name)) })
	return ending.after(text, strings.Repeat("0", typicalLength("code"))).lines("{code}")
}

// typicalValues are values of a usual length. Other variables are names.
var typicalValues = map[string]int{
	"code": 6, "short_code": 6, "page": 14, "link": 44, "other_link": 44, "coach": 16, "students": 20, "batch": 11, "validity": 9, "what": 8, "when": 17, "when_place": 29, "on_day": 13, "reason": 15,
	"until": 45, "text": 100,
}

const typicalName = 9

func typicalLength(variable string) int {
	if length, ok := typicalValues[variable]; ok {
		return length
	}
	return typicalName
}

// DLT returns the text of t as it is registered in India.
func (t SMSTemplate) DLT() string {
	return variable.ReplaceAllStringFunc(t.Text, func(name string) string { return "{#" + string(TagOf(strings.Trim(name, "{}"))) + "#}" })
}

// VariableShare returns how much of the text is variables at typical lengths, in percent.
func (t SMSTemplate) VariableShare() int {
	variables := 0
	for _, m := range variable.FindAllStringSubmatch(t.Text, -1) {
		variables += typicalLength(m[1])
	}
	all := variables + utf8.RuneCountInString(variable.ReplaceAllString(t.Text, ""))
	return (variables*100 + all - 1) / max(1, all)
}

// Unregistrable says why the registry would refuse the text, or "".
func (t SMSTemplate) Unregistrable() string {
	spans := variable.FindAllStringIndex(t.Text, -1)
	for i, s := range spans {
		if i > 0 && !strings.ContainsFunc(t.Text[spans[i-1][1]:s[0]], unicode.IsLetter) {
			return "two variables stand side by side"
		}
	}
	switch name := t.sentence(); {
	case !strings.ContainsFunc(variable.ReplaceAllString(t.Text, ""), unicode.IsLetter):
		return "it is a variable alone"
	case name != "":
		return fmt.Sprintf("the variable %s is a whole sentence", name)
	case t.VariableShare() > maxVariableShare:
		return fmt.Sprintf("%d %% of it are variables, more than %d %%", t.VariableShare(), maxVariableShare)
	}
	return ""
}

// sentence returns a variable that is a whole sentence, or "".
func (t SMSTemplate) sentence() string {
	for _, name := range []string{"text", "until"} {
		if slices.ContainsFunc(variable.FindAllStringSubmatch(t.Text, -1), func(m []string) bool { return m[1] == name }) {
			return name
		}
	}
	return ""
}
