package conversation

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

const conversationsPath = "/coach/conversations"

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
// channels, the oldest first, and the form of the next message. again=… names a message that the form has again.
func (p pages) coachConversation(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	f := r.Restored(new(web.Form))
	if id := web.IDOrNone(r.Value("again")); id != "" && f.Value("text") == "" {
		m, err := p.Message(ctx, by, id)
		if err != nil && !fault.IsMissing(err) {
			return web.Response{}, err
		}
		f.Values = url.Values{"text": {m.Text}, "channels": {string(SMS)}}
	}
	return p.coachConversationPage(ctx, r, by, f)
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
	lines, err := p.listLines(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	lines.Current = Line{Summary: with}.Path()
	v := p.site.CoachView(r, "messages", "conversations.one.title", by)
	v.TitleName = cmp.Or(with.Name, with.StudentName)
	if f.Value("channels") == "" {
		f.Values = url.Values{"channels": {string(answerBy)}, "text": {f.Value("text")}}
	}
	v.Form, v.Path = f, path
	v.Data = map[string]any{
		"With": with, "Lines": lines, "Days": byDay(v, list, func(i Item) time.Time { return i.CreatedAt }), "Next": next, "RequestID": p.NewID(), "Channels": p.channels(),
		"Done": v.TextOr("team_messages.done."+r.Value("done"), ""), "State": func(i Item) lineState { return stateOf(v, i, with, path) },
	}
	return web.FormPage("coach_conversation", v), nil
}

// dayOf are the entries of a conversation on one day.
type dayOf[T any] struct {
	Day   string
	Items []T
}

// byDay groups entries that are newest first by day, the oldest first.
func byDay[T any](v *web.View, list []T, at func(T) time.Time) []dayOf[T] {
	list = slices.Clone(list)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b T) int { return at(a).Compare(at(b)) })
	var days []dayOf[T]
	for _, i := range list {
		day := v.DayOf(at(i))
		if len(days) == 0 || days[len(days)-1].Day != day {
			days = append(days, dayOf[T]{Day: day})
		}
		last := &days[len(days)-1]
		last.Items = append(last.Items, i)
	}
	return days
}

// lineState is how far a message of the coach has come, in one line, and what the coach can do if it did not arrive.
type lineState struct {
	web.Status
	Channel string
	// Reason is why it did not arrive, and Path leads to what Step says. All are empty if it did.
	Reason, Step, Path string
}

// stateOf returns the state of the best channel of a message to a party. path is the page of the conversation.
func stateOf(v *web.View, i Item, with Summary, path string) lineState {
	best := RecipientState{Channels: i.Channels}.Best()
	s := lineState{Status: statusOf(v, best.Shown()), Channel: v.MustT("message_channel." + string(best.Channel))}
	switch best.State {
	case Delivered:
		s.Symbol = "✓✓"
		return s
	case Sent:
		s.Status = web.Status{Symbol: "✓", Text: s.Text}
		return s
	case Queued:
		s.Reason = reasonText(v, best.Reason)
		return s
	}
	s.Status = web.Status{Class: "no", Symbol: "!", Text: v.MustT("team_message.state.failed")}
	s.Reason = reasonText(v, best.Reason)
	player := web.CoachPlayer(with.PlayerID)
	switch Reason(best.Reason) {
	case ReasonNoNumber, ReasonDisputed, ReasonNumberNotAllowed, "contact_changed", "invalid_number", "unknown_number":
		s.Step, s.Path = v.MustT("conversations.step.number"), player+"/edit"
	case ReasonStopped, ReasonWeeklyLimit, ReasonNoGuardian, ReasonPlayerRemoved, ReasonSuspended, ReasonSameNumber:
		s.Step, s.Path = v.MustT("conversations.step.player"), player
	default:
		s.Step, s.Path = v.MustT("conversations.step.again"), path+"?again="+i.ID+"#text"
	}
	return s
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
	if err := p.Coaches.Complete(ctx, by); err != nil {
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
		return web.Redirect(conversationsPath + "/" + playerID + "/" + r.PathValue("party") + "?done=sent#end"), nil
	case code == "message_limit" || code == "tier_limit":
		p.site.AddError(r, f, "", err)
	case !p.site.AddFaults(r, f, err, fields):
		return web.Response{}, err
	}
	return p.coachConversationPage(ctx, r, by, f)
}
