package web

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/touchline/touchline/internal/language"
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
	code := chosenLanguage(r)
	if code == "" {
		code = language.Match(r.Header.Get("Accept-Language"))
	}
	return p.pageLanguage(r.URL.Path)(code)
}

// pageLanguage returns what turns a chosen language into the one that the page at a path has.
func (p *Pages) pageLanguage(path string) func(chosen string) string {
	switch {
	case p.forOperators:
		return language.ForOperators
	case forCoaches(path):
		return language.ForCoaches
	case asks(path):
		return language.Asked
	}
	return language.Effective
}

// forCoaches reports whether a page is for coaches, whose texts not all languages have.
func forCoaches(path string) bool { return strings.HasPrefix(path, "/coach/") || path == "/coach" }

// asks reports whether a page asks a question or shows what an answer does: a language whose texts no second translator
// checked asks no one.
func asks(path string) bool {
	return strings.HasPrefix(path, "/a/") || strings.HasPrefix(path, "/me/guardian/") || strings.HasPrefix(path, "/me/student/")
}

// chosenLanguage returns the language that was chosen in this browser, or "".
func chosenLanguage(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil && language.IsOffered(c.Value) {
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
	if !language.IsOffered(to) {
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
	if language.IsOffered(stored.Language) {
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
