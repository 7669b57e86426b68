package coach_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

func TestDefaultTiers(t *testing.T) {
	tiers := coach.DefaultTiers()
	var names []string
	for _, tier := range tiers {
		names = append(names, tier.Name)
		if tier.SelfService != (tier.Name == "free") || !slices.Equal(tier.Shows, coach.Showable) || !slices.Equal(tier.KYCFor, []string{coach.ForVisibility}) {
			t.Errorf("unexpected default tier %+v", tier)
		}
	}
	if !slices.Equal(names, []string{"free", "pro", "academy"}) {
		t.Errorf("got tiers %q, want free, pro, academy", names)
	}
	want := coach.Limits{Players: 250, UnverifiedPlayers: 25, StorageBytes: 200 << 20, MessagesPerDay: 200}
	if tiers[0].Limits != want {
		t.Errorf("got limits of free %+v, want %+v", tiers[0].Limits, want)
	}
}

// TestDocumentedTiers parses the example in docs/tiers.md.
func TestDocumentedTiers(t *testing.T) {
	page, err := os.ReadFile("../../docs/tiers.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	if example == nil {
		t.Fatal("docs/tiers.md has no example")
	}
	got, problems := coach.ParseTiers(example[1])
	if problems != nil {
		t.Fatal(problems)
	}
	want := []coach.Tier{
		{
			Name: "club", Title: "Club", SelfService: true, Features: []string{"roster", "attendance", "in_app_notifications", "progress_tracking"},
			Limits: coach.Limits{Players: 50, UnverifiedPlayers: 10, StorageBytes: 50 << 20, MessagesPerDay: 100},
			Shows:  []string{"name", "sports", "verified"}, KYCFor: []string{"visibility"},
		},
		{
			Name: "federation", Title: "Federation", Features: []string{"roster", "attendance", "manual_fees", "in_app_notifications", "fee_reminders", "documents", "directory", "export"},
			Limits: coach.Limits{UnverifiedPlayers: 50, MessagesPerDay: 5000}, Shows: coach.Showable, KYCFor: []string{},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseTiersFaults(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // prefixes, in order
	}{
		{"nothing", ``, []string{"is not JSON"}},
		{"broken", `{"tiers": [`, []string{"is not JSON"}},
		{"two values", `{"tiers": []} {}`, []string{"has more data after its end"}},
		{"no UTF-8", "\xff", []string{"is not UTF-8"}},
		{"deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), []string{"is not JSON"}},
		{"a list", `[]`, []string{"the file must be an object"}},
		{"null", `null`, []string{"the file must be an object"}},
		{"no tiers", `{}`, []string{"/tiers must be a list"}},
		{"no tier", `{"tiers": []}`, []string{"/tiers must have at least one"}},
		{"many tiers", `{"tiers": [` + strings.Repeat("1,", 50) + `1]}`, []string{"/tiers may have at most 50"}},
		{"twice", `{"tiers": [{"name": "a", "title": "A", "title": "B"}]}`, []string{"/tiers/0/title is repeated"}},
		{
			"everything at once",
			`{"tiers": [{"name": "A", "title": " ", "self_service": 1, "features": "x", "limits": {"players": -1, "storage_bytes": 1.5,
				"messages_per_day": 9999999999999999999, "unverified_players": "5", "a/b": 1}, "shows": ["email"], "kyc_for": ["players"], "price": 5},
				7, {"name": "b", "title": "B"}, {"name": "b", "title": "B", "limits": [], "features": ["x", "x", 1]}], "more": {}}`,
			[]string{
				"/more is not known", "/tiers/0/price is not known", "/tiers/0/name must be", "/tiers/0/title must be", "/tiers/0/self_service must be",
				"/tiers/0/features must be a list", "/tiers/0/shows/0 must be one of", "/tiers/0/kyc_for/0 must be one of", "/tiers/0/limits/a~1b is not known",
				"/tiers/0/limits/players must be", "/tiers/0/limits/unverified_players must be", "/tiers/0/limits/storage_bytes must be", "/tiers/0/limits/messages_per_day must be",
				"/tiers/1 must be an object", "/tiers/3/name repeats the name b", "/tiers/3/features/1 is repeated", "/tiers/3/features/2 must be a text",
				"/tiers/3/limits must be an object",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tiers, got := coach.ParseTiers([]byte(tt.text))
			if tiers != nil || len(got) != len(tt.want) {
				t.Fatalf("got %d problems, want %d: %q", len(got), len(tt.want), got)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("problem %d is %q, want prefix %q", i, got[i], want)
				}
			}
		})
	}
}

func FuzzParseTiers(f *testing.F) {
	f.Add([]byte(`{"tiers": [{"name": "a", "title": "A"}]}`))
	f.Add([]byte(`{"tiers": [{"name": "a", "title": "A", "limits": {"players": 1e3}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if tiers, problems := coach.ParseTiers(text); (len(tiers) == 0) != (len(problems) > 0) {
			t.Errorf("got %d tiers and problems %q, want exactly one of them", len(tiers), problems)
		}
	})
}

var testTiers = coach.Tiers{KYC: true, List: []coach.Tier{
	{
		Name: "small", Title: "Small", KYCFor: []string{coach.ForVisibility}, Shows: []string{"name", "sports"},
		Limits: coach.Limits{Players: 10, UnverifiedPlayers: 3, StorageBytes: 1000, MessagesPerDay: 5},
	},
	{Name: "hidden", Title: "Hidden", Limits: coach.Limits{Players: 5, StorageBytes: 2000}},
	{Name: "large", Title: "Large", Limits: coach.Limits{Players: 20, UnverifiedPlayers: 15, StorageBytes: 4000, MessagesPerDay: 50}, Shows: coach.Showable},
}}

func TestTierLimits(t *testing.T) {
	off := coach.Tiers{List: testTiers.List}
	small, verified := coach.TierStatus{Tier: "small", KYC: coach.NotStarted}, coach.TierStatus{Tier: "small", KYC: coach.Verified}
	hidden, large := coach.TierStatus{Tier: "hidden", KYC: coach.Rejected}, coach.TierStatus{Tier: "large", KYC: coach.Submitted}
	limit := func(name string, value, use int64, tier string, needed any) map[string]any {
		return map[string]any{"code": "tier_limit", "limit": name, "limit_value": value, "use": use, "tier": tier, "needed_tier": needed}
	}
	tests := []struct {
		name string
		err  error
		want map[string]any // nil: no error
	}{
		{"unverified, first player", testTiers.CheckPlayers(small, 0), nil},
		{"unverified, last player", testTiers.CheckPlayers(small, 2), nil},
		{"unverified, one player too many", testTiers.CheckPlayers(small, 3), map[string]any{
			"code": "kyc_required", "limit": "unverified_players", "limit_value": int64(3), "use": int64(3), "kyc_state": "not_started", "tier": "small",
		}},
		{"verified", testTiers.CheckPlayers(verified, 3), nil},
		{"KYC off", off.CheckPlayers(small, 3), nil},
		{"last player", testTiers.CheckPlayers(verified, 9), nil},
		{"one player too many", testTiers.CheckPlayers(verified, 10), limit("players", 10, 10, "small", "large")},
		{"tier limit is checked before KYC", testTiers.CheckPlayers(small, 10), limit("players", 10, 10, "small", "large")},
		{"already above the limit", testTiers.CheckPlayers(verified, 17), limit("players", 10, 17, "small", "large")},
		{"no tier allows it", testTiers.CheckPlayers(verified, 20), limit("players", 10, 20, "small", nil)},
		{"no unverified limit", testTiers.CheckPlayers(hidden, 4), nil},
		{"no stored tier", testTiers.CheckPlayers(coach.TierStatus{KYC: coach.Verified}, 10), limit("players", 10, 10, "small", "large")},
		{"stored tier no longer configured", testTiers.CheckPlayers(coach.TierStatus{Tier: "gone", KYC: coach.Verified}, 10), limit("players", 10, 10, "small", "large")},
		{"last byte", testTiers.CheckStorage(small, 900, 100), nil},
		{"one byte too many", testTiers.CheckStorage(small, 900, 101), limit("storage_bytes", 1000, 900, "small", "hidden")},
		{"many bytes too many", testTiers.CheckStorage(hidden, 1000, 2001), limit("storage_bytes", 2000, 1000, "hidden", "large")},
		{"above the limit, no growth", testTiers.CheckStorage(small, 1500, 0), limit("storage_bytes", 1000, 1500, "small", "hidden")},
		{"visible, not verified", testTiers.CheckVisible(small), map[string]any{
			"code": "kyc_required", "limit": "visibility", "limit_value": nil, "use": nil, "kyc_state": "not_started", "tier": "small",
		}},
		{"visible, verified", testTiers.CheckVisible(verified), nil},
		{"visible, KYC off", off.CheckVisible(small), nil},
		{"visible, tier requires no KYC", testTiers.CheckVisible(large), nil},
		{"tier shows nothing", testTiers.CheckVisible(hidden), map[string]any{
			"code": "tier_limit", "limit": "visibility", "limit_value": nil, "use": nil, "tier": "hidden", "needed_tier": "small",
		}},
		{"shows", testTiers.CheckFields(small, []string{"sports", "name"}), nil},
		{"shows nothing", testTiers.CheckFields(hidden, nil), nil},
		{"shows a field that the tier does not", testTiers.CheckFields(small, []string{"bio", "name", "verified"}), map[string]any{
			"code": "tier_limit", "limit": "shows", "limit_value": nil, "use": nil, "tier": "small", "needed_tier": "large", "fields": []string{"bio", "verified"},
		}},
		{"no tiers configured", coach.Tiers{KYC: true}.CheckPlayers(coach.TierStatus{}, 1e6), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == nil {
				if tt.err != nil {
					t.Fatal(tt.err)
				}
				return
			}
			f, ok := errors.AsType[*fault.Error](tt.err)
			if !ok || f.Kind != fault.Forbidden {
				t.Fatalf("got error %v, want a forbidden fault", tt.err)
			}
			got := map[string]any{"code": f.Code}
			for name, value := range f.Extra {
				got[name] = value
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShown(t *testing.T) {
	if got := testTiers.Of("small").Shown([]string{"verified", "sports", "name"}); !slices.Equal(got, []string{"sports", "name"}) {
		t.Errorf("got %q, want sports, name", got)
	}
}

// TestTierLimitAdvice checks that a refusal says what to do next.
func TestTierLimitAdvice(t *testing.T) {
	tiers := coach.Tiers{KYC: true, List: []coach.Tier{
		{Name: "free", Title: "Free", SelfService: true, Limits: coach.Limits{Players: 10, UnverifiedPlayers: 1, StorageBytes: 100}},
		{Name: "pro", Title: "Pro", SelfService: true, Limits: coach.Limits{Players: 20, StorageBytes: 100}},
		{Name: "academy", Title: "Academy", Limits: coach.Limits{Players: 30}},
	}}
	verified := coach.TierStatus{KYC: coach.Verified}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{tiers.CheckPlayers(verified, 10), "The tier Free allows 10 players. The tier Pro allows it. You can choose it."},
		{tiers.CheckPlayers(verified, 30), "The tier Free allows 10 players."},
		{tiers.CheckStorage(verified, 100, 1), "The tier Free allows 100 bytes of documents. The tier Academy allows it. Ask the operator of the service for it."},
		{
			tiers.CheckPlayers(coach.TierStatus{KYC: coach.Rejected}, 1),
			"Your players are limited to 1 until your identity is verified. Submit your identity documents.",
		},
		{
			tiers.CheckPlayers(coach.TierStatus{KYC: coach.Submitted}, 1),
			"Your players are limited to 1 until your identity is verified. You have submitted your documents. Wait for the decision: you will get a notification.",
		},
	} {
		if refused, ok := errors.AsType[*fault.Error](tt.err); !ok || refused.Message != tt.want {
			t.Errorf("got %v, want message %q", tt.err, tt.want)
		}
	}
}
