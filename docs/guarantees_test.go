package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuaranteesName: each test and each planted fault that guarantees.md names exists.
func TestGuaranteesName(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := os.ReadFile("../tools/mutants/faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, root := range []string{"../e2e", "../internal"} {
		err := filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			content, err := os.ReadFile(name)
			tests.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := 0
	for row := range strings.Lines(string(page)) {
		if !strings.HasPrefix(row, "| **") {
			continue
		}
		rows++
		cells := strings.Split(strings.ReplaceAll(row, `\|`, " "), "|")
		names := regexp.MustCompile(`Test\w+`).FindAllString(cells[2], -1)
		if len(names) == 0 {
			t.Errorf("%s names no test", cells[1])
		}
		for _, name := range names {
			if !strings.Contains(tests.String(), "func "+name+"(t *testing.T)") {
				t.Errorf("there is no %s", name)
			}
		}
		if fault := strings.TrimSpace(cells[3]); fault != "–" && !strings.Contains(string(faults), "fault: "+fault+"\n") {
			t.Errorf("no planted fault is %q", fault)
		}
	}
	if rows < 10 {
		t.Errorf("read %d rows", rows)
	}
}
