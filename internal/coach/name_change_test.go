package coach_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

func TestRename(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	for name, names := range map[string]struct {
		names   []string // a day between them
		pending string   // of the last
	}{
		"another spelling":          {[]string{"Meera Nair", "MEERA NAIR", "Méera  Nair", "meera nair", "Nair"}, ""},
		"a shared word":             {[]string{"Meera Nair", "Meera Rao"}, ""},
		"no shared word":            {[]string{"Meera Nair", "Delhi Public School"}, "Delhi Public School"},
		"a title is no name":        {[]string{"Coach Meera", "Coach Delhi"}, "Coach Delhi"},
		"an initial is no name":     {[]string{"M Nair", "M Delhi"}, "M Delhi"},
		"two steps":                 {[]string{"Meera Nair", "Meera Delhi", "Delhi Public School"}, "Delhi Public School"},
		"third change":              {[]string{"Meera Nair", "Meera Rao", "Meera Das", "Meera Sen"}, "Meera Sen"},
		"cleared between":           {[]string{"Meera Nair", "", "Delhi Public School"}, "Delhi Public School"},
		"another script":            {[]string{"Meera Nair", "मीरा नायर"}, "मीरा नायर"},
		"the pending name again":    {[]string{"Meera Nair", "Delhi Public School", "Delhi Public School"}, "Delhi Public School"},
		"back, then no wait":        {[]string{"Meera Nair", "Delhi Public School", "Meera R Nair"}, ""},
		"a word of the club shared": {[]string{"Meera Sports Academy", "Delhi Sports Academy"}, "Delhi Sports Academy"},
	} {
		p := coach.Profile{NameChanges: coach.NameChanges{Completed: true}}
		for i, next := range names.names {
			var err error
			if p, err = p.Apply(coach.Patch{Name: &next}, start.AddDate(0, 0, i)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		last := names.names[len(names.names)-1]
		if p.NamePending != names.pending || names.pending == "" && p.Name != last {
			t.Errorf("%s: name %q, pending %q, want pending %q", name, p.Name, p.NamePending, names.pending)
		}
	}
	// Before the profile is complete, no family knows the coach. 31 days later two changes are free again.
	p := coach.Profile{}
	for i, next := range []string{"x", "Meera Nair", "Delhi"} {
		p, _ = p.Apply(coach.Patch{Name: &next}, start.AddDate(0, 0, i))
	}
	if p.Name != "Delhi" || p.NamePending != "" {
		t.Errorf("incomplete profile: %q, pending %q", p.Name, p.NamePending)
	}
	p.Completed = true
	for i, next := range []string{"Delhi A", "Delhi B", "Delhi C"} {
		p, _ = p.Apply(coach.Patch{Name: &next}, start.AddDate(0, 0, 20*i))
	}
	if p.Name != "Delhi C" {
		t.Errorf("after 40 days: %q, pending %q", p.Name, p.NamePending)
	}
	// Each name that waits is told to the families: three in 30 days.
	for i, next := range []string{"Loans", "Money", "Cash", "Gold"} {
		var err error
		p, err = p.Apply(coach.Patch{Name: &next}, start.AddDate(0, 3, i))
		if got := fault.CodeOf(err); (i == 3) != (got == "name_limit") {
			t.Errorf("wish %d: %v", i+1, err)
		}
	}
}

func TestFitsLegalName(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Arjun Mehta", "Arjun Mehta"},
		{"ARJUN MEHTA", "arjun mehta"},
		{"Mehta, Arjun", "Arjun Mehta"},
		{"A. Mehta", "Arjun Mehta"},
		{"A. M. Khan", "Arjun Mehta Khan"},
		{"Arjun Mehta", "Arjun K Mehta"},
		{"Arjun K Mehta", "Arjun K. Mehta"},
		{"Mehta A", "Arjun Mehta"},
		{"Arjun K Mehta", "Arjun Kumar Mehta"},
		{"José Núñez", "Jose Nunez"},
		{"मीरा नायर", "नायर मीरा"},
		{"Ａｒｊｕｎ Mehta", "Arjun Mehta"},
	} {
		if !coach.FitsLegalName(pair[0], pair[1]) {
			t.Errorf("%q does not fit %q", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{"Delhi Public School", "Arjun Mehta"},
		{"Arjun Verma", "Arjun Mehta"},
		{"Arjun", "Arjun Mehta"},
		{"Arjun Mehta Loans", "Arjun Mehta"},
		{"A. M.", "Arjun Mehta"},
		{"", "Arjun Mehta"},
		{"मीरा राव", "मीरा नायर"},
		// Letters of a title, and words of which only the initial was confirmed.
		{"Arjun Mehta I.P.S.", "Arjun Mehta"},
		{"Arjun Mehta I P S", "Arjun Mehta"},
		{"Arjun Mehta, M.D.", "Arjun Mehta"},
		{"Dr A. Mehta", "Arjun Mehta"},
		{"Arjun K. Mehta", "Arjun Mehta"},
		{"Arjun Mehta A.", "Arjun Mehta"},
		{"Mehta A S A I", "Arjun Mehta"},
		{"A. A. Mehta", "Arjun Mehta"},
		{"Arjun Mehta ①", "Arjun Mehta"},
		{"अर्जुन मेहता आ", "अर्जुन मेहता"},
		{"Arjun Loans Mehta", "Arjun L Mehta"},
		{"Arjun Mehta", "A. Mehta"},
		{"Arjun Mehta 7", "Arjun Mehta"},
	} {
		if coach.FitsLegalName(pair[0], pair[1]) {
			t.Errorf("%q fits %q", pair[0], pair[1])
		}
	}
}
