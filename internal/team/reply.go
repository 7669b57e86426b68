package team

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// MaxRepliesPerDay limits the replies of one party of a player in 24 h.
const MaxRepliesPerDay = 50

// Reply is a message of a guardian or student to the coach.
type Reply struct {
	ID          string
	CoachID     string
	PlayerID    string
	StudentName string
	Party       actor.Role
	AccountID   string
	// Name is the name of the guardian or student as the coach entered it. It is empty if the
	// party has another number since.
	Name      string
	Text      string
	CreatedAt time.Time
	// ReadAt is when the coach read it; zero before.
	ReadAt time.Time
}

// Event returns the event that notifies the coach.
func (r Reply) Event() event.Event {
	return event.Event{
		Type: event.TeamReply, Party: r.Party, CoachID: r.CoachID, PlayerID: r.PlayerID, MessageID: r.ID,
		StudentName: r.StudentName, GuardianName: r.Name,
	}
}

// CheckReplies returns message_limit if a party wrote as many replies in the last 24 h as
// it may, the first of them at oldest.
func CheckReplies(count int, oldest, now time.Time) error {
	if count < MaxRepliesPerDay {
		return nil
	}
	return fault.New(fault.TooMany, "message_limit", "You wrote %d messages in the last 24 hours. You can write again later.", count).
		With("limit", "replies_per_day").With("limit_value", MaxRepliesPerDay).With("allowed_now", 0).
		With("ends_at", oldest.Add(Day)).After(max(oldest.Add(Day).Sub(now), time.Second))
}

// Entry is one message of a conversation about a player, as a guardian, a student or an
// operator reads it.
type Entry struct {
	ID string
	// FromCoach is false for a reply.
	FromCoach bool
	// Parties are the recipients, or the author alone.
	Parties []actor.Role
	// Copy is true for a message to the student that the guardian also got.
	Copy      bool
	Text      string
	CreatedAt time.Time
}

// NewestEntries merges two parts of a conversation. The ids rise with time. A message that
// went to both parties becomes one entry.
func NewestEntries(a, b []Entry, limit int) []Entry {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y Entry) int { return cmp.Compare(y.ID, x.ID) })
	var list []Entry
	for _, e := range all {
		if n := len(list); n > 0 && list[n-1].ID == e.ID {
			list[n-1].Parties = append(e.Parties, list[n-1].Parties...)
			list[n-1].Copy = list[n-1].Copy || e.Copy
			continue
		}
		list = append(list, e)
	}
	return list[:min(len(list), limit)]
}
