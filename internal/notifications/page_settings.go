package notifications

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// maxDevicesShown limits the list of devices; no coach is expected to have more.
const maxDevicesShown = 100

// addCoachSettings adds what only the settings of coaches show.
func (p pages) addCoachSettings(ctx context.Context, by actor.Actor, data map[string]any) error {
	sessions, err := p.Auth.Sessions(ctx, by, "", maxDevicesShown)
	if err != nil {
		return err
	}
	subscription, err := p.Subscriptions.Subscription(ctx, by)
	if err != nil {
		return err
	}
	data["Sessions"], data["Subscription"], data["CanExport"] = sessions, subscription, subscription.Tier.Has(coach.Export)
	data["Passkeys"] = p.Passkeys.Domain() != ""
	// KYC is the state of the identity check, or empty if there is none.
	data["KYC"] = string(subscription.KYC)
	if subscription.KYC == coach.Disabled {
		data["KYC"] = ""
	}
	return nil
}

// maxLinksNamed is how many links are read to find the names of coaches.
const maxLinksNamed = 200

// stoppedCoach is a coach whose messages the caller stopped. Name is empty if the coach is
// no longer linked with the caller.
type stoppedCoach struct{ ID, Name string }

// stoppedCoaches returns the coaches whose messages the caller stopped. Names come from the caller's links.
func (p pages) stoppedCoaches(ctx context.Context, by actor.Actor) ([]stoppedCoach, error) {
	chosen, err := p.Preferences.Preferences(ctx, by.Number)
	if err != nil || len(chosen.StoppedCoaches) == 0 {
		return nil, err
	}
	links, err := p.Approvals.Links(ctx, by, false, approval.Page{Limit: maxLinksNamed})
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, player := range links {
		names[player.CoachID] = message.Name(player.CoachName, "")
	}
	var stopped []stoppedCoach
	for _, id := range chosen.StoppedCoaches {
		stopped = append(stopped, stoppedCoach{id, names[id]})
	}
	return stopped, nil
}

// emailSetting is the address for codes by mail as the settings page shows it. Address is empty if
// none is confirmed.
type emailSetting struct{ Path, Address string }

// emailSetting returns nil if the service sends no mail.
func (p pages) emailSetting(ctx context.Context, by actor.Actor) (*emailSetting, error) {
	if !p.Auth.Settings.OTPByEmail {
		return nil, nil
	}
	address, err := p.Auth.Store.ConfirmedAddress(ctx, by.Number, by.Role)
	return &emailSetting{web.SettingsOf(by.Role) + "/email", address}, err
}

// pushState is the state of push messages on this device, for the settings page.
type pushState struct {
	// Key is the public key of the service.
	Key string
	// Endpoint is that of the subscription, percent-encoded. The service worker compares it with the browser's.
	Endpoint              string
	Subscribed, ShowNames bool
}

func (p pages) pushState(ctx context.Context, by actor.Actor) (pushState, error) {
	s, found, err := p.Push.OfSession(ctx, by)
	return pushState{p.Push.Key, url.QueryEscape(s.Endpoint), found, s.ShowNames}, err
}
