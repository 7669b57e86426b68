package api

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

type completeProfileRequest struct {
	Name            *string          `json:"name" rule:"name,min=1,max=100"`
	Email           *string          `json:"email" rule:"min=3,max=254"`
	Bio             *string          `json:"bio" rule:"lines,min=1,max=2000"`
	ExperienceYears *int             `json:"experience_years" rule:"min=0,max=80"`
	Sports          *[]string        `json:"sports" rule:"min=1,max=20,each=50"`
	Certifications  *[]string        `json:"certifications" rule:"max=100,each=64"`
	ProfilePicture  wire.Opt[string] `json:"profile_picture" rule:"id"`
}

// has reports whether the request has a field that a complete profile may need.
func (in completeProfileRequest) has(field string) bool {
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

// completeProfile serves POST /auth/complete-profile.
func (s *Server) completeProfile(ctx context.Context, r Request[completeProfileRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	for _, field := range s.Coaches.Required {
		if !in.has(field) {
			f.Add(wire.PointTo("", field), "required", "This is needed.")
		}
	}
	patch := coach.Patch{
		Name: in.Name, Email: in.Email, Bio: in.Bio, Sports: in.Sports,
		Certifications: in.Certifications, Picture: patchValue(in.ProfilePicture), Completes: true,
	}
	if in.ExperienceYears != nil {
		patch.Experience = &in.ExperienceYears
	}
	return s.edit(ctx, r.Caller.Actor, patch, f)
}
