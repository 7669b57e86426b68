package api

import (
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

type visibilityRequest struct {
	Visible bool     `json:"visible" rule:"required"`
	Show    []string `json:"show" rule:"required,max=7,oneof=name|profile_picture|bio|sports|experience_years|certifications|verified"`
}

type visibilityAnswer struct {
	Visible   bool     `json:"visible"`
	Show      []string `json:"show"`
	Listed    bool     `json:"listed"`
	BlockedBy *string  `json:"blocked_by"`
	Allowed   []string `json:"allowed"`
	Missing   []string `json:"missing"`
}

// visibility serves GET /api/coach/visibility.
func (s *Server) visibility(w http.ResponseWriter, r *http.Request) error {
	v, err := s.directory.Visibility(r.Context(), caller(r))
	if err != nil {
		return err
	}
	return answerVisibility(w, v)
}

// setVisibility serves PUT /api/coach/visibility.
func (s *Server) setVisibility(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[visibilityRequest](r)
	for i, field := range in.Show {
		if slices.Contains(in.Show[:i], field) {
			f.add(wire.PointTo("/show", i), "duplicate", "Name each field once.")
		}
	}
	if err := f.err(); err != nil {
		return err
	}
	v, err := s.directory.SetVisibility(r.Context(), caller(r), coach.VisibilityRequest{Visible: in.Visible, Show: in.Show})
	if err != nil {
		return err
	}
	return answerVisibility(w, v)
}

func answerVisibility(w http.ResponseWriter, v coach.Visibility) error {
	return encode(w, http.StatusOK, visibilityAnswer{
		Visible: v.Visible, Show: orEmpty(v.Show), Listed: v.Listed, BlockedBy: orNull(v.BlockedBy),
		Allowed: orEmpty(v.Allowed), Missing: orEmpty(v.Missing),
	})
}

// orEmpty returns list as answers write it: one without items is [], not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
