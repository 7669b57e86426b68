package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/notify"
)

type notificationResponse struct {
	ID        string      `json:"id"`
	Type      string      `json:"type"`
	Title     string      `json:"title"`
	Body      string      `json:"body"`
	Data      notify.Data `json:"data"`
	CreatedAt string      `json:"created_at"`
	ReadAt    *string     `json:"read_at"`
}

func newNotificationResponse(n notify.Notification) notificationResponse {
	return notificationResponse{
		ID: n.ID, Type: string(n.Type), Title: n.Title, Body: n.Body, Data: n.Data,
		CreatedAt: timestamp(n.CreatedAt), ReadAt: timestampOrNull(n.ReadAt),
	}
}

// listNotifications serves GET /api/notifications, newest first.
func (s *Server) listNotifications(w http.ResponseWriter, r *http.Request) error {
	var f faults
	query := r.URL.Query()
	p := s.page(r, query, &f)
	unread := query.Get("unread")
	if query.Has("unread") && unread != "true" && unread != "false" {
		f.add("/unread", "invalid_value", "This must be true or false.")
	}
	if err := f.err(); err != nil {
		return err
	}
	notes, err := s.tray.List(r.Context(), caller(r), unread == "true", p.after.Seq, p.more())
	if err != nil {
		return err
	}
	return answerPage(w, p, notes, newNotificationResponse, func(n notify.Notification) keyset { return keyset{Seq: n.Seq} })
}

type markReadRequest struct {
	IDs []string `json:"ids" rule:"min=1,max=200,id"`
	All *bool    `json:"all"`
}

type unreadResponse struct {
	Unread int `json:"unread"`
}

// markRead serves POST /api/notifications/read.
func (s *Server) markRead(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[markReadRequest](r)
	switch {
	case in.All != nil && !*in.All:
		f.add("/all", "invalid_value", "This can only be true; leave it out to name ids.")
	case len(f) == 0 && (in.All != nil) == (in.IDs != nil):
		f.add("", "invalid_value", "Send either ids or all.")
	}
	if err := f.err(); err != nil {
		return err
	}
	var unread int
	var err error
	if in.All != nil {
		unread, err = s.tray.MarkAllRead(r.Context(), caller(r))
	} else {
		unread, err = s.tray.MarkRead(r.Context(), caller(r), in.IDs)
	}
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, unreadResponse{unread})
}
