package web

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TellingView is what a page says about who was told of something.
type TellingView struct {
	*notice.Telling
	Ways   []WayView
	Others []UntoldView
	Groups []WriteGroup
	// Text is what the form of a message begins with, and Chat whether WhatsApp is there.
	Text string
	Chat bool
}

// WayView is how many people were told by one channel.
type WayView struct {
	Channel message.Channel
	Count   int
}

// UntoldView is a person without a message.
type UntoldView struct {
	notice.Untold
	// LeftOut is why a message of the coach does not reach the person either, or "".
	LeftOut string
}

// WriteGroup are people who were not told and whom a message of the coach reaches: guardians, or students.
type WriteGroup struct {
	Party actor.Role
	Count int
	// For is the field "for" of the form of a message.
	For string
}

// Telling returns who was told of what the calling coach did last to an object, or nil if that was not what.
// text is what the coach may write to the rest.
func (p *Pages) Telling(ctx context.Context, by actor.Actor, about, what, text string) (*TellingView, error) {
	t, err := p.Tray.Telling(ctx, by.AccountID, about, what)
	if t == nil || err != nil {
		return nil, err
	}
	v := &TellingView{Telling: t, Text: text, Chat: p.Approvals.Rules.HasChat}
	for _, c := range []message.Channel{message.InApp, message.SMS, message.Chat, message.Email} {
		if n := t.By[c]; n > 0 {
			v.Ways = append(v.Ways, WayView{c, n})
		}
	}
	var people []notice.Untold
	for _, u := range t.Rest {
		if u.Party != "" {
			people = append(people, u)
		}
	}
	leftOut, err := p.LeftOut(ctx, by, text, people)
	if err != nil {
		return nil, err
	}
	for _, u := range t.Rest {
		v.Others = append(v.Others, UntoldView{u, leftOut[u]})
	}
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		var ids []string
		for _, u := range v.Others {
			if u.Party == party && u.LeftOut == "" {
				ids = append(ids, u.PlayerID)
			}
		}
		if len(ids) > 0 {
			v.Groups = append(v.Groups, WriteGroup{party, len(ids), playersField(ids)})
		}
	}
	return v, nil
}
