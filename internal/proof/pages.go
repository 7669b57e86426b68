package proof

import (
	"context"
	"embed"
	"io"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// scriptTexts are the texts that the script of /verify shows.
var scriptTexts = []string{
	"genuine", "wrong", "why", "what", "when", "number", "coach", "student",
	"proved", "reason", "shown", "adult", "hash", "record", "noFile", "badKey", "notReceipt", "otherLog",
	"badSignature", "notInLog", "badValue", "oldBrowser", "event.asked", "event.approved", "event.rejected", "event.revoked",
	"event.disputed", "event.dispute_lifted", "event.old_dispute_lifted", "event.added", "event.cancelled", "event.corrected", "event.reset_by_number", "event.reset_by_student", "event.reset_by_service", "event.reset_by_proof", "event.coach_changed", "event.reset_by_18", "event.ended_by_student", "event.guardian_removed", "event.left", "event.removed",
	"method.otp", "method.passkey", "method.whatsapp_button", "method.voice_key", "method.link",
}

// Pages returns the page that verifies receipts, and the lists and files of receipts, to which the pages of answers, mails and
// printed codes lead.
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
	p := pages{s, site}
	routes = append(routes, web.Route{Method: "GET", Pattern: "/receipts", Handle: p.start})
	for _, role := range approval.Parties {
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: listPath(role), Handle: site.SignedIn(role, p.list)},
			web.Route{Method: "GET", Pattern: listPath(role) + "/{record_id}", Handle: site.SignedIn(role, s.download)},
		)
	}
	return routes
}

func listPath(role actor.Role) string { return web.Home(role) + "/receipts" }

// pages serves the lists of receipts.
type pages struct {
	*Service
	site *web.Pages
}

// start serves GET /receipts, which is short enough to be typed from a sheet: it leads to the receipts of a person who is signed in
// in one role, and asks others for their role.
func (p pages) start(_ context.Context, r *web.Request) (web.Response, error) {
	var signedIn []actor.Role
	for _, role := range approval.Parties {
		if _, ok := r.Actor(role); ok {
			signedIn = append(signedIn, role)
		}
	}
	if len(signedIn) == 1 {
		return web.Redirect(listPath(signedIn[0])), nil
	}
	v := p.site.NewView(r, "receipts.title")
	v.Data = map[string]any{"Guardian": listPath(actor.Guardian), "Student": listPath(actor.Student)}
	return web.Page("receipts_start", v), nil
}

// receiptsPerPage is the number of receipts on a page.
const receiptsPerPage = 20

// list serves GET /me/…/receipts.
func (p pages) list(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	after := r.Value("after")
	if after != "" && !endpoint.IsID(after) {
		return web.Response{}, fault.Missing()
	}
	records, err := p.Receipts(ctx, by, after, receiptsPerPage+1)
	if err != nil {
		return web.Response{}, err
	}
	next := ""
	if len(records) > receiptsPerPage {
		records = records[:receiptsPerPage]
		next = records[receiptsPerPage-1].Body.RecordID
	}
	v := p.site.SignedInView(r, "receipts.title", by)
	v.Data = map[string]any{"Home": web.Home(by.Role), "Path": listPath(by.Role), "Receipts": records, "Next": next}
	return web.Page("receipts", v), nil
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
