package privacy

import (
	"context"
	"embed"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the notice.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the page of the notice, and the pages on which families export and delete what is theirs.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	routes := []web.Route{
		{Method: "GET", Pattern: "/notice", Handle: p.notice},
		{Method: "GET", Pattern: deletedPath, Handle: p.deletedPage},
	}
	for _, role := range []actor.Role{actor.Guardian, actor.Student} {
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: exportPath(role), Handle: site.SignedIn(role, p.exportPage)},
			web.Route{Method: "GET", Pattern: exportPath(role) + "/data.zip", Handle: site.SignedIn(role, p.download)},
			web.Route{Method: "GET", Pattern: deletePath(role), Handle: site.SignedIn(role, p.deletePage)},
			web.Route{Method: "POST", Pattern: deletePath(role), Handle: p.deleteAccount(role)},
		)
	}
	return routes
}

// notice serves GET /notice: the current notice, an older version, or the one with a hash, to which the
// history of answers leads.
func (p pages) notice(ctx context.Context, r *web.Request) (web.Response, error) {
	n, err := p.wanted(ctx, r)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "notice.title")
	v.InlineStyle = true
	v.Data = map[string]any{"Notice": n, "Blocks": n.Blocks(), "Newest": p.Current(n.Language).Version, "Before": n.Version - 1}
	return web.Page("notice", v), nil
}

func (p pages) wanted(ctx context.Context, r *web.Request) (Notice, error) {
	hash, text := r.Value("hash"), r.Value("version")
	if hash != "" {
		return p.ByHash(ctx, hash)
	}
	if text == "" {
		return p.Current(r.Language), nil
	}
	version, ok := parseVersion(text)
	if !ok {
		return Notice{}, fault.Missing()
	}
	return p.Version(ctx, r.Language, version)
}
