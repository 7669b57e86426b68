package message

import (
	"maps"
	"regexp"
	"slices"
	"time"
	_ "time/tzdata" // containers often have no time zones

	"github.com/touchline/touchline/internal/platform/phone"
)

// ChosenKinds are the kinds of messages for which a person may choose channels.
var ChosenKinds = []Kind{Request, Reminder, NotificationCopy, Team}

// ChosenChannels are the channels that a person may choose. The notification in the app
// cannot be switched off.
var ChosenChannels = []Channel{SMS, Chat, Email, Push}

// Preferences are the choices of the owner of a number. They hold for every role.
type Preferences struct {
	// Language is the code that was chosen, or empty. It is kept while the language is not offered.
	Language string
	// TimeZone is the IANA name of a time zone, or empty if none was chosen.
	TimeZone string
	// Channels are the channels for each kind; a kind without an entry has all.
	Channels map[Kind][]Channel
	// QuietHours is when messages wait.
	QuietHours QuietHours
	// StoppedCoaches are the ids of coaches whose messages do not leave the app, sorted.
	StoppedCoaches []string
}

// PreferencesPatch changes preferences: nil keeps a field, a pointer to the zero value
// clears it.
type PreferencesPatch struct {
	Language, TimeZone *string
	// Channels has the kinds to change: nil removes the choice, so that the kind has all
	// channels; an empty list chooses no channel. ClearChannels removes the choices for the
	// other kinds.
	Channels       map[Kind]*[]Channel
	ClearChannels  bool
	QuietHours     *QuietHours
	StoppedCoaches *[]string
}

// With returns the preferences after a patch.
func (p Preferences) With(patch PreferencesPatch) Preferences {
	set(&p.Language, patch.Language)
	set(&p.TimeZone, patch.TimeZone)
	set(&p.QuietHours, patch.QuietHours)
	p.Channels = maps.Clone(p.Channels)
	if patch.ClearChannels || p.Channels == nil {
		p.Channels = map[Kind][]Channel{}
	}
	for kind, channels := range patch.Channels {
		if channels == nil {
			delete(p.Channels, kind)
		} else {
			p.Channels[kind] = *channels
		}
	}
	if patch.StoppedCoaches != nil {
		p.StoppedCoaches = slices.Compact(slices.Sorted(slices.Values(*patch.StoppedCoaches)))
	}
	return p
}

// Choose returns which of the channels that reach the person carry a message of a kind: the
// chosen ones, or all if none of the chosen ones reaches the person. An empty list chooses none.
func (p Preferences) Choose(kind Kind, reach []Channel) []Channel {
	chosen, ok := p.Channels[kind]
	if !ok {
		return reach
	}
	kept := slices.DeleteFunc(slices.Clone(reach), func(c Channel) bool { return !slices.Contains(chosen, c) })
	if len(kept) == 0 && len(chosen) > 0 {
		return reach
	}
	return kept
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// zoneName matches the names of regions, such as Asia/Kolkata, and UTC. It excludes the
// other names that some systems have, such as posix/Asia/Kolkata.
var zoneName = regexp.MustCompile(`^(UTC|[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)+)$`)

// KnownTimeZone reports whether name is the IANA name of a time zone.
func KnownTimeZone(name string) bool {
	if !zoneName.MatchString(name) {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

// Zone returns the chosen time zone, or the zone of the number n.
func (p Preferences) Zone(n phone.Number) *time.Location {
	name := p.TimeZone
	if name == "" {
		name = n.TimeZone()
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}
