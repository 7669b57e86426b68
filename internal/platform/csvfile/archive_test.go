package csvfile_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/touchline/touchline/internal/platform/csvfile"
)

// TestWriteArchive: rows leave while they are read, so a large archive needs little memory. A
// table without rows has its titles, and an error leaves an archive without an end.
func TestWriteArchive(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	var out bytes.Buffer
	unfinished := errors.New("no more rows")
	tables := []csvfile.Table{
		{Name: "many.csv", Titles: []string{"Number"}, Each: func(_ context.Context, row func(...string) error) error {
			for range rows {
				if err := row(fmt.Sprintf("%016x", rand.Uint64())); err != nil {
					return err
				}
			}
			// 8 of 17 bytes of a row are random.
			if want := rows * 8 * 9 / 10; out.Len() < want {
				t.Errorf("%d bytes left before the last row, want %d", out.Len(), want)
			}
			return nil
		}},
		{Name: "none.csv", Titles: []string{"=Title", "Other"}, Each: func(context.Context, func(...string) error) error { return nil }},
	}
	if err := csvfile.WriteArchive(t.Context(), &out, tables); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"many.csv": rows + 1, "none.csv": 1} {
		file, err := archive.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(file)
		if lines := bytes.Count(text, []byte("\n")); err != nil || lines != want {
			t.Errorf("%s: %d lines, %v; want %d", name, lines, err, want)
		}
		if name == "none.csv" && string(text) != "\ufeff'=Title,Other\n" {
			t.Errorf("%s: %q", name, text)
		}
	}
	out.Reset()
	tables[1].Each = func(context.Context, func(...string) error) error { return unfinished }
	if err := csvfile.WriteArchive(t.Context(), &out, tables); !errors.Is(err, unfinished) {
		t.Errorf("err = %v, want %v", err, unfinished)
	}
	if _, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())); err == nil {
		t.Error("the unfinished archive can be opened")
	}
}
