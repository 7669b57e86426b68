package api

import (
	"context"

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
func (s *Server) listNotifications(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	query := r.Query
	p := s.Page(r.Meta, &f)
	unread := query.Get("unread")
	if query.Has("unread") && unread != "true" && unread != "false" {
		f.Add("/unread", "invalid_value", "This must be true or false.")
	}
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	list, err := s.Tray.List(ctx, r.Caller.Actor, unread == "true", p.After.Seq, p.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(p, list, newNotificationResponse, func(n message.Notification) Keyset { return Keyset{Seq: n.Seq} }), nil
}

// MarkReadRequest names items of a list that the caller has read.
type MarkReadRequest struct {
	IDs []string `json:"ids" rule:"min=1,max=200,id"`
	All *bool    `json:"all"`
}

// Check adds a fault unless in names ids or all.
func (in MarkReadRequest) Check(f *wire.Faults) {
	switch {
	case in.All != nil && !*in.All:
		f.Add("/all", "invalid_value", "This can only be true; leave it out to name ids.")
	case len(*f) == 0 && (in.All != nil) == (in.IDs != nil):
		f.Add("", "invalid_value", "Send either ids or all.")
	}
}

// UnreadResponse is how many items are unread.
type UnreadResponse struct {
	Unread int `json:"unread"`
}

// markRead serves POST /api/notifications/read.
func (s *Server) markRead(ctx context.Context, r Request[MarkReadRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	in.Check(&f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	var unread int
	var err error
	if in.All != nil {
		unread, err = s.Tray.MarkAllRead(ctx, r.Caller.Actor)
	} else {
		unread, err = s.Tray.MarkRead(ctx, r.Caller.Actor, in.IDs)
	}
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(UnreadResponse{unread}), nil
}
