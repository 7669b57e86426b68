package handlers

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// preferenceValues returns the fields of the form of preferences.
func preferenceValues(r *web.Request, p message.Preferences) url.Values {
	language := p.Language
	if language == "" {
		language = r.Language
	}
	values := url.Values{"language": {language}, "time_zone": {p.TimeZone}}
	if q := p.QuietHours; q.Set() {
		values.Set("quiet_start", q.Start.String())
		values.Set("quiet_end", q.End.String())
	}
	return values
}

// readPreferences reads the form of preferences and adds its faults to f.
func (p pages) readPreferences(r *web.Request, f *web.Form) message.PreferencesPatch {
	v := p.site.NewView(r, "")
	language, zone := r.Value("language"), r.Value("time_zone")
	if !message.KnownLanguage(language) {
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
	return message.PreferencesPatch{Language: &language, TimeZone: &zone, QuietHours: &quiet}
}

// stoppedCoach is a coach whose messages the caller stopped. Name is empty if the coach is
// no longer linked with the caller.
type stoppedCoach struct{ ID, Name string }

// familySettings serves GET /me/{role}/settings.
func (p pages) familySettings(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	chosen, err := p.site.Preferences.Preferences(ctx, by.Number)
	if err != nil {
		return web.Response{}, err
	}
	return p.familySettingsForm(ctx, r, by, r.Restored(&web.Form{Values: preferenceValues(r, chosen)}))
}

func (p pages) familySettingsForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	chosen, err := p.site.Preferences.Preferences(ctx, by.Number)
	if err != nil {
		return web.Response{}, err
	}
	stopped, err := p.stoppedCoaches(ctx, by, chosen.StoppedCoaches)
	if err != nil {
		return web.Response{}, err
	}
	addresses, err := approval.StoppedAddresses(ctx, p.site.Approvals.DB, by)
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
	v := p.site.SignedInView(r, "my_settings.title", by)
	v.Form, v.Path = f, web.SettingsOf(by.Role)
	v.Data = map[string]any{
		"Home": web.Home(by.Role), "Languages": message.Languages, "Zones": web.OfferedZones(f), "Stopped": stopped, "StoppedMail": addresses, "Email": email, "Push": push, "Done": r.URL.Query().Get("done"),
	}
	return web.FormPage("family_settings", v), nil
}

// maxLinksNamed is how many links are read to find the names of coaches.
const maxLinksNamed = 200

// stoppedCoaches returns the coaches with these ids. Names come from the caller's links.
func (p pages) stoppedCoaches(ctx context.Context, by actor.Actor, ids []string) ([]stoppedCoach, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	links, err := p.site.Approvals.Links(ctx, by, false, approval.Page{Limit: maxLinksNamed})
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, player := range links {
		names[player.CoachID] = message.Name(player.CoachName, "")
	}
	var stopped []stoppedCoach
	for _, id := range ids {
		stopped = append(stopped, stoppedCoach{id, names[id]})
	}
	return stopped, nil
}

// saveFamilySettings serves POST /me/{role}/settings.
func (p pages) saveFamilySettings(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	f := &web.Form{Values: r.Form}
	patch := p.readPreferences(r, f)
	if len(f.Faults) > 0 {
		return p.familySettingsForm(ctx, r, by, f)
	}
	if _, err := p.site.Preferences.SavePreferences(ctx, by.Number, patch); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.SettingsOf(by.Role)+"?done=saved", p.site.LanguageCookie(*patch.Language)), nil
}
