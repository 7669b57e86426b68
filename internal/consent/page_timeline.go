package consent

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// timelineEntry is one entry of a player's timeline.
type timelineEntry struct {
	At time.Time
	// Key is the text of the entry, without "timeline.".
	Key string
	// Guardian is the first name of one of several guardians, or says that a guardian was removed; else empty.
	Guardian string
	// Quote is a text of the party or the coach, or "".
	Quote string
	// Deliveries are the messages of a question.
	Deliveries []approval.Delivery
}

// maxTimelineEntries bounds the page of a player.
const maxTimelineEntries = 100

// timeline returns the entries of a player's page, newest first.
func timeline(v *web.View, t *approval.Timeline) []timelineEntry {
	entries := []timelineEntry{{At: t.Player.CreatedAt, Key: "added"}}
	guardians := t.Player.Guardians()
	nameOf := func(party actor.Role, guardianID string) string {
		if party != actor.Guardian {
			return ""
		}
		for _, g := range guardians {
			switch {
			case g.GuardianID != guardianID:
			case len(guardians) > 1:
				return g.FirstName()
			default:
				return ""
			}
		}
		return v.MustT("player.former_guardian")
	}
	for _, r := range t.Requests {
		asked, guardian := string(r.Party)+".", nameOf(r.Party, r.GuardianID)
		entries = append(entries, timelineEntry{At: r.RequestedAt, Key: asked + "asked", Guardian: guardian, Deliveries: r.Deliveries})
		if !r.FollowedUpAt.IsZero() && !r.FollowedUpAt.Equal(r.ClosedAt) {
			entries = append(entries, timelineEntry{At: r.FollowedUpAt, Key: asked + "followed_up", Guardian: guardian, Quote: r.FollowUpNote})
		}
		switch r.State {
		case approval.RequestCancelled, approval.RequestDisputed:
			entries = append(entries, timelineEntry{At: r.ClosedAt, Key: asked + string(r.State), Guardian: guardian})
		}
	}
	for _, d := range t.History {
		entries = append(entries, timelineEntry{At: d.At, Key: string(d.Party) + "." + string(d.Action), Guardian: nameOf(d.Party, d.GuardianID), Quote: d.Reason})
	}
	// Of two entries at the same time the later one of the list follows from the earlier.
	slices.Reverse(entries)
	slices.SortStableFunc(entries, func(a, b timelineEntry) int { return b.At.Compare(a.At) })
	return entries[:min(len(entries), maxTimelineEntries)]
}
