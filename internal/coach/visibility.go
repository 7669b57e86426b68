package coach

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// Visibility is what a coach wishes the public to see, and what comes of it.
type Visibility struct {
	VisibilityRequest
	// Listed says whether the coach is in the directory now.
	Listed bool
	// BlockedBy is the code of what keeps the coach out of it, whatever the wish;
	// "" is nothing.
	BlockedBy string
	// Allowed are the fields that the coach's tier shows.
	Allowed []string
	// Missing are the fields that a complete profile still wants.
	Missing []string
}

// Visibility returns where the caller stands in the directory.
func (d *Directory) Visibility(ctx context.Context, by actor.Actor) (Visibility, error) {
	s, err := d.Store.ListingSource(ctx, by.AccountID)
	if err != nil {
		return Visibility{}, err
	}
	return d.visibility(s), nil
}

// SetVisibility notes what the caller wishes the public to see. To be hidden is
// always possible; to be seen wants a complete profile, verification where the
// tier asks for it, and a tier that shows these fields.
func (d *Directory) SetVisibility(ctx context.Context, by actor.Actor, wish VisibilityRequest) (Visibility, error) {
	wish.Show = slices.DeleteFunc(slices.Clone(Showable), func(f string) bool { return !slices.Contains(wish.Show, f) })
	var saved Visibility
	err := d.Store.SetVisibility(ctx, by.AccountID, func(s ListingSource) (VisibilityRequest, error) {
		s.VisibilityRequest = wish
		saved = d.visibility(s)
		if !wish.Visible {
			return wish, nil
		}
		if err := d.blockedBy(s); err != nil {
			return wish, err
		}
		return wish, d.Tiers.CheckFields(s.tierStatus(), wish.Show)
	})
	return saved, err
}

func (s ListingSource) tierStatus() TierStatus { return TierStatus{Tier: s.Tier, KYC: s.KYC} }

func (d *Directory) visibility(s ListingSource) Visibility {
	v := Visibility{VisibilityRequest: s.VisibilityRequest, Allowed: d.Tiers.Of(s.Tier).Shown(Showable), Missing: s.Missing(d.Required)}
	v.BlockedBy = fault.CodeOf(d.blockedBy(s))
	v.Listed = s.Visible && v.BlockedBy == ""
	return v
}

// block returns what keeps a coach out of the directory, or nil.
func (d *Directory) blockedBy(s ListingSource) error {
	if s.Suspended {
		return fault.New(fault.Forbidden, "account_suspended", "This account is suspended.")
	}
	if missing := s.Missing(d.Required); len(missing) > 0 {
		return errIncomplete(missing)
	}
	return d.Tiers.CheckVisible(s.tierStatus())
}

func errIncomplete(missing []string) error {
	return fault.New(fault.Forbidden, "profile_incomplete", "Complete your profile first; what is missing is listed.").
		With("missing", missing)
}
