package privacy_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/privacy"
)

// oneFile adds a file to an export.
func oneFile(_ context.Context, add func(string, []byte) error) error {
	return add("receipts/1.tlog-proof", []byte("c2sp.org/tlog-proof@v1\n"))
}

// TestWriteExport: rows leave while they are read, the JSON is valid whatever the values, and the page has
// the texts of each language.
func TestWriteExport(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	at := time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)
	for _, language := range []string{"en", "hi"} {
		var out bytes.Buffer
		sections := []privacy.Section{
			{Name: "account", Columns: []string{"name", "role", "created_at", "last_used_at", "value"}, Each: func(_ context.Context, row func(...any) error) error {
				return row("\"<b>\" \\ \x00 नाम\u2028", nil, at, time.Time{}, 12.5)
			}},
			{Name: "messages", Columns: []string{"text"}, Each: func(_ context.Context, row func(...any) error) error {
				before := out.Len()
				for range rows {
					if err := row(fmt.Sprintf("%016x", rand.Uint64())); err != nil {
						return err
					}
				}
				if left := out.Len() - before; left < rows*6 {
					t.Errorf("%d bytes left before the last row", left)
				}
				return nil
			}},
			{Name: "fees", Columns: []string{"title"}, Each: func(context.Context, func(...any) error) error { return nil }},
		}
		if err := privacy.WriteExport(t.Context(), &out, sections, oneFile, language, at); err != nil {
			t.Fatal(err)
		}
		archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		read := func(name string) []byte {
			file, err := archive.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(file)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
		if got := string(read("receipts/1.tlog-proof")); got != "c2sp.org/tlog-proof@v1\n" {
			t.Errorf("receipt %q", got)
		}
		var data struct {
			Account  []map[string]any
			Messages []map[string]string
			Fees     []any
		}
		if err := json.Unmarshal(read("data.json"), &data); err != nil {
			t.Fatal(err)
		}
		if a := data.Account[0]; a["name"] != "\"<b>\" \\ \x00 नाम\u2028" || a["role"] != nil || a["created_at"] != "2026-03-02T09:15:00Z" || a["last_used_at"] != nil || a["value"] != 12.5 {
			t.Errorf("account: %v", a)
		}
		if len(data.Messages) != rows || data.Fees == nil || len(data.Fees) != 0 {
			t.Errorf("%d messages, fees %v", len(data.Messages), data.Fees)
		}
		page := string(read("index.html"))
		title := map[string]string{"en": "Your account", "hi": "आपका खाता"}[language]
		if !strings.Contains(page, title) || strings.Contains(page, "<b>") || strings.Contains(page, "<dt></dt>") || strings.Contains(page, "<h2></h2>") {
			t.Errorf("page in %s: %.600s", language, page)
		}
		failed := errors.New("no more rows")
		sections[2].Each = func(context.Context, func(...any) error) error { return failed }
		if err := privacy.WriteExport(t.Context(), io.Discard, sections[2:], oneFile, language, at); !errors.Is(err, failed) {
			t.Errorf("err = %v, want %v", err, failed)
		}
	}
}
