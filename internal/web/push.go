package web

import (
	"context"
	"encoding/json"
	"net/http"
)

const (
	workerPath   = "/service-worker.js"
	manifestPath = "/manifest.webmanifest"
)

// pushRoutes are the files that a browser needs to install the pages and to show push
// messages. Their addresses stay the same: the path of a service worker says for which pages it
// is.
func (p *Pages) pushRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: workerPath, Handle: p.serviceWorker},
		{Method: "GET", Pattern: manifestPath, Handle: p.manifest},
	}
}

// serviceWorker serves GET /service-worker.js.
func (p *Pages) serviceWorker(ctx context.Context, r *Request) (Response, error) {
	file, ok := p.render.assets.files["service-worker.js"]
	if !ok {
		return notFound(ctx, r)
	}
	return asFile("text/javascript; charset=utf-8", file.content), nil
}

// webManifest is the manifest of the installed pages.
type webManifest struct {
	Name            string         `json:"name"`
	ShortName       string         `json:"short_name"`
	ID              string         `json:"id"`
	StartURL        string         `json:"start_url"`
	Scope           string         `json:"scope"`
	Display         string         `json:"display"`
	BackgroundColor string         `json:"background_color"`
	ThemeColor      string         `json:"theme_color"`
	Icons           []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Src   string `json:"src"`
	Sizes string `json:"sizes"`
	Type  string `json:"type"`
}

// manifest serves GET /manifest.webmanifest.
func (p *Pages) manifest(context.Context, *Request) (Response, error) {
	icon, err := p.render.assets.path("icon.svg")
	if err != nil {
		return Response{}, err
	}
	content, err := json.Marshal(webManifest{
		Name: p.Brand, ShortName: p.Brand, ID: "/", StartURL: "/", Scope: "/", Display: "standalone",
		BackgroundColor: "#ffffff", ThemeColor: "#14532d", Icons: []manifestIcon{{icon, "any", "image/svg+xml"}},
	})
	if err != nil {
		return Response{}, err
	}
	return asFile("application/manifest+json", content), nil
}

// asFile returns a response with a file that browsers check for changes each time.
func asFile(kind string, content []byte) Response {
	return Response{Write: func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		_, err := w.Write(content)
		return err
	}}
}
