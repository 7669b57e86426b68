package coach

import "slices"

// The features that calls require. Without Roster a coach adds no players, without
// DocumentUpload uploads no documents, and without DirectoryListing is not visible. Import
// is the roster from a spreadsheet, Export the roster or everything as a file, Templates are
// stored messages.
const (
	Roster           = "roster"
	DocumentUpload   = "documents"
	DirectoryListing = "directory"
	Import           = "import"
	Export           = "export"
	Templates        = "templates"
)

// StandardFeatures are everything that the specification names. A tier without a list of
// features has them all.
var StandardFeatures = []string{
	"chat", "sms", Roster, "attendance", "manual_fees",
	"in_app_notifications", "performance_reports", "fee_reminders", "team_communications", "digital_payments", "progress_tracking",
	DocumentUpload, DirectoryListing,
}

// featureNames are the features for people, where the name is not good enough.
var featureNames = map[string]string{
	Roster: "players", DirectoryListing: "a place in the directory",
	Import: "the import of players", Export: "the export", Templates: "templates of messages",
}

// Has reports whether the tier has a feature.
func (t Tier) Has(feature string) bool {
	if t.Features == nil {
		return slices.Contains(StandardFeatures, feature)
	}
	return slices.Contains(t.Features, feature)
}

// Has reports whether the tier of a coach with this stored tier name has a feature.
func (ts Tiers) Has(stored, feature string) bool { return ts.Of(stored).Has(feature) }

// CheckFeature returns a tier_limit that names the tier to take, unless the coach's tier
// has the feature.
func (ts Tiers) CheckFeature(s TierStatus, feature string) error {
	t := ts.Of(s.Tier)
	if t.Has(feature) {
		return nil
	}
	name := feature
	if featureNames[feature] != "" {
		name = featureNames[feature]
	}
	return ts.tierLimitError(s, feature, func(t Tier) bool { return t.Has(feature) }, "The tier %s does not include %s.", t.Title, name)
}
