package handlers

import (
	"context"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
)

// completeProfile serves POST /auth/complete-profile.
func (h calls) completeProfile(ctx context.Context, r api.Request[input.Profile]) (api.Response, error) {
	in, f := r.Body, r.Faults
	for _, field := range h.api.Coaches.Required {
		if !in.Has(field) {
			f.Add(wire.PointTo("", field), "required", "This is needed.")
		}
	}
	return h.edit(ctx, r.Caller.Actor, in.Read(), f)
}
