package web

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// maxDevices is more sessions than a person has.
const maxDevices = 100

// devices serves GET /me/{role}/devices: the sessions of the caller in this role.
func (p *Pages) devices(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	sessions, err := p.Auth.Sessions(ctx, by, "", maxDevices)
	if err != nil {
		return Response{}, err
	}
	v := p.SignedInView(r, "devices.title", by)
	v.Data = map[string]any{"Home": Home(by.Role), "Sessions": sessions, "Ended": r.Form.Has("ended"), "Passkeys": p.Passkeys.Domain() != ""}
	return Page("devices", v), nil
}

// familyNumber serves GET /me/{role}/number: how a number changes. The coach enters it, so
// only the coach can change it.
func (p *Pages) familyNumber(_ context.Context, r *Request, by actor.Actor) (Response, error) {
	v := p.SignedInView(r, "family_number.title", by)
	v.Data = map[string]any{"Home": Home(by.Role)}
	return Page("family_number", v), nil
}

// endDevice serves POST /me/{role}/devices/{session_id}/end: it ends one session. It is no
// error if the session has ended already.
func (p *Pages) endDevice(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.endSessionInPath(ctx, r, by, Home(by.Role)+"/devices?ended")
}

// endSessionInPath ends the session that the path names and goes to next, or to the start page
// if it was the session of this browser.
func (p *Pages) endSessionInPath(ctx context.Context, r *Request, by actor.Actor, next string) (Response, error) {
	id, err := r.PathID("session_id")
	if err != nil {
		return Response{}, err
	}
	if err := p.Auth.EndSession(ctx, by, id); err != nil && fault.KindOf(err) != fault.NotFound {
		return Response{}, err
	}
	p.Streams.Hub.Wake(by.AccountID)
	if id == by.SessionID {
		return Redirect("/", p.cookies.remove(p.cookies.sessionName(by.Role))), nil
	}
	return Redirect(next), nil
}
