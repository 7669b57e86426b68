package e2e_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store"
)

// rotateSecret replaces the service secret of a service.
func rotateSecret(t *testing.T, s *touchlinetest.Service) (auth.Rotated, error) {
	t.Helper()
	return server.RotateSecret(t.Context(), s.Config, server.Options{Now: s.Clock.Now}, actor.Operator{Name: "shell:test"})
}

// sealedWith counts the sealed values of a database, and those that the vault does not open.
func sealedWith(t *testing.T, s *touchlinetest.Service) (values, unreadable int) {
	t.Helper()
	db, err := database.Open(t.Context(), s.Config.DatabaseURL.Reveal(), database.Options{Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keys, err := auth.OpenKeys(t.Context(), auth.NewInstallation(db), s.Config.MasterKeys, s.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range server.Sealed() {
		args := []any{1000, ""}
		if strings.Contains(c.Read, "$3") {
			args = append(args, "")
		}
		rs, err := db.Query(t.Context(), c.Read, args...)
		_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
			key := make([]string, len(args)-1)
			var sealed []byte
			dest := []any{&key[0]}
			if len(key) == 2 {
				dest = append(dest, &key[1])
			}
			if err := row.Scan(append(dest, &sealed)...); err != nil {
				return struct{}{}, err
			}
			values++
			if _, err := keys.Vault.For(c.Purpose).Open(sealed, strings.Join(key, "\x00")); err != nil {
				t.Logf("%s.%s of %v: %v", c.Table, c.Column, key, err)
				unreadable++
			}
			return struct{}{}, nil
		})
		if err != nil {
			t.Fatalf("%s: %v", c.Table, err)
		}
	}
	return values, unreadable
}

// interruptRotation begins a rotation that fails before its end.
func interruptRotation(t *testing.T, s *touchlinetest.Service) {
	t.Helper()
	db, err := database.Open(t.Context(), s.Config.DatabaseURL.Reveal(), database.Options{Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	masters, err := s.Config.MasterKeys()
	if err != nil {
		t.Fatal(err)
	}
	_, err = auth.SecretRotation{
		Installation: auth.NewInstallation(db), Masters: masters, Sealed: server.Sealed()[:2],
		Ended: []store.Ended{{What: "nothing", Query: `DELETE FROM no_such_table WHERE $1 > 0`}}, Now: s.Clock.Now(),
	}.Run(t.Context())
	if err == nil {
		t.Fatal("the rotation was not interrupted")
	}
}

// TestRotateSecret: what must live on works after the service secret was replaced, and what ends answers so that people and
// apps know what to do. An interrupted rotation keeps the service from starting and continues.
func TestRotateSecret(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		changeNumberTo(t, coach, newNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		link := linkPath(t, s, guardianNumber, 0)
		guardian := s.SignIn(t, "guardian", guardianNumber)
		decideAsGuardian(t, guardian, player, "approved")
		disputed := coach.AddPlayer(t, child(2, "+919812300042"))
		s.SignIn(t, "guardian", "+919812300042").Call(t, "POST", "/api/approval/requests/"+disputed.String("guardian_request_id")+"/dispute", nil).Want(t, 200)
		passport := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		coach.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Meera Devi Nair", "document_ids": []string{passport}}).Want(t, 201)
		repeated := func(coach *touchlinetest.User) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/players/add", child(3, guardianNumber), "Idempotency-Key: once").Want(t, 201)
		}
		first := repeated(coach)
		calendar := coach.Call(t, "POST", "/api/calendar", nil).Want(t, 200).String("url")
		receiptOf := func(guardian *touchlinetest.User) []byte {
			record := guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()[0]["record_id"].(string)
			return guardian.Call(t, "GET", "/api/me/receipts/"+record, nil).Want(t, 200).Body
		}
		receipt := receiptOf(guardian)
		leaver := s.Coach(t, "+919812300077")
		leaver.Call(t, "DELETE", "/api/me", object{"otp": requestCoachOTP(t, s, "+919812300077")}).Want(t, 204)
		db := openTables(t, s)
		var logKey string
		s.CLI(t, func(ctx context.Context, _ actor.Operator, ops *server.Operators) {
			log, err := ops.Log(ctx)
			if err == nil {
				logKey, err = log.CurrentKey(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		otp := requestCoachOTP(t, s, newNumber)

		serving, err := database.LockServer(t.Context(), s.Config.DatabaseURL.Reveal(), 0, func() {}) // as touchline serve does
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rotateSecret(t, s); !errors.Is(err, dump.ErrRunning) {
			t.Errorf("with a running service: %v, want ErrRunning", err)
		}
		if err := errors.Join(serving.Close(), s.Stop()); err != nil {
			t.Fatal(err)
		}
		execSQL(t, db, `INSERT INTO tls_entries (name, sealed, claim_ends_at) VALUES ('touchline.test', $1, 0)`, make([]byte, 100))
		before, _ := sealedWith(t, s)
		interruptRotation(t, s)
		if _, err := server.Open(t.Context(), s.Config, server.Options{Now: s.Clock.Now}); !errors.Is(err, auth.ErrUnfinishedRotation) {
			t.Fatalf("a start after an interruption: %v, want ErrUnfinishedRotation", err)
		}
		done, err := rotateSecret(t, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range server.EndedWithSecret() {
			if n := done.Ended[e.What]; (n == 0) != slices.Contains([]string{"push subscriptions", "links to answer about trainings"}, e.What) {
				t.Errorf("%d %s ended", n, e.What)
			}
		}
		values, unreadable := sealedWith(t, s)
		if values != before || values < 7 || unreadable != 1 || done.Unreadable != 1 { // the one of tls_entries
			t.Errorf("%d values, %d before, %d unreadable; the command found %d", values, before, unreadable, done.Unreadable)
		}
		if _, err := rotateSecret(t, s); err != nil { // once more: kept keys stay
			t.Fatal(err)
		}
		old := s
		s = touchlinetest.New(t, s.Config.DatabaseURL.Reveal(), enableKYC, func(c *config.Config) { c.DataDir, c.Files = old.Config.DataDir, old.Config.Files })
		s.Clock.Advance(old.Clock.Now().Sub(s.Clock.Now()))

		// What ended says so.
		s.Call(t, "GET", "/api/coach/profile", coach.Access, nil).Want(t, 401)
		s.Call(t, "POST", "/auth/refresh", "", object{"refresh_token": coach.Refresh}).Want(t, 401)
		s.Call(t, "POST", "/auth/login", "", object{"mobile_number": newNumber, "otp": otp}).Want(t, 410, "otp_expired")
		s.Call(t, "GET", calendar[strings.Index(calendar, "/calendars/"):], "", nil).Want(t, 404)
		s.Call(t, "GET", link, "", nil).Want(t, 404)
		// What lives on works.
		coach = s.SignIn(t, "coach", newNumber)
		if a := coach.Call(t, "GET", "/api/players/"+player+"/medical", nil).Want(t, 200); !strings.HasPrefix(a.String("medical_information"), "Asthma") {
			t.Errorf("medical information: %s", a.Body)
		}
		if a := coach.Call(t, "GET", "/api/coach/kyc", nil).Want(t, 200); a.String("legal_name") != "Meera Devi Nair" {
			t.Errorf("legal name: %s", a.Body)
		}
		if again := repeated(coach); again.String("player_id") != first.String("player_id") || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("a repeated call: %v %s", again.Header, again.Body)
		}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": disputed.String("player_id")}).Want(t, 409, "contact_disputed")
		coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(coachNumber, "")).Want(t, 422, "contact_conflict") // its former number
		guardian = s.SignIn(t, "guardian", guardianNumber)
		verifier, err := note.NewVerifier(logKey)
		if err != nil {
			t.Fatal(err)
		}
		decideAsGuardian(t, guardian, player, "revoked")
		for _, text := range [][]byte{receipt, receiptOf(guardian)} {
			r, err := proof.ParseReceipt(text)
			if err == nil {
				_, err = r.Verify(verifier)
			}
			if err != nil {
				t.Errorf("verify a receipt: %v\n%s", err, text)
			}
		}
		coach.AddPlayer(t, child(4, "+919812300043"))
		s.Call(t, "GET", linkPath(t, s, "+919812300043", 0), "", nil).Want(t, 200)
	}, enableKYC, func(c *config.Config) { c.OTPSendsPerHour, c.OTPSendsPerDay = 0, 0 })
}
