package store_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestFilled: the fields that the database reports as filled are those that Profile.Missing omits.
func TestFilled(t *testing.T) {
	t.Parallel()
	fields := []string{"name", "email", "bio", "experience_years", "sports"}
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		by := p.coach(1)
		none := 0
		for _, profile := range []coach.Profile{
			{},
			{Name: "Ravi"},
			{Email: "ravi@example.org"},
			{Bio: "Hockey, for every child."},
			{Experience: &none},
			{Sports: []string{"hockey"}},
			{Name: "Ravi", Email: "ravi@example.org", Bio: "Hockey.", Experience: &none, Sports: []string{"hockey", "football"}},
		} {
			ok(t, p.coaches().UpdateProfile(bg, by.AccountID, func(old coach.Profile) (coach.Profile, error) {
				profile.ID, profile.Version, profile.UpdatedAt = old.ID, old.Version, p.clock.Now()
				return profile, nil
			}))
			filled, err := p.db.FilledFields(bg, by.AccountID)
			ok(t, err)
			missing := profile.Missing(fields)
			for _, field := range fields {
				if slices.Contains(filled, field) == slices.Contains(missing, field) {
					t.Errorf("%s: %v are filled, %v are missing", field, filled, missing)
				}
			}
		}
		if filled, err := p.db.FilledFields(bg, "unknown"); err != nil || len(filled) > 0 {
			t.Errorf("unknown coach: got %v, %v; want no fields", filled, err)
		}
	})
}
