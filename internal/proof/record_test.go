package proof_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

type object = map[string]any

var bg = context.Background()

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens the database of a service once more.
func open(t *testing.T, s *touchlinetest.Service) *database.DB {
	t.Helper()
	db, err := database.Open(bg, s.Config.DatabaseURL.Reveal(), database.Options{Now: s.Clock.Now, MaxConns: 4})
	ok(t, err)
	t.Cleanup(func() { ok(t, db.Close()) })
	return db
}

// bodies returns the bodies of all records in the order of their times.
func bodies(t *testing.T, db *database.DB) []proof.Body {
	t.Helper()
	rs, err := db.Query(bg, `SELECT body FROM consent_records ORDER BY at, id`)
	list, err := database.Collect(rs, err, func(row database.Scanner) (b proof.Body, err error) {
		var raw []byte
		if err := row.Scan(&raw); err != nil {
			return b, err
		}
		return b, json.Unmarshal(raw, &b)
	})
	ok(t, err)
	return list
}

// family is a coach with a player whose parties are asked.
type family struct {
	*touchlinetest.Service
	t                        *testing.T
	coach, guardian, student *touchlinetest.User
	player                   string
}

func newFamily(t *testing.T, s *touchlinetest.Service) family {
	t.Helper()
	f := family{Service: s, t: t, coach: s.Coach(t, "+919812380001")}
	f.player = f.coach.AddPlayer(t, touchlinetest.Minor("+919812380002", "+919812380003")).String("player_id")
	f.guardian, f.student = s.SignIn(t, "guardian", "+919812380002"), s.SignIn(t, "student", "+919812380003")
	return f
}

func (f family) decide(by *touchlinetest.User, party, action string) {
	f.t.Helper()
	f.Clock.Skip(time.Second)
	by.Call(f.t, "PUT", "/api/approval/"+party+"-response", object{"player_id": f.player, "action": action}).Want(f.t, 200)
}

// TestRecords: each change of a consent adds one record in its transaction, and no other call adds one.
func TestRecords(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f, db := newFamily(t, s), open(t, s)
		f.decide(f.guardian, "guardian", "approved")
		f.decide(f.guardian, "guardian", "approved") // again changes nothing
		f.decide(f.student, "student", "rejected")
		f.decide(f.guardian, "guardian", "revoked")
		s.Clock.Skip(time.Second)
		id := f.coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": f.player}).Want(t, 201).String("request_id")
		s.Clock.Skip(time.Second)
		f.guardian.Call(t, "POST", "/api/approval/requests/"+id+"/dispute", nil).Want(t, 200)
		s.Clock.Skip(time.Second)
		f.guardian.Call(t, "DELETE", "/api/approval/requests/"+id+"/dispute", nil)
		s.Clock.Skip(time.Second)
		f.coach.Call(t, "PATCH", "/api/players/"+f.player, object{"student": object{"full_name": "Another Child"}}).Want(t, 200)
		s.Clock.Skip(time.Second)
		f.coach.Call(t, "PATCH", "/api/players/"+f.player, object{"guardian": object{"mobile_number": "+919812380009"}}).Want(t, 200)
		s.Clock.Skip(time.Second)
		f.coach.Call(t, "DELETE", "/api/players/"+f.player, nil).Want(t, 204)

		var got []string
		for _, b := range bodies(t, db) {
			line := fmt.Sprintf("%s %s %s->%s %s", b.PartyRole, b.EventType, b.PreviousState, b.EventState, b.ShownOn)
			if b.Authentication != nil {
				line += " " + b.Authentication.Method
			}
			got = append(got, line)
			if b.PIIController != s.Config.Brand || b.SchemaVersion != proof.SchemaVersion || len(b.Purposes) == 0 || b.Via == "" || (b.Authentication != nil && b.EventType != "dispute_lifted") != (b.TextHash != "" && b.PrivacyNotice != "" && b.Language != "") {
				t.Errorf("body %+v", b)
			}
		}
		want := `guardian asked pending->pending unknown
student asked pending->pending unknown
guardian approved pending->approved client otp
student rejected pending->rejected client otp
guardian revoked approved->revoked client otp
guardian asked revoked->pending unknown
guardian disputed pending->pending client otp
guardian dispute_lifted pending->pending client otp
guardian reset_by_student pending->pending unknown
guardian asked pending->pending unknown
student reset_by_student rejected->pending unknown
student asked pending->pending unknown
guardian reset_by_number pending->pending unknown
guardian asked pending->pending unknown
guardian removed pending->removed unknown
student removed pending->removed unknown`
		if strings.Join(got, "\n") != want {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
		}
	})
}

// TestUnreadableRecord: a record that cannot be decrypted neither keeps its party from a revocation nor makes the answer to it an error.
func TestUnreadableRecord(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f, db := newFamily(t, s), open(t, s)
		f.decide(f.guardian, "guardian", "approved")
		if n, err := db.Exec(bg, `UPDATE record_keys SET sealed = $1 WHERE record_id IN (SELECT id FROM approval_history)`, []byte("cut off")); err != nil || n != 1 {
			t.Fatalf("%d records changed, %v", n, err)
		}
		f.decide(f.guardian, "guardian", "revoked")
		for _, by := range []*touchlinetest.User{f.guardian, f.coach} {
			got := by.Call(t, "GET", "/api/players/approval-status/"+f.player, nil).Want(t, 200)
			if got.String("guardian_state") != "revoked" {
				t.Errorf("state %q, want revoked", got.String("guardian_state"))
			}
		}
	})
}

// TestRecordsOfDeletedAccount: a party that deletes its account revokes and leaves, and the proof of both stays without its key.
func TestRecordsOfDeletedAccount(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f, db := newFamily(t, s), open(t, s)
		f.decide(f.guardian, "guardian", "approved")
		s.Clock.Skip(time.Second)
		f.guardian.Call(t, "DELETE", "/api/me", nil).Want(t, 204)
		var got []string
		for _, b := range bodies(t, db) {
			got = append(got, fmt.Sprintf("%s %s %s->%s %t", b.PartyRole, b.EventType, b.PreviousState, b.EventState, b.Authentication != nil && b.TextHash != ""))
		}
		want := "guardian asked pending->pending false\nstudent asked pending->pending false\nguardian approved pending->approved true\n" +
			"guardian revoked approved->revoked true\nguardian left revoked->pending true\nguardian account_erased ->erased false"
		if strings.Join(got, "\n") != want {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
		}
	})
}
