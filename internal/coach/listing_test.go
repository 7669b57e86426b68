package coach_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/coach"
)

func fixtureSource() coach.ListingSource {
	years := 7
	s := coach.ListingSource{}
	s.Tier, s.KYC = "pro", coach.Verified
	s.Documents = []coach.Document{
		{ID: "certificate", Kind: coach.Certification, Title: "First aid", ExpiresOn: "2027-01-31", InProfile: true},
		{ID: "not named", Kind: coach.Qualification, Title: "Private"},
		{ID: "picture", Kind: coach.ProfilePicture, InProfile: true, File: coach.StoredFile{Width: 100, Height: 50}},
	}
	s.ID, s.Name, s.Email, s.Bio, s.Experience = "coach", "Zoë d'Souza", "zoe@example.org", "Ice and ＷＡＴＥＲ, every day.", &years
	s.VisibilityRequest = coach.VisibilityRequest{Visible: true, Show: coach.Showable}
	s.Sports = []string{"Underwater  Hockey", "Pétanque"}
	return s
}

// TestListingContainsShownFieldsOnly also checks the index terms.
func TestListingContainsShownFieldsOnly(t *testing.T) {
	words := map[string][]string{
		"name": {"zoe", "souza", "d"}, "bio": {"ice", "water", "every"}, "sports": {"underwater", "hockey", "petanque"},
	}
	for _, field := range append([]string{""}, coach.Showable...) {
		s := fixtureSource()
		s.Show = []string{field}
		l, ok := s.Listing()
		if !ok {
			t.Fatal("got no listing")
		}
		for _, has := range []struct {
			field   string
			present bool
		}{
			{"name", l.Name != ""},
			{"profile_picture", l.Picture != nil},
			{"bio", l.Bio != ""},
			{"sports", l.Sports != nil},
			{"experience_years", l.Experience != nil},
			{"certifications", l.Certificates != nil},
		} {
			if has.present != (has.field == field) {
				t.Errorf("show %q only: listing has %s: %v", field, has.field, has.present)
			}
		}
		for of, list := range words {
			for _, word := range list {
				if slices.Contains(l.Terms(), "w:"+word) != (of == field) {
					t.Errorf("show %q only: got terms %v", field, l.Terms())
				}
			}
		}
		if slices.ContainsFunc(l.Terms(), func(term string) bool { return strings.HasPrefix(term, "s:") }) != (field == "sports") {
			t.Errorf("show %q only: got terms %v", field, l.Terms())
		}
	}
}

func TestHiddenOrSuspendedCoachHasNoListing(t *testing.T) {
	hidden, suspended := fixtureSource(), fixtureSource()
	hidden.Visible, suspended.Suspended = false, true
	for _, s := range []coach.ListingSource{hidden, suspended} {
		if l, ok := s.Listing(); ok {
			t.Errorf("got listing %+v, want none", l)
		}
	}
}

// indexFinds reports whether the listing has all terms of the query.
func indexFinds(l coach.Listing, q coach.Query) bool {
	have := l.Terms()
	return !slices.ContainsFunc(coach.QueryTerms(q), func(term string) bool { return !slices.Contains(have, term) })
}

func TestSearch(t *testing.T) {
	l, _ := fixtureSource().Listing()
	for _, tt := range []struct {
		sport, text string
		want        bool
	}{
		{"", "", true},
		{"petanque", "", true},
		{"PÉTANQUE", "", true},
		{"Pe\u0301tanque", "", true}, // decomposed
		{"ｐétanque", "", true},       // wide
		{" underwater hockey ", "", true},
		{"underwater\u200b hockey", "", true},
		{"hockey", "", false}, // a sport must match as a whole
		{"", "zoe", true},
		{"", "Z", true},
		{"", "D'SOUZA zo", true},
		{"", "souza ice", true},
		{"", "under hock", true},
		{"", "nderwater", false}, // only prefixes of words
		{"", "water", true},
		{"", "wat", false}, // only whole words of the bio
		{"", "zoe football", false},
		{"petanque", "zoe", true},
		{"petanque", "yoe", false},
		{"", "zoe@example.org", false}, // never shown
	} {
		q, ok := coach.NewQuery(tt.sport, tt.text)
		if got := ok && indexFinds(l, q); got != tt.want || coach.Matches(l, q) != tt.want {
			t.Errorf("sport %q, q %q: index finds %v, text matches %v, want %v", tt.sport, tt.text, got, coach.Matches(l, q), tt.want)
		}
	}
	if _, ok := coach.NewQuery("", "one two three four five six"); ok {
		t.Error("query of six words: got ok, want refused")
	}
	if _, ok := coach.NewQuery("", "one two three four five one"); !ok {
		t.Error("query of five distinct words: got refused, want ok")
	}
}

// FuzzSearch checks that the index finds exactly the listings that match, except
// for words longer than the index.
func FuzzSearch(f *testing.F) {
	for _, seed := range [][4]string{
		{"Zoë d'Souza", "I coach hockey.", "Pétanque", "zoe hock"},
		{"हॉकी कोच", "ＷＩＤＥ \u202eturned\u202c", "⚽", "हॉ"},
		{"x", "%_'; DROP TABLE listings; --", "<script>alert(1)</script>", "%"},
		{"\x00\xff", "a\u0301\u0300", "İstanbul ß ŉ ﬁ ǅ", "istanbul ss"},
		{strings.Repeat("long", 40), strings.Repeat("w", 21), "s", strings.Repeat("w", 20)},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, name, bio, sport, text string) {
		s := fixtureSource()
		s.Name, s.Bio, s.Sports = name, bio, []string{sport}
		l, _ := s.Listing()
		for _, term := range l.Terms() {
			if n := len([]rune(strings.TrimPrefix(term, "w:"))); strings.HasPrefix(term, "w:") && (n == 0 || n > 20) {
				t.Errorf("invalid term %q", term)
			}
		}
		for _, given := range [][2]string{{"", text}, {sport, ""}, {sport, text}} {
			q, ok := coach.NewQuery(given[0], given[1])
			if !ok || coach.MatchesNothing(q) {
				continue
			}
			if coach.Matches(l, q) && !indexFinds(l, q) {
				t.Errorf("%q matches %+v, but its terms %q are not all in %q", given, l, coach.QueryTerms(q), l.Terms())
			}
			if indexFinds(l, q) && !coach.Matches(l, q) && !coach.HasLongWord(q) {
				t.Errorf("index finds %+v for %q, which does not match", l, given)
			}
		}
	})
}
