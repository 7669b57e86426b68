package coach

import (
	_ "embed"
	"errors"
	"slices"
)

// Tier is a subscription tier: what a coach who has it may use, and how much of
// it (spec section 1, point 4).
type Tier struct {
	Name  string
	Title string // for people
	// SelfService tiers a coach may choose; the others an operator sets.
	SelfService bool
	// Features are words for the apps; the service itself gives them no meaning.
	Features []string
	Limits   Limits
	// Shows are the fields that the public directory may show (Showable). None of
	// them, and the coach cannot be visible.
	Shows []string
	// KYCFor are the calls that want a verified coach where verification is on;
	// ForVisibility is the only one.
	KYCFor []string
}

// Limits bound what a coach has; 0 is no limit.
type Limits struct {
	Players int64
	// UnverifiedPlayers bounds the players of a coach who is not verified, where
	// verification is on.
	UnverifiedPlayers int64
	StorageBytes      int64
	// MessagesPerDay are SMS for approvals in any 24 h.
	MessagesPerDay int64
}

// Showable are the fields of a profile that the public directory can show.
var Showable = []string{"name", "profile_picture", "bio", "sports", "experience_years", "certifications", "verified"}

// ForVisibility in a tier's KYCFor: who wants to be visible must be verified.
const ForVisibility = "visibility"

// Tiers are the tiers of an installation, and how it judges by them. The zero
// Tiers has one tier without a name and without limits.
type Tiers struct {
	// List is in the order of the file; the first tier is the one that a coach has
	// who has none.
	List []Tier
	// KYC says that coaches are verified (setting KYC). Without it nothing wants it.
	KYC bool
}

//go:embed tiers.json
var builtInTiers []byte

// DefaultTiers are the tiers of an installation that names no file: free, pro and
// academy.
func DefaultTiers() []Tier {
	tiers, problems := ParseTiers(builtInTiers)
	if len(problems) > 0 {
		panic(errors.New("the built-in tiers: " + problems[0]))
	}
	return tiers
}

// Of returns the tier that counts for a coach whose tier is called name: the first
// one where it has no name, or one that is not configured any more.
func (ts Tiers) Of(name string) Tier {
	if t, ok := ts.Named(name); ok {
		return t
	}
	if len(ts.List) == 0 {
		return Tier{Shows: Showable}
	}
	return ts.List[0]
}

// Named returns the tier of that name, and whether there is one.
func (ts Tiers) Named(name string) (Tier, bool) {
	i := slices.IndexFunc(ts.List, func(t Tier) bool { return t.Name == name })
	if i < 0 {
		return Tier{}, false
	}
	return ts.List[i], true
}

// Names returns the names of all tiers, in their order.
func (ts Tiers) Names() []string {
	names := make([]string, len(ts.List))
	for i, t := range ts.List {
		names[i] = t.Name
	}
	return names
}

// KYCState is where a verification stands for the outside: Disabled while coaches
// are not verified.
func (ts Tiers) KYCState(kept KYCState) KYCState {
	if !ts.KYC {
		return Disabled
	}
	return kept
}
