package coaching

import (
	"context"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

const visibilityPath = "/coach/visibility"

// visibilityField is a field of the profile that the public page can show.
type visibilityField struct {
	Name string
	// Allowed says that the tier may show it.
	Allowed, Chosen bool
}

// visibility serves GET /coach/visibility: what the public page shows, beside the card.
func (p pages) visibility(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.visibilityForm(ctx, r, by, r.Restored(nil))
}

func (p pages) visibilityForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	saved, err := p.Directory.Visibility(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	preview, err := p.Directory.Preview(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "profile", "visibility.title", by)
	if f == nil {
		f = &web.Form{Values: url.Values{"show": saved.Show}}
		if len(saved.Show) == 0 && !saved.Visible {
			f.Values["show"] = []string{"name", "sports"}
		}
		if saved.Visible {
			f.Values.Set("visible", "yes")
		}
	}
	var fields []visibilityField
	for _, name := range coach.Showable {
		if name == "verified" && !p.Subscriptions.Tiers.KYC {
			continue
		}
		allowed := slices.Contains(saved.Allowed, name)
		fields = append(fields, visibilityField{Name: name, Allowed: allowed, Chosen: allowed && slices.Contains(f.Values["show"], name)})
	}
	v.Form, v.Path = f, visibilityPath
	card := p.site.NewCoachCard(preview)
	card.Shown = f.Values["show"]
	if card.Picture != "" {
		card.Picture = "/coach/documents/" + preview.Picture.DocumentID + "/content"
	}
	v.Data = map[string]any{"Saved": saved, "Fields": fields, "Card": card, "Done": r.URL.Query().Get("done")}
	return web.FormPage("visibility", v), nil
}

// saveVisibility serves POST /coach/visibility.
func (p pages) saveVisibility(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	show := r.Form["show"]
	if !p.Subscriptions.Tiers.KYC {
		// The form has no such field while the identity is not checked: keep it as it was.
		saved, err := p.Directory.Visibility(ctx, by)
		if err != nil {
			return web.Response{}, err
		}
		if slices.Contains(saved.Show, "verified") {
			show = append(show, "verified")
		}
	}
	_, err := p.Directory.SetVisibility(ctx, by, coach.VisibilityRequest{Visible: r.Value("visible") == "yes", Show: show})
	if fault.KindOf(err) == fault.Forbidden {
		f := &web.Form{Values: r.Form}
		v := p.site.NewView(r, "visibility.title")
		text, textErr := v.T("visibility.blocked." + fault.CodeOf(err))
		if textErr != nil {
			return web.Response{}, err
		}
		f.Add("", text)
		return p.visibilityForm(ctx, r, by, f)
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect(visibilityPath + "?done=saved"), nil
}
