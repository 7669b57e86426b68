package web

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"
	tags "golang.org/x/text/language"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
)

//go:embed locales/*.json
var localeFiles embed.FS

// translation has the texts of one language.
type translation struct {
	*language.Language
	tag   tags.Tag
	texts language.Texts
}

// newCatalogue returns a function that reads the texts of a language when a page first needs it. It reads the English ones now.
func newCatalogue(features []fs.FS) (func(code string) *translation, error) {
	folders, err := TextFolders(features)
	if err != nil {
		return nil, err
	}
	if _, err := readTranslation(language.English, folders); err != nil {
		return nil, err
	}
	return language.Each(func(code string) *translation {
		t, err := readTranslation(code, folders)
		if err != nil {
			panic(err) // a test reads each file
		}
		return t
	}), nil
}

// TextFolders returns the folders with texts: this package, messages and features.
func TextFolders(features []fs.FS) ([]fs.FS, error) {
	own, err := fs.Sub(localeFiles, "locales")
	return append([]fs.FS{own, message.Texts}, features...), err
}

func readTranslation(code string, folders []fs.FS) (*translation, error) {
	t := &translation{language.Of(code), tags.MustParse(code), language.Texts{}}
	for i, name := range t.Months {
		t.texts["time.month."+strconv.Itoa(i+1)] = name
	}
	for i, name := range t.Weekdays {
		t.texts["time.weekday."+strconv.Itoa(i)] = name
	}
	texts, err := language.Read(code, folders...)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	maps.Copy(t.texts, texts)
	return t, nil
}

// pluralNames are CLDR's names of the plural categories.
var pluralNames = map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other"}

// form returns the form of a text with plural forms for a count.
func (t *translation) form(forms map[string]any, count any) string {
	n, _ := count.(int)
	text, ok := forms[pluralNames[plural.Cardinal.MatchPlural(t.tag, n, 0, 0, 0, 0)]].(string)
	if !ok { // a text of the fallback, whose language has other forms
		text, _ = forms["other"].(string)
	}
	return text
}

// isolate keeps a name or number in a text from right to left from changing the order of the words around it, as the
// element bdi does. It also works in attributes.
func (t *translation) isolate(value string) string {
	if t.RightToLeft {
		return "\u2068" + value + "\u2069"
	}
	return value
}

var valueInText = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

// localize returns the text of key. The pairs are names and values in turn; the value of
// Count, an int, selects the plural form. Integers are written with groups of digits.
func (t *translation) localize(key string, pairs []any) (string, error) {
	entry, ok := t.texts[key]
	if !ok {
		return "", fmt.Errorf("no text %s", key)
	}
	text, plain := entry.(string)
	if plain && !strings.Contains(text, "{{") {
		return text, nil
	}
	data, err := dict(pairs...)
	if err != nil {
		return "", fmt.Errorf("text %s: %w", key, err)
	}
	if forms, ok := entry.(map[string]any); ok {
		text = t.form(forms, data["Count"])
	}
	text = valueInText.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := data[strings.Trim(name, "{.}")]
		switch value.(type) {
		case int, int64:
			value = grouped(value)
		}
		if !ok {
			err = fmt.Errorf("text %s: no value for %s", key, name)
		}
		return t.isolate(fmt.Sprint(value))
	})
	return strings.ReplaceAll(text, "….", "…"), err // a shortened name at the end of a sentence
}
