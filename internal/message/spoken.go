package message

import "strings"

// digitWords are the digits as a voice reads them.
var digitWords = map[string][10]string{
	"en":  {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"},
	hindi: {"शून्य", "एक", "दो", "तीन", "चार", "पाँच", "छह", "सात", "आठ", "नौ"},
}

// SpokenLanguage returns the language in which a call speaks to a person who chose language.
func SpokenLanguage(language string) string {
	if language == hindi {
		return hindi
	}
	return Languages[0]
}

// SpokenOTP returns what a call with the OTP of m says. A voice pauses after each line. The digits
// are words with full stops, so that every voice reads them one by one and slowly, and come twice.
func SpokenOTP(m Message) []string {
	language := SpokenLanguage(m.Language)
	stop := "."
	if language == hindi {
		stop = "।"
	}
	var words []string
	for _, r := range m.Code {
		words = append(words, digitWords[language][r-'0']+stop)
	}
	digits := strings.Join(words, " ")
	if language == hindi {
		return []string{"नमस्ते। यह कॉल " + m.Brand + " से है।", "आपका कोड है:", digits, "फिर से सुनिए:", digits, "यह कोड किसी को न बताएँ, कोच को भी नहीं।"}
	}
	return []string{"Hello. This is a call from " + m.Brand + ".", "Your code is:", digits, "Here it is again:", digits, "Do not tell the code to anyone, not even the coach."}
}
