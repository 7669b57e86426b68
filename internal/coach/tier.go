package coach

import (
	_ "embed"
	"errors"
	"slices"
)

// Tier is a subscription tier: which functions a coach may use, and the limits
// (spec section 1, clause 4).
type Tier struct {
	Name  string
	Title string // for people
	// SelfService tiers can be chosen by coaches; others can be requested, and operators decide.
	SelfService bool
	// Features are required by calls (see CheckFeature) and by services; nil is StandardFeatures.
	// Features that the service does not know are for the apps.
	Features []string
	Limits   Limits
	// Shows are the fields that the directory may show (see Showable). Without any
	// the coach cannot be visible.
	Shows []string
	// KYCFor are the functions that require a verified coach while KYC is on;
	// ForVisibility is the only one.
	KYCFor []string
}

// Limits are the limits of a tier; 0 is no limit.
type Limits struct {
	Players int64
	// UnverifiedPlayers limits the players of an unverified coach while KYC is on.
	UnverifiedPlayers int64
	StorageBytes      int64
	// MessagesPerDay limits the SMS of the messages that a coach writes, in any 24 h.
	MessagesPerDay int64
}

// Showable lists the profile fields that the directory can show.
var Showable = []string{"name", "profile_picture", "bio", "sports", "experience_years", "certifications", "verified"}

// ForVisibility in Tier.KYCFor: a coach must be verified to be visible.
const ForVisibility = "visibility"

// Tiers are the configured tiers. The zero Tiers has one tier without a name and
// without limits.
type Tiers struct {
	// List is in the order of the file. The first tier applies to coaches without one.
	List []Tier
	// KYC is the setting KYC: whether coaches are verified.
	KYC bool
}

//go:embed tiers.json
var builtInTiers []byte

// DefaultTiers returns the built-in tiers: free, pro and academy.
func DefaultTiers() []Tier {
	tiers, problems := ParseTiers(builtInTiers)
	if len(problems) > 0 {
		panic(errors.New("built-in tiers: " + problems[0]))
	}
	return tiers
}

// Of returns the tier that applies to a coach with this stored tier name: the first
// one if the name is empty or no longer configured.
func (ts Tiers) Of(name string) Tier {
	if t, ok := ts.Named(name); ok {
		return t
	}
	if len(ts.List) == 0 {
		return Tier{Shows: Showable}
	}
	return ts.List[0]
}

// Named returns the tier with this name.
func (ts Tiers) Named(name string) (t Tier, ok bool) {
	i := slices.IndexFunc(ts.List, func(t Tier) bool { return t.Name == name })
	if i < 0 {
		return Tier{}, false
	}
	return ts.List[i], true
}

// Names returns the names of all tiers in order.
func (ts Tiers) Names() []string {
	names := make([]string, len(ts.List))
	for i, t := range ts.List {
		names[i] = t.Name
	}
	return names
}

// KYCState returns the state that clients see: Disabled while the setting KYC is off.
func (ts Tiers) KYCState(stored KYCState) KYCState {
	if !ts.KYC {
		return Disabled
	}
	return stored
}
