// Package coach owns what coaches say of themselves and whether their profile
// is complete, the documents that they upload, and what is kept of these.
package coach

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// The bounds of a profile (contract section 3), in characters, years and items.
const (
	MaxName       = 100
	MaxEmail      = 254
	MaxBio        = 2000
	MaxExperience = 80
	MaxSports     = 20
	MaxSport      = 50
)

// Profile is a coach as the coach describes themself; what is unset is empty.
type Profile struct {
	ID     string // the coach's account
	Number phone.Number
	Name   string
	Email  string
	Bio    string
	// Experience in years; nil while unset.
	Experience *int
	Sports     []string
	// Wish is what the public shall see.
	VisibilityRequest
	// Tier is the name of the subscription tier as it is kept, "" for none; KYC is
	// where the verification stands. Neither changes with the profile.
	Tier string
	KYC  KYCState
	// Documents are those that the profile may name, newest first.
	Documents []Document
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Patch changes a profile: nil leaves a field as it is, a pointer to the zero
// value clears it. Values are valid by themselves.
type Patch struct {
	Name       *string
	Email      *string
	Bio        *string
	Experience **int
	Sports     *[]string
	// Certifications are ids of documents; Picture is one, or "".
	Certifications *[]string
	Picture        *string
	// Completes wants a profile with documents to have those that are required.
	Completes bool
}

// Apply returns p with the patch applied at now; it is invalid where the patch
// names what is no document of the coach.
func (p Profile) Apply(patch Patch, now time.Time) (Profile, error) {
	set(&p.Name, patch.Name)
	set(&p.Email, patch.Email)
	set(&p.Bio, patch.Bio)
	set(&p.Experience, patch.Experience)
	set(&p.Sports, patch.Sports)
	p.UpdatedAt = now
	return p, p.applyDocuments(patch)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Missing names the required fields that p lacks, in the order of required.
func (p Profile) Missing(required []string) []string {
	missing := []string{}
	for _, field := range required {
		if !p.has(field) {
			missing = append(missing, field)
		}
	}
	return missing
}

// Filled names the fields that p has, of those that a complete profile may want.
func (p Profile) Filled() []string {
	all := []string{"name", "email", "bio", "experience_years", "sports", "certifications", "profile_picture"}
	return slices.DeleteFunc(all, func(field string) bool { return !p.has(field) })
}

func (p Profile) has(field string) bool {
	switch field {
	case "name":
		return p.Name != ""
	case "email":
		return p.Email != ""
	case "bio":
		return p.Bio != ""
	case "experience_years":
		return p.Experience != nil
	case "sports":
		return len(p.Sports) > 0
	case "certifications":
		return len(p.Certifications()) > 0
	case "profile_picture":
		return p.Picture() != nil
	}
	return false
}

// UniqueSports reports whether no sport stands twice, whatever the case, the
// spaces, and characters that do not show.
func UniqueSports(sports []string) bool {
	seen := map[string]bool{}
	for _, s := range sports {
		key := foldCase(s)
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

// Store is what coach needs kept; package store provides it.
type Store interface {
	Profile(ctx context.Context, coachID string) (Profile, error)
	// UpdateProfile loads, lets fn change, and saves if nobody saved meanwhile.
	// fn may run more than once.
	UpdateProfile(ctx context.Context, coachID string, fn func(Profile) (Profile, error)) error
}

// Service reads and changes the profiles of coaches.
type Service struct {
	Store Store
	// Required names the fields that make a profile complete (PROFILE_REQUIRED).
	Required []string
	Now      func() time.Time
}

// Profile returns the caller's own profile.
func (s *Service) Profile(ctx context.Context, by actor.Actor) (Profile, error) {
	return s.Store.Profile(ctx, by.AccountID)
}

// Completed says whether a profile with these fields filled is complete.
func (s *Service) Completed(filled []string) bool { return len(s.Missing(filled)) == 0 }

// Missing names the required fields that are not among those filled.
func (s *Service) Missing(filled []string) []string {
	missing := []string{}
	for _, field := range s.Required {
		if !slices.Contains(filled, field) {
			missing = append(missing, field)
		}
	}
	return missing
}

// Edit applies patch to the caller's own profile.
func (s *Service) Edit(ctx context.Context, by actor.Actor, patch Patch) (Profile, error) {
	var saved Profile
	err := s.Store.UpdateProfile(ctx, by.AccountID, func(p Profile) (Profile, error) {
		var err error
		saved, err = s.apply(p, patch)
		return saved, err
	})
	return saved, err
}

// Check returns the error that Edit would, and changes nothing: for who has been
// found fault with already, and wants to hear of all faults at once.
func (s *Service) Check(ctx context.Context, by actor.Actor, patch Patch) error {
	p, err := s.Store.Profile(ctx, by.AccountID)
	if err == nil {
		_, err = s.apply(p, patch)
	}
	return err
}

func (s *Service) apply(p Profile, patch Patch) (Profile, error) {
	p, err := p.Apply(patch, s.Now())
	if err == nil && patch.Completes {
		err = fault.Validation(missingDocumentFaults(p.Missing(s.Required)))
	}
	return p, err
}

// Complete answers profile_incomplete, with what is missing, until the caller's
// profile has all that is required (spec section 5, rule 7).
func (s *Service) Complete(ctx context.Context, by actor.Actor) error {
	p, err := s.Profile(ctx, by)
	if err != nil {
		return err
	}
	if missing := p.Missing(s.Required); len(missing) > 0 {
		return errIncomplete(missing)
	}
	return nil
}
