package coach

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// Visibility is what a coach wishes the public to see, and what comes of it.
type Visibility struct {
	Wish
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
	s, err := d.Store.Source(ctx, by.AccountID)
	if err != nil {
		return Visibility{}, err
	}
	return d.visibility(s), nil
}

// SetVisibility notes what the caller wishes the public to see. To be hidden is
// always possible; to be seen wants a complete profile, verification where the
// tier asks for it, and a tier that shows these fields.
func (d *Directory) SetVisibility(ctx context.Context, by actor.Actor, wish Wish) (Visibility, error) {
	wish.Show = slices.DeleteFunc(slices.Clone(Showable), func(f string) bool { return !slices.Contains(wish.Show, f) })
	var saved Visibility
	err := d.Store.SetVisibility(ctx, by.AccountID, func(s Source) (Wish, error) {
		s.Wish = wish
		saved = d.visibility(s)
		if !wish.Visible {
			return wish, nil
		}
		if err := d.block(s); err != nil {
			return wish, err
		}
		return wish, d.Tiers.Show(s.standing(), wish.Show)
	})
	return saved, err
}

func (s Source) standing() Standing { return Standing{Tier: s.Tier, KYC: s.KYC} }

func (d *Directory) visibility(s Source) Visibility {
	v := Visibility{Wish: s.Wish, Allowed: d.Tiers.Of(s.Tier).Shown(Showable), Missing: s.Missing(d.Required)}
	v.BlockedBy = fault.CodeOf(d.block(s))
	v.Listed = s.Visible && v.BlockedBy == ""
	return v
}

// block returns what keeps a coach out of the directory, or nil.
func (d *Directory) block(s Source) error {
	if s.Suspended {
		return fault.New(fault.Forbidden, "account_suspended", "This account is suspended.")
	}
	if missing := s.Missing(d.Required); len(missing) > 0 {
		return errIncomplete(missing)
	}
	return d.Tiers.Visible(s.standing())
}

func errIncomplete(missing []string) error {
	return fault.New(fault.Forbidden, "profile_incomplete", "Complete your profile first; what is missing is listed.").
		With("missing", missing)
}
