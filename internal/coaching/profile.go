package coaching

import (
	"cmp"
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type profileResponse struct {
	CoachID         string                 `json:"coach_id"`
	MobileNumber    string                 `json:"mobile_number"`
	Name            *string                `json:"name"`
	Email           *string                `json:"email"`
	Bio             *string                `json:"bio"`
	ExperienceYears *int                   `json:"experience_years"`
	Sports          []string               `json:"sports"`
	Certifications  []api.DocumentResponse `json:"certifications"`
	ProfilePicture  *api.PictureResponse   `json:"profile_picture"`
	TimeZone        string                 `json:"time_zone"`
	UPIID           *string                `json:"upi_id"`
	Visibility      profileVisibility      `json:"visibility"`
	KYCState        string                 `json:"kyc_state"`
	NamePending     *string                `json:"name_pending"`
	TakesEffectAt   *string                `json:"takes_effect_at"`
	Tier            string                 `json:"tier"`
	ProfileComplete bool                   `json:"profile_complete"`
	Missing         []string               `json:"missing"`
	CreatedAt       string                 `json:"created_at"`
	UpdatedAt       string                 `json:"updated_at"`
}

type profileVisibility struct {
	Visible bool     `json:"visible"`
	Show    []string `json:"show"`
}

func (h handlers) newProfileResponse(p coach.Profile) profileResponse {
	missing := p.Missing(h.Coaches.Required)
	sports := p.Sports
	if sports == nil {
		sports = []string{}
	}
	certifications := []api.DocumentResponse{}
	for _, d := range p.Certifications() {
		certifications = append(certifications, api.NewDocumentResponse(d))
	}
	return profileResponse{
		CoachID: p.ID, MobileNumber: string(p.Number), Name: wire.OrNull(p.Name), Email: wire.OrNull(p.Email), Bio: wire.OrNull(p.Bio),
		ExperienceYears: p.Experience, Sports: sports, Certifications: certifications, ProfilePicture: api.NewPictureResponse(p.Picture()),
		TimeZone: cmp.Or(p.TimeZone, h.Coaches.DefaultTimeZone), UPIID: wire.OrNull(p.UPIID),
		Visibility: profileVisibility{p.Visible, orEmpty(p.Show)}, KYCState: string(h.Subscriptions.Tiers.KYCState(p.KYC)), Tier: h.Subscriptions.Tiers.Of(p.Tier).Name,
		NamePending: wire.OrNull(p.NamePending), TakesEffectAt: wire.TimestampOrNull(p.NameTakesEffectAt),
		ProfileComplete: len(missing) == 0, Missing: missing,
		CreatedAt: wire.Timestamp(p.CreatedAt), UpdatedAt: wire.Timestamp(p.UpdatedAt),
	}
}

// profile serves GET /api/coach/profile.
func (h handlers) profile(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	p, err := h.Coaches.Profile(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.newProfileResponse(p)), nil
}

type profilePatch struct {
	Name            wire.Opt[string]   `json:"name" rule:"name,min=1,max=100"`
	NamePending     wire.Opt[string]   `json:"name_pending"`
	Email           wire.Opt[string]   `json:"email" rule:"min=3,max=254"`
	Bio             wire.Opt[string]   `json:"bio" rule:"lines,min=1,max=2000"`
	ExperienceYears wire.Opt[int]      `json:"experience_years" rule:"min=0,max=80"`
	Sports          wire.Opt[[]string] `json:"sports" rule:"min=1,max=20,each=50"`
	Certifications  wire.Opt[[]string] `json:"certifications" rule:"max=100,each=64"`
	ProfilePicture  wire.Opt[string]   `json:"profile_picture" rule:"id"`
	TimeZone        wire.Opt[string]   `json:"time_zone" rule:"min=1,max=64"`
	UPIID           wire.Opt[string]   `json:"upi_id" rule:"min=1,max=321"`
}

// editProfile serves PATCH /api/coach/profile.
func (h handlers) editProfile(ctx context.Context, r api.Request[profilePatch]) (api.Response, error) {
	in, f := r.Body, r.Faults
	patch := coach.Patch{
		Name: input.Value(in.Name), Email: input.Value(in.Email), Bio: input.Value(in.Bio), Sports: input.Value(in.Sports),
		Certifications: input.Value(in.Certifications), Picture: input.Value(in.ProfilePicture), TimeZone: input.Value(in.TimeZone),
		UPIID: input.Value(in.UPIID),
	}
	if in.ExperienceYears.Set {
		years := in.ExperienceYears.Some()
		patch.Experience = &years
	}
	if in.NamePending.Set && !in.NamePending.Null {
		f.Add("/name_pending", "invalid_value", "This can only be null, which withdraws the name. Write another name to name.")
	}
	patch.CancelName = in.NamePending.Set
	input.CheckTimeZone(in.TimeZone.Some(), &f)
	if patch.UPIID != nil {
		var err error
		if patch.RecentOTP, err = h.Auth.HasRecentOTP(ctx, r.Caller.Actor); err != nil {
			return api.Response{}, err
		}
	}
	return h.edit(ctx, r.Caller.Actor, patch, f)
}

// edit saves the patch of editProfile or completeProfile, whose faults are f.
func (h handlers) edit(ctx context.Context, by actor.Actor, patch coach.Patch, f wire.Faults) (api.Response, error) {
	input.CheckProfile(patch, &f)
	if patch.Certifications != nil {
		for i, id := range *patch.Certifications {
			if !endpoint.IsID(id) {
				f.Add(wire.PointTo("/certifications", i), "unknown_document", "You have no document with this id that fits here. Upload one first.")
			}
		}
	}
	if len(f) > 0 {
		patch.RecentOTP = true // the faults come first
		// The documents in the patch may have faults too.
		if err := f.Merge(h.Coaches.Check(ctx, by, patch)); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, f.Err()
	}
	p, err := h.Coaches.Edit(ctx, by, patch)
	if err != nil {
		return api.Response{}, err
	}
	response := endpoint.OK(h.newProfileResponse(p))
	if patch.Name != nil && p.NamePending != "" && *patch.Name == p.NamePending {
		response.Status = http.StatusAccepted
	}
	return response, nil
}

// completeProfile serves POST /auth/complete-profile.
func (h handlers) completeProfile(ctx context.Context, r api.Request[input.Profile]) (api.Response, error) {
	in, f := r.Body, r.Faults
	for _, field := range h.Coaches.Required {
		if !in.Has(field) {
			f.Add(wire.PointTo("", field), "required", "This is needed.")
		}
	}
	return h.edit(ctx, r.Caller.Actor, in.Read(), f)
}
