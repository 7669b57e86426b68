package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

const developerSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// TestWebhookListen: "touchline webhook listen" forwards earlier changes and then each new one, signed, from the
// database and from the feed of a service.
func TestWebhookListen(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte(s.Operator(t, operator.AvailabilityScope).Token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		decideAsGuardian(t, guardian, player, "approved")

		type listener struct {
			*process
			*webhookReceiver
			replays bool
		}
		var listeners []listener
		for _, source := range [][]string{nil, {"--service", s.AdminURL, "--token-file", token}} {
			for _, since := range [][]string{nil, {"--since", "all"}} {
				r := newWebhookReceiver(t)
				r.set(func(e webhookEvent) int {
					if e.Type == "player.approved" {
						return 500
					}
					return 204
				})
				args := append([]string{"webhook", "listen", "--forward-to", r.URL, "--secret", developerSecret}, append(source, since...)...)
				listeners = append(listeners, listener{launch(t, t.TempDir(), args, "TOUCHLINE_DATABASE_URL="+s.Config.DatabaseURL.Reveal()), r, since != nil})
			}
		}
		for _, l := range listeners {
			eventually(t, "the command waits for changes", func() bool { return strings.Contains(l.stderrText(), "Waiting for changes") })
		}
		decideAsGuardian(t, guardian, player, "revoked")
		for i, l := range listeners {
			last := fmt.Sprintf("msg_%s_4  204", player)
			eventually(t, "the command forwards the revocation", func() bool { return strings.Contains(l.stdout.String(), last) })
			want := []string{"player.revoked"}
			if l.replays {
				want = []string{"player.pending", "player.pending", "player.revoked"}
				if failed := fmt.Sprintf("player.approved       msg_%s_3  500", player); !strings.Contains(l.stdout.String(), failed) {
					t.Errorf("listener %d printed %q, want %q", i, l.stdout, failed)
				}
			}
			var got []string
			accepted, _ := l.state()
			for _, e := range accepted {
				got = append(got, e.Type)
				e.verify(t, developerSecret, true)
				if e.Data.PlayerID != player || e.id != fmt.Sprintf("msg_%s_%d", player, e.Data.Sequence) {
					t.Errorf("listener %d got %s %s", i, e.id, e.body)
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("listener %d forwarded %v, want %v", i, got, want)
			}
			l.interrupt()
			if code := l.wait(waitLimit); code != 0 {
				t.Errorf("listener %d ended with %d: %s", i, code, l.stderrText())
			}
		}
		if err := os.WriteFile(token, []byte("tlo_wrong"), 0o600); err != nil {
			t.Fatal(err)
		}
		refused := launch(t, t.TempDir(), []string{"webhook", "listen", "--forward-to", "http://127.0.0.1:1", "--service", s.AdminURL, "--token-file", token})
		if code := refused.wait(waitLimit); code != 1 || !strings.Contains(refused.stderrText(), "401") {
			t.Errorf("with a wrong token: exit status %d, %s", code, refused.stderrText())
		}
	})
}

// TestWebhookTrigger: a sample of each event is signed and has the form that the document gives it.
func TestWebhookTrigger(t *testing.T) {
	t.Parallel()
	r := newWebhookReceiver(t)
	run := func(code int, args ...string) *process {
		t.Helper()
		p := launch(t, t.TempDir(), append([]string{"webhook", "trigger"}, args...))
		if got := p.wait(waitLimit); got != code {
			t.Errorf("%q: exit status %d, want %d: %s", args, got, code, p.stderrText())
		}
		return p
	}
	for i, event := range feed.SampleEvents() {
		p := run(0, event, "--forward-to", r.URL, "--json")
		_, secret, _ := strings.Cut(strings.TrimSpace(p.stderrText()), "this secret: ")
		got := r.await(t, i+1)[i]
		got.verify(t, secret, true)
		if got.Type != event || !strings.Contains(p.stdout.String(), `"event_type":"`+event+`"`) || !strings.Contains(p.stdout.String(), `"status":204`) {
			t.Errorf("%s: got %s, printed %s", event, got.body, p.stdout)
		}
	}
	r.set(func(webhookEvent) int { return 400 })
	run(3, "player.removed", "--forward-to", r.URL)
	run(2, "player.born", "--forward-to", r.URL)
	run(2, "player.removed", "--forward-to", "localhost:4000")
	run(2, "player.removed", "--forward-to", r.URL, "--secret", "hunter2")
}
