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
	for list, want := range map[string]string{
		"":                                      "not name=path",
		"before=" + self:                        "want two programs",
		"same=" + self + ",same=" + self:        "different names",
		"before=" + self + ",after=/no/program": "no such file",
	} {
		if _, err := parsePrograms(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parsePrograms(%q) = %v, want an error with %q", list, err, want)
		}
	}
}

func TestParseOperations(t *testing.T) {
	if operations, err := parseOperations("read,refresh"); err != nil || len(operations) != 2 {
		t.Errorf("operations = %v, %v; want read and refresh", operations, err)
	}
	if _, err := parseOperations("read,write"); err == nil || !strings.Contains(err.Error(), `no operation "write"`) {
		t.Errorf("err = %v, want one that names the unknown operation", err)
	}
}
