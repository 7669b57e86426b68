package feed_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/feed"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/webhook"
)

// TestWebhookSchedule: ten attempts at the times of the Standard Webhooks specification.
func TestWebhookSchedule(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	want := []string{"5s", "5m5s", "35m5s", "2h35m5s", "7h35m5s", "17h35m5s", "31h35m5s", "51h35m5s", "75h35m5s"}
	at := now
	var got []string
	for attempt := 1; ; attempt++ {
		r := feed.WebhookMessage{Attempts: attempt}.After(feed.WebhookAttempt{Status: 500}, at, 0)
		if r.State != feed.MessageQueued {
			if r.State != feed.MessageFailed || attempt != 10 || r.Error != "responded 500" {
				t.Errorf("attempt %d: got %+v", attempt, r)
			}
			break
		}
		jittered := feed.WebhookMessage{Attempts: attempt}.After(feed.WebhookAttempt{Status: 500}, at, 1)
		if wait, more := r.DueAt.Sub(at), jittered.DueAt.Sub(at); more != wait+wait/10 {
			t.Errorf("attempt %d: with jitter 1 the wait is %s, want a tenth more than %s", attempt, more, wait)
		}
		at = r.DueAt
		got = append(got, at.Sub(now).String())
	}
	for i := range want {
		want[i] = parse(t, want[i]).String()
	}
	if !slices.Equal(got, want) {
		t.Errorf("got attempts after %v, want %v", got, want)
	}
}

func parse(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWebhookResponses: only 2xx accepts a message; 410 ends the webhook; an endpoint that
// does not respond or has too much to do gets a pause.
func TestWebhookResponses(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		attempt     feed.WebhookAttempt
		state       string
		pause, wait time.Duration
		gone        bool
	}{
		{feed.WebhookAttempt{Status: 200}, "delivered", 0, 0, false},
		{feed.WebhookAttempt{Status: 299}, "delivered", 0, 0, false},
		{feed.WebhookAttempt{Status: 199}, "queued", 0, 5 * time.Second, false},
		{feed.WebhookAttempt{Status: 301}, "queued", 0, 5 * time.Second, false},
		{feed.WebhookAttempt{Status: 400, RetryAfter: time.Hour}, "queued", 0, time.Hour, false},
		{feed.WebhookAttempt{Status: 410}, "queued", 0, 5 * time.Second, true},
		{feed.WebhookAttempt{Status: 429, RetryAfter: time.Minute}, "queued", time.Minute, time.Minute, false},
		{feed.WebhookAttempt{Status: 502}, "queued", 5 * time.Second, 5 * time.Second, false},
		{feed.WebhookAttempt{Status: 503, RetryAfter: 48 * time.Hour}, "queued", 24 * time.Hour, 24 * time.Hour, false},
		{feed.WebhookAttempt{Error: "timed out"}, "queued", 5 * time.Second, 5 * time.Second, false},
	} {
		r := feed.WebhookMessage{Attempts: 1}.After(tt.attempt, now, 0)
		var pause, wait time.Duration
		if !r.PauseUntil.IsZero() {
			pause = r.PauseUntil.Sub(now)
		}
		if !r.DueAt.IsZero() {
			wait = r.DueAt.Sub(now)
		}
		if r.State != tt.state || pause != tt.pause || wait != tt.wait || r.Gone != tt.gone {
			t.Errorf("%+v: got %+v, pause %s, wait %s", tt.attempt, r, pause, wait)
		}
	}
	if r := (feed.WebhookMessage{Test: true, Attempts: 1}).After(feed.WebhookAttempt{Status: 500}, now, 0); r.State != feed.MessageFailed {
		t.Errorf("a test is tried again: %+v", r)
	}
}

// TestWebhookPayload: a message is the change of the feed and names no person.
func TestWebhookPayload(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 15, 12, 345000, time.UTC)
	for _, tt := range []struct {
		message feed.WebhookMessage
		want    string
	}{
		{
			feed.WebhookMessage{Change: feed.Change{
				Position: 7, PlayerID: "p", Sequence: 3, Type: "approved", Party: actor.Guardian, GuardianStatus: "approved", StudentStatus: "pending", At: at,
			}},
			`{"type":"player.approved","timestamp":"2026-03-02T09:15:12.000345Z","data":{"sequence":3,"player_id":"p","type":"approved","party":"guardian","guardian_status":"approved","student_status":"pending","at":"2026-03-02T09:15:12.000345Z"}}`,
		},
		{
			feed.WebhookMessage{Change: feed.Change{PlayerID: "p", Sequence: 4, Type: "removed", GuardianStatus: "approved", StudentStatus: "pending", At: at}},
			`{"type":"player.removed","timestamp":"2026-03-02T09:15:12.000345Z","data":{"sequence":4,"player_id":"p","type":"removed","party":null,"guardian_status":"approved","student_status":"pending","at":"2026-03-02T09:15:12.000345Z"}}`,
		},
		{
			feed.WebhookMessage{Test: true, Change: feed.Change{At: at}},
			`{"type":"webhook.test","timestamp":"2026-03-02T09:15:12.000345Z","data":{}}`,
		},
	} {
		got, err := tt.message.Payload()
		if err != nil || string(got) != tt.want {
			t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
		}
	}
}

// TestWebhookInput: what a webhook may be, and every fault at once.
func TestWebhookInput(t *testing.T) {
	admin := feed.Webhooks{
		Reachable: func(a netip.Addr) bool { return !a.IsPrivate() && !a.IsLoopback() },
		Now:       time.Now, NewID: func() string { return "id" }, Rand: strings.NewReader(strings.Repeat("r", 4096)),
	}
	var networks webhook.Networks
	create := func(address, description string, events ...string) string {
		admin.PlainHTTP = networks.AllowsHTTP
		w, secret, err := admin.NewWebhook(feed.WebhookPatch{URL: &address, Description: &description, Events: &events})
		if f, ok := err.(*fault.Error); ok {
			var faults []string
			for _, field := range f.Fields {
				faults = append(faults, field.Pointer)
			}
			return fmt.Sprint(faults)
		}
		if err != nil || secret != "whsec_cnJycnJycnJycnJycnJycnJycnJycnJycnJycnJycnI=" {
			t.Errorf("%s: got %q, %v", address, secret, err)
		}
		return fmt.Sprint(w.Types)
	}
	for _, tt := range []struct{ url, description, events, want string }{
		{"https://app.example/hooks?key=1", "", "", "[]"},
		{"https://198.51.100.7:8443/", "billing", "player.revoked,player.approved", "[approved revoked]"},
		{"http://app.example/", "", "", "[/url]"},
		{"https://10.0.0.1/", "", "", "[/url]"},
		{"https://[::1]/", "", "", "[/url]"},
		{"https://me:pw@app.example/", "", "", "[/url]"},
		{"https://app.example/#x", "", "", "[/url]"},
		{"https:///x", "", "", "[/url]"},
		{"https://app.example/\x7f", "", "", "[/url]"},
		{"javascript:alert(1)", "two\nlines", "approved", "[/url /description /events]"},
		{"https://app.example/" + strings.Repeat("x", 2000), strings.Repeat("x", 201), "player.*", "[/url /description /events]"},
	} {
		if got := create(tt.url, tt.description, strings.FieldsFunc(tt.events, func(r rune) bool { return r == ',' })...); got != tt.want {
			t.Errorf("%.60s: got %s, want %s", tt.url, got, tt.want)
		}
	}
	networks = webhook.Networks{netip.MustParsePrefix("198.51.100.0/28")}
	for url, want := range map[string]string{
		"http://198.51.100.7:9000/hooks": "[]", "http://hooks:9000/": "[]", "http://hooks.shop.svc.cluster.local/": "[]", "http://LOCALHOST./": "[]",
		"http://[::ffff:198.51.100.7]/": "[]", "http://app.example/": "[/url]", "http://192.0.2.1/": "[/url]", "http://198.51.100.16/": "[/url]", "http://localhost.example/": "[/url]",
	} {
		if got := create(url, ""); got != want {
			t.Errorf("%s with a network of the operator: got %s, want %s", url, got, want)
		}
	}
	if _, _, err := admin.Rotate(t.Context(), actor.Operator{}, "id", 8*24*time.Hour); fault.CodeOf(err) != "validation_failed" {
		t.Errorf("an overlap of 8 days: got %v", err)
	}
}

func TestSignsWithOld(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		ends time.Time
		want bool
	}{{time.Time{}, false}, {now.Add(-time.Second), false}, {now, false}, {now.Add(time.Second), true}} {
		if got := (feed.Webhook{OldSecretEndsAt: tt.ends}).SignsWithOld(now); got != tt.want {
			t.Errorf("an old secret that ends at %s signs: %t", tt.ends, got)
		}
	}
}
