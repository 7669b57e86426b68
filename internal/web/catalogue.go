package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed locales/*.json
var localeFiles embed.FS

// languages are the languages of the pages; the first is the default.
var languages = []string{"en", "hi"}

var languageNames = map[string]string{"en": "English", "hi": "हिन्दी"}

// catalogue has the texts of every language. Its files are locales/<area>.<language>.json.
type catalogue struct {
	localizers map[string]*i18n.Localizer
	matcher    language.Matcher
}

func loadCatalogue() (*catalogue, error) {
	bundle := i18n.NewBundle(language.English)
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	files, err := fs.Glob(localeFiles, "locales/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		content, err := localeFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if _, err := bundle.ParseMessageFileBytes(content, path.Base(name)); err != nil {
			return nil, fmt.Errorf("web: %s: %w", name, err)
		}
	}
	c := &catalogue{localizers: map[string]*i18n.Localizer{}}
	tags := make([]language.Tag, len(languages))
	for i, l := range languages {
		tags[i] = language.MustParse(l)
		c.localizers[l] = i18n.NewLocalizer(bundle, l)
	}
	c.matcher = language.NewMatcher(tags)
	return c, nil
}

func (c *catalogue) localizer(language string) *i18n.Localizer { return c.localizers[language] }

// match returns the best language of the service for an Accept-Language header.
func (c *catalogue) match(acceptLanguage string) string {
	tags, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil {
		return languages[0]
	}
	_, index, _ := c.matcher.Match(tags...)
	return languages[index]
}

// localize returns the text of key. The pairs are names and values in turn; the value of
// Count, an int, selects the plural form.
func localize(l *i18n.Localizer, key string, pairs []any) (string, error) {
	config := i18n.LocalizeConfig{MessageID: key}
	if len(pairs) > 0 {
		data, err := dict(pairs...)
		if err != nil {
			return "", fmt.Errorf("text %s: %w", key, err)
		}
		config.TemplateData, config.PluralCount = data, data["Count"]
	}
	return l.Localize(&config)
}
