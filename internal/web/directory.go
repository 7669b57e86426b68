package web

import (
	"context"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/wire"
)

// coachesPerPage is the number of coaches on one page of the directory.
const coachesPerPage = 24

func (p *Pages) directoryRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/coaches", Handle: p.coaches},
		{Method: "GET", Pattern: "/coaches/{coach_id}", Handle: p.coach},
	}
}

// coachCard is what a public page shows of a coach. Fields that are not shown are empty.
type coachCard struct {
	coach.Listing
	// Picture is the address of the picture, or "".
	Picture  string
	Verified bool
	// Shown are the fields that the preview shows at first.
	Shown []string
}

// Hides reports whether the preview hides a field at first.
func (c coachCard) Hides(field string) bool { return !slices.Contains(c.Shown, field) }

// Years returns the years as a coach, for plural forms.
func (c coachCard) Years() int { return *c.Experience }

func (p *Pages) newCoachCard(l coach.Listing) coachCard {
	card := coachCard{Listing: l, Verified: l.Shows("verified") && p.Directory.Verified(l), Shown: l.Show}
	if l.Picture != nil {
		card.Picture = "/api/coach/documents/" + l.Picture.DocumentID + "/content"
		for _, size := range l.Picture.Sizes {
			if size.Name == "medium" {
				card.Picture += "?size=medium"
			}
		}
	}
	return card
}

// coaches serves GET /coaches: the coaches who show a public page, newest first, with a
// search by name and sport.
func (p *Pages) coaches(ctx context.Context, r *Request) (Response, error) {
	v := p.view(r, "directory.title")
	v.Form = &Form{Values: r.Form}
	var faults wire.Faults
	text := wire.ParseRules("max=100").Text(r.Value("q"), "/q", &faults)
	sport := wire.ParseRules("max=50").Text(r.Value("sport"), "/sport", &faults)
	query, ok := coach.NewQuery(sport, text)
	if !ok {
		faults.Add("/q", "too_many_words", "Use fewer words.")
	}
	if err := faults.Err(); err != nil {
		p.addFaults(r, v.Form, err, nil)
		v.Data = map[string]any{"Searched": true}
		return formPageResponse("coaches", v), nil
	}
	after := r.Value("after")
	if !endpoint.IsID(after) {
		after = ""
	}
	found, last, err := p.Directory.List(ctx, query, after, coachesPerPage)
	if err != nil {
		return Response{}, err
	}
	cards := make([]coachCard, len(found))
	for i, l := range found {
		cards[i] = p.newCoachCard(l)
	}
	next := ""
	if last != "" {
		values := url.Values{"after": {last}}
		for name, value := range map[string]string{"q": text, "sport": sport} {
			if value != "" {
				values.Set(name, value)
			}
		}
		next = "/coaches?" + values.Encode()
	}
	v.Data = map[string]any{"Cards": cards, "Next": next, "Searched": text != "" || sport != "" || after != ""}
	resp := page("coaches", v)
	resp.Public = true
	return resp, nil
}

// coach serves GET /coaches/{coach_id}: the public page of a coach.
func (p *Pages) coach(ctx context.Context, r *Request) (Response, error) {
	id, err := r.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	listing, err := p.Directory.Coach(ctx, id)
	if err != nil {
		return Response{}, err
	}
	v := p.view(r, "directory.coach.title")
	v.Data = p.newCoachCard(listing)
	resp := page("coach", v)
	resp.Public = true
	return resp, nil
}
