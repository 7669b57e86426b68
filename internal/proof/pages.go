package proof

import (
	"context"
	"io"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// Pages returns the files of receipts, to which the pages of answers lead.
func (s *Service) Pages(site *web.Pages) []web.Route {
	var routes []web.Route
	for _, role := range approval.Parties {
		routes = append(routes, web.Route{Method: "GET", Pattern: "/me/" + string(role) + "/receipts/{record_id}", Handle: site.SignedIn(role, s.download)})
	}
	return routes
}

// download serves GET /me/…/receipts/{record_id}.
func (s *Service) download(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("record_id")
	receipt, err := s.Receipt(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	return web.Download(id+".tlog-proof", MediaReceipt, func(_ context.Context, out io.Writer) error {
		_, err := out.Write(receipt.Encode())
		return err
	}), nil
}
