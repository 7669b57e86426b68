package web

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/team"
)

const (
	teamMessagesPath = "/coach/messages"
	// messagesPerPage is the number of messages, replies or recipients on one page.
	messagesPerPage = 30
	// excerptLength is how much of a message the list shows, in characters.
	excerptLength = 120
)

// teamMessageRoutes lists the coach's pages about messages.
func (p *Pages) teamMessageRoutes() []Route {
	const templates = teamMessagesPath + "/templates"
	return []Route{
		{Method: "GET", Pattern: teamMessagesPath, Handle: p.SignedIn(actor.Coach, p.teamMessages)},
		{Method: "GET", Pattern: teamMessagesPath + "/write", Handle: p.SignedIn(actor.Coach, p.writeMessagePage)},
		{Method: "POST", Pattern: teamMessagesPath + "/write", Handle: p.SignedIn(actor.Coach, p.writeMessage)},
		{Method: "GET", Pattern: teamMessagesPath + "/replies", Handle: p.SignedIn(actor.Coach, p.replies)},
		{Method: "POST", Pattern: teamMessagesPath + "/replies/read", Handle: p.SignedIn(actor.Coach, p.readReplies)},
		{Method: "GET", Pattern: templates, Handle: p.SignedIn(actor.Coach, p.messageTemplates)},
		{Method: "POST", Pattern: templates, Handle: p.SignedIn(actor.Coach, p.addMessageTemplate)},
		{Method: "POST", Pattern: templates + "/{template_id}/delete", Handle: p.SignedIn(actor.Coach, p.deleteMessageTemplate)},
		{Method: "GET", Pattern: teamMessagesPath + "/{message_id}", Handle: p.SignedIn(actor.Coach, p.teamMessage)},
	}
}

// teamMessages serves GET /coach/messages: what the coach wrote, newest first.
func (p *Pages) teamMessages(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	list, err := p.Messages.List(ctx, by, team.Page{After: IDOrNone(r.Value("after")), Limit: messagesPerPage + 1})
	if err != nil {
		return Response{}, err
	}
	_, unread, err := p.Messages.Recent(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "messages", "team_messages.title", by)
	if err != nil {
		return Response{}, err
	}
	next := ""
	if len(list) > messagesPerPage {
		list = list[:messagesPerPage]
		next = teamMessagesPath + "?after=" + list[messagesPerPage-1].ID
	}
	v.Data = map[string]any{"List": list, "Next": next, "UnreadReplies": unread, "Done": v.TextOr("team_messages.done."+r.Value("done"), "")}
	return Page("team_messages", v), nil
}

// IDOrNone returns text if it is an id, else "".
func IDOrNone(text string) string {
	if endpoint.IsID(text) {
		return text
	}
	return ""
}

// Excerpt returns the beginning of a text on one line.
func (v *View) Excerpt(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > excerptLength {
		return string(runes[:excerptLength-1]) + "…"
	}
	return string(runes)
}

// MessageState returns how far a message has come to a recipient.
func (v *View) MessageState(s team.State) Status {
	text := v.MustT("team_message.state." + string(s))
	switch s {
	case team.Delivered:
		return Status{"yes", "✓", text}
	case team.Sent:
		return Status{"wait", "→", text}
	case team.Queued:
		return Status{"wait", "○", text}
	case team.Failed:
		return Status{"no", "!", text}
	default:
		return Status{"", "–", text}
	}
}

// MessageReason returns why a message did not reach a recipient, or waits, and "" without one.
func (v *View) MessageReason(reason string) string {
	return v.TextOr("team_message.reason."+reason, v.TextOr("delivery.reason."+reason, ""))
}

// teamMessage serves GET /coach/messages/{message_id}: a message and its recipients.
func (p *Pages) teamMessage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("message_id")
	if err != nil {
		return Response{}, err
	}
	m, err := p.Messages.Message(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	after, _ := strconv.Atoi(r.Value("after"))    // 0, the first, if it is not a number
	after = min(max(0, after), 2*team.MaxPlayers) // the last position at most
	recipients, err := p.Messages.Recipients(ctx, by, id, after, messagesPerPage+1)
	if err != nil {
		return Response{}, err
	}
	counts, err := p.Messages.CountStates(ctx, by, m)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "messages", "team_message.title", by)
	if err != nil {
		return Response{}, err
	}
	next := ""
	if len(recipients) > messagesPerPage {
		recipients = recipients[:messagesPerPage]
		next = teamMessagesPath + "/" + id + "?after=" + strconv.Itoa(recipients[messagesPerPage-1].Position)
	}
	v.Data = map[string]any{
		"Message": m, "Recipients": recipients, "Counts": counts, "States": team.States, "Next": next,
		"Done": v.TextOr("team_messages.done."+r.Value("done"), ""),
	}
	return Page("team_message", v), nil
}

// replies serves GET /coach/messages/replies, newest first.
func (p *Pages) replies(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	list, err := p.Messages.Replies(ctx, by, false, team.Page{After: IDOrNone(r.Value("after")), Limit: messagesPerPage + 1})
	if err != nil {
		return Response{}, err
	}
	_, unread, err := p.Messages.Recent(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "messages", "replies.title", by)
	if err != nil {
		return Response{}, err
	}
	next := ""
	if len(list) > messagesPerPage {
		list = list[:messagesPerPage]
		next = teamMessagesPath + "/replies?" + url.Values{"after": {list[messagesPerPage-1].ID}}.Encode()
	}
	v.Data = map[string]any{"List": list, "Next": next, "UnreadReplies": unread}
	return Page("replies", v), nil
}

// readReplies serves POST /coach/messages/replies/read: it marks all replies as read.
func (p *Pages) readReplies(ctx context.Context, _ *Request, by actor.Actor) (Response, error) {
	if _, err := p.Messages.ReadReplies(ctx, by, nil); err != nil {
		return Response{}, err
	}
	return Redirect(teamMessagesPath + "/replies"), nil
}
