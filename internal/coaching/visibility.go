package coaching

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type visibilityRequest struct {
	Visible bool     `json:"visible" rule:"required"`
	Show    []string `json:"show" rule:"required,max=7,oneof=name|profile_picture|bio|sports|experience_years|certifications|verified"`
}

type visibilityResponse struct {
	Visible   bool     `json:"visible"`
	Show      []string `json:"show"`
	Listed    bool     `json:"listed"`
	BlockedBy *string  `json:"blocked_by"`
	Allowed   []string `json:"allowed"`
	Missing   []string `json:"missing"`
}

// visibility serves GET /api/coach/visibility.
func (h handlers) visibility(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	v, err := h.Directory.Visibility(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newVisibilityResponse(v)), nil
}

// setVisibility serves PUT /api/coach/visibility.
func (h handlers) setVisibility(ctx context.Context, r api.Request[visibilityRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	for i, field := range in.Show {
		if slices.Contains(in.Show[:i], field) {
			f.Add(wire.PointTo("/show", i), "duplicate", "Name each field once.")
		}
	}
	if err := f.Err(); err != nil {
		if in.Visible { // profile_incomplete comes before validation_failed, as in every operation
			if incomplete := h.api.ProfileComplete(ctx, r.Caller); incomplete != nil {
				return api.Response{}, incomplete
			}
		}
		return api.Response{}, err
	}
	v, err := h.Directory.SetVisibility(ctx, r.Caller.Actor, coach.VisibilityRequest{Visible: in.Visible, Show: in.Show})
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newVisibilityResponse(v)), nil
}

func newVisibilityResponse(v coach.Visibility) visibilityResponse {
	return visibilityResponse{
		Visible: v.Visible, Show: orEmpty(v.Show), Listed: v.Listed, BlockedBy: wire.OrNull(v.BlockedBy),
		Allowed: orEmpty(v.Allowed), Missing: orEmpty(v.Missing),
	}
}

// orEmpty returns list, or [] instead of null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
