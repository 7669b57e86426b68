package signin

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// maxDevices is more sessions and passkeys than a person has.
const maxDevices = 100

// devices serves GET /me/{role}/devices: the sessions of the caller in this role.
func (p pages) devices(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	sessions, err := p.Auth.Sessions(ctx, by, "", maxDevices)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.SignedInView(r, "devices.title", by)
	v.Data = map[string]any{"Home": web.Home(by.Role), "Sessions": sessions, "Ended": r.Form.Has("ended"), "Passkeys": p.Passkeys.Domain() != ""}
	return web.Page("devices", v), nil
}

// familyNumber serves GET /me/{role}/number: how a number changes. The coach enters it, so
// only the coach can change it.
func (p pages) familyNumber(_ context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	v := p.site.SignedInView(r, "family_number.title", by)
	v.Data = map[string]any{"Home": web.Home(by.Role)}
	return web.Page("family_number", v), nil
}

// endDevice serves POST /me/{role}/devices/{session_id}/end and POST /coach/settings/devices/{session_id}/end:
// it ends one session, and leads to the start page if it was the session of this browser. It is no error
// if the session has ended already.
func (p pages) endDevice(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("session_id")
	if err := p.Auth.EndSession(ctx, by, id); err != nil && fault.KindOf(err) != fault.NotFound {
		return web.Response{}, err
	}
	p.Streams.Hub.Wake(by.AccountID)
	if id == by.SessionID {
		return web.Redirect("/", p.site.Cookies.Remove(web.SessionCookie(by.Role))), nil
	}
	if by.Role == actor.Coach {
		return web.Redirect(web.SettingsPath + "?done=ended#devices"), nil
	}
	return web.Redirect(web.Home(by.Role) + "/devices?ended"), nil
}
