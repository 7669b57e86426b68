package coach

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Visibility is a coach's visibility request and its effect.
type Visibility struct {
	VisibilityRequest
	// Listed reports whether the coach is in the directory now.
	Listed bool
	// BlockedBy is the code of the rule that keeps the coach out of the directory,
	// "" for none.
	BlockedBy string
	// Allowed are the fields that the coach's tier may show.
	Allowed []string
	// Missing are the required profile fields that are empty.
	Missing []string
}

// Visibility returns the caller's visibility.
func (d *Directory) Visibility(ctx context.Context, by actor.Actor) (Visibility, error) {
	s, err := d.Store.ListingSource(ctx, by.AccountID)
	if err != nil {
		return Visibility{}, err
	}
	return d.visibility(s), nil
}

// Preview returns the caller's listing with every field of the tier, whether the caller is
// visible or not.
func (d *Directory) Preview(ctx context.Context, by actor.Actor) (Listing, error) {
	s, err := d.Store.ListingSource(ctx, by.AccountID)
	if err != nil {
		return Listing{}, err
	}
	s.VisibilityRequest = VisibilityRequest{Visible: true, Show: d.Tiers.Of(s.Tier).Shown(Showable)}
	s.Suspended = false
	l, _ := s.Listing()
	return d.withValidCertificates(l), nil
}

// SetVisibility saves what the caller wants the directory to show. A coach may
// always hide. To be visible the coach needs a complete profile, a tier that shows
// these fields, and verification if the tier requires it.
func (d *Directory) SetVisibility(ctx context.Context, by actor.Actor, request VisibilityRequest) (Visibility, error) {
	request.Show = slices.DeleteFunc(slices.Clone(Showable), func(f string) bool { return !slices.Contains(request.Show, f) })
	var saved Visibility
	err := d.Store.SetVisibility(ctx, by.AccountID, func(s ListingSource) (VisibilityRequest, error) {
		s.VisibilityRequest = request
		saved = d.visibility(s)
		if !request.Visible {
			return request, nil
		}
		if err := d.blockedBy(s); err != nil {
			return request, err
		}
		return request, d.Tiers.CheckFields(s.tierStatus(), request.Show)
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

// blockedBy returns the error that keeps a coach out of the directory, or nil.
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
	return fault.New(fault.Forbidden, "profile_incomplete", "Complete your profile first. The missing fields are listed.").
		With("missing", missing)
}
