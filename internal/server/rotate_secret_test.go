package server_test

import (
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// independent are the binary columns that a rotation of the service secret need not seal again, and why.
var independent = map[string]string{
	"secrets.sealed":           "sealed with the master key",
	"kept_answers.fingerprint": "a MAC whose key is kept", "former_numbers.number_hash": "a MAC whose key is kept", "players.student_hash": "a MAC whose key is kept", "disputes.student_hash": "a MAC whose key is kept", "disputes.number_hash": "a MAC whose key is kept", "told_phones.hash": "a hash of a MAC whose key is kept",
	"adult_proofs.subject_hash": "a MAC whose key is kept", "proof_attempts.state_hash": "a hash of a random token",
	"operator_tokens.hash": "a hash of a random token", "operator_sessions.hash": "a hash of a random token", "handled_replies.hash": "a hash of public values",
	"coach_devices.token_hash": "a hash of a token that phones still send", "passkeys.credential_id": "public",
	"coaches.name_key": "a collation key", "consent_records.body": "public", "log_tiles.hashes": "public", "log_hashes.hash": "public", "consent_log.checkpoint": "public", "consent_log.cosign": "public", "log_cosignatures.checkpoint": "public", "log_destinations.published": "public",
	"devices.token_hash": "ends", "sessions.refresh_hash": "ends", "otp_challenges.code": "ends", "push_subscriptions.endpoint": "ends", "push_subscriptions.sealed": "ends",
	"request_links.hash": "ends", "calendars.hash": "ends", "training_links.hash": "ends",
}

// TestSecretRotationKnowsColumns: a rotation of the service secret seals each binary column again, or does not need to.
func TestSecretRotationKnowsColumns(t *testing.T) {
	t.Parallel()
	b, err := database.OpenBulk(t.Context(), storetest.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tables, err := b.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sealed := map[string]bool{}
	for _, s := range server.Sealed() {
		sealed[s.Table+"."+s.Column] = true
	}
	for _, table := range tables {
		for _, c := range table.Columns {
			name := table.Name + "." + c.Name
			if c.Kind != database.KindBytes || sealed[name] {
				delete(sealed, name)
				continue
			}
			if independent[name] == "" {
				t.Errorf("a rotation of the service secret does not know %s: add it to the Sealed of its feature, or here with the reason", name)
			}
		}
	}
	for name := range sealed {
		t.Errorf("there is no binary column %s", name)
	}
}

// TestRotatedSecretOfRunningReplica: a replica that runs although the service secret was replaced is not ready.
func TestRotatedSecretOfRunningReplica(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "GET", "/readyz", "", nil).Want(t, 200)
		db, err := database.Open(t.Context(), s.Config.DatabaseURL.Reveal(), database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(t.Context(), `UPDATE secrets SET created_at = created_at + 1 WHERE id = 'service'`)
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		s.Clock.Advance(11 * time.Second)
		for end := time.Now().Add(time.Minute); s.Call(t, "GET", "/readyz", "", nil).Status != 503; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the replica is still ready")
			}
		}
	})
}
