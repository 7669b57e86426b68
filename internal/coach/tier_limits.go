package coach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
)

// Standing is what a tier is judged by beside the use itself.
type TierStatus struct {
	// Tier is the name of the coach's tier as it is kept; "" is the first tier.
	Tier string
	KYC  KYCState
}

// Players judges one more player of a coach who has use players: first the tier's
// limit, then the one that holds until the coach is verified.
func (ts Tiers) CheckPlayers(s TierStatus, use int64) error {
	if err := ts.checkLimit(s, "players", "players", use, 1, func(t Tier) int64 { return t.Limits.Players }); err != nil {
		return err
	}
	limit := ts.Of(s.Tier).Limits.UnverifiedPlayers
	if s.KYC == Verified || !ts.KYC || withinLimit(limit, use, 1) {
		return nil
	}
	return ts.kycRequiredError(s, "unverified_players", "Your players are limited to %d until your identity is verified.", limit).
		With("limit_value", limit).With("use", use)
}

// Storage judges more bytes of documents of a coach who stores use bytes.
func (ts Tiers) CheckStorage(s TierStatus, use, more int64) error {
	return ts.checkLimit(s, "storage_bytes", "bytes of documents", use, more, func(t Tier) int64 { return t.Limits.StorageBytes })
}

// Messages judges one more SMS of a coach who has sent use of them in the last 24 h.
func (ts Tiers) CheckMessages(s TierStatus, use int64) error {
	return ts.checkLimit(s, "messages_per_day", "messages in 24 hours", use, 1, func(t Tier) int64 { return t.Limits.MessagesPerDay })
}

// Visible judges whether a coach may be in the public directory at all.
func (ts Tiers) CheckVisible(s TierStatus) error {
	t := ts.Of(s.Tier)
	if len(t.Shows) == 0 {
		return ts.tierLimitError(s, "visibility", func(t Tier) bool { return len(t.Shows) > 0 },
			"The tier %s does not make coaches visible.", t.Title)
	}
	if ts.KYC && s.KYC != Verified && slices.Contains(t.KYCFor, ForVisibility) {
		return ts.kycRequiredError(s, "visibility", "Your identity must be verified before you can be visible.")
	}
	return nil
}

// Show judges whether the directory may show these fields of a coach.
func (ts Tiers) CheckFields(s TierStatus, fields []string) error {
	t := ts.Of(s.Tier)
	all := func(t Tier) bool {
		return !slices.ContainsFunc(fields, func(f string) bool { return !slices.Contains(t.Shows, f) })
	}
	if all(t) {
		return nil
	}
	refused := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return slices.Contains(t.Shows, f) })
	return ts.tierLimitError(s, "shows", all, "The tier %s does not show %s.", t.Title, strings.Join(refused, ", ")).
		With("fields", refused)
}

// Shown returns those of the fields that the tier shows, in their order.
func (t Tier) Shown(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !slices.Contains(t.Shows, f) })
}

// within answers tier_limit where use and more exceed the coach's limit.
func (ts Tiers) checkLimit(s TierStatus, name, of string, use, more int64, limit func(Tier) int64) error {
	t := ts.Of(s.Tier)
	if withinLimit(limit(t), use, more) {
		return nil
	}
	return ts.tierLimitError(s, name, func(t Tier) bool { return withinLimit(limit(t), use, more) },
		"The tier %s allows %d %s.", t.Title, limit(t), of).With("limit_value", limit(t)).With("use", use)
}

// fits says whether more can be added. What is over the limit already stays; it
// is adding that is refused.
func withinLimit(limit, use, more int64) bool { return limit == 0 || use+more <= limit }

// lacks is a tier_limit that names the first tier of which enough is true.
func (ts Tiers) tierLimitError(s TierStatus, limit string, enough func(Tier) bool, format string, args ...any) *fault.Error {
	var needed any
	advice := ""
	if i := slices.IndexFunc(ts.List, enough); i >= 0 {
		needed = ts.List[i].Name
		advice = " The tier " + ts.List[i].Title + " would do: "
		if ts.List[i].SelfService {
			advice += "you can choose it."
		} else {
			advice += "ask whoever runs the service for it."
		}
	}
	return fault.New(fault.Forbidden, "tier_limit", "%s", fmt.Sprintf(format, args...)+advice).
		With("limit", limit).With("limit_value", nil).With("use", nil).
		With("tier", ts.Of(s.Tier).Name).With("needed_tier", needed)
}

// unverified is a kyc_required that says where the coach's verification stands.
func (ts Tiers) kycRequiredError(s TierStatus, limit, format string, args ...any) *fault.Error {
	advice := " Submit your identity documents for that."
	if s.KYC == Submitted {
		advice = " What you submitted waits for a decision; you will be told."
	}
	return fault.New(fault.Forbidden, "kyc_required", "%s", fmt.Sprintf(format, args...)+advice).
		With("limit", limit).With("limit_value", nil).With("use", nil).
		With("kyc_state", string(s.KYC)).With("tier", ts.Of(s.Tier).Name)
}
