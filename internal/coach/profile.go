// Package coach owns the profile of a coach, its documents, subscription tier and directory listing.
package coach

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/claims"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Limits of a profile, in years, items and characters.
const (
	MaxExperience = 80
	MaxSports     = 20
	MaxSport      = 50
)

// KYCState is the state of a coach's identity verification (KYC). Package verification changes it.
type KYCState string

// The states. Disabled is the state of every coach while the setting KYC is off; it is never stored.
const (
	Disabled   KYCState = "disabled"
	NotStarted KYCState = "not_started"
	Submitted  KYCState = "submitted"
	Verified   KYCState = "verified"
	Rejected   KYCState = "rejected"
	// Withdrawn is a state of a submission only: the coach is NotStarted then.
	Withdrawn KYCState = "withdrawn"
)

// Profile is the profile of a coach. Empty fields are unset.
type Profile struct {
	ID     string // the coach's account
	Number phone.Number
	Name   string
	Email  string
	Bio    string
	// Experience in years; nil while unset.
	Experience *int
	Sports     []string
	// TimeZone is an IANA name; "" is the zone of the default region.
	TimeZone string
	// UPIID is where families pay fees, or ""; it was changed last at UPIChangedAt.
	UPIID        string
	UPIChangedAt time.Time
	// VisibilityRequest is the coach's choice for the directory.
	VisibilityRequest
	// Tier is the stored name of the subscription tier, "" for none; KYC is the
	// verification state. Edits do not change either.
	Tier string
	KYC  KYCState
	NameChanges
	// ConfirmedName, and ConfirmedPicture, the SHA-256 of its file, are those that an operator
	// confirmed last, or "".
	ConfirmedName, ConfirmedPicture string
	// Documents are all documents except identity documents, newest first.
	Documents []Document
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Patch changes a profile: nil keeps a field, a pointer to the zero value clears
// it. Each value has been validated.
type Patch struct {
	Name *string
	// CancelName withdraws the name that waits.
	CancelName bool
	Email      *string
	Bio        *string
	Experience **int
	Sports     *[]string
	TimeZone   *string
	// UPIID can change only with RecentOTP: the caller has entered an OTP in the last 15
	// minutes.
	UPIID     *string
	RecentOTP bool
	// Certifications are document ids; Picture is one, or "".
	Certifications *[]string
	Picture        *string
	// Completes makes missing required documents a fault.
	Completes bool
}

// Apply returns p with the patch applied. It returns a fault if the patch names a
// document that the coach does not have. The limit of names comes after such faults.
func (p Profile) Apply(patch Patch, now time.Time) (Profile, error) {
	set(&p.Email, patch.Email)
	set(&p.Bio, patch.Bio)
	set(&p.Experience, patch.Experience)
	set(&p.Sports, patch.Sports)
	set(&p.TimeZone, patch.TimeZone)
	p.UpdatedAt = now
	if err := p.setUPIID(patch.UPIID, patch.RecentOTP, now); err != nil {
		return p, err
	}
	if err := p.applyDocuments(patch); err != nil {
		return p, err
	}
	return p, p.setName(patch.Name, patch.CancelName, now)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Missing returns the required fields that are empty, in the order of required.
func (p Profile) Missing(required []string) []string {
	missing := []string{}
	for _, field := range required {
		if !p.has(field) {
			missing = append(missing, field)
		}
	}
	return missing
}

// Filled returns the fields that are not empty.
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

// UniqueSports reports whether all sports differ, ignoring case, spaces and
// invisible characters.
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

// Service reads and changes profiles.
type Service struct {
	Store Store
	// Required are the fields of a complete profile (PROFILE_REQUIRED).
	Required []string
	// DefaultTimeZone is the time zone of coaches who chose none.
	DefaultTimeZone string
	// Claims are the names that no coach may have.
	Claims claims.List
	Now    func() time.Time
}

// Profile returns the caller's profile.
func (s *Service) Profile(ctx context.Context, by actor.Actor) (Profile, error) {
	return s.Store.Profile(ctx, by.AccountID)
}

// Completed reports whether a profile with these fields is complete.
func (s *Service) Completed(filled []string) bool { return len(s.Missing(filled)) == 0 }

// Missing returns the required fields that are not in filled.
func (s *Service) Missing(filled []string) []string {
	missing := []string{}
	for _, field := range s.Required {
		if !slices.Contains(filled, field) {
			missing = append(missing, field)
		}
	}
	return missing
}

// Edit applies patch to the caller's profile.
func (s *Service) Edit(ctx context.Context, by actor.Actor, patch Patch) (Profile, error) {
	var saved Profile
	err := s.Store.UpdateProfile(ctx, by.AccountID, func(p Profile) (Profile, error) {
		var err error
		saved, err = s.apply(p, patch)
		return saved, err
	})
	return saved, err
}

// Check returns the error that Edit would return and saves nothing, so that a
// caller with other faults can report all of them together.
func (s *Service) Check(ctx context.Context, by actor.Actor, patch Patch) error {
	p, err := s.Store.Profile(ctx, by.AccountID)
	if err == nil {
		_, err = s.apply(p, patch)
	}
	return err
}

func (s *Service) apply(p Profile, patch Patch) (Profile, error) {
	if patch.Name != nil && *patch.Name != p.Name && s.Claims.Person(*patch.Name) {
		return p, fault.Validation([]fault.Field{claims.Fault("/name")})
	}
	p.Completed = p.Completed || len(p.Missing(s.Required)) == 0
	if p.Completed && patch.Name != nil && *patch.Name == "" { // families would read no name, and a new one could wait for days
		return p, fault.Validation([]fault.Field{{Pointer: "/name", Code: "required", Detail: "Families know you by this name. Write another name in its place."}})
	}
	p, err := p.Apply(patch, s.Now())
	p.Completed = p.Completed || len(p.Missing(s.Required)) == 0
	if patch.Completes && (err == nil || fault.KindOf(err) == fault.Conflict) { // missing documents come before the limit of names
		if missing := missingDocumentFaults(p.Missing(s.Required)); len(missing) > 0 {
			err = fault.Validation(missing)
		}
	}
	return p, err
}

// Complete returns profile_incomplete with the missing fields until the caller's
// profile is complete (spec section 5, rule 7).
func (s *Service) Complete(ctx context.Context, by actor.Actor) error {
	filled, err := s.Store.DB.FilledFields(ctx, by.AccountID)
	if err != nil || s.Completed(filled) {
		return err
	}
	p, err := s.Profile(ctx, by) // its error says that the account has closed
	if err != nil {
		return err
	}
	if missing := p.Missing(s.Required); len(missing) > 0 {
		return errIncomplete(missing)
	}
	return nil
}
