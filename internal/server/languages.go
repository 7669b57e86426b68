package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/web"
)

// TextsOf returns the texts of a language without those of its fallbacks, and the notice.
func TextsOf(code string) (language.Texts, error) {
	folders, err := web.TextFolders(featureFiles())
	if err != nil {
		return nil, err
	}
	all, err := language.TextsOf(code, folders...)
	if err != nil {
		return nil, err
	}
	if notice := privacy.BuiltInNotice(code); notice != "" {
		all[language.NoticeKey] = notice
	}
	return all, nil
}

// languageSetting returns what LANGUAGES and TEXTS say. The error is config.Errors.
func languageSetting(cfg *config.Config) (language.Setting, error) {
	setting := language.Setting{Offered: cfg.OfferedLanguages(), Own: new(language.Own)}
	var errs config.Errors
	if folder := cfg.TextsFolder(); folder != "" {
		english, err := TextsOf(language.English)
		if err != nil {
			return setting, err
		}
		own, faults := language.ReadOwn(folder, english)
		setting.Own = own
		for _, f := range faults {
			errs = append(errs, config.Error{Name: "TOUCHLINE_TEXTS", Message: f.Error()})
		}
	}
	add := func(text string, values ...any) {
		errs = append(errs, config.Error{Name: "TOUCHLINE_LANGUAGES", Value: strings.Join(cfg.Languages, ","), Message: fmt.Sprintf(text, values...)})
	}
	for _, code := range setting.Offered {
		switch {
		case !language.InTable(code):
			add("%q is no language of the table, which has English and the languages of the Eighth Schedule", code)
		case !language.HasTexts(code, setting.Own):
			add("there are no texts in %s; TEXTS can add them as %s.json", language.Of(code).InEnglish, code)
		}
	}
	if setting.Offered != nil && !slices.Contains(setting.Offered, language.English) {
		add("must have en: English stands in for a text that a language lacks")
	}
	if len(errs) > 0 {
		return setting, errs
	}
	if setting.Offered != nil { // English first, then as they were written
		setting.Offered = append([]string{language.English}, slices.DeleteFunc(slices.Clone(setting.Offered), func(code string) bool { return code == language.English })...)
	}
	return setting, nil
}

// CheckLanguages returns the errors in LANGUAGES and in the folder of TEXTS. It is a config.Check.
func CheckLanguages(cfg *config.Config) config.Errors {
	_, err := languageSetting(cfg)
	if errs, ok := errors.AsType[config.Errors](err); ok || err == nil {
		return errs
	}
	return config.Errors{{Name: "TOUCHLINE_TEXTS", Message: err.Error()}}
}

// UseLanguages offers what LANGUAGES and TEXTS say, in the whole process. It is for its start.
func UseLanguages(cfg *config.Config) error {
	setting, err := languageSetting(cfg)
	if err != nil {
		return err
	}
	language.Use(setting)
	return nil
}
