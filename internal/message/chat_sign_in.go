package message

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/touchline/touchline/internal/language"
)

// SignInText is the text with which a person asks for a code by WhatsApp.
func SignInText(language, brand string) string {
	return textsIn(language).fill("chat.sign_in.ask", map[string]string{"brand": brand})
}

// signInWords also ask for a code.
var signInWords = []string{"sign in", "signin", "log in", "login", "otp", "code", "साइन इन", "लॉगिन", "कोड", "ओटीपी"}

// AsksSignIn reports whether a reply asks for a code. An edit, a file and any other kind of reply does not.
func (r Reply) AsksSignIn(brand string) bool {
	if r.Kind != "" || r.Media != "" || r.Button != "" {
		return false
	}
	text := foldedWords(r.Text)
	return slices.Contains(signInWords, text) ||
		slices.ContainsFunc(language.Offered(), func(code string) bool { return text == foldedWords(SignInText(code, brand)) })
}

// SignInLanguage returns the language of the text that asks for a code, or "".
func (r Reply) SignInLanguage(brand string) string {
	for _, code := range language.Offered() {
		if foldedWords(r.Text) == foldedWords(SignInText(code, brand)) {
			return code
		}
	}
	return ""
}

// IsNewText reports whether a reply by WhatsApp is a new text of the person.
func (r Reply) IsNewText() bool {
	return r.Channel == Chat && r.Kind == "" && r.Media == "" && r.Button == ""
}

// foldedWords returns the words of s in lower case, without punctuation and invisible characters.
func foldedWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	}), " ")
}

// SignInCode answers with a code that a browser and device asked for some time ago. askedWith may be empty.
func SignInCode(language, brand, code, askedWith string, ago time.Duration) ChatAnswer {
	w := textsIn(language)
	when := w.byKey["chat.sign_in.now"]
	if minutes := int(ago.Minutes()); minutes > 0 {
		when = w.fill("chat.sign_in.ago", map[string]string{"count": strconv.Itoa(minutes)})
	}
	return ChatAnswer{Code: code, Text: w.fill("chat.sign_in.code", map[string]string{
		"code": code, "brand": brand, "device": cmp.Or(askedWith, w.byKey["chat.sign_in.device"]), "when": when,
	})}
}

// NoSignIn answers a person for whom no code is open. url is the page of the sign-in.
func NoSignIn(language, brand, url string) ChatAnswer {
	return ChatAnswer{Text: textsIn(language).fill("chat.sign_in.none", map[string]string{"brand": brand, "link": url})}
}
