package phone

import (
	"regexp"
	"slices"
	"strings"
)

// nationalForms are the forms of one mobile number that its country writes in two ways: WhatsApp may name the
// one that is not E.164.
//
//	Mexico     +52 55 1234 5678    +52 1 55 1234 5678
//	Brazil     +55 11 98765 4321   +55 11 8765 4321     a fixed line begins with 2 to 5 and has no other form
//	Argentina  +54 9 11 2345 6789  +54 11 2345 6789
var nationalForms = []struct {
	form  *regexp.Regexp
	other string
	e164  bool // other is the form of E.164
}{
	{regexp.MustCompile(`^\+521([2-9][0-9]{9})$`), "+52$1", true},
	{regexp.MustCompile(`^\+52([2-9][0-9]{9})$`), "+521$1", false},
	{regexp.MustCompile(`^\+55([1-9][1-9])([6-9][0-9]{7})$`), "+55${1}9$2", true},
	{regexp.MustCompile(`^\+55([1-9][1-9])9([6-9][0-9]{7})$`), "+55$1$2", false},
	{regexp.MustCompile(`^\+549([1-8][0-9]{9})$`), "+54$1", false},
	{regexp.MustCompile(`^\+54([1-8][0-9]{9})$`), "+549$1", true},
}

// NationalForms returns a number with its country code, which need not be valid, and the other form in which its
// country writes the same line, if there is one. The form of E.164 is the first.
func NationalForms(number string) []Number {
	for _, f := range nationalForms {
		if f.form.MatchString(number) {
			forms := []Number{Number(number), Number(f.form.ReplaceAllString(number, f.other))}
			if f.e164 {
				slices.Reverse(forms)
			}
			return forms
		}
	}
	return []Number{Number(number)}
}

// FromNetwork parses the number of a sender as networks and WhatsApp name it: often without its plus, and in
// either form of its country. parse is Parser.Parse.
func FromNetwork(parse func(string) (Number, error), sender string) (Number, error) {
	if sender == "" {
		return "", ErrInvalid
	}
	for _, form := range NationalForms("+" + strings.TrimPrefix(sender, "+")) {
		if n, err := parse(string(form)); err == nil {
			return n, nil
		}
	}
	return parse(sender)
}
