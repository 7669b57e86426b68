package proof

import (
	"context"
	"embed"
	"io"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// scriptTexts are the texts that the script of /verify shows.
var scriptTexts = []string{
	"genuine", "wrong", "why", "what", "when", "number", "coach", "student",
	"proved", "reason", "hash", "record", "noFile", "badKey", "notReceipt", "otherLog",
	"badSignature", "notInLog", "badValue", "oldBrowser", "event.asked", "event.approved", "event.rejected", "event.revoked",
	"event.disputed", "event.dispute_lifted", "event.reset_by_number", "event.reset_by_student", "event.reset_by_service", "event.reset_by_18", "event.ended_by_student", "event.left", "event.removed",
	"method.otp", "method.passkey", "method.whatsapp_button", "method.voice_key", "method.link",
}

// Pages returns the page that verifies receipts, and the files of receipts, to which the pages of answers lead.
func (s *Service) Pages(site *web.Pages) []web.Route {
	routes := []web.Route{{Method: "GET", Pattern: "/verify", Handle: func(ctx context.Context, r *web.Request) (web.Response, error) {
		key, err := s.CurrentKey(ctx)
		if err != nil {
			return web.Response{}, err
		}
		v := site.NewView(r, "verify.title")
		v.Data = map[string]any{"Key": key, "Texts": scriptTexts}
		return web.Page("verify", v), nil
	}}}
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
