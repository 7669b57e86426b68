package coach_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestDefaultTierFeatures: every default tier has everything that the specification
// names; only the extras differ.
func TestDefaultTierFeatures(t *testing.T) {
	want := map[string][]string{"free": {"import"}, "pro": {"import", "export"}, "academy": {"import", "export", "templates"}}
	for _, tier := range coach.DefaultTiers() {
		if all := slices.Concat(coach.StandardFeatures, want[tier.Name]); !slices.Equal(tier.Features, all) {
			t.Errorf("%s: got features %q, want %q", tier.Name, tier.Features, all)
		}
	}
}

func TestCheckFeature(t *testing.T) {
	tiers := coach.Tiers{List: []coach.Tier{
		{Name: "bare", Title: "Bare", Features: []string{}, Shows: coach.Showable},
		{Name: "club", Title: "Club", Features: []string{coach.Roster, coach.DirectoryListing}, Shows: coach.Showable},
		{Name: "all", Title: "All", Shows: coach.Showable},
	}}
	bare, all := coach.TierStatus{Tier: "bare"}, coach.TierStatus{Tier: "all"}
	for _, tt := range []struct {
		name         string
		err          error
		limit, needs any
	}{
		{"players", tiers.CheckPlayers(bare, 0), "roster", "club"},
		{"documents", tiers.CheckStorage(bare, 0, 1), "documents", "all"},
		{"directory", tiers.CheckVisible(bare), "directory", "club"},
		{"extra that no tier has", tiers.CheckFeature(all, "export"), "export", nil},
	} {
		f, refused := errors.AsType[*fault.Error](tt.err)
		if !refused || f.Code != "tier_limit" || f.Extra["limit"] != tt.limit || f.Extra["needed_tier"] != tt.needs {
			t.Errorf("%s: got %#v, want tier_limit with limit %v, needed tier %v", tt.name, tt.err, tt.limit, tt.needs)
		}
	}
	for _, err := range []error{tiers.CheckPlayers(all, 0), tiers.CheckStorage(all, 0, 1), tiers.CheckVisible(all)} {
		if err != nil {
			t.Errorf("a tier without a list of features: got %v", err)
		}
	}
}

// TestCheckExtras checks that the default tiers refuse each extra to the tiers without it
// and name the first tier that has it.
func TestCheckExtras(t *testing.T) {
	tiers := coach.Tiers{List: coach.DefaultTiers()}
	for _, tt := range []struct {
		tier, extra string
		needs       string // "" if the tier has the extra
	}{
		{"", coach.Import, ""},
		{"free", coach.Export, "pro"},
		{"free", coach.Templates, "academy"},
		{"pro", coach.Import, ""},
		{"pro", coach.Export, ""},
		{"pro", coach.Templates, "academy"},
		{"academy", coach.Import, ""},
		{"academy", coach.Export, ""},
		{"academy", coach.Templates, ""},
		{"unknown", coach.Import, ""},
	} {
		err := tiers.CheckFeature(coach.TierStatus{Tier: tt.tier}, tt.extra)
		f, refused := errors.AsType[*fault.Error](err)
		if refused != (tt.needs != "") || refused && (f.Code != "tier_limit" || f.Extra["needed_tier"] != tt.needs || f.Extra["limit"] != tt.extra) {
			t.Errorf("%s for the tier %q: got %#v, want the needed tier %q", tt.extra, tt.tier, err, tt.needs)
		}
	}
}

func TestMissingFeaturesAreTheStandardOnes(t *testing.T) {
	tiers, problems := coach.ParseTiers([]byte(`{"tiers": [{"name": "a", "title": "A"}, {"name": "b", "title": "B", "features": []}]}`))
	if len(problems) > 0 || !slices.Equal(tiers[0].Features, coach.StandardFeatures) || len(tiers[1].Features) != 0 {
		t.Errorf("got %+v, %q", tiers, problems)
	}
}
