package web

import "testing"

// TestShortenedNameEndsSentence checks that no full stop follows the ellipsis of a shortened name.
func TestShortenedNameEndsSentence(t *testing.T) {
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.catalogue("en").localize("question.about", []any{"Student", "Venkatasubrama…", "Coach", "Meera Nair"})
	if want := "The question is about Venkatasubrama… It comes from Meera Nair."; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
