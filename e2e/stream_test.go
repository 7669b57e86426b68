package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// decideAsGuardian decides about a player as the guardian.
func decideAsGuardian(t *testing.T, guardian *touchlinetest.User, player, action string) {
	t.Helper()
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": action}).Want(t, 200)
}

// TestStreamDelay: an event arrives within a second, also from another replica,
// and equals the notification.
func TestStreamDelay(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		other := s.Replica()
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		f := openStream(t, coach, "")

		// Between replicas: NOTIFY on PostgreSQL, a poll every 2 s on SQLite.
		limits := map[*touchlinetest.Service]time.Duration{s: time.Second, other: time.Second}
		if db, _ := postgresAdmin(t, s); db == nil {
			limits[other] = 3 * time.Second
		}
		f.wantPromptEvent(coach, guardian.On(s), player, "approved", limits[s])
		f.wantPromptEvent(coach, guardian.On(other), player, "revoked", limits[other])
	})
}

// wantPromptEvent fails the test unless one of three events arrives within limit.
// It allows three because the machine may be busy.
func (f *streamReader) wantPromptEvent(coach, guardian *touchlinetest.User, player, action string, limit time.Duration) {
	f.Helper()
	for try := 1; ; try++ {
		start := time.Now()
		decideAsGuardian(f.T, guardian, player, action)
		h := f.next(waitLimit)
		took := time.Since(start)
		newest := coach.Call(f, "GET", "/api/notifications?limit=1", nil).Want(f, 200).Items()[0]
		var data map[string]any
		if err := json.Unmarshal([]byte(h.data), &data); err != nil {
			f.Fatalf("data %q: %v", h.data, err)
		}
		if h.event != "notification" || h.id != newest["id"] || fmt.Sprint(data) != fmt.Sprint(newest) || data["type"] != "guardian_"+action {
			f.Fatalf("got event %+v, want %v", h, newest)
		}
		if took <= limit {
			return
		}
		if try == 3 {
			f.Fatalf("event took %s, want %s", took, limit)
		}
		if action == "approved" {
			decideAsGuardian(f.T, guardian, player, "revoked")
			f.next(waitLimit)
		}
		coach.Call(f, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player}).Want(f, 201)
		if action == "revoked" {
			decideAsGuardian(f.T, guardian, player, "approved")
			f.next(waitLimit)
		}
	}
}

// TestStreamResumesExactly: 20 writers on two replicas write to one account while
// its stream breaks repeatedly. The reader gets each event once, in order.
func TestStreamResumesExactly(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		const writers, each = 20, 4
		replicas := []*touchlinetest.Service{s, s.Replica()}
		coach := s.Coach(t, coachNumber)
		players := make([]string, writers)
		for i := range players {
			players[i] = coach.AddPlayer(t, child(i, guardianNumber)).String("player_id")
		}
		guardian := s.SignIn(t, "guardian", guardianNumber)
		f := openStream(t, coach, "")
		var wait sync.WaitGroup
		for i, player := range players {
			wait.Go(func() {
				for n := range each {
					if n == 2 {
						if a, err := replicas[i%2].Do(t.Context(), "POST", "/api/approval/send-guardian-request", coach.Access, map[string]any{"player_id": player}); err != nil || a.Status != 201 {
							t.Errorf("send request: %v, %v", err, a)
						}
					}
					action := []string{"approved", "revoked"}[n%2]
					a, err := replicas[(i+n)%2].Do(t.Context(), "PUT", "/api/approval/guardian-response", guardian.Access, map[string]any{"player_id": player, "action": action})
					if err != nil || a.Status != 200 {
						t.Errorf("%s: %v, %v", action, err, a)
					}
				}
			})
		}
		var got []string
		for len(got) < writers*each {
			if n := len(got); n > 0 && n%7 == 0 {
				f.stop()
				f = openStream(t, coach.On(replicas[n/7%2]), got[n-1])
			}
			got = append(got, f.next(waitLimit).id)
		}
		wait.Wait()
		var want []string
		for _, n := range coach.Call(t, "GET", "/api/notifications?limit=200", nil).Want(t, 200).Items() {
			want = append(want, n["id"].(string))
		}
		slices.Reverse(want)
		if !slices.Equal(got, want) {
			t.Errorf("got %d events, want the %d notifications in order:\n%v\n%v", len(got), len(want), got, want)
		}
		// A deleted last event is found by its time, so no later event is lost.
		f = openStream(t, coach, "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21")
		for i := range want {
			if id := f.next(waitLimit).id; id != want[i] {
				t.Fatalf("event %d: got %s, want %s", i, id, want[i])
			}
		}
		f.stop()
		// An invalid last event id starts at the newest event.
		for _, last := range []string{"7", strings.Repeat("x", 300)} {
			f := openStream(t, coach, last)
			never(t, s, "an unknown event id repeats old events", 300*time.Millisecond, func() bool { return len(f.events) > 0 })
			f.stop()
		}
	}, touchlinetest.ManyConnections)
}

// TestStreamHeartbeat: an idle stream sends a comment every 20 seconds.
func TestStreamHeartbeat(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.SignIn(t, "coach", coachNumber)
		f := openStream(t, coach, "")
		for start := s.Clock.Now(); ; s.Clock.Advance(time.Second) {
			select {
			case h, open := <-f.events:
				if took := s.Clock.Now().Sub(start); !open || h.comment == "" || took < 15*time.Second {
					t.Errorf("after %s: got %+v, open %v", took, h, open)
				}
				return
			case <-time.After(50 * time.Millisecond):
			}
			if s.Clock.Now().Sub(start) > 20*time.Second+waitLimit {
				t.Fatal("got no heartbeat")
			}
		}
	})
}

// TestStreamEnds: a stream ends with its token, session, last player and replica.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	const soon = 20 * time.Second
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		other := s.Replica()
		coach := s.Coach(t, coachNumber)
		one := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		two := coach.AddPlayer(t, child(2, guardianNumber)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		student := s.SignIn(t, "student", studentNumber)

		endsSoon := func(f *streamReader) {
			t.Helper()
			s.Clock.Pass(soon) // streams on SQLite poll
			f.ends(soon)
		}
		f := openStream(t, guardian.On(other), "")
		coach.Call(t, "DELETE", "/api/players/"+two, nil).Want(t, 204)
		endsSoon(f)
		f = openStream(t, student.On(other), "")
		coach.Call(t, "PATCH", "/api/players/"+one, map[string]any{"student": map[string]any{"contact_number": otherNumber}}).Want(t, 200)
		endsSoon(f)

		f = openStream(t, coach.On(other), "")
		coach.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		endsSoon(f)

		s.Clock.Advance(2 * time.Minute)
		coach = s.SignIn(t, "coach", coachNumber)
		f = openStream(t, coach.On(other), "")
		s.Clock.Advance(15*time.Minute - time.Minute)
		never(t, s, "ended before its token expired", quietPeriod, func() bool {
			select {
			case _, open := <-f.events:
				return !open
			default:
				return false
			}
		})
		s.Clock.Advance(time.Minute)
		endsSoon(f)

		coach = renewTokens(t, coach)
		f = openStream(t, coach.On(other), "")
		start := time.Now()
		if err := other.Stop(); err != nil {
			t.Error(err)
		}
		f.ends(soon)
		if took := time.Since(start); took > soon {
			t.Errorf("stop with an open stream took %s", took)
		}
	})
}

// TestMarkNotificationsRead: an account marks only its own notifications as read.
func TestMarkNotificationsRead(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		var theirs string
		guardian := (*touchlinetest.User)(nil)
		for i, by := range []*touchlinetest.User{coach, coach, coach, other} {
			player := by.AddPlayer(t, child(i, guardianNumber)).String("player_id")
			if guardian == nil {
				guardian = s.SignIn(t, "guardian", guardianNumber)
			}
			decideAsGuardian(t, guardian, player, "approved")
		}
		theirs = other.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items()[0]["id"].(string)
		unread := func(p *touchlinetest.User, want int) []map[string]any {
			t.Helper()
			items := p.Call(t, "GET", "/api/notifications?unread=true", nil).Want(t, 200).Items()
			if me := p.Call(t, "GET", "/api/me", nil).Want(t, 200).String("unread_notifications"); len(items) != want || me != fmt.Sprint(want) {
				t.Errorf("got %d unread notifications, /api/me says %s, want %d", len(items), me, want)
			}
			return items
		}
		read := func(body map[string]any, left string) {
			t.Helper()
			if a := coach.Call(t, "POST", "/api/notifications/read", body).Want(t, 200); a.String("unread") != left {
				t.Errorf("got %s unread, want %s", a.String("unread"), left)
			}
		}
		first := unread(coach, 3)[0]["id"].(string)
		read(map[string]any{"ids": []string{first, theirs, "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"}}, "2")
		at := coach.Call(t, "GET", "/api/notifications?limit=1", nil).Want(t, 200).Items()[0]["read_at"]
		s.Clock.Advance(time.Minute)
		read(map[string]any{"ids": []string{first}}, "2")
		if again := coach.Call(t, "GET", "/api/notifications?limit=1", nil).Want(t, 200).Items()[0]["read_at"]; again != at || at == nil {
			t.Errorf("got read_at %v, then %v", at, again)
		}
		unread(other, 1)
		read(map[string]any{"all": true}, "0")
		unread(coach, 0)
		unread(other, 1)
	})
}
