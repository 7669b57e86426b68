package conversation

import (
	"context"
	"net/url"
	"strconv"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

const conversationsPath = "/coach/conversations"

// conversations serves GET /coach/conversations, newest first.
func (p pages) conversations(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	list, err := p.Conversations(ctx, by, conversationKey(r), perPage+1)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "messages", "conversations.title", by)
	next := ""
	if len(list) > perPage {
		list = list[:perPage]
		last := list[perPage-1]
		next = conversationsPath + "?" + url.Values{"at": {strconv.FormatInt(last.LastAt.UnixMicro(), 10)}, "after": {last.PlayerID}, "party": {string(last.Party)}, "guardian": {last.GuardianID}}.Encode()
	}
	v.Data = map[string]any{"List": list, "Next": next}
	return web.Page("conversations", v), nil
}

// conversationKey returns the conversation after which a page begins, or the zero key.
func conversationKey(r *web.Request) (k api.Keyset) {
	at, err := strconv.ParseInt(r.Value("at"), 10, 64)
	if id := web.IDOrNone(r.Value("after")); err == nil && id != "" {
		k = api.Keyset{At: at, ID: id, Party: actor.Role(r.Value("party")), GuardianID: web.IDOrNone(r.Value("guardian"))}
	}
	return k
}

// partyIn returns the player and the party in the path of a page, or not_found.
func partyIn(r *web.Request) (playerID string, party actor.Role, guardianID string, err error) {
	party, guardianID, err = namedParty(r.PathValue("party"))
	return r.PathValue("player_id"), party, guardianID, err
}

// coachConversation serves GET /coach/conversations/{player_id}/{party}: what the coach and a party wrote on all
// channels.
func (p pages) coachConversation(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.coachConversationPage(ctx, r, by, r.Restored(new(web.Form)))
}

func (p pages) coachConversationPage(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	playerID, party, guardianID, err := partyIn(r)
	if err != nil {
		return web.Response{}, err
	}
	with, answerBy, err := p.With(ctx, by, playerID, party, guardianID)
	if err != nil {
		return web.Response{}, err
	}
	list, err := p.CoachConversation(ctx, by, playerID, party, guardianID, web.IDOrNone(r.Value("after")), perPage+1)
	if err != nil {
		return web.Response{}, err
	}
	path := conversationsPath + "/" + playerID + "/" + r.PathValue("party")
	list, next := paged(list, path, func(i Item) string { return i.ID })
	if err := p.readShown(ctx, r, by, list); err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "messages", "conversations.one.title", by)
	if f.Value("channels") == "" {
		f.Values = url.Values{"channels": {string(answerBy)}, "text": {f.Value("text")}}
	}
	v.Form, v.Path = f, path
	v.Data = map[string]any{
		"With": with, "List": list, "Next": next, "RequestID": p.NewID(), "Channels": p.channels(), "Done": v.TextOr("team_messages.done."+r.Value("done"), ""),
		"Status": func(s State) web.Status { return statusOf(v, s) }, "Reason": func(reason string) string { return reasonText(v, reason) },
	}
	return web.FormPage("coach_conversation", v), nil
}

// readShown marks the replies of a page as read, but not those of a page that a script loads again: it may be
// open in another tab.
func (p pages) readShown(ctx context.Context, r *web.Request, by actor.Actor, list []Item) error {
	var unread []string
	for _, i := range list {
		if !i.FromCoach && i.Channels[0].ReadAt.IsZero() {
			unread = append(unread, i.ID)
		}
	}
	if len(unread) == 0 || r.Method != "GET" || r.Header.Get(web.LiveHeader) != "" {
		return nil
	}
	_, err := p.ReadReplies(ctx, by, unread)
	return err
}

// writeAnswer serves POST /coach/conversations/{player_id}/{party}.
func (p pages) writeAnswer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	playerID, party, guardianID, err := partyIn(r)
	if err != nil {
		return web.Response{}, err
	}
	with, _, err := p.With(ctx, by, playerID, party, guardianID)
	if err != nil {
		return web.Response{}, err
	}
	if err := p.site.Coaches.Complete(ctx, by); err != nil {
		return web.Response{}, err
	}
	body := map[string]any{"to": map[string]any{"player_ids": []any{playerID}}, "audience": string(party), "text": r.Value("text"), "channels": []any{r.Value("channels")}}
	var faults wire.Faults
	var in messageRequest
	wire.Bind(body, &in, &faults)
	draft := in.read(&faults)
	draft.GuardianID = with.GuardianID
	if err = faults.Err(); err == nil {
		id := web.IDOrNone(r.Value(web.RequestField))
		if id == "" {
			id = p.NewID()
		}
		_, err = p.SendOnce(ctx, by, id, draft)
	}
	f := &web.Form{Values: r.Form}
	switch code := fault.CodeOf(err); {
	case err == nil:
		return web.Redirect(conversationsPath + "/" + playerID + "/" + r.PathValue("party") + "?done=sent"), nil
	case code == "message_limit" || code == "tier_limit":
		p.site.AddError(r, f, "", err)
	case !p.site.AddFaults(r, f, err, fields):
		return web.Response{}, err
	}
	return p.coachConversationPage(ctx, r, by, f)
}
