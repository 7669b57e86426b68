package api

import (
	"context"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/wire"
)

type preferencesResponse struct {
	Language *string `json:"language"`
	TimeZone *string `json:"time_zone"`
}

func newPreferencesResponse(p notify.Preferences) preferencesResponse {
	return preferencesResponse{Language: wire.OrNull(p.Language), TimeZone: wire.OrNull(p.TimeZone)}
}

// preferences serves GET /api/me/preferences.
func (s *Server) preferences(ctx context.Context, r Request[noBody]) (Response, error) {
	p, err := s.Preferences.Preferences(ctx, r.Caller.Number)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newPreferencesResponse(p)), nil
}

// preferencesPatch is the PreferencesPatch of openapi.yaml.
type preferencesPatch struct {
	Language wire.Opt[string] `json:"language" rule:"oneof=en|hi"`
	TimeZone wire.Opt[string] `json:"time_zone" rule:"min=1,max=64"`
}

// editPreferences serves PATCH /api/me/preferences.
func (s *Server) editPreferences(ctx context.Context, r Request[preferencesPatch]) (Response, error) {
	in, f := r.Body, r.Faults
	checkTimeZone(in.TimeZone.Some(), &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	p, err := s.Preferences.SavePreferences(ctx, r.Caller.Number, notify.PreferencesPatch{
		Language: input.Value(in.Language), TimeZone: input.Value(in.TimeZone),
	})
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newPreferencesResponse(p)), nil
}

// checkTimeZone adds a fault unless zone, if any, is the name of a time zone.
func checkTimeZone(zone *string, f *wire.Faults) {
	if zone != nil && !f.Has("/time_zone") && !notify.KnownTimeZone(*zone) {
		f.Add("/time_zone", "invalid_time_zone", "This is not a time zone, such as Asia/Kolkata.")
	}
}
