package consent

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// timelineEntry is one entry of a player's timeline.
type timelineEntry struct {
	At    time.Time
	Party actor.Role
	// Key is the text of the entry, without "timeline.".
	Key string
	// Quote is a text of the party or the coach, or "".
	Quote string
	// Deliveries are the messages of a question.
	Deliveries []approval.Delivery
}

// maxTimelineEntries bounds the page of a player.
const maxTimelineEntries = 100

// timeline returns the entries of a player's page, newest first.
func timeline(t *approval.Timeline) []timelineEntry {
	entries := []timelineEntry{{At: t.Player.CreatedAt, Key: "added"}}
	for _, r := range t.Requests {
		asked := string(r.Party) + "."
		entries = append(entries, timelineEntry{At: r.RequestedAt, Party: r.Party, Key: asked + "asked", Deliveries: r.Deliveries})
		if !r.FollowedUpAt.IsZero() && !r.FollowedUpAt.Equal(r.ClosedAt) {
			entries = append(entries, timelineEntry{At: r.FollowedUpAt, Party: r.Party, Key: asked + "followed_up", Quote: r.FollowUpNote})
		}
		switch r.State {
		case approval.RequestCancelled, approval.RequestDisputed:
			entries = append(entries, timelineEntry{At: r.ClosedAt, Party: r.Party, Key: asked + string(r.State)})
		}
	}
	for _, d := range t.History {
		entries = append(entries, timelineEntry{At: d.At, Party: d.Party, Key: string(d.Party) + "." + string(d.Action), Quote: d.Reason})
	}
	// Of two entries at the same time the later one of the list follows from the earlier.
	slices.Reverse(entries)
	slices.SortStableFunc(entries, func(a, b timelineEntry) int { return b.At.Compare(a.At) })
	return entries[:min(len(entries), maxTimelineEntries)]
}
