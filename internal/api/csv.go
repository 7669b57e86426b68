package api

import (
	"context"
	"io"
	"net/http"

	"github.com/touchline/touchline/internal/csvfile"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/wire"
)

const mediaCSV = "text/csv"

// prefersCSV reports whether the caller of a list asks for a file.
func prefersCSV(h http.Header) bool {
	return wire.Preferred(h, "application/json", mediaCSV) == mediaCSV
}

// csvResponse sends a file with a row of titles and the rows that each writes. If each fails
// before the first row, its error is the response.
func csvResponse(name string, titles []string, each func(ctx context.Context, row func(cells ...string) error) error) Response {
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		// The time of the route is meant for a page of the list.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), httpx.FileTimeout)
		defer cancel()
		return httpx.Download(w, name, csvfile.MediaType, func(out io.Writer) error {
			return csvfile.WriteTable(out, titles, func(row func(...string) error) error { return each(ctx, row) })
		})
	}}
}
