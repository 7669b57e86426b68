package web

import (
	"context"
	"errors"
	"net/url"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// conversation serves GET /me/{role}/players/{player_id}/messages: what the coach and the
// caller wrote.
func (p *Pages) conversation(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.conversationPage(ctx, r, by, r.Restored(new(Form)))
}

func (p *Pages) conversationPage(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	return p.FamilyPage(ctx, r, by, "conversation", "team_communications", func(d Question) (map[string]any, error) {
		list, err := p.Messages.Conversation(ctx, by, d.ID, team.Page{After: IDOrNone(r.Value("after")), Limit: messagesPerPage + 1})
		next := ""
		if len(list) > messagesPerPage {
			list = list[:messagesPerPage]
			next = d.Path + "/messages?" + url.Values{"after": {list[messagesPerPage-1].ID}}.Encode()
		}
		return map[string]any{
			"Form": f, "Answer": d, "List": list, "Next": next, "RequestID": p.Messages.NewID(), "Done": p.NewView(r, "").TextOr("conversation.done."+r.Value("done"), ""),
		}, err
	})
}

// writeReply serves POST …/messages.
func (p *Pages) writeReply(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	playerID, err := r.PathID("player_id")
	if err != nil {
		return Response{}, err
	}
	path := playerPath(by.Role, playerID) + "/messages"
	var faults wire.Faults
	var in input.Reply
	wire.Bind(map[string]any{"text": r.Value("text")}, &in, &faults)
	text := in.Read(&faults)
	err = faults.Err()
	if err == nil {
		id := IDOrNone(r.Value(RequestField))
		if id == "" {
			id = p.Messages.NewID()
		}
		_, err = p.Messages.ReplyOnce(ctx, by, id, playerID, text)
	}
	f := &Form{Values: r.Form}
	switch {
	case err == nil:
		return Redirect(path + "?done=sent"), nil
	case fault.KindOf(err) == fault.Forbidden: // the approval has ended meanwhile
		return Redirect(path), nil
	case fault.CodeOf(err) == "message_limit":
		limit, _ := errors.AsType[*fault.Error](err)
		v := p.NewView(r, "failure.title")
		f.Add("text", v.MustT("conversation.limit", "Wait", v.wait(limit.RetryAfter)))
		p.LimitedBy(r, f, err)
	case !p.AddFaults(r, f, err, nil):
		return Response{}, err
	}
	return p.conversationPage(ctx, r, by, f)
}
