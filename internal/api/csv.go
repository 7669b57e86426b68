package api

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/wire"
)

const MediaCSV = "text/csv"

// PrefersCSV reports whether the caller of a list asks for a file.
func PrefersCSV(h http.Header) bool {
	return wire.Preferred(h, "application/json", MediaCSV) == MediaCSV
}

// withCSVRoutes adds a sibling to each route that also sends a file: it sends the file whatever the
// Accept header prefers, so that a generated client has a call with one type of response. A file has
// all items, so the sibling has no limit and no cursor.
func withCSVRoutes(routes []Route) []Route {
	for _, rt := range slices.Clone(routes) {
		if rt.Alternative != MediaCSV {
			continue
		}
		next := rt.Handle.Serve
		rt.Handle.Serve = func(ctx context.Context, m Meta, body endpoint.Body) (Response, error) {
			m.Header = m.Header.Clone()
			m.Header.Set("Accept", MediaCSV)
			return next(ctx, m, body)
		}
		if rt.Pattern += ".csv"; strings.HasSuffix(rt.Pattern, "}.csv") { // a wildcard is a whole segment
			rt.Pattern = strings.TrimSuffix(rt.Pattern, ".csv") + "/sheet.csv"
		}
		rt.Produces, rt.Alternative = MediaCSV, ""
		rt.Query = slices.DeleteFunc(slices.Clone(rt.Query), func(name string) bool { return name == "limit" || name == "cursor" })
		routes = append(routes, rt)
	}
	return routes
}

// CSVResponse sends a file with a row of titles and the rows that each writes. If each fails
// before the first row, its error is the response.
func CSVResponse(name string, titles []string, each func(ctx context.Context, row func(cells ...string) error) error) Response {
	return FileResponse(name, csvfile.MediaType, func(ctx context.Context, out io.Writer) error {
		return csvfile.WriteTable(out, titles, func(row func(...string) error) error { return each(ctx, row) })
	})
}

// FileResponse sends a file while it is written. If write fails before the first byte, its
// error is the response.
func FileResponse(name, mediaType string, write func(ctx context.Context, out io.Writer) error) Response {
	return Response{Download: true, Write: func(w http.ResponseWriter, r *http.Request) error {
		// The time of the route is meant for a page of a list.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), httpx.FileTimeout)
		defer cancel()
		return httpx.Download(w, r, name, mediaType, func(out io.Writer) error { return write(ctx, out) })
	}}
}
