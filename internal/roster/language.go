package roster

import (
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/language"
)

// languageCodes maps what a cell may say to the code of the language: its code, and its names in English, in itself,
// and in the other languages.
var languageCodes = sync.OnceValue(func() map[string]string {
	codes := map[string]string{}
	for _, l := range language.All() {
		for _, name := range slices.Concat([]string{l.Code, l.InEnglish, l.Name}, l.Spellings) {
			codes[foldTitle(name)] = l.Code
		}
	}
	for _, l := range language.All() {
		for code, name := range l.Names {
			if folded := foldTitle(name); codes[folded] == "" {
				codes[folded] = code
			}
		}
	}
	return codes
})

// checkLanguage replaces a language by its code, or adds a fault.
func (r *Row) checkLanguage(c Column) {
	text := r.Entry.Cell(c)
	if *text == "" {
		return
	}
	code := languageCodes()[foldTitle(*text)]
	if !language.IsOffered(code) {
		var names []string
		for _, offered := range language.Offered() {
			names = append(names, language.Of(offered).InEnglish)
		}
		r.add(c, "unknown_language", "Write %s, or leave the cell empty.", strings.Join(names, " or "))
		return
	}
	*text = code
}

// languageName returns a language as an export writes it, or "" for none.
func languageName(code string) string {
	if code == "" {
		return ""
	}
	return language.Of(code).InEnglish
}
