package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// openLinked opens a database with one player, the player's coach, guardian and student,
// and one other account in each role. Every account has a session.
func openLinked(t *testing.T, url string) *store.DB {
	t.Helper()
	sql := openDatabase(t, url, database.Options{})
	ok(t, sql.Migrate(bg))
	db := store.New(sql, store.Options{})
	for i, role := range []string{"coach", "guardian", "student"} {
		for j, id := range []string{role, "other-" + role} {
			number := "+91990000000" + string(rune('0'+2*i+j))
			ok(t, run(db, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, $2, $3, 1)`, id, number, role))
			ok(t, run(db, `
				INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
				VALUES ($1, $2, $3, $4, 'd', 7, $5, 1, 1, 1000, 2000)`, "session-"+id, id, role, number, []byte{1}))
		}
	}
	ok(t, run(db, `INSERT INTO coaches (id, name, created_at, updated_at) VALUES ('coach', 'Asha Rao', 1, 1)`))
	ok(t, run(db, `
		INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at)
		VALUES ('player', 'coach', 1, 'Kabir Mehta', 'kabir mehta', '2012-04-30', 'kabir mehta', 1)`))
	ok(t, run(db, `
		INSERT INTO parties (player_id, role, position, coach_id, name, relationship, number, account_id, state, pending_since)
		VALUES ('player', 'guardian', 1, 'coach', 'Meera Mehta', 'mother', '+919900000002', 'guardian', 'approved', 1),
			('player', 'student', 1, 'coach', NULL, NULL, '+919900000004', 'student', 'pending', 1)`))
	return db
}

func TestConsentStatus(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		db := openLinked(t, url)
		want := approval.ConsentStatus{
			PlayerID: "player", Guardian: approval.Approved, Student: approval.Pending,
			DateOfBirth: approval.Date{Year: 2012, Month: time.April, Day: 30}, HasGuardian: true, HasStudentNumber: true,
			Guardians: []approval.GuardianConsent{{AccountID: "guardian", State: approval.Approved}}, Rule: approval.AnyGuardian,
		}
		notFound := func(by actor.Actor, id string) {
			t.Helper()
			if got, err := player.ReadConsentStatus(bg, db, by, id); fault.KindOf(err) != fault.NotFound || got.PlayerID != "" {
				t.Errorf("%s %s reads player %q: got %+v, %v, want not_found", by.Role, by.AccountID, id, got, err)
			}
		}
		for _, role := range actor.Roles {
			got, err := player.ReadConsentStatus(bg, db, actor.Actor{AccountID: string(role), Role: role}, "player")
			ok(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: got %+v, want %+v", role, got, want)
			}
			notFound(actor.Actor{AccountID: "other-" + string(role), Role: role}, "player")
		}
		notFound(actor.Actor{AccountID: "coach", Role: actor.Coach}, "")
		ok(t, run(db, `UPDATE parties SET name = NULL, number = NULL WHERE player_id = 'player'`))
		want.HasGuardian, want.HasStudentNumber, want.Guardians = false, false, nil
		if got, err := player.ReadConsentStatus(bg, db, actor.Actor{AccountID: "coach", Role: actor.Coach}, "player"); err != nil || !cmp.Equal(got, want) {
			t.Errorf("without guardian and number: got %+v, %v, want %+v", got, err, want)
		}
		ok(t, run(db, `UPDATE players SET deleted_at = 5 WHERE id = 'player'`))
		notFound(actor.Actor{AccountID: "coach", Role: actor.Coach}, "player")
	})
}

// TestConsentStatusComparesTheColumnOfTheRole: an account id of one role must not match
// the column of another role.
func TestConsentStatusComparesTheColumnOfTheRole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		db := openLinked(t, url)
		if _, err := player.ReadConsentStatus(bg, db, actor.Actor{AccountID: "guardian", Role: actor.Student}, "player"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a guardian's account as a student: got %v, want not_found", err)
		}
	})
}

func TestLink(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		db := openLinked(t, url)
		hash := vault.HashToken("token")
		ok(t, run(db, `
			INSERT INTO requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed)
			VALUES ('request', 'player', 'coach', 'student', 'student', 'pending', '["sms"]', 1, 1, FALSE)`))
		ok(t, run(db, `INSERT INTO request_links (hash, request_id, ends_at, to_number) VALUES ($1, 'request', 1000, TRUE)`, hash))
		open := func(token string, left time.Duration) (approval.LinkState, error) {
			ok(t, run(db, `UPDATE request_links SET ends_at = $1`, db.Now().Add(left).UnixMicro()))
			return (&player.Service{DB: db}).Link(bg, vault.HashToken(token))
		}
		got, err := open("token", time.Hour)
		ok(t, err)
		if !got.Open || got.Party != actor.Student || got.CoachName != "Asha Rao" || got.StudentName != "Kabir Mehta" {
			t.Errorf("got %+v, want an open link with both names", got)
		}
		notFound := func(name, token string, left time.Duration) {
			t.Helper()
			if got, err := open(token, left); err != nil || got != (approval.LinkState{}) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		notFound("another token", "tokem", time.Hour)
		if got, err := open("token", 0); err != nil || got != (approval.LinkState{Old: true}) {
			t.Errorf("at its end: %+v, %v; want an old link without names", got, err)
		}
		ok(t, run(db, `UPDATE coaches SET name = NULL`))
		if got, err := open("token", time.Hour); err != nil || got.CoachName != "" {
			t.Errorf("a coach without a name: %+v, %v", got, err)
		}
		for _, state := range []string{"approved", "rejected", "cancelled", "disputed"} {
			ok(t, run(db, `UPDATE requests SET state = $1`, state))
			notFound("request "+state, "token", time.Hour)
		}
		ok(t, run(db, `UPDATE requests SET state = 'pending'`))
		ok(t, run(db, `UPDATE players SET deleted_at = 1`))
		notFound("player deleted", "token", time.Hour)
	})
}
