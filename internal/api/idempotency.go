package api

import (
	"context"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
	"github.com/touchline/touchline/internal/platform/wire"
)

// rebuild returns the response of committed work again. It reads what the caller may
// see now.
type rebuild func(ctx context.Context, m Meta, w idempotency.Work) (Response, error)

// Idempotent lets the caller of a route send an Idempotency-Key. The store must call
// complete in the transaction of the route's work.
func (s *Server) Idempotent(next endpoint.Handler[Caller], again rebuild) endpoint.Handler[Caller] {
	once := func(ctx context.Context, m Meta, body endpoint.Body) (Response, error) {
		return s.HandleOnce(ctx, m, keyed.Request{
			Owner: m.Caller.AccountID, Keep: keyed.Keep, Body: body.Raw,
			MayRepeat: func(ctx context.Context, playerID string) error {
				return s.checkPlayerVisible(ctx, m.Caller.Actor, playerID)
			},
			Rebuild: func(ctx context.Context, w idempotency.Work) (Response, error) { return again(ctx, m, w) },
			Handle: func(ctx context.Context, f wire.Faults) (Response, error) {
				if len(f) > 0 && len(body.Raw) == 0 {
					return Response{}, f.Err()
				}
				body.Faults = append(body.Faults, f...)
				return next.Serve(ctx, m, body)
			},
		})
	}
	return endpoint.Handler[Caller]{Serve: once, Body: next.Body}
}

// HandleOnce is keyed.Handle for a call whose work may be a wrong OTP.
func (s *Server) HandleOnce(ctx context.Context, m Meta, k keyed.Request) (Response, error) {
	rebuild := k.Rebuild
	k.Rebuild = func(ctx context.Context, w idempotency.Work) (Response, error) {
		switch w.WrongOTP {
		case "":
			return rebuild(ctx, w)
		case "otp":
			return Response{}, auth.ErrWrongOTP(w.Number)
		}
		return Response{}, auth.ErrWrongOTP(w.Number).With("number", w.WrongOTP)
	}
	return keyed.Handle(ctx, keyed.Service{Keys: s.Idempotency, Log: s.Log}, m, k)
}
