package store_test

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/store"
)

// firstRelease is the newest migration before the first release. Before it there was no service that a migration could stop.
const firstRelease = 117

// TestMigrationsTakeShortLocks: a migration of a release takes no lock for which the writes of running replicas wait longer than
// for a change of the catalogue.
func TestMigrationsTakeShortLocks(t *testing.T) {
	t.Parallel()
	files := store.Migrations()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if n, err := strconv.Atoi(number); err != nil || n <= firstRelease {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range longLocks(string(text)) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func TestLongLocks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"CREATE TABLE a (id TEXT); CREATE INDEX a_by_id ON a (id);":                                                    "",
		"ALTER TABLE players ADD COLUMN color TEXT;":                                                                   "",
		"ALTER TABLE players ADD COLUMN color TEXT NOT NULL DEFAULT 'red';":                                            "",
		"ALTER TABLE players ADD COLUMN n BIGINT NOT NULL DEFAULT 0;":                                                  "",
		"ALTER TABLE players ADD COLUMN n BIGINT NOT NULL;":                                                            "default",
		"ALTER TABLE players ADD COLUMN n DOUBLE PRECISION DEFAULT random();":                                          "constant",
		"ALTER TABLE players ADD COLUMN at TIMESTAMP DEFAULT clock_timestamp();":                                       "constant",
		"ALTER TABLE players ADD COLUMN n TEXT REFERENCES accounts (id);":                                              "REFERENCES",
		"CREATE INDEX players_by_color ON players (color);":                                                            "CONCURRENTLY",
		"CREATE UNIQUE INDEX IF NOT EXISTS players_by_color ON players (color);":                                       "CONCURRENTLY",
		"CREATE INDEX CONCURRENTLY players_by_color ON players (color);":                                               "NO TRANSACTION",
		"-- +goose NO TRANSACTION\nCREATE INDEX CONCURRENTLY x ON players (id);":                                       "DROP INDEX",
		"-- +goose NO TRANSACTION\nCREATE TABLE a (id TEXT);":                                                          "only indexes",
		"ALTER TABLE players ALTER COLUMN name TYPE VARCHAR(10);":                                                      "rewrite",
		"ALTER TABLE players ALTER COLUMN name SET NOT NULL;":                                                          "rewrite",
		"ALTER TABLE players DROP COLUMN name;":                                                                        "previous release",
		"ALTER TABLE players RENAME TO people;":                                                                        "previous release",
		"DROP TABLE players;":                                                                                          "previous release",
		"ALTER TABLE players ADD CONSTRAINT c CHECK (n > 0);":                                                          "NOT VALID",
		"UPDATE players SET name = '';":                                                                                "worker",
		"DELETE FROM players;":                                                                                         "worker",
		"INSERT INTO a (id) SELECT id FROM players;":                                                                   "worker",
		"INSERT INTO installation (name, value) VALUES ('a', 'b');":                                                    "",
		"-- +goose Up\n-- UPDATE players\nCREATE TABLE a (id TEXT);":                                                   "",
		"LOCK TABLE players;":                                                                                          "LOCK",
		"VACUUM FULL players;":                                                                                         "rewrite",
		"CREATE TABLE a (id TEXT);\n-- +goose Down\nDROP TABLE a;":                                                     "",
		"-- +goose NO TRANSACTION\nDROP INDEX CONCURRENTLY IF EXISTS x;\nCREATE INDEX CONCURRENTLY x ON players (id);": "",
	} {
		faults := strings.Join(longLocks(text), "\n")
		if want == "" && faults != "" || !strings.Contains(faults, want) {
			t.Errorf("%s\ngot %q, want %q", text, faults, want)
		}
	}
}

var (
	sqlComment         = regexp.MustCompile(`--[^\n]*`)
	createdTable       = regexp.MustCompile(`(?i)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
	createdIndex       = regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:IF NOT EXISTS )?(\w+) ON (?:ONLY )?(\w+)`)
	addedColumn        = regexp.MustCompile(`(?i)^ALTER TABLE (?:ONLY )?(?:IF EXISTS )?\w+ ADD (?:COLUMN )?(.*)$`)
	constant           = regexp.MustCompile(`(?i)\bDEFAULT (?:'[^']*'|-?[0-9.]+|TRUE|FALSE|NULL)(?:\s|$)`)
	withoutTransaction = "-- +goose NO TRANSACTION"
)

// longLocks returns the statements of a migration that lock a table for long on PostgreSQL, or that the previous release cannot
// run with. It is stricter than PostgreSQL, so that its lock table need not be known.
func longLocks(text string) (faults []string) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	alone := strings.Contains(up, withoutTransaction)
	up = sqlComment.ReplaceAllString(up, "")
	created, dropped := map[string]bool{}, map[string]bool{}
	for statement := range strings.SplitSeq(up, ";") {
		s := strings.Join(strings.Fields(statement), " ")
		upper := strings.ToUpper(s)
		has := func(words string) bool { return strings.Contains(upper, words) }
		refuse := func(why string) { faults = append(faults, s+": "+why) }
		if s == "" {
			continue
		}
		if m := createdTable.FindStringSubmatch(s); m != nil {
			created[m[1]] = true
		}
		if name, ok := strings.CutPrefix(upper, "DROP INDEX CONCURRENTLY IF EXISTS "); ok {
			dropped[strings.ToLower(name)] = true
			continue
		}
		index := createdIndex.FindStringSubmatch(s)
		if alone && (index == nil || index[1] == "") {
			refuse("a file with NO TRANSACTION creates only indexes, CONCURRENTLY")
		}
		switch {
		case index != nil && created[index[3]] && index[1] == "":
		case index != nil && index[1] == "":
			refuse("create the index CONCURRENTLY, in a file with NO TRANSACTION")
		case index != nil && !alone:
			refuse("CONCURRENTLY needs a file with NO TRANSACTION")
		case index != nil && !dropped[strings.ToLower(index[2])]:
			refuse("DROP INDEX CONCURRENTLY IF EXISTS must come first: an interrupted attempt leaves an invalid index")
		case has("ALTER COLUMN"), has("VACUUM"), has("CLUSTER"), has("REINDEX"):
			refuse("this may rewrite or read the whole table under a lock")
		case has("DROP COLUMN"), has("RENAME"), strings.HasPrefix(upper, "DROP TABLE"):
			refuse("the previous release needs it")
		case strings.HasPrefix(upper, "LOCK"):
			refuse("LOCK stops the writes of replicas")
		case has("ADD CONSTRAINT"), has("ADD CHECK"), has("ADD FOREIGN"), has("ADD UNIQUE"), has("ADD PRIMARY"):
			if !has("NOT VALID") {
				refuse("add the constraint NOT VALID")
			}
		case strings.HasPrefix(upper, "UPDATE "), strings.HasPrefix(upper, "DELETE "), strings.HasPrefix(upper, "INSERT ") && has("SELECT"):
			refuse("let the worker fill in the rows, in chunks")
		case addedColumn.MatchString(s):
			column := addedColumn.FindStringSubmatch(s)[1]
			switch {
			case has(" REFERENCES "):
				refuse("REFERENCES locks the other table, too")
			case has(" DEFAULT ") && !constant.MatchString(column):
				refuse("the default must be a constant")
			case has(" NOT NULL") && !has(" DEFAULT "):
				refuse("NOT NULL needs a default")
			}
		}
	}
	return faults
}
