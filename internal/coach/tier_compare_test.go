package coach_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/coach"
)

func TestTierChange(t *testing.T) {
	tiers := coach.Tiers{List: coach.DefaultTiers()}
	free, pro := tiers.Of("free"), tiers.Of("pro")
	down := coach.Subscription{Tier: pro, Usage: coach.Usage{Players: 300}}.Change(free)
	if !slices.Equal(down.Lost, []string{"export"}) || len(down.Gained) != 0 {
		t.Errorf("lost %v and gained %v, want import and export lost", down.Lost, down.Gained)
	}
	for _, limit := range down.Limits {
		if !limit.Lower() || limit.Exceeded() != (limit.Name == "players") {
			t.Errorf("%+v: lower %v, exceeded %v", limit, limit.Lower(), limit.Exceeded())
		}
	}
	up := coach.Subscription{Tier: free}.Change(pro)
	if !slices.Equal(up.Gained, []string{"export"}) || len(up.Lost) != 0 || len(up.Limits) != 3 || up.Limits[0].Lower() {
		t.Errorf("got %+v, want import and export gained and three higher limits", up)
	}
	narrow := coach.Tier{Name: "narrow", Shows: []string{"name"}}
	if hidden := (coach.Subscription{Tier: free}).Change(narrow).Hidden; slices.Contains(hidden, "name") || !slices.Contains(hidden, "bio") {
		t.Errorf("hidden %v, want every field except name", hidden)
	}
	unlimited := coach.Subscription{Tier: coach.Tier{}, Usage: coach.Usage{Players: 1}}.Change(coach.Tier{Limits: coach.Limits{Players: 1}})
	if len(unlimited.Limits) != 1 || !unlimited.Limits[0].Lower() || unlimited.Limits[0].Exceeded() {
		t.Errorf("got %+v, want a limit that is lower and not exceeded", unlimited.Limits)
	}
}

func TestCompareFeatures(t *testing.T) {
	common, some := coach.Tiers{List: coach.DefaultTiers()}.CompareFeatures()
	if !slices.Equal(some, []string{"export", "templates"}) || !slices.Contains(common, "chat") || !slices.Contains(common, "import") {
		t.Errorf("got common %v and some %v", common, some)
	}
}
