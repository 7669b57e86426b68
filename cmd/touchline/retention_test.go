package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestRetentionCommand: --dry-run shows what goes and changes nothing; without it the command erases.
func TestRetentionCommand(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "touchline.db")
	s := touchlinetest.New(t, url)
	coach := s.Coach(t, "+919812390001")
	player := coach.AddPlayer(t, touchlinetest.Minor("+919812390002", "+919812390003")).String("player_id")
	coach.Call(t, "DELETE", "/api/players/"+player, nil).Want(t, 204)
	db, err := database.Open(t.Context(), url, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(t.Context(), `UPDATE players SET deleted_at = 1`); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"retention"}, args...), []string{"TOUCHLINE_DATABASE_URL=" + url, "TOUCHLINE_DATA_DIR=" + s.Config.DataDir}, &out, &out)
		return code, out.String()
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--dry-run"}, `RETAIN_DELETED +30 days +players +1 `},
		{[]string{"--dry-run"}, `RETAIN_DELETED +30 days +requests +2 `},
		{[]string{"--dry-run", "--json"}, `"kept_seconds":2592000,"next":null,"rows":1,"setting":"RETAIN_DELETED","table":"players"`},
		{[]string{"--dry-run", "--retain-deleted=0"}, `RETAIN_DELETED +for ever +players +0 `},
		{[]string{"--yes"}, `[1-9]\d* rows were erased or changed.`},
		{[]string{"--dry-run"}, `RETAIN_DELETED +30 days +players +0 `},
	} {
		if code, out := command(tt.args...); code != 0 || !regexp.MustCompile(tt.want).MatchString(out) {
			t.Errorf("%q: exit status %d: %s", tt.args, code, out)
		}
	}
	var left int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM players WHERE erased_at IS NULL`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d players are left, %v", left, err)
	}
}
