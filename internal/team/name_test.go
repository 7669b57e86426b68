package team_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/team"
)

// TestNamesAreInAlphabeticalOrder sorts names as people do: without regard to case, accents and apostrophes, a shorter
// word first, and each script in its own order.
func TestNamesAreInAlphabeticalOrder(t *testing.T) {
	t.Parallel()
	want := []string{
		"Ann Zed", "Anna Abel", "aarti" /* after Ann: a, a, r */, "Élodie", "Emil", "O Brien", "Oak", "O’Brien", "O'Brien Jr", "Zoe", "zoë Ali", "अनिल", "आशा", "कबीर", "हर्ष",
	}
	want = slices.Insert(slices.Delete(want, 2, 3), 0, "aarti")
	got := slices.Clone(want)
	rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, func(a, b string) int { return team.CompareNames(a, a, b, b) })
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestSortKeysStay holds keys that databases have: another table of x/text would put new names between old ones at
// wrong places.
func TestSortKeysStay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Asha Rao": "15ef17f316b415ef010917bd15ef1771", "आशा राव": "1fe0201a20250109201620252019", "O’Brien": "1771160517bd16cd164c174f",
	} {
		if got := team.SortKey(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if team.SortKey("Zoë O’Brien") != team.SortKey("  zoe   o'brien ") {
		t.Error("one name has two keys")
	}
}

// TestFirstLetter finds the letter under which a list has a name.
func TestFirstLetter(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Élodie": "E", "asha": "A", "’t Hooft": "T", "\u200bIqbal": "I", "आशा": "आ", "श्रुति": "श", "9 Lives": "", "": ""} {
		if got := team.FirstLetter(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestSearch: a name is found by its words, whatever the punctuation between them.
func TestSearch(t *testing.T) {
	t.Parallel()
	for name, searches := range map[string][]string{
		"Jean-Luc Picard": {"jean luc", "Jean-Luc", "jeanluc", "jean\u2011luc p", "luc picard", "JEAN.LUC"},
		"Jean Luc":        {"jean-luc", "jean luc"},
		"O’Brien":         {"o brien", "obrien", "O'Brien", "o`b", "brien"},
		"A. K. Singh":     {"a k singh", "ak singh", "A.K. Singh", "a. k. singh", "k singh"},
		"A.K.Singh":       {"ak singh", "a k singh", "A. K. Singh"},
		"Anna-Lena D'Sa":  {"annalena dsa", "anna lena d sa", "lena"},
		"अ. क. सिंह":      {"अक सिंह", "अ क सिंह"},
		"Rao, Asha":       {"rao asha", "Rao,Asha"},
		"Dev 100%":        {"%", "100%", "dev 100"},
	} {
		for _, text := range searches {
			if !strings.Contains(team.SearchKey(name), team.SearchText(text)) {
				t.Errorf("%q: %q does not contain %q", text, team.SearchKey(name), team.SearchText(text))
			}
		}
	}
	for name, text := range map[string]string{"Asha Rao": "aras", "A K Singh": "aksingh", "Asha": "-", "Jean-Luc": "%"} {
		if strings.Contains(team.SearchKey(name), team.SearchText(text)) {
			t.Errorf("%q finds %q", text, name)
		}
	}
	if got := team.SearchKey("Asha Rao"); got != "asha rao" {
		t.Errorf("the key of a plain name is %q", got)
	}
}
