package web

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

// CoachCard has the data about a coach that a public page shows. Other fields are empty.
type CoachCard struct {
	coach.Listing
	// Picture is the address of the picture, or "".
	Picture  string
	Verified bool
	// Shown are the fields that the preview shows at first.
	Shown []string
}

// Hides reports whether the preview hides a field at first.
func (c CoachCard) Hides(field string) bool { return !slices.Contains(c.Shown, field) }

// Years returns the years as a coach, for plural forms.
func (c CoachCard) Years() int { return *c.Experience }

// NewCoachCard returns what a public page shows of a coach.
func (p *Pages) NewCoachCard(l coach.Listing) CoachCard {
	card := CoachCard{Listing: l, Verified: l.Shows("verified") && p.Directory.Verified(l), Shown: l.Show}
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
	card := p.NewCoachCard(l)
	return card.Picture, card.Verified, err
}
