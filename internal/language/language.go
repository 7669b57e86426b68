// Package language owns what the service knows of languages: the table of English and the 22 languages of the Eighth
// Schedule, which of them are offered, the texts of those that have one file for all features, the texts of an operator
// (TEXTS), and who stands behind the texts of a question (texts.lock). The texts in English and Hindi are beside their features.
package language

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// English is the source of all texts, and the last fallback of every language.
const English = "en"

// Language is an entry of the table.
type Language struct {
	// Code is the BCP 47 tag, such as "ta".
	Code string `json:"code"`
	// Name is the name in the language itself, InEnglish the English one.
	Name      string `json:"name"`
	InEnglish string `json:"english"`
	// Script is the ISO 15924 code, such as "Taml".
	Script      string `json:"script"`
	RightToLeft bool   `json:"rightToLeft"`
	// Plurals are CLDR's plural categories that a text with a count has.
	Plurals []string `json:"plurals"`
	// Months begin with January and Weekdays with Sunday.
	Months   []string `json:"months"`
	Weekdays []string `json:"weekdays"`
	// DayMonth and DayMonthYear have {day}, {month} and {year}.
	DayMonth     string `json:"dayMonth"`
	DayMonthYear string `json:"dayMonthYear"`
	// Comma stands between the parts of a list.
	Comma string `json:"comma"`
	// Names are the names of other languages in this one, by code.
	Names map[string]string `json:"names"`
	// Spellings are further names that lists of players use, MonthSpellings further ones of each month.
	Spellings      []string   `json:"spellings"`
	MonthSpellings [][]string `json:"monthSpellings"`
	// Coaches says that the built-in texts are those of coaches, too; other languages have those of families.
	Coaches bool `json:"coaches"`
	// Fallback is the code of the person's second language; empty for English only.
	Fallback string `json:"fallback"`
	// WhatsApp is the code of the language at Meta, or empty if Meta has no templates in it.
	WhatsApp string `json:"whatsapp"`
	// Twilio is the voice of calls through Twilio, or nil if Twilio has none.
	Twilio *Voice `json:"twilio"`
}

// Voice is a voice of a provider of calls.
type Voice struct {
	Voice    string `json:"voice"`
	Language string `json:"language"`
}

// tableFile is written by tools/languages from CLDR.
//
//go:embed table.json
var tableFile []byte

// table has the languages in the order of their codes, English and Hindi first.
var table = readTable()

var byCode = func() map[string]*Language {
	m := map[string]*Language{}
	for i := range table {
		m[table[i].Code] = &table[i]
	}
	return m
}()

func readTable() (all []Language) {
	if err := json.Unmarshal(tableFile, &all); err != nil {
		panic("language: table.json: " + err.Error())
	}
	return all
}

// All returns the table.
func All() []Language { return table }

// Of returns the language of a code, or English if the table does not have it.
func Of(code string) *Language {
	if l := byCode[code]; l != nil {
		return l
	}
	return byCode[English]
}

// InTable reports whether the table has a code.
func InTable(code string) bool { return byCode[code] != nil }

// Direction returns the value of the attribute dir.
func (l *Language) Direction() string {
	if l.RightToLeft {
		return "rtl"
	}
	return "ltr"
}

// Chain returns the code, then its fallbacks; English is the last.
func Chain(code string) []string {
	var chain []string
	for l := Of(code); l != nil; l = byCode[l.Fallback] {
		chain = append(chain, l.Code)
	}
	return chain
}

// Date returns a day as "2 January", with the year as "2 January 2006".
func (l *Language) Date(day time.Time, year bool) string {
	form := l.DayMonth
	if year {
		form = l.DayMonthYear
	}
	return strings.NewReplacer("{day}", strconv.Itoa(day.Day()), "{month}", l.Months[day.Month()-1], "{year}", strconv.Itoa(day.Year())).Replace(form)
}

// Weekday returns the name of the weekday of a day.
func (l *Language) Weekday(day time.Time) string { return l.Weekdays[day.Weekday()] }

// NameOf returns the name of another language in this one, or its name in itself.
func (l *Language) NameOf(code string) string {
	if name := l.Names[code]; name != "" {
		return name
	}
	return Of(code).Name
}
