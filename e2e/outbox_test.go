package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// noMessageLimits turns the message limits off.
func noMessageLimits(c *config.Config) {
	c.MessagesPerNumberFromCoach, c.MessagesPerNumber, c.MessagesPerCoach = 0, 0, 0
	c.MessagesPerAddress, c.MessagesPerBlock, c.MessagesNewCoach = 0, 0, 0
}

// TestReplicasDeliverOnce: two replicas send 200 messages once each.
func TestReplicasDeliverOnce(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		const all, atOnce = 200, 8
		replicas := []*touchlinetest.Service{s, s.Replica()}
		coach := s.Coach(t, coachNumber)
		s.Gateway.Behave(smstest.Behaviour{Delay: 30 * time.Millisecond})
		var wait sync.WaitGroup
		for w := range atOnce {
			wait.Go(func() {
				for i := w; i < all; i += atOnce {
					add := func() (*touchlinetest.Response, error) {
						return replicas[i%2].Do(t.Context(), "POST", "/api/players/add", coach.Access, child(i, fmt.Sprintf("+9198126%05d", i)), fmt.Sprintf("Idempotency-Key: %d", i))
					}
					a, err := add()
					for tries := 0; tries < 5 && err == nil && a.Status == 503; tries++ { // the writes of a busy machine wait too long
						a, err = add()
					}
					if err != nil || a.Status != 201 {
						t.Errorf("player %d: %v, %v", i, err, a)
					}
				}
			})
		}
		wait.Wait()
		messages := func() (n int, duplicates string) {
			seen := map[string]bool{}
			for _, m := range s.Gateway.Accepted() {
				if m.Kind != "message" {
					continue
				}
				if n++; seen[m.ID] {
					duplicates = m.ID
				}
				seen[m.ID] = true
			}
			return n, duplicates
		}
		eventually(t, "all messages", func() bool { n, _ := messages(); return n >= all })
		s.Clock.Pass(quietPeriod)
		time.Sleep(settleTime)
		if n, duplicates := messages(); n != all || duplicates != "" {
			t.Errorf("got %d of %d messages, duplicates: %q", n, all, duplicates)
		}
	}, noMessageLimits, touchlinetest.ManyConnections)
}

// TestExpiredLeaseIsClaimedAgain: a delivery of a killed worker is sent with the
// same id by another worker, after its lease expires and not before.
func TestExpiredLeaseIsClaimedAgain(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		coach := s.Coach(t, coachNumber)
		before := s.Gateway.Attempts()
		s.Gateway.Behave(smstest.Behaviour{Status: 503, RetryAfter: "7200"})
		coach.AddPlayer(t, child(1, guardianNumber))
		eventually(t, "an attempt", func() bool { return s.Gateway.Attempts() > before })
		const mine = `SELECT count(*) FROM deliveries WHERE kind = 'request' AND channel = 'sms' AND state = 'queued' AND reason = 'retrying' AND lease IS NULL`
		eventually(t, "the delivery waits", func() bool { return queryOne[int](t, db, mine) == 1 })
		// The state after a worker was killed between claim and completion.
		until := s.Clock.Now().Add(time.Minute)
		execSQL(t, db, `UPDATE deliveries SET lease = 'of the killed worker', lease_ends_at = $1, due_at = $2, attempts = attempts + 1 WHERE kind = 'request' AND channel = 'sms'`,
			until.UnixMicro(), s.Clock.Now().UnixMicro())
		id := queryOne[string](t, db, `SELECT id FROM deliveries WHERE kind = 'request' AND channel = 'sms'`)
		s.Gateway.Behave(smstest.Behaviour{})
		s.Replica()
		never(t, s, "it was claimed during the lease", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > 0 })
		s.Clock.Advance(time.Minute)
		if m := s.SMS(guardianNumber, "message", 0); m.ID != id {
			t.Errorf("got id %s, want %s", m.ID, id)
		}
		never(t, s, "the message arrived twice", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > 1 })
	})
}

// TestStopFinishesClaimedDeliveries: a stopping replica finishes its deliveries
// on a slow gateway, and no other replica repeats them.
func TestStopFinishesClaimedDeliveries(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		before := s.Gateway.Attempts()
		s.Gateway.Behave(smstest.Behaviour{Delay: 2 * time.Second})
		coach.AddPlayer(t, child(1, guardianNumber))
		eventually(t, "an attempt", func() bool { return s.Gateway.Attempts() > before })
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		if n := s.Sent(guardianNumber, "message"); n != 1 {
			t.Errorf("got %d messages when the replica had stopped, want 1", n)
		}
		s.Replica()
		s.Clock.Advance(2 * time.Minute)
		never(t, s, "the message arrived twice", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > 1 })
	})
}

// TestNoSecretsInOutboxOrLog: after failures of all kinds, the outbox has no
// code, text or link, and the log no number, code, token or medical information.
func TestNoSecretsInOutboxOrLog(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		coach := s.Coach(t, coachNumber)
		s.Gateway.Behave(smstest.Behaviour{Status: 500})
		before := s.Gateway.Attempts()
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		eventually(t, "failed attempts to log", func() bool { return s.Gateway.Attempts() >= before+2 })
		s.Gateway.Behave(smstest.Behaviour{})
		link := linkPath(t, s, guardianNumber, 0)
		s.Call(t, "GET", link, "", nil).Want(t, 200)
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player.String("player_id"), "action": "approved"}).Want(t, 200)
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": guardianNumber, "role": "guardian", "otp": "000000"})
		s.Call(t, "POST", "/auth/login", "", `{"mobile_number": "`+coachNumber+`", "otp": 12}`)
		s.Call(t, "GET", "/api/players?q="+strings.TrimPrefix(guardianNumber, "+"), coach.Access, nil).Want(t, 200)
		s.Call(t, "GET", "/api/me?access_token="+coach.Access, "", nil).Want(t, 401)
		next := renewTokens(t, coach)
		next.Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		s.Gateway.Behave(smstest.Behaviour{Status: 422})
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": otherNumber}).Want(t, 202)
		eventually(t, "a refused message to log", func() bool { return strings.Contains(s.Log.String(), `"permanent":true`) })

		var codes, secrets []string
		for _, m := range s.Gateway.Accepted() {
			if m.Kind == "otp" {
				codes = append(codes, findOTP(m.Text))
			}
			secrets = append(secrets, m.Text)
		}
		secrets = append(secrets, strings.TrimPrefix(link, "/a/"), coach.Access, coach.Refresh, coach.Device,
			next.Access, next.Refresh, guardian.Access, guardian.Refresh, guardian.Device, "inhaler", "Asthma")
		rows := allText(t, s)
		for _, secret := range append(codes, secrets...) {
			if strings.Contains(rows, secret) {
				t.Errorf("the outbox contains %q", secret)
			}
		}
		if n := queryOne[int](t, db, `SELECT count(*) FROM deliveries`); n < 4 {
			t.Errorf("got only %d deliveries: not enough for this test", n)
		}
		for _, number := range []string{coachNumber, guardianNumber, studentNumber, otherNumber} {
			secrets = append(secrets, number[3:], number[3:8]+" "+number[8:])
		}
		for line := range strings.Lines(s.Log.String()) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatalf("log line is not JSON: %s", line)
			}
			delete(fields, "time") // its digits can equal a code
			said := words(fields)
			for _, secret := range secrets {
				if strings.Contains(said, secret) {
					t.Errorf("the log contains %q: %s", secret, line)
				}
			}
			for _, code := range codes {
				if code != "" && strings.Contains(said, code) {
					t.Errorf("the log contains the code %s: %s", code, line)
				}
			}
		}
	})
}

// findOTP returns the code in an SMS.
func findOTP(text string) string {
	code, _, _ := strings.Cut(text, " ")
	return code
}

// words joins the texts in v without numbers, because digits of a duration can
// equal a code.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v + "\n"
	case map[string]any:
		var b strings.Builder
		for name, member := range v {
			b.WriteString(name + "\n" + words(member))
		}
		return b.String()
	case []any:
		var b strings.Builder
		for _, member := range v {
			b.WriteString(words(member))
		}
		return b.String()
	}
	return ""
}

// allText returns all texts in the table of deliveries.
func allText(t *testing.T, s *touchlinetest.Service) string {
	t.Helper()
	rows, err := openTables(t, s).QueryContext(t.Context(), `SELECT * FROM deliveries`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			switch v := v.(type) {
			case string:
				b.WriteString(v + "\n")
			case []byte:
				b.Write(append(v, '\n'))
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
