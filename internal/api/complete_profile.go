package api

import (
	"context"

	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
)

// completeProfile serves POST /auth/complete-profile.
func (s *Server) completeProfile(ctx context.Context, r Request[input.Profile]) (Response, error) {
	in, f := r.Body, r.Faults
	for _, field := range s.Coaches.Required {
		if !in.Has(field) {
			f.Add(wire.PointTo("", field), "required", "This is needed.")
		}
	}
	return s.edit(ctx, r.Caller.Actor, in.Read(), f)
}
