package conversation

import (
	"context"
	"embed"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the pages about messages.
type pages struct {
	*Service
	site *web.Pages
}

const (
	messagesPath = "/coach/messages"
	// perPage is the number of messages, replies or recipients on one page.
	perPage = 30
)

// Pages returns the pages about messages for coaches, and the conversation for families.
func (s *Service) Pages(site *web.Pages) []web.Route {
	const templates = messagesPath + "/templates"
	p := pages{s, site}
	routes := []web.Route{
		{Method: "GET", Pattern: messagesPath, Handle: site.SignedIn(actor.Coach, p.messages)},
		{Method: "GET", Pattern: messagesPath + "/write", Handle: site.SignedIn(actor.Coach, p.writePage)},
		{Method: "POST", Pattern: messagesPath + "/write", Handle: site.SignedIn(actor.Coach, p.write)},
		{Method: "GET", Pattern: messagesPath + "/replies", Handle: site.SignedIn(actor.Coach, p.toMessages)},
		{Method: "POST", Pattern: messagesPath + "/replies/read", Handle: site.SignedIn(actor.Coach, p.readReplies)},
		{Method: "GET", Pattern: templates, Handle: site.SignedIn(actor.Coach, p.templates)},
		{Method: "POST", Pattern: templates, Handle: site.SignedIn(actor.Coach, p.addTemplate)},
		{Method: "POST", Pattern: templates + "/{template_id}/delete", Handle: site.SignedIn(actor.Coach, p.deleteTemplate)},
		{Method: "GET", Pattern: conversationsPath, Handle: site.SignedIn(actor.Coach, p.toMessages)},
		{Method: "GET", Pattern: conversationsPath + "/{player_id}/{party}", Handle: site.SignedIn(actor.Coach, p.coachConversation)},
		{Method: "POST", Pattern: conversationsPath + "/{player_id}/{party}", Handle: site.SignedIn(actor.Coach, p.writeAnswer)},
		{Method: "GET", Pattern: messagesPath + "/{message_id}", Handle: site.SignedIn(actor.Coach, p.message)},
	}
	for _, role := range approval.Parties {
		const family = "/players/{player_id}/messages"
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: "/me/" + string(role) + family, Handle: site.SignedIn(role, p.conversation)},
			web.Route{Method: "POST", Pattern: "/me/" + string(role) + family, Handle: site.SignedIn(role, p.writeReply)},
		)
	}
	return routes
}

// paged returns the items of one page at a path, and the address of the next page. The items were read
// with one more than perPage.
func paged[T any](list []T, path string, key func(T) string) ([]T, string) {
	if len(list) <= perPage {
		return list, ""
	}
	return list[:perPage], path + "?" + url.Values{"after": {key(list[perPage-1])}}.Encode()
}

// messages serves GET /coach/messages: the conversations with families and the messages to several, the newest line first.
func (p pages) messages(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	v := p.site.CoachView(r, "messages", "team_messages.title", by)
	list, err := p.listLines(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	v.Data = map[string]any{"Lines": list, "Done": v.TextOr("team_messages.done."+r.Value("done"), "")}
	return web.Page("team_messages", v), nil
}

// lineList is a page of the list of messages.
type lineList struct {
	Lines []Line
	Next  string
	// Batches has the names of the batches of the broadcasts, by id.
	Batches map[string]string
	// Current is the path of the open conversation.
	Current string
}

// Path returns the page of a line.
func (l Line) Path() string {
	if l.Broadcast != nil {
		return messagesPath + "/" + l.Broadcast.ID
	}
	party := string(l.Party)
	if l.GuardianID != "" {
		party = l.GuardianID
	}
	return conversationsPath + "/" + l.PlayerID + "/" + party
}

// listLines returns the page of the list of messages that the query names.
func (p pages) listLines(ctx context.Context, r *web.Request, by actor.Actor) (list lineList, err error) {
	var after LinesAfter
	if r.PathValue("party") == "" {
		after = LinesAfter{Conversation: conversationKey(r), Broadcast: web.IDOrNone(r.Value("message"))}
	}
	if list.Lines, err = p.Lines(ctx, by, after, perPage+1); err != nil {
		return list, err
	}
	if len(list.Lines) > perPage {
		list.Lines = list.Lines[:perPage]
		after = behind(list.Lines, after)
		query := url.Values{"message": {after.Broadcast}}
		if k := after.Conversation; k.ID != "" {
			query = url.Values{"message": {after.Broadcast}, "at": {strconv.FormatInt(k.At, 10)}, "after": {k.ID}, "party": {string(k.Party)}, "guardian": {k.GuardianID}}
		}
		list.Next = messagesPath + "?" + query.Encode()
	}
	names, err := store.BatchNames(ctx, p.DB, by.AccountID, maxBatchNames)
	list.Batches = map[string]string{}
	for _, b := range names {
		list.Batches[b.ID] = b.Name
	}
	return list, err
}

// maxBatchNames is the number of batches whose names the list knows.
const maxBatchNames = 100

// statusOf returns how far a message has come to a recipient.
func statusOf(v *web.View, s State) web.Status {
	text := v.MustT("team_message.state." + string(s))
	switch s {
	case Delivered, Read:
		return web.Status{Class: "yes", Symbol: "✓", Text: text}
	case Sent:
		return web.Status{Class: "wait", Symbol: "→", Text: text}
	case Queued:
		return web.Status{Class: "wait", Symbol: "○", Text: text}
	case Failed:
		return web.Status{Class: "no", Symbol: "!", Text: text}
	default:
		return web.Status{Symbol: "–", Text: text}
	}
}

// reasonText returns why a message did not reach a recipient, or waits, and "" without one.
func reasonText(v *web.View, reason string) string {
	return v.TextOr("team_message.reason."+reason, v.TextOr("delivery.reason."+reason, ""))
}

// message serves GET /coach/messages/{message_id}: a message and its recipients.
func (p pages) message(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("message_id")
	m, err := p.Message(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	after, _ := strconv.Atoi(r.Value("after")) // 0, the first, if it is not a number
	after = min(max(0, after), 2*MaxPlayers)   // the last position at most
	recipients, err := p.Recipients(ctx, by, id, after, perPage+1)
	if err != nil {
		return web.Response{}, err
	}
	counts, err := p.CountStates(ctx, by, m)
	if err != nil {
		return web.Response{}, err
	}
	ways, err := p.WaysOf(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "messages", "team_message.title", by)
	recipients, next := paged(recipients, messagesPath+"/"+id, func(r RecipientState) string { return strconv.Itoa(r.Position) })
	v.Data = map[string]any{
		"Message": m, "Ways": ways, "Recipients": recipients, "Counts": counts, "States": States, "Next": next, "Done": v.TextOr("team_messages.done."+r.Value("done"), ""),
		"Status": func(s State) web.Status { return statusOf(v, s) }, "Reason": func(reason string) string { return reasonText(v, reason) },
	}
	return web.Page("team_message", v), nil
}

// toMessages serves the addresses of the lists of conversations and of replies, which are one list.
func (p pages) toMessages(context.Context, *web.Request, actor.Actor) (web.Response, error) {
	return web.Redirect(messagesPath), nil
}

// readReplies serves POST /coach/messages/replies/read: it marks all replies as read.
func (p pages) readReplies(ctx context.Context, _ *web.Request, by actor.Actor) (web.Response, error) {
	if _, err := p.ReadReplies(ctx, by, nil); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(messagesPath), nil
}

// conversation serves GET /me/{role}/players/{player_id}/messages: what the coach and the
// caller wrote.
func (p pages) conversation(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.conversationPage(ctx, r, by, r.Restored(new(web.Form)))
}

func (p pages) conversationPage(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	return p.site.FamilyPage(ctx, r, by, "conversation", "team_communications", func(d web.Question) (map[string]any, error) {
		list, err := p.Conversation(ctx, by, d.ID, web.IDOrNone(r.Value("after")), perPage+1)
		list, next := paged(list, d.Path+"/messages", func(e Entry) string { return e.ID })
		return map[string]any{
			"Form": f, "Answer": d, "Days": byDay(p.site.NewView(r, ""), list, func(e Entry) time.Time { return e.CreatedAt }), "Next": next, "RequestID": p.NewID(), "Done": p.site.NewView(r, "").TextOr("conversation.done."+r.Value("done"), ""),
		}, err
	})
}

// writeReply serves POST …/messages.
func (p pages) writeReply(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	playerID := r.PathValue("player_id")
	path := "/me/" + string(by.Role) + "/players/" + playerID + "/messages"
	var faults wire.Faults
	var in replyRequest
	wire.Bind(map[string]any{"text": r.Value("text")}, &in, &faults)
	text := readText(in.Text, &faults)
	err := faults.Err()
	if err == nil {
		id := web.IDOrNone(r.Value(web.RequestField))
		if id == "" {
			id = p.NewID()
		}
		_, err = p.ReplyOnce(ctx, by, id, playerID, text)
	}
	f := &web.Form{Values: r.Form}
	switch {
	case err == nil:
		return web.Redirect(path + "?done=sent#end"), nil
	case fault.KindOf(err) == fault.Forbidden: // the approval has ended meanwhile
		return web.Redirect(path), nil
	case fault.CodeOf(err) == "message_limit":
		limit, _ := errors.AsType[*fault.Error](err)
		v := p.site.NewView(r, "failure.title")
		f.Add("text", v.MustT("conversation.limit", "Wait", v.Wait(limit.RetryAfter)))
		p.site.LimitedBy(r, f, err)
	case !p.site.AddFaults(r, f, err, nil):
		return web.Response{}, err
	}
	return p.conversationPage(ctx, r, by, f)
}
