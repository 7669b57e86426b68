package coaching

import (
	"context"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// coachesPerPage is the number of coaches on one page of the directory.
const coachesPerPage = 24

// coaches serves GET /coaches: the coaches who show a public page, newest first, with a
// search by name and sport.
func (p pages) coaches(ctx context.Context, r *web.Request) (web.Response, error) {
	v := p.site.NewView(r, "directory.title")
	v.Description = v.MustT("start.find.text")
	v.Form = &web.Form{Values: r.Form}
	var faults wire.Faults
	text := wire.ParseRules("max=100").Text(r.Value("q"), "/q", &faults)
	query, ok := coach.NewQuery("", text)
	if !ok {
		faults.Add("/q", "too_many_words", "Use fewer words.")
	}
	if err := faults.Err(); err != nil {
		p.site.AddFaults(r, v.Form, err, nil)
		v.Data = map[string]any{"Searched": true}
		return web.FormPage("coaches", v), nil
	}
	after := r.Value("after")
	if !endpoint.IsID(after) {
		after = ""
	}
	found, last, err := p.Directory.List(ctx, query, after, coachesPerPage)
	if err != nil {
		return web.Response{}, err
	}
	cards := make([]web.CoachCard, len(found))
	for i, l := range found {
		cards[i] = p.site.NewCoachCard(l)
	}
	next := ""
	if last != "" {
		values := url.Values{"after": {last}}
		if text != "" {
			values.Set("q", text)
		}
		next = "/coaches?" + values.Encode()
	}
	v.Data = map[string]any{"Cards": cards, "Next": next, "Searched": text != "" || after != ""}
	resp := web.Page("coaches", v)
	resp.Public = true
	return resp, nil
}

// maxDescription is the number of characters of a description that search engines show.
const maxDescription = 160

// describe returns the title and the description of a coach's public page: what the coach
// shows, or "" for the title of every such page.
func describe(v *web.View, c web.CoachCard) (title, description string) {
	sports := strings.Join(c.Sports, ", ")
	switch {
	case c.Name != "" && sports != "":
		title = v.MustT("directory.coach.about", "Name", c.Name, "Sports", sports)
	case c.Name != "":
		title = c.Name
	case sports != "":
		title = v.MustT("directory.coach.sports", "Sports", sports)
	}
	text := []rune(strings.Join(strings.Fields(c.Bio), " "))
	if len(text) > maxDescription {
		return title, string(text[:maxDescription-1]) + "…"
	}
	return title, string(text)
}

// coach serves GET /coaches/{coach_id}: the public page of a coach.
func (p pages) coach(ctx context.Context, r *web.Request) (web.Response, error) {
	id := r.PathValue("coach_id")
	if !endpoint.IsID(id) {
		return web.Response{}, fault.Missing()
	}
	listing, err := p.Directory.Coach(ctx, id)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "directory.coach.title")
	card := p.site.NewCoachCard(listing)
	v.PublicTitle, v.Description = describe(v, card)
	v.Data = card
	resp := web.Page("coach", v)
	resp.Public = true
	return resp, nil
}
