package csvfile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/csvfile"
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

func TestNeutralise(t *testing.T) {
	for text, want := range map[string]string{
		"=1+2": "'=1+2", "＝1+2": "'＝1+2", "＋1": "'＋1", "－1": "'－1", "＠SUM(1)": "'＠SUM(1)",
		"\t=1+2": "\t'=1+2", "\r=1+2": "\r'=1+2", "Hi\n=1+2": "Hi\n'=1+2", "Hi\r\n- a": "Hi\r\n'- a",
		"U12;=1+2;U14": "U12;'=1+2;U14", `;"=1+2;`: `;'"=1+2;`, `"=1`: `'"=1`,
		"": "", "'": "'", "a=b": "a=b", "U12; U14": "U12; U14", "half-time": "half-time", "a;b\nc": "a;b\nc", "\xff=": "\xff=", "～": "～",
	} {
		if got := csvfile.Neutralise(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if got := csvfile.Restore(want); got != text {
			t.Errorf("%q is read as %q, want %q", want, got, text)
		}
	}
}

func FuzzRestore(f *testing.F) {
	for _, text := range []string{"", "=1", "'", "''-", "+91", "a'=", "'a", "＝1", "\t=1", "a;=1\r\n@", ";\"=1", "';'="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := csvfile.Neutralise(text)
		if got := csvfile.Restore(cell); got != text {
			t.Errorf("%q becomes %q and %q", text, cell, got)
		}
		for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(";\t\r\n", r) }) {
			if sign := strings.TrimLeft(part, `"`); sign != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(sign)[0]) {
				t.Errorf("%q is still a formula", cell)
			}
		}
	})
}
