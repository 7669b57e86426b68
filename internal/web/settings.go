package web

import (
	"context"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
)

const (
	SettingsPath = "/coach/settings"
	// maxDevicesShown limits the list of devices; no coach is expected to have more.
	maxDevicesShown = 100
)

// timeZones are the time zones that the form offers, beside the chosen one.
var timeZones = []string{
	"Asia/Kolkata", "Asia/Colombo", "Asia/Dhaka", "Asia/Dubai", "Asia/Karachi", "Asia/Kathmandu", "Asia/Kuala_Lumpur", "Asia/Riyadh", "Asia/Singapore",
	"Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/New_York", "America/Toronto",
	"Australia/Perth", "Australia/Sydney", "Europe/Berlin", "Europe/London", "Pacific/Auckland", "UTC",
}

// settings serves GET /coach/settings.
func (p *Pages) settings(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	chosen, err := p.Preferences.Preferences(ctx, by.Number)
	if err != nil {
		return Response{}, err
	}
	return p.settingsForm(ctx, r, by, r.Restored(&Form{Values: preferenceValues(r, chosen)}))
}

func (p *Pages) settingsForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	sessions, err := p.Auth.Sessions(ctx, by, "", maxDevicesShown)
	if err != nil {
		return Response{}, err
	}
	subscription, err := p.Subscriptions.Subscription(ctx, by)
	if err != nil {
		return Response{}, err
	}
	verification, err := p.Verification(ctx, by)
	if err != nil {
		return Response{}, err
	}
	state := string(verification.State)
	if verification.State == coach.Disabled {
		state = ""
	}
	v, err := p.CoachView(ctx, r, "settings", "settings.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, SettingsPath
	addresses, err := approval.StoppedAddresses(ctx, p.Approvals.DB, by)
	if err != nil {
		return Response{}, err
	}
	push, err := p.pushState(ctx, by)
	if err != nil {
		return Response{}, err
	}
	email, err := p.emailSetting(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v.Data = map[string]any{
		"Push": push, "Languages": languages, "StoppedMail": addresses, "Email": email, "Zones": OfferedZones(f), "Sessions": sessions, "Passkeys": p.Passkeys.Domain() != "", "Subscription": subscription, "Done": r.URL.Query().Get("done"),
		"CanExport": subscription.Tier.Has(coach.Export),
		// KYC is the state of the identity check, or empty if there is none.
		"KYC": state,
	}
	return FormPage("settings", v), nil
}

// ZoneName returns a time zone as people write it: "Kuala Lumpur (Asia)".
func (v *Texts) ZoneName(zone string) string {
	region, city, ok := strings.Cut(strings.ReplaceAll(zone, "_", " "), "/")
	if !ok {
		return zone
	}
	return city + " (" + region + ")"
}

// saveSettings serves POST /coach/settings: it saves the preferences of the caller's number.
func (p *Pages) saveSettings(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	f := &Form{Values: r.Form}
	patch := p.readPreferences(r, f)
	if len(f.Faults) > 0 {
		return p.settingsForm(ctx, r, by, f)
	}
	if _, err := p.Preferences.SavePreferences(ctx, by.Number, patch); err != nil {
		return Response{}, err
	}
	return Redirect(SettingsPath+"?done=saved", p.languageCookie(*patch.Language)), nil
}

// emailSetting is the address for codes by mail as the settings page shows it. Address is empty if
// none is confirmed.
type emailSetting struct{ Path, Address string }

// emailSetting returns nil if the service sends no mail.
func (p *Pages) emailSetting(ctx context.Context, by actor.Actor) (*emailSetting, error) {
	if !p.Auth.Settings.OTPByEmail {
		return nil, nil
	}
	address, err := p.Auth.Store.ConfirmedAddress(ctx, by.Number, by.Role)
	return &emailSetting{SettingsOf(by.Role) + "/email", address}, err
}

// pushState is the state of push messages on this device, for the settings page.
type pushState struct {
	// Key is the public key of the service.
	Key                   string
	Subscribed, ShowNames bool
}

func (p *Pages) pushState(ctx context.Context, by actor.Actor) (pushState, error) {
	s, found, err := p.Push.OfSession(ctx, by)
	return pushState{p.Push.Key, found, s.ShowNames}, err
}
