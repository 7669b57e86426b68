package wire_test

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/wire"
)

type keyset struct {
	ID  string `json:"i,omitempty"`
	Seq int64  `json:"s,omitempty"`
}

// cursorsFor returns the cursors of a scope under one fixed secret.
func cursorsFor(tb testing.TB, scope string) wire.Cursors {
	tb.Helper()
	v, err := vault.New([]byte(strings.Repeat("k", 32)))
	if err != nil {
		tb.Fatal(err)
	}
	return wire.Cursors{Sealer: v.For(vault.ForCursors), Scope: scope}
}

func TestCursors(t *testing.T) {
	list := cursorsFor(t, "list")
	want := keyset{ID: "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", Seq: 1 << 60}
	cursor := list.Encode(want)
	var got keyset
	if ok := list.Decode(cursor, &got); !ok || got != want {
		t.Errorf("decoded %+v, %v, want %+v", got, ok, want)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(cursor)
	if bytes.Contains(raw, []byte("0198f2c4")) {
		t.Errorf("the cursor %s shows the ID", cursor)
	}
	if again := list.Encode(want); cursor != again {
		t.Errorf("the cursors %s and %s of one keyset differ", cursor, again)
	}
	forged := []string{"", "x", "AAAA", cursor + "A", cursor[:len(cursor)-1], "=" + cursor, cursor + "=", strings.Repeat("A", 4096)}
	for i := range cursor {
		changed := []byte(cursor)
		changed[i] ^= 1
		forged = append(forged, string(changed))
	}
	for _, c := range forged {
		if list.Decode(c, new(keyset)) {
			t.Errorf("the forged cursor %q was accepted", c)
		}
	}
	for _, scope := range []string{"", "another list", "list "} {
		if cursorsFor(t, scope).Decode(cursor, new(keyset)) {
			t.Errorf("the cursor of %q was accepted for %q", "list", scope)
		}
	}
}

// TestCursorOfLongName checks that the cursor of the longest name in a three-byte script
// is not longer than cursors may be.
func TestCursorOfLongName(t *testing.T) {
	list := cursorsFor(t, "list")
	want := struct{ Name, ID string }{strings.Repeat("अ", 100), "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"}
	got := want
	got.Name = ""
	if ok := list.Decode(list.Encode(want), &got); !ok || got != want {
		t.Errorf("decoded %+v, %v, want %+v", got, ok, want)
	}
}

func FuzzCursors(f *testing.F) {
	f.Add(cursorsFor(f, "another").Encode(keyset{"x", 1}))
	f.Add("AAAA")
	list := cursorsFor(f, "list")
	f.Fuzz(func(t *testing.T, cursor string) {
		if list.Decode(cursor, new(keyset)) {
			t.Fatalf("the forged cursor %q was accepted", cursor)
		}
	})
}

func TestLimit(t *testing.T) {
	tests := []struct {
		query string
		want  int
		fault bool
	}{
		{"", 50, false},
		{"limit=1", 1, false},
		{"limit=200", 200, false},
		{"limit=201", 200, false},
		{"limit=99999999999999999999", 200, false},
		{"limit=", 50, true},
		{"limit=0", 50, true},
		{"limit=-1", 50, true},
		{"limit=1.5", 50, true},
		{"limit=ten", 50, true},
	}
	for _, tt := range tests {
		query, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var f wire.Faults
		if got := wire.Limit(query, &f); got != tt.want || f.Has("/limit") != tt.fault {
			t.Errorf("%q: limit %d, fault %v, want %d, %v", tt.query, got, f.Has("/limit"), tt.want, tt.fault)
		}
	}
}

func TestPageSize(t *testing.T) {
	if got := wire.PageSize(nil); got != 50 {
		t.Errorf("got %d without a limit, want 50", got)
	}
	for limit, want := range map[int]int{1: 1, 200: 200, 1e6: 200} {
		if got := wire.PageSize(&limit); got != want {
			t.Errorf("got %d for the limit %d, want %d", got, limit, want)
		}
	}
}
