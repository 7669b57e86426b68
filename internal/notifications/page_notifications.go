package notifications

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

const (
	notificationsPath = "/coach/notifications"
	// notificationsPerPage is the number of notifications on one page.
	notificationsPerPage = 15
)

// notificationView is a notification in the list, in the language of the page.
type notificationView struct {
	message.Notification
	Title, Body string
	// About is the path of the page that the notification is about, or "".
	About string
}

// notifications serves GET /coach/notifications: the caller's notifications, newest first.
func (p pages) notifications(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	list, err := p.Tray.List(ctx, by, false, notificationsBefore(r), notificationsPerPage+1)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "notifications", "notifications.title", by)
	older := int64(0)
	if len(list) > notificationsPerPage {
		list = list[:notificationsPerPage]
		older = list[len(list)-1].Seq
	}
	players, err := p.playersOf(ctx, by, list)
	if err != nil {
		return web.Response{}, err
	}
	views := make([]notificationView, len(list))
	for i, n := range list {
		views[i] = newNotificationView(v, n, players[n.Data.PlayerID])
	}
	v.Data = map[string]any{"Days": newsByDay(v, list, views, players), "Older": older, "Before": notificationsBefore(r)}
	return web.Page("notifications", v), nil
}

// newsDay are the notifications of a day, and newsGroup those of them about one player.
type newsDay[T any] struct {
	Day    string
	Groups []newsGroup[T]
}

type newsGroup[T any] struct {
	// PlayerID and Name are the player's; empty if the notifications are about no player that the caller may see.
	PlayerID, Name string
	Items          []T
}

// newsByDay groups the views of notifications, which are newest first, by day and player.
func newsByDay[T any](v *web.View, list []message.Notification, views []T, players map[string]*approval.Player) []newsDay[T] {
	var days []newsDay[T]
	for i, n := range list {
		day := v.DayOf(n.CreatedAt)
		if len(days) == 0 || days[len(days)-1].Day != day {
			days = append(days, newsDay[T]{Day: day})
		}
		groups := &days[len(days)-1].Groups
		group := newsGroup[T]{}
		if player := players[n.Data.PlayerID]; player != nil {
			group.PlayerID, group.Name = player.ID, player.Student.FullName
		}
		at := slices.IndexFunc(*groups, func(g newsGroup[T]) bool { return g.PlayerID == group.PlayerID })
		if at < 0 {
			at = len(*groups)
			*groups = append(*groups, group)
		}
		(*groups)[at].Items = append((*groups)[at].Items, views[i])
	}
	return days
}

// Counts reports whether the notification counts as unread news. A reply counts as a message.
func (n notificationView) Counts() bool { return n.ReadAt.IsZero() && n.Type != message.TeamReplyType }

// newNotificationView words a notification for a coach.
func newNotificationView(v *web.View, n message.Notification, player *approval.Player) notificationView {
	view := notificationView{Notification: n}
	view.Title, view.Body = textOf(v, n, player, actor.Coach)
	view.About = aboutNotification(n)
	return view
}

// notificationsBefore returns the position in the list; 0 is the newest.
func notificationsBefore(r *web.Request) int64 {
	before, err := strconv.ParseInt(r.Value("before"), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, before)
}

// aboutNotification returns the page that a notification is about, or "".
func aboutNotification(n message.Notification) string {
	switch {
	case n.Type == message.SecurityNotice:
		return "/coach/settings#devices"
	case n.Type == message.TierApproved || n.Type == message.TierRefused:
		return "/coach/settings/plan"
	case n.Type == message.KYCVerified || n.Type == message.KYCRejected || n.Type == message.NameConfirmed || n.Type == message.NameRefused:
		return "/coach/verification"
	case n.Type == message.TeamReplyType && n.Data.Words.Party != "":
		return "/coach/conversations/" + n.Data.PlayerID + "/" + string(n.Data.Words.Party) + "#end"
	case n.Type == message.TeamReplyType:
		return "/coach/messages"
	case n.Type == message.FeeTold:
		return "/coach/fees/" + n.Data.FeeID
	case n.Data.PlayerID != "":
		return web.CoachPlayer(n.Data.PlayerID)
	case n.Data.DocumentID != "":
		return "/coach/documents/" + n.Data.DocumentID
	case n.Type == message.PendingReminder || n.Type == message.UnansweredEnding:
		return "/coach/players"
	}
	return ""
}

// readNotifications serves POST /coach/notifications/read: it marks one or all as read.
func (p pages) readNotifications(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	var err error
	switch id := r.Value("id"); {
	case r.Value("all") == "yes":
		_, err = p.Tray.MarkAllRead(ctx, by)
	case endpoint.IsID(id):
		_, err = p.Tray.MarkRead(ctx, by, []string{id})
	default:
		err = fault.Missing()
	}
	if err != nil {
		return web.Response{}, err
	}
	back := notificationsPath
	if before := notificationsBefore(r); before > 0 {
		back += "?" + url.Values{"before": {strconv.FormatInt(before, 10)}}.Encode()
	}
	return web.Redirect(back), nil
}
