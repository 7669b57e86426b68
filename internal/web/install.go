package web

import (
	"context"
	"encoding/json"
	"net/http"
)

const (
	workerPath   = "/service-worker.js"
	manifestPath = "/manifest.webmanifest"
	// installedPath is the first page of the installed app. It leads to the first page of the signed-in role.
	installedPath = "/?installed"
	// offlinePath is the page that the service worker shows in place of a page that the phone has not kept.
	offlinePath = "/offline"
)

// installRoutes are the files with which a browser installs the pages as an app, opens some of them without a
// connection, and shows push messages. Their addresses stay the same: the path of a service worker says for which
// pages it is.
func (p *Pages) installRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: workerPath, Handle: p.serviceWorker},
		{Method: "GET", Pattern: manifestPath, Handle: p.manifest},
		{Method: "GET", Pattern: offlinePath, Handle: p.offline},
	}
}

// offline serves GET /offline.
func (p *Pages) offline(_ context.Context, r *Request) (Response, error) {
	return Page("offline", p.NewView(r, "offline.title")), nil
}

// serviceWorker serves GET /service-worker.js.
func (p *Pages) serviceWorker(ctx context.Context, r *Request) (Response, error) {
	file, ok := p.render.assets.files["service-worker.js"]
	if !ok {
		return notFound(ctx, r)
	}
	script := asFile("text/javascript; charset=utf-8", file.content)
	script.Header = http.Header{"Content-Security-Policy": {"default-src 'none'; connect-src 'self'"}}
	return script, nil
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
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// manifest serves GET /manifest.webmanifest. Android cuts a maskable icon to the shape of its other icons.
func (p *Pages) manifest(context.Context, *Request) (Response, error) {
	icons := []manifestIcon{
		{"icon.svg", "any", "image/svg+xml", "any"},
		{"icon-192.png", "192x192", "image/png", "any"},
		{"icon-512.png", "512x512", "image/png", "any"},
		{"icon-maskable.png", "512x512", "image/png", "maskable"},
	}
	for i := range icons {
		var err error
		if icons[i].Src, err = p.render.assets.path(icons[i].Src); err != nil {
			return Response{}, err
		}
	}
	content, err := json.Marshal(webManifest{
		Name: p.Brand, ShortName: p.Brand, ID: "/", StartURL: installedPath, Scope: "/", Display: "standalone",
		BackgroundColor: "#ffffff", ThemeColor: "#14532d", Icons: icons,
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
