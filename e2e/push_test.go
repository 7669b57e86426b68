package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/push/pushtest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const pushPath = "/api/me/push-subscriptions"

// pushBody is what PushSubscription.toJSON returns in the browser of a push service.
func pushBody(service *pushtest.Service, showNames bool) map[string]any {
	return map[string]any{
		"endpoint": service.Endpoint(), "expirationTime": nil, "show_names": showNames,
		"keys": map[string]any{"p256dh": service.Browser.P256DH(), "auth": service.Browser.Auth()},
	}
}

func pushText(t *testing.T, m pushtest.Message) (text message.PushText) {
	t.Helper()
	if err := json.Unmarshal(m.Text, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPush: a browser that subscribed gets each notification, without a name unless the person
// allows it. The subscription ends with the session, and when the push service says so.
func TestPush(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, child(0, guardianNumber))
		guardian := s.SignIn(t, "guardian", guardianNumber)
		key := guardian.Call(t, "GET", pushPath, nil).Want(t, 200).String("public_key")
		service := pushtest.New(t, key)
		body := pushBody(service, false)
		for name, change := range map[string]map[string]any{
			"/endpoint":    {"endpoint": "http://10.0.0.1/push"},
			"/keys/auth":   {"keys": map[string]any{"p256dh": service.Browser.P256DH(), "auth": "short"}},
			"/keys/p256dh": {"keys": map[string]any{"p256dh": strings.Repeat("A", 87), "auth": service.Browser.Auth()}},
		} {
			wrong := pushBody(service, false)
			for k, v := range change {
				wrong[k] = v
			}
			if got := guardian.Call(t, "POST", pushPath, wrong).Want(t, 422, "validation_failed"); !strings.Contains(string(got.Body), `"`+name+`"`) {
				t.Errorf("%s: %s", name, got.Body)
			}
		}
		for range 2 {
			guardian.Call(t, "POST", pushPath, body, "Idempotency-Key: subscribe-1").Want(t, 201)
		}
		decide := func(action string) {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player.String("player_id"), "action": action}).Want(t, 200)
		}
		decide("approved")
		text := pushText(t, service.Wait(t, 0))
		if text.Title != "You said yes" || text.Body != "Open Touchline to read it." || text.URL != s.Config.PublicURL+"/me/guardian" {
			t.Errorf("got %+v", text)
		}
		guardian.Call(t, "POST", pushPath, pushBody(service, true)).Want(t, 201)
		decide("revoked")
		if text := pushText(t, service.Wait(t, 1)); !strings.Contains(text.Body, "Asha Rao 0") {
			t.Errorf("got %+v, want the name of the student", text)
		}

		// A failing push service gets the message again, under one topic.
		service.Answer(http.StatusServiceUnavailable, nil)
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player.String("player_id")}).Want(t, 201)
		eventually(t, "the push service is asked", func() bool { return service.Calls() > 2 })
		service.Answer(http.StatusCreated, nil)
		s.Clock.Advance(5 * time.Second)
		if text := pushText(t, service.Wait(t, 2)); text.Title != "Your answer is needed" {
			t.Errorf("got %+v", text)
		}
		if got := guardian.Call(t, "GET", pushPath, nil).Want(t, 200); got.JSON["subscription"] == nil {
			t.Errorf("after a failure: %s", got.Body)
		}
		service.Answer(http.StatusGone, nil)
		decide("rejected")
		eventually(t, "the subscription is removed", func() bool {
			return guardian.Call(t, "GET", pushPath, nil).Want(t, 200).JSON["subscription"] == nil
		})
		if strings.Contains(s.Log.String(), service.URL) {
			t.Error("the log has the endpoint")
		}

		// The pages subscribe their own session, and sign-out ends it.
		service.Answer(http.StatusCreated, nil)
		b := s.Browser(t)
		codes := s.Sent(guardianNumber, "otp")
		s.Clock.Skip(2 * time.Minute)
		b.Open("/sign-in/guardian")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, codes))
		for path, kind := range map[string]string{"/service-worker.js": "text/javascript; charset=utf-8", "/manifest.webmanifest": "application/manifest+json"} {
			if file := b.Open(path); file.Status != 200 || file.Header.Get("Content-Type") != kind || file.Header.Get("Cache-Control") != "no-cache" {
				t.Errorf("%s: %d %v", path, file.Status, file.Header)
			}
		}
		settings := b.Open("/me/guardian/settings")
		if !strings.Contains(settings.Body, `data-push="`+key+`"`) || !strings.Contains(settings.Body, `<link rel="manifest"`) {
			t.Errorf("the settings: %s", settings.Body)
		}
		b.Press("Turn on for this device", "endpoint", "https://127.0.0.1/", "p256dh", "x", "auth", "y")
		if !strings.Contains(b.Page.Text(), "This did not work") {
			t.Errorf("wrong keys: %s", b.Page.Text())
		}
		b.Press("Turn on for this device", "endpoint", service.Endpoint(), "p256dh", service.Browser.P256DH(), "auth", service.Browser.Auth())
		if !strings.Contains(b.Page.Text(), "without names") {
			t.Errorf("after subscribing: %s", b.Page.Text())
		}
		// The service worker compares the subscription of the browser with this one, and replaces it.
		stored := func(endpoint string) string {
			return `data-key="` + key + `" data-endpoint="` + url.QueryEscape(endpoint) + `" data-names=""`
		}
		replaced := service.Endpoint() + "?replaced=a&b=+"
		for _, endpoint := range []string{replaced, service.Endpoint()} {
			b.Send("POST", "/me/guardian/settings/push", url.Values{
				"account": {guardian.ID}, "endpoint": {endpoint}, "p256dh": {service.Browser.P256DH()}, "auth": {service.Browser.Auth()}, "show_names": {""},
			})
			if !strings.Contains(b.Page.Body, stored(endpoint)) {
				t.Errorf("after the subscription was replaced by %s: %s", endpoint, b.Page.Body)
			}
		}
		coach.Call(t, "PATCH", "/api/players/"+player.String("player_id"), map[string]any{"student": map[string]any{"full_name": "Asha Kumari Rao"}}).Want(t, 200)
		service.Wait(t, 3)
		b.Press("Turn off for this device")
		if !strings.Contains(b.Page.Text(), "no more messages") {
			t.Errorf("after unsubscribing: %s", b.Page.Text())
		}
		b.Press("Turn on for this device", "endpoint", service.Endpoint(), "p256dh", service.Browser.P256DH(), "auth", service.Browser.Auth())
		b.Send("POST", "/sign-out", url.Values{"role": {"guardian"}, "account": {guardian.ID}})
		if n := queryOne[int](t, openTables(t, s), `SELECT count(*) FROM push_subscriptions`); n != 0 {
			t.Errorf("%d subscriptions after the sign-out", n)
		}
		guardian.Call(t, "DELETE", pushPath, nil).Want(t, 204)
	}, func(c *config.Config) {
		c.Endpoints.PushNetworks, c.AccessTokenLifetime = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 24*time.Hour
	})
}

// TestPushOfApps: an app that registered its token gets each notification by FCM, without a name
// unless the person allows it. A temporary failure loses and doubles nothing, and a token that
// FCM no longer knows is removed.
func TestPushOfApps(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		fcm := pushtest.NewFCM(t)
		s := touchlinetest.New(t, database, func(c *config.Config) {
			c.Endpoints.FCM, c.FCMServiceAccount, c.AccessTokenLifetime = fcm.URL, config.Secret(fcm.ServiceAccount()), 24*time.Hour
		})
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, child(0, guardianNumber))
		guardian := s.SignIn(t, "guardian", guardianNumber)
		const token = "registration:token-1"
		body := func(showNames bool) map[string]any {
			return map[string]any{"kind": "fcm", "token": token, "show_names": showNames}
		}
		if got := guardian.Call(t, "GET", pushPath, nil).Want(t, 200).JSON["kinds"]; !slices.Equal(got.([]any), []any{"web", "fcm"}) {
			t.Errorf("kinds %v", got)
		}
		for pointer, wrong := range map[string]map[string]any{
			"/kind":     {"kind": "apns", "token": token},
			"/token":    {"kind": "fcm", "token": "with space"},
			"/endpoint": {"kind": "fcm", "token": token, "endpoint": "https://push.example/"},
			"/keys":     {"endpoint": "https://push.example/"},
		} {
			if got := guardian.Call(t, "POST", pushPath, wrong).Want(t, 422, "validation_failed"); !strings.Contains(string(got.Body), `"`+pointer+`"`) {
				t.Errorf("%s: %s", pointer, got.Body)
			}
		}
		for range 2 {
			if got := guardian.Call(t, "POST", pushPath, body(false), "Idempotency-Key: app-1").Want(t, 201).String("kind"); got != "fcm" {
				t.Errorf("kind %q", got)
			}
		}
		decide := func(action string) {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player.String("player_id"), "action": action}).Want(t, 200)
		}
		decide("approved")
		if got := fcm.Wait(t, 0); got.Token != token || got.Notification.Title != "You said yes" || got.Notification.Body != "Open Touchline to read it." || got.Data["url"] != s.Config.PublicURL+"/me/guardian" {
			t.Errorf("got %+v", got)
		}
		guardian.Call(t, "POST", pushPath, body(true)).Want(t, 201)
		decide("revoked")
		if got := fcm.Wait(t, 1); !strings.Contains(got.Notification.Body, "Asha Rao 0") {
			t.Errorf("got %+v, want the name of the student", got)
		}
		fcm.Answer(http.StatusServiceUnavailable, http.Header{"Retry-After": {"3"}}, pushtest.FCMError(503, "UNAVAILABLE", "UNAVAILABLE"))
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player.String("player_id")}).Want(t, 201)
		eventually(t, "FCM is asked", func() bool { return fcm.Calls() == 3 })
		eventually(t, "the next attempt is planned", func() bool {
			return queryOne[int](t, openTables(t, s), `SELECT count(*) FROM deliveries WHERE channel = 'push' AND state = 'queued' AND reason = 'retrying'`) == 1
		})
		fcm.Answer(http.StatusOK, nil, "")
		s.Clock.Advance(4 * time.Second)
		if got := fcm.Wait(t, 2); got.Notification.Title != "Your answer is needed" || fcm.Calls() != 4 {
			t.Errorf("%d calls, got %+v", fcm.Calls(), got)
		}
		fcm.Answer(http.StatusNotFound, nil, pushtest.FCMError(404, "UNREGISTERED", "NOT_FOUND"))
		decide("rejected")
		eventually(t, "the subscription is removed", func() bool {
			return guardian.Call(t, "GET", pushPath, nil).Want(t, 200).JSON["subscription"] == nil
		})
		fcm.Answer(http.StatusOK, nil, "")
		guardian.Call(t, "POST", pushPath, body(false)).Want(t, 201)
		guardian.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		if n := queryOne[int](t, openTables(t, s), `SELECT count(*) FROM push_subscriptions`); n != 0 {
			t.Errorf("%d subscriptions after the logout", n)
		}
		if fcm.Issued() != 1 || strings.Contains(s.Log.String(), token) || strings.Contains(s.Log.String(), "PRIVATE KEY") {
			t.Errorf("%d access tokens, or the log has a secret", fcm.Issued())
		}
	})
}
