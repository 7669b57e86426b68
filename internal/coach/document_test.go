package coach_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

func TestFileName(t *testing.T) {
	tests := []struct{ sent, mediaType, want string }{
		{"certificate.pdf", coach.PDF, "certificate.pdf"},
		{"photo.JPEG", coach.JPEG, "photo.jpeg"},
		{"photo.png", coach.JPEG, "photo.jpg"},
		{"photo", coach.PNG, "photo.png"},
		{"report.pdf.exe", coach.PDF, "report.pdf"},
		{"Dr. Meera Nair", coach.PDF, "Dr. Meera Nair.pdf"},
		{"level.2", coach.PDF, "level.2.pdf"},
		{"../../x.pdf", coach.PDF, "x.pdf"},
		{`C:\Users\me\x.pdf`, coach.PDF, "x.pdf"},
		{"/", coach.PDF, "document.pdf"},
		{"...", coach.PDF, "document.pdf"},
		{".pdf", coach.PDF, "document.pdf"},
		{"", coach.PNG, "document.png"},
		{" \t\r\n ", coach.PDF, "document.pdf"},
		{"a\tb\r\nc.pdf", coach.PDF, "a bc.pdf"},
		{"a\u202eb\u200b.pdf", coach.PDF, "ab.pdf"},
		{`a"b<c>d%e.pdf`, coach.PDF, "a_b_c_d_e.pdf"},
		{"\xff\xfe.pdf", coach.PDF, "document.pdf"},
		{strings.Repeat("é", 200) + ".pdf", coach.PDF, strings.Repeat("é", 125) + ".pdf"},
	}
	for _, tt := range tests {
		if got := coach.FileName(tt.sent, tt.mediaType); got != tt.want {
			t.Errorf("FileName(%q, %s) = %q, want %q", tt.sent, tt.mediaType, got, tt.want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("../../etc/passwd")
	f.Add("a\u202efdp.exe")
	f.Add(strings.Repeat("é.", 300))
	f.Fuzz(func(t *testing.T, sent string) {
		for mediaType, ending := range map[string]string{coach.PDF: ".pdf", coach.PNG: ".png"} {
			name := coach.FileName(sent, mediaType)
			if len(name) > coach.MaxFileName || !utf8.ValidString(name) || !strings.HasSuffix(name, ending) || len(name) == len(ending) {
				t.Fatalf("FileName(%q) = %q", sent, name)
			}
			for _, r := range name {
				if !unicode.IsGraphic(r) || strings.ContainsRune(`/\:*?"<>|%`, r) {
					t.Fatalf("FileName(%q) = %q contains %U", sent, name, r)
				}
			}
			if again := coach.FileName(name, mediaType); again != name {
				t.Fatalf("FileName(%q) = %q, but applied again gives %q", sent, name, again)
			}
		}
	})
}

func TestNextExpiryNotification(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	tests := []struct {
		kind      coach.DocumentKind
		ends      coach.Date
		now, want string
	}{
		{coach.Certification, "2026-12-31", "2026-01-01 12:00:00", "2026-12-01 00:00:00"},
		{coach.Qualification, "2026-12-31", "2026-11-30 23:59:59", "2026-12-01 00:00:00"},
		{coach.Certification, "2026-12-31", "2026-12-01 00:00:00", "2026-12-24 00:00:00"},
		{coach.Certification, "2026-12-31", "2026-12-10 00:00:00", "2026-12-24 00:00:00"},
		{coach.Certification, "2026-12-31", "2026-12-24 00:00:00", ""},
		{coach.Certification, "2026-12-31", "2027-06-01 00:00:00", ""},
		{coach.Certification, "2024-03-01", "2024-02-01 00:00:00", "2024-02-23 00:00:00"}, // a leap year
		{coach.Certification, "", "2026-01-01 12:00:00", ""},
		{coach.Identity, "2026-12-31", "2026-01-01 12:00:00", ""},
		{coach.ProfilePicture, "2026-12-31", "2026-01-01 12:00:00", ""},
	}
	for _, tt := range tests {
		d := coach.Document{Kind: tt.kind, ExpiresOn: tt.ends}
		got := d.NextExpiryNotification(at(tt.now))
		if tt.want == "" && !got.IsZero() || tt.want != "" && !got.Equal(at(tt.want)) {
			t.Errorf("%s that expires on %q, at %s: got %s, want %s", tt.kind, tt.ends, tt.now, got, tt.want)
		}
	}
}

// TestDocumentApply checks that only a new expiry date restarts the notifications.
func TestDocumentApply(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	original := coach.Document{Kind: coach.Certification, Title: "a", IssuedOn: "2026-01-01", ExpiresOn: "2026-06-05", NotifyAt: now}
	title, same, later, earlier, none := "b", original.ExpiresOn, coach.Date("2026-12-31"), coach.Date("2025-12-31"), coach.Date("")
	today, tomorrow := coach.Date("2026-06-01"), coach.Date("2026-06-02")
	for _, tt := range []struct {
		patch coach.DocumentPatch
		want  time.Time // NotifyAt
		fault bool
	}{
		{patch: coach.DocumentPatch{Title: &title}, want: now},
		{patch: coach.DocumentPatch{ExpiresOn: &same}, want: now},
		{patch: coach.DocumentPatch{ExpiresOn: &later}, want: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		{patch: coach.DocumentPatch{ExpiresOn: &none}},
		{patch: coach.DocumentPatch{ExpiresOn: &earlier}, fault: true},
		{patch: coach.DocumentPatch{IssuedOn: &later}, fault: true},
		{patch: coach.DocumentPatch{IssuedOn: &tomorrow, ExpiresOn: &later}, fault: true},
		{patch: coach.DocumentPatch{IssuedOn: &today}, want: now},
		{patch: coach.DocumentPatch{IssuedOn: &none, ExpiresOn: &earlier}},
	} {
		got, err := original.Apply(tt.patch, now, "2026-06-01")
		if tt.fault {
			if fault.CodeOf(err) != "validation_failed" {
				t.Errorf("%+v: got error %v, want validation_failed", tt.patch, err)
			}
			continue
		}
		if err != nil || !got.NotifyAt.Equal(tt.want) || !got.UpdatedAt.Equal(now) {
			t.Errorf("%+v: got NotifyAt %s, error %v; want %s", tt.patch, got.NotifyAt, err, tt.want)
		}
	}
}

func TestCheckDocuments(t *testing.T) {
	t.Parallel()
	for stored, want := range map[int]string{0: "", coach.MaxDocuments - 1: "", coach.MaxDocuments: "validation_failed", coach.MaxDocuments + 1: "validation_failed"} {
		if got := fault.CodeOf(coach.CheckDocuments(stored)); got != want {
			t.Errorf("%d documents: got %q, want %q", stored, got, want)
		}
	}
}
