package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	languageCookie   = "touchline-language"
	languageLifetime = 365 * 24 * time.Hour
)

// language returns the language of a page: the language that the person chose, else the best
// one for the browser.
func (p *Pages) language(r *http.Request) string {
	if chosen := chosenLanguage(r); chosen != "" {
		return chosen
	}
	return message.MatchLanguage(r.Header.Get("Accept-Language"))
}

// chosenLanguage returns the language that was chosen in this browser, or "".
func chosenLanguage(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(message.Languages, c.Value) {
		return c.Value
	}
	return ""
}

// chooseLanguage serves POST /language: it remembers the language in this browser, and for
// the number of the account that the page was for, and goes back to the page.
func (p *Pages) chooseLanguage(ctx context.Context, r *Request) (Response, error) {
	back := formPage(r)
	if path := r.Value("back"); path != "" {
		back = LocalPath(path)
	}
	to := r.Value("to")
	if !slices.Contains(message.Languages, to) {
		return Redirect(back), nil
	}
	for _, session := range r.Sessions {
		if session.AccountID == r.Form.Get("account") {
			if _, err := p.Preferences.SavePreferences(ctx, session.Number, message.PreferencesPatch{Language: &to}); err != nil {
				return Response{}, err
			}
		}
	}
	return Redirect(back, p.LanguageCookie(to)), nil
}

// LanguageCookie returns the cookie that keeps a language in this browser.
func (p *Pages) LanguageCookie(language string) *http.Cookie {
	return p.Cookies.cookie(languageCookie, language, languageLifetime)
}

// ApplyLanguage returns the cookie with the language of a number that has signed in, or
// none. If the number has no language yet, it gets the one chosen in this browser.
func (p *Pages) ApplyLanguage(ctx context.Context, r *Request, number phone.Number) ([]*http.Cookie, error) {
	stored, err := p.Preferences.Preferences(ctx, number)
	if err != nil {
		return nil, err
	}
	if slices.Contains(message.Languages, stored.Language) {
		return []*http.Cookie{p.LanguageCookie(stored.Language)}, nil
	}
	if chosen := chosenLanguage(r.Request); chosen != "" {
		_, err = p.Preferences.SavePreferences(ctx, number, message.PreferencesPatch{Language: &chosen})
	}
	return nil, err
}

// LocalPath returns path if it is a path of this service, and otherwise "/". It never
// returns the address of another site.
func LocalPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, "\\") || strings.ContainsFunc(path, unicode.IsControl) {
		return "/"
	}
	return path
}
