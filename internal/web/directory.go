package web

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// coachesPerPage is the number of coaches on one page of the directory.
const coachesPerPage = 24

func (p *Pages) directoryRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/coaches", Handle: p.coaches},
		{Method: "GET", Pattern: "/coaches/{coach_id}", Handle: p.coach},
	}
}

// coachCard has the data about a coach that a public page shows. Other fields are empty.
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

// ShownOf returns what the public page of a coach shows beside the name: the address of the picture, or "",
// and whether the identity was checked.
func (p *Pages) ShownOf(ctx context.Context, coachID string) (picture string, verified bool, err error) {
	l, err := p.Directory.Coach(ctx, coachID)
	if fault.KindOf(err) == fault.NotFound {
		return "", false, nil
	}
	card := p.newCoachCard(l)
	return card.Picture, card.Verified, err
}

// coaches serves GET /coaches: the coaches who show a public page, newest first, with a
// search by name and sport.
func (p *Pages) coaches(ctx context.Context, r *Request) (Response, error) {
	v := p.NewView(r, "directory.title")
	v.Form = &Form{Values: r.Form}
	var faults wire.Faults
	text := wire.ParseRules("max=100").Text(r.Value("q"), "/q", &faults)
	sport := wire.ParseRules("max=50").Text(r.Value("sport"), "/sport", &faults)
	query, ok := coach.NewQuery(sport, text)
	if !ok {
		faults.Add("/q", "too_many_words", "Use fewer words.")
	}
	if err := faults.Err(); err != nil {
		p.AddFaults(r, v.Form, err, nil)
		v.Data = map[string]any{"Searched": true}
		return FormPage("coaches", v), nil
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
	resp := Page("coaches", v)
	resp.Public = true
	return resp, nil
}

// maxDescription is the number of characters of a description that search engines show.
const maxDescription = 160

// describe returns the title and the description of a coach's public page: what the coach
// shows, or "" for the title of every such page.
func (v *View) describe(c coachCard) (title, description string) {
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
func (p *Pages) coach(ctx context.Context, r *Request) (Response, error) {
	id, err := r.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	listing, err := p.Directory.Coach(ctx, id)
	if err != nil {
		return Response{}, err
	}
	v := p.NewView(r, "directory.coach.title")
	card := p.newCoachCard(listing)
	v.PublicTitle, v.Description = v.describe(card)
	v.Data = card
	resp := Page("coach", v)
	resp.Public = true
	return resp, nil
}
