package notifications

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/web"
)

// preferenceValues returns the fields of the form of preferences.
func preferenceValues(r *web.Request, p message.Preferences) url.Values {
	code := p.Language
	if !language.IsOffered(code) {
		code = r.Language
	}
	values := url.Values{"language": {code}, "time_zone": {p.TimeZone}}
	if q := p.QuietHours; q.Set() {
		values.Set("quiet_start", q.Start.String())
		values.Set("quiet_end", q.End.String())
	}
	return values
}

// readPreferences reads the form of preferences and adds its faults to f.
func (p pages) readPreferences(r *web.Request, f *web.Form) message.PreferencesPatch {
	v := p.site.NewView(r, "")
	code, zone := r.Value("language"), r.Value("time_zone")
	if !language.IsOffered(code) {
		f.Add("language", v.MustT("settings.language.fault"))
	}
	if zone != "" && !message.KnownTimeZone(zone) {
		f.Add("time_zone", v.MustT("settings.time_zone.fault"))
	}
	var quiet message.QuietHours
	start, end := r.Value("quiet_start"), r.Value("quiet_end")
	if start != "" || end != "" {
		var okStart, okEnd bool
		quiet.Start, okStart = message.ParseTimeOfDay(start)
		quiet.End, okEnd = message.ParseTimeOfDay(end)
		switch {
		case !okStart:
			f.Add("quiet_start", v.MustT("settings.quiet.fault"))
		case !okEnd:
			f.Add("quiet_end", v.MustT("settings.quiet.fault"))
		case !quiet.Set():
			f.Add("quiet_end", v.MustT("settings.quiet.equal"))
		}
	}
	return message.PreferencesPatch{Language: &code, TimeZone: &zone, QuietHours: &quiet}
}

// settings serves GET /coach/settings and /me/{role}/settings.
func (p pages) settings(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	chosen, err := p.Preferences.Preferences(ctx, by.Number)
	if err != nil {
		return web.Response{}, err
	}
	return p.settingsForm(ctx, r, by, r.Restored(&web.Form{Values: preferenceValues(r, chosen)}))
}

// saveSettings serves POST of both: it saves the preferences of the caller's number.
func (p pages) saveSettings(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	f := &web.Form{Values: r.Form}
	patch := p.readPreferences(r, f)
	if len(f.Faults) > 0 {
		return p.settingsForm(ctx, r, by, f)
	}
	if _, err := p.Preferences.SavePreferences(ctx, by.Number, patch); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.SettingsOf(by.Role)+"?done=saved", p.site.LanguageCookie(*patch.Language)), nil
}

func (p pages) settingsForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	addresses, err := player.StoppedAddresses(ctx, p.Approvals.DB, by)
	if err != nil {
		return web.Response{}, err
	}
	push, err := p.pushState(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	email, err := p.emailSetting(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	data := map[string]any{
		"Zones": web.OfferedZones(f), "StoppedMail": addresses, "Email": email, "Push": push, "Done": r.URL.Query().Get("done"),
	}
	v, template := p.site.SignedInView(r, "my_settings.title", by), "family_settings"
	if by.Role == actor.Coach {
		v, template = p.site.CoachView(r, "settings", "settings.title", by), "settings"
		err = p.addCoachSettings(ctx, by, data)
	} else {
		data["Home"] = web.Home(by.Role)
		data["Stopped"], err = p.stoppedCoaches(ctx, by)
	}
	v.Form, v.Path, v.Data = f, web.SettingsOf(by.Role), data
	return web.FormPage(template, v), err
}
