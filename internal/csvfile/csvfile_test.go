package csvfile_test

import (
	"bytes"
	"testing"

	"github.com/touchline/touchline/internal/csvfile"
)

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := csvfile.NewWriter(&b)
	for _, row := range [][]string{{"Name", "Note"}, {"=1+2", `says "no", later`}, {"'@x", "नमस्ते"}} {
		if err := w.Write(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "\xef\xbb\xbfName,Note\n'=1+2,\"says \"\"no\"\", later\"\n''@x,नमस्ते\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func FuzzRestore(f *testing.F) {
	for _, text := range []string{"", "=1", "'", "''-", "+91", "a'=", "'a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := csvfile.Neutralise(text)
		if got := csvfile.Restore(cell); got != text {
			t.Errorf("%q becomes %q and %q", text, cell, got)
		}
		if cell != "" && bytes.IndexByte([]byte("=+-@"), cell[0]) >= 0 {
			t.Errorf("%q is still a formula", cell)
		}
	})
}
