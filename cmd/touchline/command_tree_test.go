package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// withoutJSON has the commands that print no data.
var withoutJSON = map[string]string{
	"serve":         "runs until it is stopped",
	"demo":          "runs until it is stopped",
	"manual":        "writes files",
	"backup keygen": "prints a file of age",
	"texts export":  "writes a file for a translator",
	"texts import":  "writes a file",
	"texts record":  "writes a file",
}

// destructiveCommands has the arguments of each command that deletes, replaces or ends something. The other commands
// are in harmlessCommands: a new command must be in one of them.
var (
	destructiveCommands = map[string]string{
		"admin log continue": "",
		"admin person erase": "--number=+919812300002 --reason=asked",
		"admin player erase": "PLAYER --reason=asked",
		"admin token revoke": "TOKEN",
		"keys rotate":        "--new-file KEYFILE",
		"keys rotate-secret": "",
		"restore":            "BACKUP --identity BACKUPKEY --database-url=sqlite:RESTORED --erasures=RESTORED.erasures",
		"retention":          "",
	}
	harmlessCommands = []string{
		"admin coach find", "admin deliveries", "admin kyc approve", "admin kyc list", "admin log key", "admin mail allow", "admin person export", "admin token create", "admin token list",
		"audit", "backup keygen", "backup verify", "config", "copy", "demo", "doctor", "health", "keys list", "keys rotate-signing", "manual", "migrate", "serve", "sms-templates", "texts check", "texts export", "texts import", "texts record", "verify", "version", "webhook listen", "webhook trigger", "whatsapp-templates",
	}
)

// TestCommandTree: a command that prints data has --json; one that deletes, replaces or ends something has --yes
// and --dry-run.
func TestCommandTree(t *testing.T) {
	known := map[string]bool{}
	for _, path := range harmlessCommands {
		known[path] = true
	}
	for path := range destructiveCommands {
		known[path] = true
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		path := strings.TrimPrefix(c.CommandPath(), "touchline ")
		if c.HasSubCommands() || !c.Runnable() {
			return
		}
		has := func(flag string) bool { return c.Flag(flag) != nil }
		_, destroys := destructiveCommands[path]
		if !known[path] {
			t.Errorf("%s: add it to destructiveCommands or to harmlessCommands", path)
		}
		delete(known, path)
		if _, without := withoutJSON[path]; !without && !has("json") {
			t.Errorf("%s: has no --json: use withJSON and printResult", path)
		}
		if has("yes") != destroys || has("dry-run") != destroys {
			t.Errorf("%s: destructive %t, --yes %t, --dry-run %t: use destructive and confirm", path, destroys, has("yes"), has("dry-run"))
		}
		if c.Short == "" {
			t.Errorf("%s: has no help", path)
		}
	}
	visit(newRoot(nil))
	for path := range known {
		t.Errorf("there is no command %q", path)
	}
}

// TestDestructiveCommandsAsk: without a terminal and without --yes a destructive command changes nothing. With
// --dry-run it says what it would do.
func TestDestructiveCommandsAsk(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "touchline.db")
	s := touchlinetest.New(t, url)
	environ := []string{"TOUCHLINE_DATABASE_URL=" + url, "TOUCHLINE_DATA_DIR=" + s.Config.DataDir}
	command := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, environ, &stdout, &stderr)
		return code, stdout.String() + stderr.String()
	}
	s.Coach(t, "+919812300002")
	player := s.Coach(t, "+919812300001").AddPlayer(t, touchlinetest.Minor("+919812300003", "")).String("player_id")
	code, out := command("admin", "token", "create", "--name", "x", "--scopes", "kyc", "--json")
	_, id, _ := strings.Cut(out, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if code != 0 || id == "" {
		t.Fatalf("exit status %d: %s", code, out)
	}
	db, err := database.Open(t.Context(), url, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(t.Context(), `UPDATE consent_log SET stopped_at = 1, stopped_reason = 'a test'`); err != nil {
		t.Fatal(err)
	}
	backupKey, backup := backUp(t, environ)
	restored := filepath.Join(t.TempDir(), "restored.db")
	newKey := filepath.Join(s.Config.DataDir, "master.key.new") // where the later commands find it
	for _, path := range slices.Sorted(maps.Keys(destructiveCommands)) {
		args := destructiveCommands[path]
		line := strings.Fields(path + " " + strings.NewReplacer("TOKEN", id, "PLAYER", player, "KEYFILE", newKey, "BACKUPKEY", backupKey, "BACKUP", backup, "RESTORED", restored).Replace(args))
		if code, out := command(line...); code != 2 || !strings.Contains(out, "--yes") {
			t.Errorf("%s: exit status %d, want 2: %s", line, code, out)
		}
		if code, out := command(append(line, "--dry-run")...); code != 0 || !strings.Contains(out, "would") {
			t.Errorf("%s --dry-run: exit status %d: %s", line, code, out)
		}
		if code, out := command(append(line, "--yes")...); code != 0 {
			t.Errorf("%s --yes: exit status %d: %s", line, code, out)
		}
	}
}

func TestAsk(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "", "YES\r\n": "", "n\n": "nothing was changed", "\n": "nothing was changed", "yesterday\n": "nothing was changed", "": "--yes"} {
		var out strings.Builder
		err := ask(strings.NewReader(answer), &out, "Delete it?")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", answer, err, want)
		}
		if !strings.HasPrefix(out.String(), "Delete it? [y/N] ") {
			t.Errorf("asked %q", out.String())
		}
	}
}

// TestExitCodes: docs/operating.md has the text of "touchline help exit-codes".
func TestExitCodes(t *testing.T) {
	var stdout bytes.Buffer
	if code := run(t.Context(), []string{"help", "exit-codes"}, nil, &stdout, &stdout); code != 0 || !strings.Contains(stdout.String(), exitCodes) {
		t.Errorf("exit status %d: %s", code, stdout.String())
	}
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(exitCodes, "\n\n")
	list, _, _ = strings.Cut(list, "\n\n")
	if !strings.Contains(string(text), list) {
		t.Errorf("docs/operating.md lacks\n%s", list)
	}
}
