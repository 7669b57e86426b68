package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

const languageCookie = "touchline-language"

// language returns the language of a page: the one that the person chose, else the best
// one for the browser.
func (p *Pages) language(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(languages, c.Value) {
		return c.Value
	}
	return p.render.catalogue.match(r.Header.Get("Accept-Language"))
}

// chooseLanguage serves GET /language: it remembers the language in this browser and goes
// back to the page.
func (p *Pages) chooseLanguage(_ context.Context, r *Request) (Response, error) {
	back := localPath(r.Value("back"))
	if !slices.Contains(languages, r.Value("to")) {
		return redirect(back), nil
	}
	return redirect(back, p.cookies.plain(languageCookie, r.Value("to"), 365*24*time.Hour)), nil
}

// localPath returns path if it is a path of this service, and otherwise "/". It never
// returns the address of another site.
func localPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}
