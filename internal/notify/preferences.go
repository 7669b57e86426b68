package notify

import (
	"context"
	"regexp"
	"slices"
	"time"
	_ "time/tzdata" // containers often have no time zones

	"github.com/touchline/touchline/internal/phone"
)

// Languages are the languages of pages, the default first.
var Languages = []string{"en", "hi"}

// Preferences are what the person with a number chose. They hold for every role.
type Preferences struct {
	// Language is one of Languages, or empty if none was chosen.
	Language string
	// TimeZone is the IANA name of a time zone, or empty if none was chosen.
	TimeZone string
}

// PreferencesPatch changes preferences: nil keeps a field, a pointer to "" clears it.
type PreferencesPatch struct {
	Language, TimeZone *string
}

// KnownLanguage reports whether pages have a language.
func KnownLanguage(language string) bool { return slices.Contains(Languages, language) }

// zoneName matches the names of regions, such as Asia/Kolkata, and UTC. It excludes the
// other names that some systems have, such as posix/Asia/Kolkata.
var zoneName = regexp.MustCompile(`^(UTC|[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)+)$`)

// KnownTimeZone reports whether name is the IANA name of a time zone.
func KnownTimeZone(name string) bool {
	if !zoneName.MatchString(name) {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

// PreferenceStore stores preferences; package store implements it.
type PreferenceStore interface {
	// Preferences returns the preferences of a number; the zero value if it has none.
	Preferences(ctx context.Context, n phone.Number) (Preferences, error)
	// SavePreferences applies the patch and returns the result.
	SavePreferences(ctx context.Context, n phone.Number, patch PreferencesPatch) (Preferences, error)
}
