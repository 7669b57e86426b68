package input

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Profile is the CompleteProfileRequest of openapi.yaml: a complete profile.
type Profile struct {
	Name            *string          `json:"name" rule:"name,min=1,max=100"`
	Email           *string          `json:"email" rule:"min=3,max=254"`
	Bio             *string          `json:"bio" rule:"lines,min=1,max=2000"`
	ExperienceYears *int             `json:"experience_years" rule:"min=0,max=80"`
	Sports          *[]string        `json:"sports" rule:"min=1,max=20,each=50"`
	Certifications  *[]string        `json:"certifications" rule:"max=100,each=64"`
	ProfilePicture  wire.Opt[string] `json:"profile_picture" rule:"id"`
}

// Has reports whether in has a field that a complete profile may need.
func (in Profile) Has(field string) bool {
	switch field {
	case "name":
		return in.Name != nil
	case "email":
		return in.Email != nil
	case "bio":
		return in.Bio != nil
	case "experience_years":
		return in.ExperienceYears != nil
	case "sports":
		return in.Sports != nil
	}
	return true
}

// Read returns the changes that complete the profile.
func (in Profile) Read() coach.Patch {
	patch := coach.Patch{
		Name: in.Name, Email: in.Email, Bio: in.Bio, Sports: in.Sports,
		Certifications: in.Certifications, Picture: Value(in.ProfilePicture), Completes: true,
	}
	if in.ExperienceYears != nil {
		patch.Experience = &in.ExperienceYears
	}
	return patch
}

// CheckProfile adds the faults of a patch that the rules of single fields cannot find.
func CheckProfile(patch coach.Patch, f *wire.Faults) {
	if patch.Email != nil && *patch.Email != "" {
		var wrong string
		*patch.Email, wrong = ReadEmail(*patch.Email)
		f.Add("/email", "invalid_email", wrong)
	}
	if patch.UPIID != nil && *patch.UPIID != "" && !f.Has("/upi_id") {
		f.Add("/upi_id", "invalid_upi_id", coach.CheckUPIID(*patch.UPIID))
	}
	if patch.Sports != nil && !coach.UniqueSports(*patch.Sports) {
		f.Add("/sports", "duplicate", "Name each sport once.")
	}
}

// Value returns the new value of a merge patch: nil keeps the old one and a pointer to the
// zero value clears it.
func Value[T any](o wire.Opt[T]) *T {
	if !o.Set {
		return nil
	}
	return &o.Value // the zero value for null
}
