package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
)

type profileResponse struct {
	CoachID         string             `json:"coach_id"`
	MobileNumber    string             `json:"mobile_number"`
	Name            *string            `json:"name"`
	Email           *string            `json:"email"`
	Bio             *string            `json:"bio"`
	ExperienceYears *int               `json:"experience_years"`
	Sports          []string           `json:"sports"`
	Certifications  []documentResponse `json:"certifications"`
	ProfilePicture  *pictureResponse   `json:"profile_picture"`
	Visibility      visibilityResponse `json:"visibility"`
	KYCState        string             `json:"kyc_state"`
	Tier            string             `json:"tier"`
	ProfileComplete bool               `json:"profile_complete"`
	Missing         []string           `json:"missing"`
	CreatedAt       string             `json:"created_at"`
	UpdatedAt       string             `json:"updated_at"`
}

type visibilityResponse struct {
	Visible bool     `json:"visible"`
	Show    []string `json:"show"`
}

// newProfileResponse answers a profile; what is not built yet stands at its rest.
func (s *Server) newProfileResponse(p coach.Profile) profileResponse {
	missing := p.Missing(s.coaches.Required)
	sports := p.Sports
	if sports == nil {
		sports = []string{}
	}
	certifications := []documentResponse{}
	for _, d := range p.Certifications() {
		certifications = append(certifications, newDocumentResponse(d))
	}
	return profileResponse{
		CoachID: p.ID, MobileNumber: string(p.Number), Name: orNull(p.Name), Email: orNull(p.Email), Bio: orNull(p.Bio),
		ExperienceYears: p.Experience, Sports: sports, Certifications: certifications, ProfilePicture: newPictureResponse(p.Picture()),
		Visibility: visibilityResponse{p.Visible, orEmpty(p.Show)}, KYCState: string(s.subscriptions.Tiers.KYCState(p.KYC)), Tier: s.subscriptions.Tiers.Of(p.Tier).Name,
		ProfileComplete: len(missing) == 0, Missing: missing,
		CreatedAt: timestamp(p.CreatedAt), UpdatedAt: timestamp(p.UpdatedAt),
	}
}

// profile serves GET /api/coach/profile.
func (s *Server) profile(w http.ResponseWriter, r *http.Request) error {
	p, err := s.coaches.Profile(r.Context(), caller(r))
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, s.newProfileResponse(p))
}

type profilePatch struct {
	Name            Opt[string]   `json:"name" rule:"name,min=1,max=100"`
	Email           Opt[string]   `json:"email" rule:"min=3,max=254"`
	Bio             Opt[string]   `json:"bio" rule:"lines,min=1,max=2000"`
	ExperienceYears Opt[int]      `json:"experience_years" rule:"min=0,max=80"`
	Sports          Opt[[]string] `json:"sports" rule:"min=1,max=20,each=50"`
	Certifications  Opt[[]string] `json:"certifications" rule:"max=100,each=64"`
	ProfilePicture  Opt[string]   `json:"profile_picture" rule:"id"`
}

// editProfile serves PATCH /api/coach/profile.
func (s *Server) editProfile(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[profilePatch](r)
	patch := coach.Patch{
		Name: cleared(in.Name), Email: cleared(in.Email), Bio: cleared(in.Bio), Sports: cleared(in.Sports),
		Certifications: cleared(in.Certifications), Picture: cleared(in.ProfilePicture),
	}
	if in.ExperienceYears.Set {
		years := in.ExperienceYears.Some()
		patch.Experience = &years
	}
	return s.edit(w, r, patch, f)
}

// cleared returns what a patch sets: nil leaves it, the zero value clears it.
func cleared[T any](o Opt[T]) *T {
	if !o.Set {
		return nil
	}
	return &o.Value // zero where it is null
}

// edit ends what editProfile and completeProfile begin.
func (s *Server) edit(w http.ResponseWriter, r *http.Request, patch coach.Patch, f faults) error {
	if patch.Email != nil && *patch.Email != "" {
		f.add("/email", "invalid_email", approval.CheckEmail(*patch.Email))
	}
	if patch.Sports != nil && !coach.UniqueSports(*patch.Sports) {
		f.add("/sports", "duplicate", "Name each sport once.")
	}
	if patch.Certifications != nil {
		for i, id := range *patch.Certifications {
			if !isID(id) {
				f.add(pointTo("/certifications", i), "unknown_document", "You have no document with this id that fits here. Upload one first.")
			}
		}
	}
	if len(f) > 0 {
		// What names documents, or leaves them out, may be wrong as well.
		if err := f.join(s.coaches.Check(r.Context(), caller(r), patch)); err != nil {
			return err
		}
		return f.err()
	}
	p, err := s.coaches.Edit(r.Context(), caller(r), patch)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, s.newProfileResponse(p))
}
