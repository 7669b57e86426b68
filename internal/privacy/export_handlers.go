package privacy

import (
	"context"
	"io"
	"net/url"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// Export are the sources of what a person can take away.
type Export struct {
	// Family returns the data of a guardian or student, without data of the other party.
	Family func(by actor.Actor) []Section
	// Receipts returns the receipts of a guardian or student.
	Receipts func(by actor.Actor) ExportFiles
	// Coach writes everything of a coach.
	Coach func(ctx context.Context, by actor.Actor, out io.Writer) error
}

// exportName is the name of the file.
const exportName = "my-data.zip"

// exportCalls serves the export as JSON calls.
type exportCalls struct {
	*Service
	api *api.Server
}

// export serves GET /api/me/export.
func (h exportCalls) export(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	by := r.Caller.Actor
	recent, err := h.Auth.HasRecentOTP(ctx, by)
	if err == nil && !recent {
		err = fault.New(fault.Forbidden, "fresh_otp_required", "Sign in again, with an OTP or a passkey. Then ask for the export within 15 minutes.")
	}
	if err != nil {
		return api.Response{}, err
	}
	code := language.Match(r.Header.Get("Accept-Language"))
	return api.FileResponse(exportName, csvfile.ArchiveMediaType, func(ctx context.Context, out io.Writer) error {
		return h.writeExport(ctx, by, out, code)
	}), nil
}

// WriteExport writes the export of a person for an operator, in the default language.
func (s *Service) WriteExport(ctx context.Context, by actor.Actor, out io.Writer) error {
	return s.writeExport(ctx, by, out, language.English)
}

// writeExport writes the export of a person.
func (s *Service) writeExport(ctx context.Context, by actor.Actor, out io.Writer, code string) error {
	if by.Role == actor.Coach {
		return s.Export.Coach(ctx, by, out)
	}
	return WriteExport(ctx, out, s.Export.Family(by), s.Export.Receipts(by), code, s.DB.Now())
}

// signInFor returns the path of the sign-in that leads back to next.
func signInFor(role actor.Role, next string) string {
	return "/sign-in/" + string(role) + "?" + url.Values{"next": {next}}.Encode()
}

func exportPath(role actor.Role) string { return web.Home(role) + "/export" }

// exportPage serves GET /me/{role}/export.
func (p pages) exportPage(_ context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	v := p.site.SignedInView(r, "export.title", by)
	v.Data = map[string]any{
		"Home": web.Home(by.Role), "Fresh": p.site.HasRecentOTP(r, by.Role),
		"SignIn": signInFor(by.Role, exportPath(by.Role)),
	}
	return web.Page("my_export", v), nil
}

// download serves GET /me/{role}/export/data.zip, after a recent OTP.
func (p pages) download(_ context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if !p.site.HasRecentOTP(r, by.Role) {
		return web.Response{}, web.SignInError{Role: by.Role, Next: exportPath(by.Role)}
	}
	code := r.Language
	return web.Download(exportName, csvfile.ArchiveMediaType, func(ctx context.Context, out io.Writer) error {
		return p.writeExport(ctx, by, out, code)
	}), nil
}
