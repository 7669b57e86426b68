package privacy

import (
	"context"
	"embed"

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

// Pages returns the page of the notice.
func (s *Service) Pages(site *web.Pages) []web.Route {
	return []web.Route{{Method: "GET", Pattern: "/notice", Handle: pages{s, site}.notice}}
}

// notice serves GET /notice: the current notice, or an older version. Links lead to the other versions.
func (p pages) notice(ctx context.Context, r *web.Request) (web.Response, error) {
	version := int64(0)
	if text := r.Value("version"); text != "" {
		var ok bool
		if version, ok = parseVersion(text); !ok {
			return web.Response{}, fault.Missing()
		}
	}
	n, err := p.Version(ctx, r.Language, version)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "notice.title")
	v.InlineStyle = true
	v.Data = map[string]any{"Notice": n, "Blocks": n.Blocks(), "Newest": p.Current(r.Language).Version, "Before": n.Version - 1}
	return web.Page("notice", v), nil
}
