package web

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
)

// NeedStatus returns what a need is about.
func (v *View) NeedStatus(n coach.Need) Status {
	status := Status{Class: "no", Symbol: "!", Text: v.MustT("need." + string(n.Kind))}
	switch n.Kind {
	case coach.NeedRejected:
		status.Class, status.Symbol = "", "✕"
	case coach.NeedRevoked:
		status.Class, status.Symbol = "", "↩"
	case coach.NeedHeld:
		status = Status{Class: "wait", Symbol: "○", Text: v.MustT("need.held." + string(message.HoldOf(n.HeldBy)))}
	case coach.NeedOverdue, coach.NeedLongPending, coach.NeedStopped:
		status.Class, status.Symbol = "wait", "○"
	}
	if len(n.Channels) > 0 {
		status.Text += " · " + v.Channels(n.Channels)
	}
	return status
}

// NeedKey returns the name of the party in forms of the page of the player.
func (v *View) NeedKey(n coach.Need) string {
	if n.GuardianName != "" {
		return n.GuardianID
	}
	return string(n.Party)
}

// NeedParty names the party: "Guardian", or "Guardian Ravi Rao" of several.
func (v *View) NeedParty(n coach.Need) string {
	return strings.TrimSpace(v.MustT("player.party."+string(n.Party)) + " " + n.GuardianName)
}

// NeedPath returns the page of the button beside a need, at the reason of a no.
func (v *View) NeedPath(n coach.Need) string {
	if n.HasReason {
		return CoachPlayer(n.PlayerID) + "#" + v.NeedKey(n) + "-reason"
	}
	return CoachPlayer(n.PlayerID)
}

// NeedStep returns the text of the button beside a need.
func (v *View) NeedStep(n coach.Need) (string, error) {
	switch {
	case slices.Equal(n.Channels, []string{string(message.Email)}):
		return v.T("need.step.delivery_failed.email")
	case n.HasReason:
		return v.T("need.step.reason")
	}
	return v.T("need.step." + string(n.Kind))
}

// Channels returns the names of channels with commas between them.
func (v *View) Channels(list []string) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = v.Channel(message.Channel(c))
	}
	return strings.Join(names, ", ")
}
