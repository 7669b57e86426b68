package message_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
)

// TestSpellingsOfAddress: the spellings of an e-mail address count together.
func TestSpellingsOfAddress(t *testing.T) {
	for to, want := range map[string]string{
		"Meera@example.org": "meera@example.org", "meera@example.org": "meera@example.org", "MEERA+Club@bücher.example": "meera+club@bücher.example",
		"+919800000001": "+919800000001", "Älva@example.org": "Älva@example.org",
	} {
		for _, training := range []bool{false, true} {
			m := message.Counted{CoachID: "c1", To: to, Segments: 1, Training: training}
			of := map[bool]string{false: "coach/c1/", true: "training/c1/"}[training]
			counters := map[string]bool{}
			for _, c := range m.Counts() {
				counters[c.Counter] = true
			}
			if !counters["number/"+want] || !counters[of+want] {
				t.Errorf("%s: counters %v, want those of %s", to, counters, want)
			}
			keys := map[string]bool{}
			for _, l := range (message.Limits{PerNumber: 1, PerNumberFromCoach: 1}).For(m) {
				keys[l.Key], keys[l.Counter] = true, true
			}
			if len(keys) != 2 || !keys["number/"+want] || !keys[of+want] {
				t.Errorf("%s: limits %v, want those of %s", to, keys, want)
			}
		}
	}
}

func TestMessageLimitsFor(t *testing.T) {
	all := message.Limits{
		TotalHour: 2000, TotalDay: 20000, PerAddress: 400, PerBlock: 200, NewCoach: 40, PerCoach: 200,
		PerNumberFromCoach: 6, PerNumber: 20, Budget: 500_000_000,
	}
	counted := message.Counted{
		CoachID: "c1", To: "+919800000001", Network: "192.0.2.1", Segments: 2, Cost: 240_000,
		NewCoach: true, NeverSignedIn: true,
	}
	change := func(fn func(*message.Counted)) message.Counted {
		m := counted
		fn(&m)
		return m
	}
	number := map[string]int64{"number/+919800000001": 20}
	coach := map[string]int64{"coach/c1/+919800000001": 6, "coach/c1": 200}
	total := map[string]int64{"total_hour": 2000, "total_day": 20000, "budget": 400_000_000}
	newTotal := map[string]int64{"total_hour/new": 1000, "total_day/new": 10000}
	abuse := map[string]int64{"network/192.0.2.1": 400, "block/+91980000": 200}
	newCoach := func(n int64) map[string]int64 { return map[string]int64{"new_coach/c1": n} }
	for _, tt := range []struct {
		name    string
		limits  message.Limits
		counted message.Counted
		want    []map[string]int64
	}{
		{"new coach", all, counted, []map[string]int64{number, coach, total, newTotal, abuse, newCoach(40)}},
		{"three approvals", all, change(func(m *message.Counted) { m.Approvals = 3 }), []map[string]int64{number, coach, total, newTotal, abuse, newCoach(70)}},
		{"many approvals", all, change(func(m *message.Counted) { m.Approvals = 30 }), []map[string]int64{number, coach, total, newTotal, abuse, newCoach(200)}},
		{"trusted coach", all, change(func(m *message.Counted) { m.Trusted = true }), []map[string]int64{number, coach, total, newTotal, abuse}},
		{
			"known number", all, change(func(m *message.Counted) { m.NeverSignedIn = false }),
			[]map[string]int64{number, coach, total, newTotal, newCoach(40), {"network/192.0.2.1": 400}},
		},
		{"old coach", all, change(func(m *message.Counted) { m.NewCoach = false }), []map[string]int64{number, coach, total}},
		{"closed account", all, change(func(m *message.Counted) { m.CoachID = "" }), []map[string]int64{number, total}},
		{
			"training", all, change(func(m *message.Counted) { m.NewCoach, m.Training = false, true }),
			[]map[string]int64{number, {"training/c1/+919800000001": 6}, total},
		},
		{"OTP", all, message.Counted{To: "+919800000001", Cost: 1, OTP: true, HoldsRole: true}, []map[string]int64{{"budget/otp": 500_000_000}}},
		{"OTP of a new coach", all, message.Counted{To: "+919800000001", Cost: 1, OTP: true}, []map[string]int64{{"budget/new_otp": 400_000_000}}},
		{"above the budget", message.Limits{Budget: 10}, change(func(m *message.Counted) { m.Cost = 9 }), []map[string]int64{{"budget/over": 8}}},
		{"a call", message.Limits{Budget: 1, CallBudget: 10}, message.Counted{Cost: 1, Line: message.CallCosts}, []map[string]int64{{"call_budget": 8}}},
		{"an OTP by call", message.Limits{Budget: 1, CallBudget: 10}, message.Counted{Cost: 9, Line: message.CallCosts, OTP: true, HoldsRole: true}, []map[string]int64{{"call_budget/otp": 10}}},
		{"an SMS without its budget", message.Limits{CallBudget: 10}, message.Counted{Cost: 9}, nil},
		{"no limits", message.Limits{}, counted, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, got := map[string]int64{}, map[string]int64{}
			for _, group := range tt.want {
				for key, maximum := range group {
					want[key] = maximum
				}
			}
			for _, l := range tt.limits.For(tt.counted) {
				got[l.Key] = l.Max
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A limit waits until the oldest message leaves the window.
func TestMessageLimitWait(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		counted, size int64
		want          time.Duration
	}{{0, 3, 0}, {0, 4, 0}, {1, 2, 0}, {1, 3, 40 * time.Minute}, {3, 1, 40 * time.Minute}} {
		l := message.Limit{Max: 3, Size: tt.size, Window: time.Hour}
		if got := l.Wait(message.WindowCount{Size: tt.counted, Oldest: now.Add(-20 * time.Minute)}, now); got != tt.want {
			t.Errorf("%d counted, size %d: wait %s, want %s", tt.counted, tt.size, got, tt.want)
		}
	}
	for size, want := range map[int64]time.Duration{3: 0, 4: time.Hour} {
		l := message.Limit{Max: 3, Size: size, Window: time.Hour, Strict: true}
		if got := l.Wait(message.WindowCount{}, now); got != want {
			t.Errorf("strict, size %d: wait %s, want %s", size, got, want)
		}
	}
}

// Every limit counts something that its message adds to.
func TestMessageCounts(t *testing.T) {
	m := message.Counted{To: "+919812345678", Segments: 2, Cost: 5}
	want := []message.Count{{Counter: "all", Size: 2}, {Counter: "number/+919812345678", Size: 2}, {Counter: "cost", Size: 5}}
	if diff := cmp.Diff(want, m.Counts()); diff != "" {
		t.Error(diff)
	}
	m.CoachID, m.NewCoach, m.Network, m.NeverSignedIn = "c1", true, "192.0.2.1", true
	want = []message.Count{
		{Counter: "all", Size: 2},
		{Counter: "number/+919812345678", Size: 2},
		{Counter: "coach/c1", Size: 2},
		{Counter: "coach/c1/+919812345678", Size: 2},
		{Counter: "all/new", Size: 2},
		{Counter: "new_coach/c1", Size: 2},
		{Counter: "network/192.0.2.1", Size: 2},
		{Counter: "block/+91981234", Size: 2},
		{Counter: "cost", Size: 5},
	}
	if diff := cmp.Diff(want, m.Counts()); diff != "" {
		t.Error(diff)
	}
	m.Team = true
	want = []message.Count{
		{Counter: "all", Size: 2},
		{Counter: "all/new", Size: 2},
		{Counter: "new_coach/c1", Size: 2},
		{Counter: "network/192.0.2.1", Size: 2},
		{Counter: "block/+91981234", Size: 2},
		{Counter: "cost", Size: 5},
	}
	if diff := cmp.Diff(want, m.Counts()); diff != "" {
		t.Error("a counted that the coach wrote:", diff)
	}
}

func TestNewCoach(t *testing.T) {
	now := time.Now()
	if !message.NewCoach(now.Add(-7*24*time.Hour+time.Second), now) || message.NewCoach(now.Add(-7*24*time.Hour), now) {
		t.Error("a coach is new for 7 days")
	}
}

// Each limit says what a held message waits for. Only the limits of a number speak of the number,
// and none names another coach.
func TestHoldOf(t *testing.T) {
	limits := message.Limits{
		TotalHour: 1, TotalDay: 1, PerAddress: 1, PerBlock: 1, NewCoach: 1, PerCoach: 1, PerNumberFromCoach: 1, PerNumber: 1, Budget: 500_000,
	}
	want := map[string]message.Hold{
		"number/+919800000001": message.HoldNumber, "coach/c1/+919800000001": message.HoldNumber,
		"coach/c1": message.HoldCoach, "new_coach/c1": message.HoldCoach,
		"network/2001:db8::/64": message.HoldService, "block/+91980000": message.HoldService,
		"total_hour/new": message.HoldService, "total_day/new": message.HoldService, "total_hour": message.HoldService, "total_day": message.HoldService,
		"budget": message.HoldBudget, "budget/over": message.HoldOverBudget,
	}
	seen := map[string]bool{}
	for _, cost := range []int64{100, 450_000} {
		m := message.Counted{CoachID: "c1", To: "+919800000001", Network: "2001:db8::/64", Segments: 1, Cost: cost, NewCoach: true, NeverSignedIn: true}
		for _, l := range limits.For(m) {
			seen[l.Key] = true
			if got := message.HoldOf(l.Key); got != want[l.Key] {
				t.Errorf("%s: got %q, want %q", l.Key, got, want[l.Key])
			}
		}
	}
	for key, hold := range map[string]message.Hold{"call_budget": message.HoldService, "call_budget/over": message.HoldOverBudget} {
		if got := message.HoldOf(key); got != hold {
			t.Errorf("%s: got %q, want %q", key, got, hold)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("limits %v, want %d", seen, len(want))
	}
	if got := message.HoldOf(""); got != message.HoldResend {
		t.Errorf("no limit: got %q, want %q", got, message.HoldResend)
	}
}
