package privacy

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Operations returns the operations of the notice and of the export.
func (s *Service) Operations(a *api.Server) []api.Route {
	return []api.Route{
		{Method: "GET", Pattern: "/api/me/export", Handle: endpoint.Handle(exportCalls{s, a}.export)},
		{Method: "GET", Pattern: "/api/notice", Handle: endpoint.Handle(s.getNotice), Authenticate: api.Anonymous, Query: []string{"language", "version"}},
	}
}

// noticeResponse is the Notice of openapi.yaml.
type noticeResponse struct {
	Version  int64  `json:"version"`
	Language string `json:"language"`
	Hash     string `json:"hash"`
	Text     string `json:"text"`
}

// getNotice serves GET /api/notice to anyone.
func (s *Service) getNotice(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	code := api.QueryText(r.Query, "language", &f, wire.ParseRules("oneof="+strings.Join(language.Offered(), "|")))
	version := int64(0)
	if text := api.QueryText(r.Query, "version", &f, wire.ParseRules("min=1,max=9")); text != "" {
		var ok bool
		if version, ok = parseVersion(text); !ok {
			f.Add("/version", "invalid_number", "This must be a number from 1.")
		}
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	if code == "" {
		code = language.Match(r.Header.Get("Accept-Language"))
	}
	n, err := s.Version(ctx, code, version)
	if err != nil {
		return api.Response{}, err
	}
	resp := endpoint.OK(noticeResponse{n.Version, n.Language, n.Hash, n.Text})
	resp.Header = http.Header{"Content-Language": {n.Language}, "Vary": {"Accept-Language"}}
	return resp, nil
}

// parseVersion reads the number of a version from 1.
func parseVersion(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0
}
