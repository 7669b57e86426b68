package main

import (
	"os"
	"strings"
	"testing"
)

func TestParsePrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs, err := parsePrograms("before=" + self + ",after=" + self)
	if err != nil {
		t.Fatal(err)
	}
	if programs[0].Name != "before" || programs[1].Name != "after" || programs[0].Path != self {
		t.Errorf("programs = %+v", programs)
	}
	if programs, err := parsePrograms(""); err != nil || len(programs) != 1 || programs[0].Path != "" {
		t.Errorf("programs = %+v, %v; want one without a path", programs, err)
	}
	for list, want := range map[string]string{
		"before":                                "not name=path",
		"same=" + self + ",same=" + self:        "named twice",
		"before=" + self + ",after=/no/program": "no such file",
	} {
		if _, err := parsePrograms(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parsePrograms(%q) = %v, want an error with %q", list, err, want)
		}
	}
}

func TestChoose(t *testing.T) {
	if items, err := choose("operations", "read,refresh", []string{"read", "refresh"}); err != nil || len(items) != 2 {
		t.Errorf("items = %v, %v; want read and refresh", items, err)
	}
	if _, err := choose("operations", "read,write", []string{"read"}); err == nil || !strings.Contains(err.Error(), `-operations: no "write"`) {
		t.Errorf("err = %v, want one that names the unknown operation", err)
	}
}
