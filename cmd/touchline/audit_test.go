package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestAudit audits the database of a service, before and after an edit, and verifies a receipt with the printed key.
func TestAudit(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "touchline.db")
	s := touchlinetest.New(t, url)
	coach := s.Coach(t, "+919812390001")
	player := coach.AddPlayer(t, touchlinetest.Minor("+919812390002", "+919812390003")).String("player_id")
	guardian := s.SignIn(t, "guardian", "+919812390002")
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "rejected"}).Want(t, 200)
	id := guardian.Call(t, "GET", "/api/me/receipts?limit=1", nil).Want(t, 200).Items()[0]["record_id"].(string)
	s.SignIn(t, "student", "+919812390003").Call(t, "DELETE", "/api/me", nil).Want(t, 204)
	receipt := filepath.Join(t.TempDir(), "receipt.tlog-proof")
	if err := os.WriteFile(receipt, guardian.Call(t, "GET", "/api/me/receipts/"+id, nil).Want(t, 200).Body, 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), args, []string{"TOUCHLINE_DATABASE_URL=" + url, "TOUCHLINE_DATA_DIR=" + s.Config.DataDir}, &out, &errs)
		return code, out.String() + errs.String()
	}
	const want = "6 records and 1 players were checked.\nNothing contradicts the log."
	code, out := command("audit")
	for end := time.Now().Add(time.Minute); code == 0 && !strings.Contains(out, want) && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		code, out = command("audit") // the worker has not numbered all records
	}
	if code != 0 || !strings.Contains(out, want) {
		t.Errorf("exit status %d: %s", code, out)
	}
	code, key := command("admin", "log", "key")
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, key)
	}
	if code, out := command("verify", receipt, "--key", strings.TrimSpace(key)); code != 0 || !strings.Contains(out, "Someone who received a code at +919812390002") || !strings.Contains(out, "pressed no") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if code, out := command("admin", "log", "continue"); code != 1 || !strings.Contains(out, "the log has not stopped") {
		t.Errorf("exit status %d: %s", code, out)
	}
	db, err := database.Open(t.Context(), url, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(t.Context(), `UPDATE parties SET state = 'approved' WHERE role = 'guardian' AND player_id = $1`, player); err != nil {
		t.Fatal(err)
	}
	if code, out := command("audit"); code != 3 || !strings.Contains(out, `the state is "approved", but the newest record`) {
		t.Errorf("exit status %d: %s", code, out)
	}
	if _, err := db.Exec(t.Context(), `DELETE FROM consent_log`); err != nil {
		t.Fatal(err)
	}
	if code, out := command("audit"); code != 3 || !strings.Contains(out, "its row in consent_log was deleted") {
		t.Errorf("exit status %d: %s", code, out)
	}
	outside := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(outside, []byte("other/log\n1\nx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := command("audit", "--checkpoint", outside); code != 3 || !strings.Contains(out, "outside checkpoint") {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// TestAuditOfAdultAlone: an adult without a guardian contradicts nothing.
func TestAuditOfAdultAlone(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "touchline.db")
	s := touchlinetest.New(t, url)
	coach := s.Coach(t, "+919812390001")
	added := coach.Call(t, "POST", "/api/players/add", map[string]any{"student": map[string]any{"full_name": "Asha Rao", "date_of_birth": "1999-01-01"}}).Want(t, 201)
	coach.Call(t, "DELETE", "/api/players/"+added.String("player_id"), nil).Want(t, 204)
	var out bytes.Buffer
	code := run(t.Context(), []string{"audit"}, []string{"TOUCHLINE_DATABASE_URL=" + url, "TOUCHLINE_DATA_DIR=" + s.Config.DataDir}, &out, &out)
	if code != 0 || !strings.Contains(out.String(), "Nothing contradicts the log.") {
		t.Errorf("exit status %d: %s", code, out.String())
	}
}
