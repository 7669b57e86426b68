package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"github.com/touchline/touchline/internal/message"
)

//go:embed locales/*.json
var localeFiles embed.FS

var languageNames = map[string]string{"en": "English", "hi": "हिन्दी"}

// catalogue has the texts of every language.
type catalogue struct {
	translations map[string]*translation // by language
}

// translation has the texts of one language.
type translation struct {
	// plain are the texts without values and plural forms. A page has hundreds of them, and
	// the localizer needs several µs for each.
	plain     map[string]string
	localizer *i18n.Localizer
}

func loadCatalogue(features []fs.FS) (*catalogue, error) {
	bundle := i18n.NewBundle(language.English)
	c := &catalogue{translations: map[string]*translation{}}
	for _, l := range message.Languages {
		c.translations[l] = &translation{map[string]string{}, i18n.NewLocalizer(bundle, l)}
	}
	own, err := fs.Sub(localeFiles, "locales")
	if err != nil {
		return nil, err
	}
	for _, files := range append([]fs.FS{own, message.Texts}, features...) {
		if err := c.load(bundle, files); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// load adds the files <area>.<language>.json.
func (c *catalogue) load(bundle *i18n.Bundle, files fs.FS) error {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return err
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		var entries map[string]any
		if err := json.Unmarshal(content, &entries); err != nil {
			return fmt.Errorf("web: %s: %w", name, err)
		}
		code := strings.Split(name, ".")[1]
		for key, value := range entries {
			if text, ok := value.(string); ok && !strings.Contains(text, "{{") {
				c.translations[code].plain[key] = text
				continue
			}
			text, err := i18n.NewMessage(value)
			if err != nil {
				return fmt.Errorf("web: %s: %s: %w", name, key, err)
			}
			text.ID = key
			if err := bundle.AddMessages(language.MustParse(code), text); err != nil {
				return fmt.Errorf("web: %s: %s: %w", name, key, err)
			}
		}
	}
	return nil
}

// localize returns the text of key. The pairs are names and values in turn; the value of
// Count, an int, selects the plural form. Integers are written with groups of digits.
func (t *translation) localize(key string, pairs []any) (string, error) {
	if text, ok := t.plain[key]; ok {
		return text, nil
	}
	config := i18n.LocalizeConfig{MessageID: key}
	if len(pairs) > 0 {
		data, err := dict(pairs...)
		if err != nil {
			return "", fmt.Errorf("text %s: %w", key, err)
		}
		config.TemplateData, config.PluralCount = data, data["Count"]
		for name, value := range data {
			switch value.(type) {
			case int, int64:
				data[name] = grouped(value)
			}
		}
	}
	text, err := t.localizer.Localize(&config)
	return strings.ReplaceAll(text, "….", "…"), err // a shortened name at the end of a sentence
}
