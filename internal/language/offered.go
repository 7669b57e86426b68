package language

import (
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/text/language"
)

// Setting is what an operator chose, once at the start of the process.
type Setting struct {
	// Offered are the codes of LANGUAGES; nil for all that are complete and checked.
	Offered []string
	// Own are the texts of TEXTS.
	Own *Own
}

// state is a Setting with what follows from it.
type state struct {
	offered []string
	matcher func() language.Matcher // made when the first browser asks
	own     *Own
}

var current atomic.Pointer[state]

func init() { Use(Setting{}) }

// Use sets what is offered. It is for the start of a process, before the first page and message.
func Use(s Setting) {
	own := s.Own
	if own == nil {
		own = &Own{}
	}
	offered := s.Offered
	if offered == nil {
		offered = Complete(own)
	}
	matcher := sync.OnceValue(func() language.Matcher {
		tags := make([]language.Tag, len(offered))
		for i, code := range offered {
			tags[i] = language.MustParse(code)
		}
		return language.NewMatcher(tags)
	})
	current.Store(&state{offered, matcher, own})
}

// Complete returns the languages that have all texts of families and whose question was checked, English first. own are the
// texts of the operator.
func Complete(own *Own) []string {
	var codes []string
	for i := range table {
		if code := table[i].Code; HasTexts(code, own) && checkedWith(code, own).MayAsk() {
			codes = append(codes, code)
		}
	}
	return codes
}

// Offered returns the codes of the languages that people can choose, English first.
func Offered() []string { return current.Load().offered }

// IsOffered reports whether people can choose a language.
func IsOffered(code string) bool { return slices.Contains(Offered(), code) }

// Match returns the best of the offered languages for an Accept-Language header.
func Match(acceptLanguage string) string {
	s := current.Load()
	tags, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil {
		return English
	}
	_, index, _ := s.matcher().Match(tags...)
	return s.offered[index]
}

// Effective returns the language in which a person with a chosen language is served: the chosen one if it is offered, else
// the first of its fallbacks that is.
func Effective(code string) string { return first(code, IsOffered) }

// Asked returns the language in which a person is asked a question: no text that only its author read asks.
func Asked(code string) string {
	return first(code, func(c string) bool { return IsOffered(c) && StateOf(c).MayAsk() })
}

// Spoken returns the language of a call that asks: one that has a voice.
func Spoken(code string) string {
	return first(code, func(c string) bool { return IsOffered(c) && StateOf(c).MayAsk() && Of(c).Twilio != nil })
}

// ForCoaches returns the language of the pages of a coach.
func ForCoaches(code string) string {
	return first(code, func(c string) bool { return IsOffered(c) && (Of(c).Coaches || current.Load().own.Whole[c]) })
}

// ForOperators returns the language of the pages of an operator: English or Hindi.
func ForOperators(code string) string {
	return first(code, func(c string) bool { return IsOffered(c) && (c == English || c == hindi) })
}

// OnWhatsApp returns the language of a template of WhatsApp.
func OnWhatsApp(code string) string {
	return first(code, func(c string) bool { return IsOffered(c) && Of(c).WhatsApp != "" })
}

func first(code string, good func(string) bool) string {
	for _, c := range Chain(code) {
		if good(c) {
			return c
		}
	}
	return English
}

// Each returns a function that makes the value of a language once, and again after Use.
func Each[T any](make func(code string) T) func(code string) T {
	var (
		mu   sync.Mutex
		from *state
		made map[string]T
	)
	return func(code string) T {
		mu.Lock()
		defer mu.Unlock()
		if s := current.Load(); s != from {
			from, made = s, map[string]T{}
		}
		value, ok := made[code]
		if !ok {
			value = make(code)
			made[code] = value
		}
		return value
	}
}
