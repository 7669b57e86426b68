package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// notPortable are constructs that CockroachDB or YugabyteDB refuse or run otherwise (docs/capacity.md, Other servers with the
// protocol of PostgreSQL). Integer division, sequences and JSON are the same on none of the engines.
var notPortable = regexp.MustCompile(`(?i)\b(LATERAL|COLLATE|DEFERRABLE|ctid|xmin|LOCK TABLE|TEMP(ORARY)? TABLE|CREATE (TRIGGER|FUNCTION|SEQUENCE|EXTENSION|TYPE)|USING gin|SERIAL|BIGSERIAL|GENERATED|jsonb?|DELETE FROM \w+ USING|ARRAY\[)`)

// TestPortableSQL: no statement and no migration has such a construct.
func TestPortableSQL(t *testing.T) {
	t.Parallel()
	for _, statement := range literals(t) {
		if found := notPortable.FindString(statement.pattern.String()); found != "" {
			t.Errorf("%s: %q has %s", statement.at, statement.text, found)
		}
	}
	files, err := filepath.Glob("migrations/*.sql")
	ok(t, err)
	if len(files) == 0 {
		t.Fatal("there are no migrations")
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		ok(t, err)
		for line := range strings.Lines(string(content)) {
			text, _, _ := strings.Cut(line, "--")
			if found := notPortable.FindString(text); found != "" {
				t.Errorf("%s: %q has %s", name, strings.TrimSpace(line), found)
			}
		}
	}
}
