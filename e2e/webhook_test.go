package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// allowLoopback lets webhooks reach the receivers of the tests.
func allowLoopback(c *config.Config) {
	c.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// webhookReceiver is an endpoint of another service.
type webhookReceiver struct {
	*httptest.Server
	mu       sync.Mutex
	accepted []webhookEvent
	attempts int
	// respond returns the status of the next response; nil is always 204.
	respond func(webhookEvent) int
	// answer is the body of responses that have one.
	answer string
}

// webhookEvent is one received message.
type webhookEvent struct {
	id     string
	header http.Header
	body   []byte
	Type   string `json:"type"`
	Data   struct {
		Sequence int64  `json:"sequence"`
		PlayerID string `json:"player_id"`
		Party    string `json:"party"`
		Guardian string `json:"guardian_status"`
		Student  string `json:"student_status"`
	} `json:"data"`
}

func newWebhookReceiver(t *testing.T) *webhookReceiver {
	t.Helper()
	r := &webhookReceiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		e := webhookEvent{id: req.Header.Get("Webhook-Id"), header: req.Header}
		e.body, _ = io.ReadAll(req.Body)
		if err := json.Unmarshal(e.body, &e); err != nil {
			t.Errorf("body %s: %v", e.body, err)
		}
		r.mu.Lock()
		respond := r.respond
		r.attempts++
		r.mu.Unlock()
		status := http.StatusNoContent
		if respond != nil {
			status = respond(e)
		}
		if status < 300 {
			r.mu.Lock()
			r.accepted = append(r.accepted, e)
			r.mu.Unlock()
		}
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			_, _ = io.WriteString(w, r.answer)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *webhookReceiver) set(respond func(webhookEvent) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.respond = respond
}

func (r *webhookReceiver) state() (accepted []webhookEvent, attempts int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.accepted), r.attempts
}

// await waits until n messages were accepted in all, and returns them.
func (r *webhookReceiver) await(t *testing.T, n int) []webhookEvent {
	t.Helper()
	var got []webhookEvent
	eventually(t, fmt.Sprintf("the endpoint accepted %d messages", n), func() bool {
		got, _ = r.state()
		return len(got) >= n
	})
	return got
}

// verify fails the test unless the library of the specification accepts a message.
func (e webhookEvent) verify(t *testing.T, secret string, valid bool) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(e.body, e.header); (err == nil) != valid {
		t.Errorf("message %s: Verify: %v, want valid: %t", e.id, err, valid)
	}
}

// TestWebhook: an endpoint receives each change, signed, in order and without personal
// data. Operators test it, rotate its secret, replay a range of time, and read its log.
func TestWebhook(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		admin, receiver := s.Operator(t, operator.Webhooks), newWebhookReceiver(t)
		const path = "/api/admin/webhooks"
		created := admin.Call(t, "POST", path, map[string]any{"url": receiver.URL + "/hooks/hunter2", "description": "billing"}).Want(t, 201)
		own, secret := created.Header.Get("Location"), created.String("secret")
		other := newWebhookReceiver(t)
		filtered := admin.Call(t, "POST", path, map[string]any{"url": other.URL, "events": []string{"player.approved", "player.removed"}}).Want(t, 201)
		begun := s.Clock.Now()

		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		decideAsGuardian(t, s.SignIn(t, "guardian", guardianNumber), player, "approved")
		coach.Call(t, "DELETE", "/api/players/"+player, nil).Want(t, 204)

		want := []string{
			"player.pending 1 guardian pending/pending", "player.pending 2 student pending/pending",
			"player.approved 3 guardian approved/pending", "player.removed 4  approved/pending",
		}
		describe := func(events []webhookEvent) (all []string) {
			for _, e := range events {
				all = append(all, fmt.Sprintf("%s %d %s %s/%s", e.Type, e.Data.Sequence, e.Data.Party, e.Data.Guardian, e.Data.Student))
			}
			return all
		}
		events := receiver.await(t, len(want))
		if got := describe(events); !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		for i, e := range events {
			e.verify(t, secret, true)
			e.verify(t, filtered.String("secret"), false)
			if want := fmt.Sprintf("msg_%s_%d", player, i+1); e.id != want || e.Data.PlayerID != player {
				t.Errorf("got id %s of player %s, want %s", e.id, e.Data.PlayerID, want)
			}
			for _, private := range []string{"98123", "Rao", "Asha", "name"} {
				if strings.Contains(string(e.body), private) {
					t.Errorf("the message contains %q: %s", private, e.body)
				}
			}
		}
		if got := describe(other.await(t, 2)); !slices.Equal(got, want[2:]) {
			t.Errorf("with two types of events: got %q", got)
		}

		rotated := admin.Call(t, "POST", own+"/rotate-secret", nil).Want(t, 200)
		tested := admin.Call(t, "POST", own+"/test", nil).Want(t, 202)
		test := receiver.await(t, 5)[4]
		test.verify(t, secret, true)
		test.verify(t, rotated.String("secret"), true)
		if test.Type != "webhook.test" || test.id != tested.String("message_id") {
			t.Errorf("got test %s %s", test.id, test.body)
		}
		admin.Call(t, "POST", own+"/rotate-secret", map[string]any{"overlap_in": 0}).Want(t, 200)

		replay := admin.Call(t, "POST", own+"/replay", map[string]any{"from": begun.Format(time.RFC3339Nano)}).Want(t, 202)
		replayed := receiver.await(t, 9)[5:]
		if got := describe(replayed); replay.JSON["changes"] != 4.0 || !slices.Equal(got, want) || replayed[0].id != events[0].id {
			t.Errorf("replay of %s: got %q", replay.Body, got)
		}
		replayed[0].verify(t, rotated.String("secret"), false)

		log := admin.Call(t, "GET", own+"/messages?limit=3", nil).Want(t, 200)
		rest := admin.Call(t, "GET", own+"/messages?cursor="+log.String("next_cursor"), nil).Want(t, 200)
		if items := slices.Concat(log.Items(), rest.Items()); len(items) != 5 || items[0]["event_type"] != "webhook.test" || items[4]["sequence"] != 1.0 {
			t.Errorf("got log %s and %s", log.Body, rest.Body)
		}
		if failed := admin.Call(t, "GET", own+"/messages?state=failed", nil).Want(t, 200); len(failed.Items()) != 0 {
			t.Errorf("got %s", failed.Body)
		}

		disabled := admin.Call(t, "PATCH", own, map[string]any{"enabled": false, "description": nil, "events": []string{"player.revoked"}}).Want(t, 200)
		if disabled.String("disabled_reason") != "operator" || disabled.JSON["description"] != nil || !strings.Contains(string(disabled.Body), `"events":["player.revoked"]`) {
			t.Errorf("got %s", disabled.Body)
		}
		admin.Call(t, "POST", own+"/test", nil).Want(t, 409, "invalid_transition")
		if list := admin.Call(t, "GET", path, nil).Want(t, 200); len(list.Items()) != 2 || strings.Contains(string(list.Body), "whsec_") {
			t.Errorf("got %s", list.Body)
		}

		for _, body := range []any{
			"{",
			map[string]any{},
			map[string]any{"url": "ftp://x"},
			map[string]any{"url": "https://10.0.0.1/"},
			map[string]any{"url": receiver.URL, "events": []string{"player.born"}},
			map[string]any{"url": receiver.URL, "secret": "mine"},
		} {
			status, code := 422, "validation_failed"
			if body == "{" {
				status, code = 400, "malformed_request"
			}
			admin.Call(t, "POST", path, body).Want(t, status, code)
		}
		for _, body := range []map[string]any{{}, {"from": "yesterday"}, {"from": begun.Format(time.RFC3339), "to": begun.Format(time.RFC3339)}} {
			admin.Call(t, "POST", own+"/replay", body).Want(t, 422, "validation_failed")
		}
		admin.Call(t, "POST", own+"/rotate-secret", map[string]any{"overlap_in": 604801}).Want(t, 422, "validation_failed")
		admin.Call(t, "PATCH", own, map[string]any{"url": nil}).Want(t, 422, "validation_failed")
		admin.Call(t, "GET", own+"/messages?state=queued", nil).Want(t, 422, "validation_failed")
		s.Operator(t, operator.AvailabilityScope).Call(t, "GET", path, nil).Want(t, 403, "insufficient_scope")

		admin.Call(t, "DELETE", own, nil).Want(t, 204)
		for _, call := range []string{"GET ", "PATCH ", "DELETE ", "POST /rotate-secret", "POST /test", "POST /replay", "GET /messages?state=x"} {
			method, rest, _ := strings.Cut(call, " ")
			var body any
			if method == "PATCH" || rest == "/replay" {
				body = map[string]any{"unknown": true}
			}
			admin.Call(t, method, own+rest, body).Want(t, 404, "not_found")
		}
	}, allowLoopback)
}

// TestWebhookOutage: an endpoint that is away for an hour then gets every message once,
// under the same ids and in the order of each player. Meanwhile an endpoint that hangs
// delays no other, and several replicas send each message once.
func TestWebhookOutage(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		if strings.HasPrefix(s.Config.DatabaseURL.Reveal(), "postgres") {
			s.Replica()
		}
		admin := s.Operator(t, operator.Webhooks)
		away, healthy, hanging := newWebhookReceiver(t), newWebhookReceiver(t), newWebhookReceiver(t)
		released := make(chan struct{})
		defer close(released)
		hanging.set(func(webhookEvent) int { <-released; return 500 })
		away.set(func(webhookEvent) int { return 500 })
		var ids []string
		for _, r := range []*webhookReceiver{hanging, away, healthy} {
			ids = append(ids, admin.Call(t, "POST", "/api/admin/webhooks", map[string]any{"url": r.URL}).Want(t, 201).String("webhook_id"))
		}
		coach := s.Coach(t, coachNumber)
		const players, changes = 3, 4
		for i := range players {
			number := fmt.Sprintf("+9198123100%02d", i)
			id := coach.AddPlayer(t, child(i, number)).String("player_id")
			guardian := s.SignIn(t, "guardian", number)
			decideAsGuardian(t, guardian, id, "approved")
			decideAsGuardian(t, guardian, id, "revoked")
		}
		healthy.await(t, players*changes)
		if got, attempts := hanging.state(); len(got) != 0 || attempts == 0 {
			t.Errorf("the hanging endpoint accepted %d of %d", len(got), attempts)
		}

		tables := openTables(t, s)
		// Each attempt must be saved before the clock moves: the time of the next one counts from it.
		attemptsOf := func(n int) {
			t.Helper()
			eventually(t, fmt.Sprintf("attempt %d of the first message of each player is saved", n), func() bool {
				var saved int
				row := tables.QueryRowContext(t.Context(), "SELECT count(*) FROM webhook_messages WHERE webhook_id = $1 AND lease IS NULL AND attempts >= $2", ids[1], n)
				if err := row.Scan(&saved); err != nil {
					t.Fatal(err)
				}
				return saved == players
			})
		}
		for i, wait := range []time.Duration{0, 6 * time.Second, 6 * time.Minute, 54 * time.Minute} {
			s.Clock.Advance(wait)
			attemptsOf(i + 1)
		}
		if got, _ := away.state(); len(got) != 0 {
			t.Errorf("accepted %d while away", len(got))
		}
		if w := admin.Call(t, "GET", "/api/admin/webhooks/"+ids[1], nil).Want(t, 200); w.JSON["failing_since"] == nil || w.JSON["enabled"] != true {
			t.Errorf("got %s", w.Body)
		}
		away.set(nil)
		// An attempt whose result was not saved is made again after a minute and counts, so the next wait can be one of the later ones.
		s.Clock.Advance(day)
		sequences := map[string]int64{}
		for _, e := range away.await(t, players*changes) {
			if e.Data.Sequence != sequences[e.Data.PlayerID]+1 || e.id != fmt.Sprintf("msg_%s_%d", e.Data.PlayerID, e.Data.Sequence) {
				t.Errorf("player %s: got %s, sequence %d after %d", e.Data.PlayerID, e.id, e.Data.Sequence, sequences[e.Data.PlayerID])
			}
			sequences[e.Data.PlayerID] = e.Data.Sequence
		}
		if len(sequences) != players {
			t.Errorf("got messages of %d players, want %d", len(sequences), players)
		}
		if got, _ := healthy.state(); len(got) != players*changes {
			t.Errorf("the healthy endpoint got %d messages, want each of %d once", len(got), players*changes)
		}
	}, allowLoopback)
}

// TestCreateWebhookOnce: a repeat with the same Idempotency-Key returns the first response with the
// secret, to the same token alone, and creates nothing.
func TestCreateWebhookOnce(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		admin := s.Operator(t, operator.Webhooks)
		const path, key = "/api/admin/webhooks", "Idempotency-Key: create-1"
		body := map[string]any{"url": "https://app.example/hooks"}
		var group sync.WaitGroup
		for range 4 { // one of them creates it
			group.Go(func() {
				if got := admin.Call(t, "POST", path, body, key); got.Status != 201 && got.Code() != "request_in_progress" {
					t.Errorf("got %d %s, want 201 or request_in_progress", got.Status, got.Body)
				}
			})
		}
		group.Wait()
		first := admin.Call(t, "POST", path, body, key).Want(t, 201)
		again := admin.Call(t, "POST", path, body, key).Want(t, 201)
		if string(again.Body) != string(first.Body) || again.Header.Get("Location") != first.Header.Get("Location") || !strings.HasPrefix(first.String("secret"), "whsec_") {
			t.Errorf("got %s\nagain %s", first.Body, again.Body)
		}
		if got := admin.Call(t, "GET", path, nil).Want(t, 200).Items(); len(got) != 1 {
			t.Errorf("got %d webhooks, want 1", len(got))
		}
		admin.Call(t, "POST", path, map[string]any{"url": "https://app.example/others"}, key).Want(t, 422, "idempotency_key_reused")
		admin.Call(t, "POST", path, map[string]any{"url": "http://app.example/hooks"}).Want(t, 422, "validation_failed")
		admin.Call(t, "POST", path, body, "Idempotency-Key: \"").Want(t, 422, "validation_failed")
		other := s.Operator(t, operator.Webhooks).Call(t, "POST", path, body, key).Want(t, 201)
		if other.String("secret") == first.String("secret") {
			t.Error("another token got the secret")
		}
		admin.Call(t, "POST", first.Header.Get("Location")+"/rotate-secret", nil).Want(t, 200)
		if got := admin.Call(t, "POST", path, body, key).Want(t, 201); string(got.Body) != string(first.Body) {
			t.Errorf("after a rotation: got %s, want %s", got.Body, first.Body)
		}
		admin.Call(t, "DELETE", first.Header.Get("Location"), nil).Want(t, 204)
		admin.Call(t, "POST", path, body, key).Want(t, 404, "not_found")
	}, allowLoopback)
}
