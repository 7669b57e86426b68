package notifications

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// messagesPerPage is what a phone shows in two screens.
const messagesPerPage = 12

// messages serves GET /me/{role}/messages: the caller's notifications, newest first.
func (p pages) messages(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	before, _ := strconv.ParseInt(r.Value("before"), 10, 64) // 0, the newest, if it is not a number
	list, err := p.Tray.List(ctx, by, false, max(0, before), messagesPerPage+1)
	if err != nil {
		return web.Response{}, err
	}
	unread, err := p.Tray.Unread(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	older := int64(0)
	if len(list) > messagesPerPage {
		list = list[:messagesPerPage]
		older = list[len(list)-1].Seq
	}
	players, err := p.playersOf(ctx, by, list)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.SignedInView(r, "messages.title", by)
	views := make([]messageView, len(list))
	for i, n := range list {
		views[i] = newMessageView(v, n, players[n.Data.PlayerID], by.Role)
	}
	v.Data = map[string]any{"Home": web.Home(by.Role), "Days": newsByDay(v, list, views, players), "Several": len(players) > 1, "Older": older, "Unread": unread}
	return web.Page("messages", v), nil
}

// playersOf returns the players that notifications are about and the caller may see, by ID.
func (p pages) playersOf(ctx context.Context, by actor.Actor, list []message.Notification) (map[string]*approval.Player, error) {
	var ids []string
	for _, n := range list {
		if n.Data.PlayerID != "" {
			ids = append(ids, n.Data.PlayerID)
		}
	}
	slices.Sort(ids)
	found, err := p.Approvals.PlayersByID(ctx, by, slices.Compact(ids))
	players := make(map[string]*approval.Player, len(found))
	for _, player := range found {
		players[player.ID] = player
	}
	return players, err
}

// messageView is a notification in the language of the page.
type messageView struct {
	Title, Body string
	At          time.Time
	Unread      bool
	// Player is the page of the player, or empty if the caller cannot open it.
	Player string
}

// teamPages are the pages of a player that notifications are about.
var teamPages = map[message.Type]string{message.TeamMessageType: "/messages", message.ProgressUpdate: "/progress", message.PerformanceReport: "/reports", message.TrainingAdded: "/schedule", message.TrainingChanged: "/schedule", message.TrainingCancelled: "/schedule", message.TrainingRestored: "/schedule", message.TrainingAsked: "/schedule"}

// newMessageView words a notification for a party.
func newMessageView(v *web.View, n message.Notification, player *approval.Player, role actor.Role) messageView {
	m := messageView{At: n.CreatedAt, Unread: n.ReadAt.IsZero()}
	m.Title, m.Body = textOf(v, n, player, role)
	if player != nil {
		m.Player = web.PlayerPath(role, player.ID) + teamPages[n.Type]
		if n.Type == message.FeeReminder && n.Data.FeeID != "" {
			m.Player += "/fees/" + n.Data.FeeID
		}
	}
	return m
}

// textOf returns the title and body of a notification for the role to: in the language of the page with the names of
// today. The stored text is in the language that its reader had at that time. It is used if it is in the language of the
// page and has names that the page does not know.
func textOf(v *web.View, n message.Notification, player *approval.Player, to actor.Role) (title, body string) {
	names, complete := namesOf(n, player, to)
	if complete || n.Data.Words.Language != v.Language {
		title, body = n.In(v.Language, to, names, v.Brand)
	}
	if title == "" {
		return n.Title, n.Body
	}
	return title, body
}

// namesOf returns the names of today for a notification, and whether they are all that its text may have.
func namesOf(n message.Notification, player *approval.Player, to actor.Role) (names message.Names, complete bool) {
	if player == nil {
		return names, false
	}
	names.Coach, complete = player.CoachName, true
	// The notification of a student's own answer does not name the student.
	if to == actor.Student || namedThen(n, player.Student.FullName) {
		names.Student = player.Student.FullName
	} else {
		complete = false
	}
	switch g := player.Find(actor.Guardian, n.Data.Words.GuardianID); {
	case g != nil && g.Name != "" && namedThen(n, g.Name):
		names.Guardian = g.Name
	case to == actor.Coach && slices.Contains(answerTypes[:3], n.Type):
		complete = false
	}
	return names, complete
}

// answerTypes are the notifications of an answer, first the guardian's to the coach. The person who gave it, or whom it
// is about, may have another name in the player now: the coach has corrected it, or entered another person.
var answerTypes = []message.Type{
	message.GuardianApproved, message.GuardianRejected, message.GuardianRevoked, message.GuardianApprovalConfirmed, message.GuardianRejectConfirmed,
	message.StudentApproved, message.StudentRejected, message.StudentRevoked,
}

// namedThen reports whether a notification may be worded with a name of today: a notification of an answer
// only if its stored text has the name too.
func namedThen(n message.Notification, name string) bool {
	return !slices.Contains(answerTypes, n.Type) || strings.Contains(n.Body, message.Name(name, ""))
}

// readMessages serves POST /me/{role}/messages/read: it marks all messages as read.
func (p pages) readMessages(ctx context.Context, _ *web.Request, by actor.Actor) (web.Response, error) {
	if _, err := p.Tray.MarkAllRead(ctx, by); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.Home(by.Role) + "/messages"), nil
}
