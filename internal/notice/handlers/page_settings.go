package handlers

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// maxDevicesShown limits the list of devices; no coach is expected to have more.
const maxDevicesShown = 100

// settings serves GET /coach/settings.
func (p pages) settings(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	chosen, err := p.site.Preferences.Preferences(ctx, by.Number)
	if err != nil {
		return web.Response{}, err
	}
	return p.settingsForm(ctx, r, by, r.Restored(&web.Form{Values: preferenceValues(r, chosen)}))
}

func (p pages) settingsForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	sessions, err := p.site.Auth.Sessions(ctx, by, "", maxDevicesShown)
	if err != nil {
		return web.Response{}, err
	}
	subscription, err := p.site.Subscriptions.Subscription(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	verification, err := p.site.Verification(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	state := string(verification.State)
	if verification.State == coach.Disabled {
		state = ""
	}
	v := p.site.CoachView(r, "settings", "settings.title", by)
	v.Form, v.Path = f, web.SettingsPath
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
	v.Data = map[string]any{
		"Push": push, "Languages": message.Languages, "StoppedMail": addresses, "Email": email, "Zones": web.OfferedZones(f), "Sessions": sessions, "Passkeys": p.site.Passkeys.Domain() != "", "Subscription": subscription, "Done": r.URL.Query().Get("done"),
		"CanExport": subscription.Tier.Has(coach.Export),
		// KYC is the state of the identity check, or empty if there is none.
		"KYC": state,
	}
	return web.FormPage("settings", v), nil
}

// saveSettings serves POST /coach/settings: it saves the preferences of the caller's number.
func (p pages) saveSettings(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	f := &web.Form{Values: r.Form}
	patch := p.readPreferences(r, f)
	if len(f.Faults) > 0 {
		return p.settingsForm(ctx, r, by, f)
	}
	if _, err := p.site.Preferences.SavePreferences(ctx, by.Number, patch); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.SettingsPath+"?done=saved", p.site.LanguageCookie(*patch.Language)), nil
}

// emailSetting is the address for codes by mail as the settings page shows it. Address is empty if
// none is confirmed.
type emailSetting struct{ Path, Address string }

// emailSetting returns nil if the service sends no mail.
func (p pages) emailSetting(ctx context.Context, by actor.Actor) (*emailSetting, error) {
	if !p.site.Auth.Settings.OTPByEmail {
		return nil, nil
	}
	address, err := p.site.Auth.Store.ConfirmedAddress(ctx, by.Number, by.Role)
	return &emailSetting{web.SettingsOf(by.Role) + "/email", address}, err
}

// pushState is the state of push messages on this device, for the settings page.
type pushState struct {
	// Key is the public key of the service.
	Key                   string
	Subscribed, ShowNames bool
}

func (p pages) pushState(ctx context.Context, by actor.Actor) (pushState, error) {
	s, found, err := p.site.Push.OfSession(ctx, by)
	return pushState{p.site.Push.Key, found, s.ShowNames}, err
}
