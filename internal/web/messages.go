package web

import (
	"context"
	"strconv"

	"github.com/touchline/touchline/internal/actor"
)

// pageOfMessages is the number of notifications on one page.
const pageOfMessages = 30

// messages serves GET /me/{role}/messages: the caller's notifications, newest first.
func (p *Pages) messages(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	before, _ := strconv.ParseInt(r.Value("before"), 10, 64) // 0, the newest, if it is no number
	list, err := p.Tray.List(ctx, by, false, max(0, before), pageOfMessages+1)
	if err != nil {
		return Response{}, err
	}
	unread, err := p.Tray.Unread(ctx, by)
	if err != nil {
		return Response{}, err
	}
	older := int64(0)
	if len(list) > pageOfMessages {
		list = list[:pageOfMessages]
		older = list[len(list)-1].Seq
	}
	players, err := p.Approvals.Links(ctx, by, allLinks)
	if err != nil {
		return Response{}, err
	}
	visible := map[string]bool{}
	for _, player := range players {
		visible[player.ID] = true
	}
	v := p.signedInView(r, "messages.title", by)
	v.Data = map[string]any{
		"Home": home(by.Role), "List": list, "Older": older, "Unread": unread,
		// Players are the players whose pages the caller may open.
		"Players": visible,
	}
	return page("messages", v), nil
}

// readMessages serves POST /me/{role}/messages/read: it marks all messages as read.
func (p *Pages) readMessages(ctx context.Context, _ *Request, by actor.Actor) (Response, error) {
	if _, err := p.Tray.MarkAllRead(ctx, by); err != nil {
		return Response{}, err
	}
	return redirect(home(by.Role) + "/messages"), nil
}
