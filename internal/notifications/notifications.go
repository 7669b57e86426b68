package notifications

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type notificationResponse struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Body      string       `json:"body"`
	Data      message.Data `json:"data"`
	CreatedAt string       `json:"created_at"`
	ReadAt    *string      `json:"read_at"`
}

func newNotificationResponse(n message.Notification) notificationResponse {
	n.Data.Words = message.Words{} // they are for the texts alone
	return notificationResponse{
		ID: n.ID, Type: string(n.Type), Title: n.Title, Body: n.Body, Data: n.Data,
		CreatedAt: wire.Timestamp(n.CreatedAt), ReadAt: wire.TimestampOrNull(n.ReadAt),
	}
}

// listNotifications serves GET /api/notifications, newest first.
func (h handlers) listNotifications(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	query := r.Query
	p := h.api.Page(r.Meta, &f)
	unread := query.Get("unread")
	if query.Has("unread") && unread != "true" && unread != "false" {
		f.Add("/unread", "invalid_value", "This must be true or false.")
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	list, err := h.Tray.List(ctx, r.Caller.Actor, unread == "true", p.After.Seq, p.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(p, list, newNotificationResponse, func(n message.Notification) api.Keyset { return api.Keyset{Seq: n.Seq} }), nil
}

// markRead serves POST /api/notifications/read.
func (h handlers) markRead(ctx context.Context, r api.Request[api.MarkReadRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	in.Check(&f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	var unread int
	var err error
	if in.All != nil {
		unread, err = h.Tray.MarkAllRead(ctx, r.Caller.Actor)
	} else {
		unread, err = h.Tray.MarkRead(ctx, r.Caller.Actor, in.IDs)
	}
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(api.UnreadResponse{Unread: unread}), nil
}
