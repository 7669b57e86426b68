package signin

import (
	"context"
	"encoding/json"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
)

// passkeyCalls serves passkeys as JSON.
type passkeyCalls struct {
	*auth.Passkeys
	handlers
}

func passkeyOperations(in handlers) []api.Route {
	const list, signIn = "/auth/passkeys", "/auth/passkeys/sign-in"
	h := passkeyCalls{in.Passkeys, in}
	return []api.Route{
		{Method: "GET", Pattern: list, Handle: endpoint.Handle(h.list), Query: endpoint.Paged()},
		{Method: "POST", Pattern: list, Handle: h.api.Idempotent(endpoint.Handle(h.register), h.rebuild), Body: endpoint.JSON},
		{Method: "POST", Pattern: list + "/options", Handle: endpoint.Handle(h.registerOptions), Body: endpoint.OptionalJSON},
		{Method: "DELETE", Pattern: list + "/{passkey_id}", Handle: endpoint.HandleID("passkey_id", h.remove), Urgent: true},
		{Method: "POST", Pattern: signIn + "/options", Handle: endpoint.Handle(h.signInOptions), Authenticate: api.Anonymous, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: signIn, Handle: endpoint.Handle(h.signIn), Authenticate: api.Anonymous, Body: endpoint.JSON},
	}
}

type passkeyResponse struct {
	PasskeyID  string  `json:"passkey_id"`
	Name       *string `json:"name"`
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
}

func newPasskeyResponse(p *auth.Passkey) passkeyResponse {
	return passkeyResponse{p.ID, wire.OrNull(p.Name), wire.Timestamp(p.CreatedAt), wire.TimestampOrNull(p.LastUsedAt)}
}

type challengeResponse struct {
	ChallengeID string `json:"challenge_id"`
	ExpiresIn   int    `json:"expires_in"`
	Options     any    `json:"options"`
}

func newChallengeResponse(c auth.PasskeyChallenge) api.Response {
	return endpoint.OK(challengeResponse{c.ID, wire.Seconds(auth.PasskeyValidity), c.Options})
}

// list serves GET /auth/passkeys, newest first.
func (h passkeyCalls) list(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	p := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	passkeys, err := h.List(ctx, r.Caller.Actor, p.After.ID, p.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(p, passkeys, newPasskeyResponse, func(p *auth.Passkey) api.Keyset { return api.Keyset{ID: p.ID} }), nil
}

type noFields struct{}

// registerOptions serves POST /auth/passkeys/options.
func (h passkeyCalls) registerOptions(ctx context.Context, r api.Request[noFields]) (api.Response, error) {
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	by := r.Caller.Actor
	c, err := h.BeginRegistration(ctx, by, auth.PasskeyLabel(string(by.Role), by.Number))
	if err != nil {
		return api.Response{}, err
	}
	return newChallengeResponse(c), nil
}

type registerRequest struct {
	ChallengeID string      `json:"challenge_id" rule:"required,id"`
	Name        string      `json:"name" rule:"name,min=1,max=100"`
	Credential  wire.Object `json:"credential" rule:"required"`
}

// register serves POST /auth/passkeys.
func (h passkeyCalls) register(ctx context.Context, r api.Request[registerRequest]) (api.Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	answer, err := json.Marshal(in.Credential)
	if err != nil {
		return api.Response{}, err
	}
	p, err := h.Register(ctx, r.Caller.Actor, in.ChallengeID, in.Name, answer)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/auth/passkeys", newPasskeyResponse(p)), nil
}

// rebuild returns the response of register again.
func (h passkeyCalls) rebuild(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	p, err := h.Passkey(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/auth/passkeys", newPasskeyResponse(p)), nil
}

// remove serves DELETE /auth/passkeys/{passkey_id}.
func (h passkeyCalls) remove(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	if err := h.Remove(ctx, r.Caller.Actor, id); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}

// signInOptions serves POST /auth/passkeys/sign-in/options.
func (h passkeyCalls) signInOptions(ctx context.Context, r api.Request[noFields]) (api.Response, error) {
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	c, err := h.BeginSignIn(ctx, r.Client)
	if err != nil {
		return api.Response{}, err
	}
	return newChallengeResponse(c), nil
}

type passkeySignInRequest struct {
	ChallengeID string      `json:"challenge_id" rule:"required,id"`
	Credential  wire.Object `json:"credential" rule:"required"`
	DeviceName  string      `json:"device_name" rule:"min=1,max=100"`
	DeviceToken string      `json:"device_token" rule:"secret,min=1,max=128"`
}

// signIn serves POST /auth/passkeys/sign-in.
func (h passkeyCalls) signIn(ctx context.Context, r api.Request[passkeySignInRequest]) (api.Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	answer, err := json.Marshal(in.Credential)
	if err != nil {
		return api.Response{}, err
	}
	grant, err := h.SignIn(ctx, auth.PasskeySignIn{
		ChallengeID: in.ChallengeID, Answer: answer, DeviceName: in.DeviceName, Proof: auth.Proof{DeviceToken: in.DeviceToken},
	})
	if err != nil {
		return api.Response{}, err
	}
	return h.grantResponse(grant), nil
}
