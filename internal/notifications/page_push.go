package notifications

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// subscribePush serves POST …/settings/push, which the script of the page fills in.
func (p pages) subscribePush(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	_, err := p.Push.Subscribe(ctx, by, message.PushSubscription{
		Endpoint: r.Value("endpoint"), P256DH: r.Value("p256dh"), Auth: r.Value("auth"), ShowNames: r.Value("show_names") == "yes",
	})
	if fault.KindOf(err) == fault.Invalid {
		return web.Redirect(web.SettingsOf(by.Role) + "?done=push_failed#push"), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.SettingsOf(by.Role) + "?done=push#push"), nil
}

// unsubscribePush serves POST …/settings/push/end.
func (p pages) unsubscribePush(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Push.Delete(ctx, by); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.SettingsOf(by.Role) + "?done=push_ended#push"), nil
}

// allowCoach serves POST /me/{role}/settings/coaches/{coach_id}/allow: messages of the coach
// leave the app again.
func (p pages) allowCoach(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Preferences.AllowCoach(ctx, by.Number, r.PathValue("coach_id")); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.SettingsOf(by.Role) + "?done=allowed"), nil
}

// coachMessages serves POST /me/{role}/players/{player_id}/coach-messages: it stops the
// messages of the player's coach outside of the app, or with allow=yes allows them again.
func (p pages) coachMessages(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	done := "stopped"
	if r.Value("allow") == "yes" {
		done, err = "allowed", p.Preferences.AllowCoach(ctx, by.Number, d.CoachID)
	} else {
		err = p.Preferences.StopCoach(ctx, by.Number, d.CoachID)
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect(d.Path + "?done=" + done), nil
}
