package api_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
)

func vault(tb testing.TB) *auth.Vault {
	tb.Helper()
	v, err := auth.NewVault([]byte(strings.Repeat("k", 32)))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func TestCursor(t *testing.T) {
	v := vault(t)
	cursor := api.Cursor(v, "list", "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", 1<<60)
	if id, seq, ok := api.OpenCursor(v, "list", cursor); !ok || id != "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21" || seq != 1<<60 {
		t.Errorf("%s, %d, %v", id, seq, ok)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(cursor)
	if bytes.Contains(raw, []byte("0198f2c4")) || cursor != api.Cursor(v, "list", "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", 1<<60) {
		t.Errorf("%s can be read, or differs from time to time", cursor)
	}
	foreign := []string{"", "x", cursor + "A", cursor[:len(cursor)-1], "=" + cursor, strings.Repeat("A", 4096)}
	for i := range cursor {
		changed := []byte(cursor)
		changed[i] ^= 1
		foreign = append(foreign, string(changed))
	}
	for _, c := range foreign {
		if _, _, ok := api.OpenCursor(v, "list", c); ok {
			t.Errorf("%q was taken", c)
		}
	}
	if _, _, ok := api.OpenCursor(v, "another list", cursor); ok {
		t.Error("the cursor of another list was taken")
	}
}

func FuzzCursor(f *testing.F) {
	v := vault(f)
	f.Add(api.Cursor(v, "another", "x", 1))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		if _, _, ok := api.OpenCursor(v, "list", cursor); ok {
			t.Fatalf("%q was taken", cursor)
		}
	})
}
