package coach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

// TierStatus decides the limits of a coach.
type TierStatus struct {
	// Tier is the stored name of the coach's tier; "" is the first tier.
	Tier string
	KYC  KYCState
}

// CheckPlayers checks one more player for a coach with usage players: first the
// feature, then the tier's limit, then the limit for unverified coaches.
func (ts Tiers) CheckPlayers(s TierStatus, usage int64) error {
	if err := ts.CheckFeature(s, Roster); err != nil {
		return err
	}
	if err := ts.checkLimit(s, "players", "players", usage, 1, func(t Tier) int64 { return t.Limits.Players }); err != nil {
		return err
	}
	limit := ts.Of(s.Tier).Limits.UnverifiedPlayers
	if s.KYC == Verified || !ts.KYC || withinLimit(limit, usage, 1) {
		return nil
	}
	return ts.kycRequiredError(s, "unverified_players", "Your players are limited to %d until your identity is verified.", limit).
		With("limit_value", limit).With("use", usage)
}

// CheckStorage checks more bytes for a coach who stores usage bytes.
func (ts Tiers) CheckStorage(s TierStatus, usage, more int64) error {
	if err := ts.CheckFeature(s, DocumentUpload); err != nil {
		return err
	}
	return ts.checkLimit(s, "storage_bytes", "bytes of documents", usage, more, func(t Tier) int64 { return t.Limits.StorageBytes })
}

// CheckVisible checks whether a coach may be in the directory at all.
func (ts Tiers) CheckVisible(s TierStatus) error {
	if err := ts.CheckFeature(s, DirectoryListing); err != nil {
		return err
	}
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

// CheckFields checks whether the directory may show these fields of a coach.
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

// Shown returns the fields that the tier shows, in the given order.
func (t Tier) Shown(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !slices.Contains(t.Shows, f) })
}

// checkLimit returns a tier_limit if usage plus more exceeds the limit.
func (ts Tiers) checkLimit(s TierStatus, name, of string, usage, more int64, limit func(Tier) int64) error {
	t := ts.Of(s.Tier)
	if withinLimit(limit(t), usage, more) {
		return nil
	}
	return ts.tierLimitError(s, name, func(t Tier) bool { return withinLimit(limit(t), usage, more) },
		"The tier %s allows %d %s.", t.Title, limit(t), of).With("limit_value", limit(t)).With("use", usage)
}

// withinLimit reports whether more may be added. A coach above the limit, for
// example after a downgrade, keeps everything but cannot add more.
func withinLimit(limit, usage, more int64) bool { return limit == 0 || usage+more <= limit }

// tierLimitError returns a tier_limit that names the first tier for which enough is true.
func (ts Tiers) tierLimitError(s TierStatus, limit string, enough func(Tier) bool, format string, args ...any) *fault.Error {
	var needed any
	advice := ""
	if i := slices.IndexFunc(ts.List, enough); i >= 0 {
		needed = ts.List[i].Name
		advice = " The tier " + ts.List[i].Title + " allows it. "
		if ts.List[i].SelfService {
			advice += "You can choose it."
		} else {
			advice += "Ask the operator of the service for it."
		}
	}
	return fault.New(fault.Forbidden, "tier_limit", "%s", fmt.Sprintf(format, args...)+advice).
		With("limit", limit).With("limit_value", nil).With("use", nil).
		With("tier", ts.Of(s.Tier).Name).With("needed_tier", needed)
}

// kycRequiredError returns a kyc_required with the coach's KYC state.
func (ts Tiers) kycRequiredError(s TierStatus, limit, format string, args ...any) *fault.Error {
	advice := " Submit your identity documents."
	if s.KYC == Submitted {
		advice = " You have submitted your documents. Wait for the decision: you will get a notification."
	}
	return fault.New(fault.Forbidden, "kyc_required", "%s", fmt.Sprintf(format, args...)+advice).
		With("limit", limit).With("limit_value", nil).With("use", nil).
		With("kyc_state", string(s.KYC)).With("tier", ts.Of(s.Tier).Name)
}
