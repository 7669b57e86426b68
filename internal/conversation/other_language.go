package conversation

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/language"
)

// OtherLanguage counts the people who read a language in which WhatsApp has no templates: the words around the coach's
// text leave in another one.
type OtherLanguage struct {
	Language, LeavesIn string
	People             int
}

// OtherLanguages returns the languages that recipients read and WhatsApp does not have, in the order of their codes.
func (p *Plan) OtherLanguages() []OtherLanguage {
	people := map[string]int{}
	for _, r := range p.Recipients {
		for _, s := range r.Sends {
			// A number gets at most one message by chat.
			if read := language.Effective(s.Language); s.Reason == "" && s.Template && language.OnWhatsApp(read) != read {
				people[read]++
			}
		}
	}
	var others []OtherLanguage
	for _, read := range slices.Sorted(maps.Keys(people)) {
		others = append(others, OtherLanguage{read, language.OnWhatsApp(read), people[read]})
	}
	return others
}
