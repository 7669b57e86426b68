package document_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/picture"
)

func TestFileName(t *testing.T) {
	tests := []struct{ sent, mediaType, want string }{
		{"certificate.pdf", picture.PDF, "certificate.pdf"},
		{"photo.JPEG", picture.JPEG, "photo.jpeg"},
		{"photo.png", picture.JPEG, "photo.jpg"},
		{"photo", picture.PNG, "photo.png"},
		{"report.pdf.exe", picture.PDF, "report.pdf"},
		{"Dr. Meera Nair", picture.PDF, "Dr. Meera Nair.pdf"},
		{"level.2", picture.PDF, "level.2.pdf"},
		{"../../x.pdf", picture.PDF, "x.pdf"},
		{`C:\Users\me\x.pdf`, picture.PDF, "x.pdf"},
		{"/", picture.PDF, "document.pdf"},
		{"...", picture.PDF, "document.pdf"},
		{".pdf", picture.PDF, "document.pdf"},
		{"", picture.PNG, "document.png"},
		{" \t\r\n ", picture.PDF, "document.pdf"},
		{"a\tb\r\nc.pdf", picture.PDF, "a bc.pdf"},
		{"a\u202eb\u200b.pdf", picture.PDF, "ab.pdf"},
		{`a"b<c>d%e.pdf`, picture.PDF, "a_b_c_d_e.pdf"},
		{"\xff\xfe.pdf", picture.PDF, "document.pdf"},
		{strings.Repeat("é", 200) + ".pdf", picture.PDF, strings.Repeat("é", 125) + ".pdf"},
	}
	for _, tt := range tests {
		if got := document.FileName(tt.sent, tt.mediaType); got != tt.want {
			t.Errorf("FileName(%q, %s) = %q, want %q", tt.sent, tt.mediaType, got, tt.want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("../../etc/passwd")
	f.Add("a\u202efdp.exe")
	f.Add(strings.Repeat("é.", 300))
	f.Fuzz(func(t *testing.T, sent string) {
		for mediaType, ending := range map[string]string{picture.PDF: ".pdf", picture.PNG: ".png"} {
			name := document.FileName(sent, mediaType)
			if len(name) > 255 || !utf8.ValidString(name) || !strings.HasSuffix(name, ending) || len(name) == len(ending) {
				t.Fatalf("FileName(%q) = %q", sent, name)
			}
			for _, r := range name {
				if !unicode.IsGraphic(r) || strings.ContainsRune(`/\:*?"<>|%`, r) {
					t.Fatalf("FileName(%q) = %q contains %U", sent, name, r)
				}
			}
			if again := document.FileName(name, mediaType); again != name {
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
		patch document.Patch
		want  time.Time // NotifyAt
		fault bool
	}{
		{patch: document.Patch{Title: &title}, want: now},
		{patch: document.Patch{ExpiresOn: &same}, want: now},
		{patch: document.Patch{ExpiresOn: &later}, want: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		{patch: document.Patch{ExpiresOn: &none}},
		{patch: document.Patch{ExpiresOn: &earlier}, fault: true},
		{patch: document.Patch{IssuedOn: &later}, fault: true},
		{patch: document.Patch{IssuedOn: &tomorrow, ExpiresOn: &later}, fault: true},
		{patch: document.Patch{IssuedOn: &today}, want: now},
		{patch: document.Patch{IssuedOn: &none, ExpiresOn: &earlier}},
	} {
		got, err := tt.patch.Apply(original, now, "2026-06-01")
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

func TestCheckCount(t *testing.T) {
	t.Parallel()
	for stored, want := range map[int]string{0: "", document.MaxDocuments - 1: "", document.MaxDocuments: "validation_failed", document.MaxDocuments + 1: "validation_failed"} {
		if got := fault.CodeOf(document.CheckCount(stored)); got != want {
			t.Errorf("%d documents: got %q, want %q", stored, got, want)
		}
	}
}
