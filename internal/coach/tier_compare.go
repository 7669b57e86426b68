package coach

import "slices"

// TierChange is the difference between two tiers for a coach.
type TierChange struct {
	// Lost and Gained are features, in the order of the tier that has them.
	Lost, Gained []string
	// Hidden are the fields that the directory can no longer show.
	Hidden []string
	// Limits are the limits that differ.
	Limits []LimitChange
}

// LimitChange is a limit that differs between two tiers; 0 is no limit.
type LimitChange struct {
	// Name is the name of the limit in the configuration: players, storage_bytes or
	// messages_per_day.
	Name     string
	From, To int64
	// Used is how much the coach uses now.
	Used int64
}

// Exceeded reports whether the coach uses more than the new limit. The coach keeps
// everything, but cannot add more.
func (c LimitChange) Exceeded() bool { return !withinLimit(c.To, c.Used, 0) }

// Change returns the differences for the coach between the current tier and to.
func (s Subscription) Change(to Tier) TierChange {
	c := TierChange{Lost: without(s.Tier.features(), to.features()), Gained: without(to.features(), s.Tier.features())}
	c.Hidden = without(s.Tier.Shown(Showable), to.Shows)
	for _, limit := range []LimitChange{
		{Name: "players", From: s.Tier.Limits.Players, To: to.Limits.Players, Used: s.Usage.Players},
		{Name: "storage_bytes", From: s.Tier.Limits.StorageBytes, To: to.Limits.StorageBytes, Used: s.Usage.StorageBytes},
		{Name: "messages_per_day", From: s.Tier.Limits.MessagesPerDay, To: to.Limits.MessagesPerDay, Used: s.Usage.Messages},
	} {
		if limit.From != limit.To {
			c.Limits = append(c.Limits, limit)
		}
	}
	return c
}

// features returns the features of the tier.
func (t Tier) features() []string {
	if t.Features == nil {
		return StandardFeatures
	}
	return t.Features
}

// CompareFeatures returns the features that every tier has, and those that only some have,
// both in the order in which the tiers name them.
func (ts Tiers) CompareFeatures() (common, some []string) {
	var all []string
	for _, t := range ts.List {
		for _, feature := range t.features() {
			if !slices.Contains(all, feature) {
				all = append(all, feature)
			}
		}
	}
	for _, feature := range all {
		if slices.ContainsFunc(ts.List, func(t Tier) bool { return !t.Has(feature) }) {
			some = append(some, feature)
		} else {
			common = append(common, feature)
		}
	}
	return common, some
}

// without returns the elements of list that are not in other.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}
