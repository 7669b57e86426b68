package roster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

// TestCheck: every fault of a row is found at once.
func TestCheck(t *testing.T) {
	t.Parallel()
	phones, now := phone.Parser{DefaultRegion: "IN"}, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	adult, minor := "1990-01-31", "2014-05-06"
	batches := newBatchIDs([]team.BatchName{{ID: "1", Name: "U12"}, {ID: "2", Name: "Goal  keepers"}, {ID: "3", Name: "A; B"}, {ID: "4", Name: "Twice"}, {ID: "5", Name: "twice"}, {ID: "6", Name: "Coach’s Boys"}, {ID: "7", Name: "Café"}, {ID: "8", Name: "Cafe"}})
	for name, c := range map[string]struct {
		entry Entry
		want  map[Column]string
	}{
		"adult":            {Entry{StudentName: "Asha", BirthDate: adult}, nil},
		"no name":          {Entry{BirthDate: adult}, map[Column]string{StudentName: "required"}},
		"invisible name":   {Entry{StudentName: "\u3164\u200b", BirthDate: adult}, map[Column]string{StudentName: "required"}},
		"minor alone":      {Entry{StudentName: "Asha", BirthDate: minor}, map[Column]string{GuardianName: "guardian_required"}},
		"guardian half":    {Entry{StudentName: "Asha", BirthDate: adult, GuardianEmail: "a@b.c"}, map[Column]string{GuardianName: "required", Relationship: "required", GuardianNumber: "required"}},
		"future":           {Entry{StudentName: "Asha", BirthDate: "2030-01-01"}, map[Column]string{BirthDate: "unlikely_date"}},
		"shortened number": {Entry{StudentName: "Asha", BirthDate: adult, StudentNumber: "9.19877E+11"}, map[Column]string{StudentNumber: "shortened_number"}},
		"two numbers":      {Entry{StudentName: "Asha", BirthDate: adult, StudentNumber: "98123 45680 / 98123 45681"}, map[Column]string{StudentNumber: "two_numbers"}},
		"two of Google":    {Entry{StudentName: "Asha", BirthDate: adult, StudentNumber: "9812345680 ::: 9812345681"}, map[Column]string{StudentNumber: "two_numbers"}},
		"half a number":    {Entry{StudentName: "Asha", BirthDate: adult, StudentNumber: "98123 45680/81"}, map[Column]string{StudentNumber: "invalid_number"}},
		"not a number":     {Entry{StudentName: "Asha", BirthDate: adult, StudentNumber: "12"}, map[Column]string{StudentNumber: "invalid_number"}},
		"two of one name":  {Entry{StudentName: "Asha", BirthDate: adult, Batches: "U12; Twice"}, map[Column]string{Batches: "ambiguous_batch"}},
		"two that differ":  {Entry{StudentName: "Asha", BirthDate: adult, Batches: "Cafè"}, map[Column]string{Batches: "ambiguous_batch"}},
		"language alone":   {Entry{StudentName: "Asha", BirthDate: adult, GuardianLanguage: "Hindi"}, nil},
		"everything": {
			Entry{
				StudentName: strings.Repeat("A", 101), BirthDate: minor, StudentNumber: "1", StudentLanguage: "French",
				GuardianName: "Ravi", Relationship: strings.Repeat("A", 51), GuardianNumber: "2", GuardianEmail: "x", GuardianLanguage: "?",
				Guardian2Name: strings.Repeat("A", 101), Guardian2Number: "3", Guardian2Email: "y", Guardian2Language: "!",
				Batches: "U14", Basis: strings.Repeat("A", 201),
			},
			map[Column]string{
				Guardian2Name: "too_long", Guardian2Relationship: "required", Guardian2Number: "invalid_number", Guardian2Email: "invalid_email", Guardian2Language: "unknown_language",
				Basis: "too_long", StudentName: "too_long", StudentNumber: "invalid_number", Relationship: "too_long", GuardianNumber: "invalid_number", GuardianEmail: "invalid_email", Batches: "unknown_batch", StudentLanguage: "unknown_language", GuardianLanguage: "unknown_language",
			},
		},
	} {
		row := Row{Number: 2, Entry: c.entry}
		row.check(phones, now, batches)
		var got map[Column]string
		for _, f := range row.Faults {
			if got == nil {
				got = map[Column]string{}
			}
			got[f.Column] = f.Code
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: faults (-want +got):\n%s", name, diff)
		}
	}
	row := Row{Entry: Entry{StudentName: "Asha", BirthDate: adult, StudentNumber: "098765 43210"}}
	if row.check(phones, now, nil); row.Entry.StudentNumber != "+919876543210" {
		t.Errorf("number %q, want E.164", row.Entry.StudentNumber)
	}
	for cell, want := range map[string][]string{"": nil, "u12;; goal keepers ;U12": {"1", "2"}, "a; b": {"3"}, "U12; A; B; Goal keepers": {"1", "3", "2"}, "a;  B ;": {"3"}, "coach's boys; U\u200b12": {"6", "1"}, "CAFÉ": {"7"}, "cafe": {"8"}} {
		row := Row{Entry: Entry{StudentName: "Asha", BirthDate: adult, Batches: cell}}
		if row.check(phones, now, batches); len(row.Faults) > 0 || !slices.Equal(row.Entry.BatchIDs, want) {
			t.Errorf("%q: batches %v with faults %v, want %v", cell, row.Entry.BatchIDs, row.Faults, want)
		}
	}
	for cell, want := range map[string]string{"": "", "hi": "hi", " HINDI ": "hi", "हिंदी": "hi", "हिन्दी": "hi", "English": "en", "अंग्रेज़ी": "en"} {
		row := Row{Entry: Entry{StudentName: "Asha", BirthDate: adult, StudentLanguage: cell}}
		if row.check(phones, now, batches); len(row.Faults) > 0 || row.Entry.StudentLanguage != want {
			t.Errorf("%q: language %q with faults %v, want %q", cell, row.Entry.StudentLanguage, row.Faults, want)
		}
	}
	broken := Row{Faults: []Fault{{Code: "unclosed_quote"}}}
	if broken.check(phones, now, nil); len(broken.Faults) != 1 {
		t.Errorf("a row that cannot be read has more faults: %v", broken.Faults)
	}
}
