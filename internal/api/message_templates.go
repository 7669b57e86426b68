package api

import (
	"context"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// templateResponse is the MessageTemplate of openapi.yaml.
type templateResponse struct {
	TemplateID string `json:"template_id"`
	Title      string `json:"title"`
	Text       string `json:"text"`
	CreatedAt  string `json:"created_at"`
}

func newTemplateResponse(t team.Template) templateResponse {
	return templateResponse{TemplateID: t.ID, Title: t.Title, Text: t.Text, CreatedAt: wire.Timestamp(t.CreatedAt)}
}

// addTemplate serves POST /api/messages/templates.
func (s *Server) addTemplate(ctx context.Context, r Request[input.Template]) (Response, error) {
	in, f := r.Body, r.Faults
	title, text := in.Read(&f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	t, err := s.Messages.AddTemplate(ctx, r.Caller.Actor, title, text)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/messages/templates/"+t.ID, newTemplateResponse(*t)), nil
}

// rebuildTemplate returns the response of addTemplate again.
func (s *Server) rebuildTemplate(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	t, err := s.Messages.Template(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/messages/templates/"+t.ID, newTemplateResponse(t)), nil
}

// listTemplates serves GET /api/messages/templates, newest first.
func (s *Server) listTemplates(ctx context.Context, r Request[NoBody]) (Response, error) {
	page, err := s.teamPage(r.Meta, r.Faults)
	if err != nil {
		return Response{}, err
	}
	list, err := s.Messages.Templates(ctx, r.Caller.Actor, page.team())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page.page, list, newTemplateResponse, func(t team.Template) Keyset { return Keyset{ID: t.ID} }), nil
}

// deleteTemplate serves DELETE /api/messages/templates/{template_id}.
func (s *Server) deleteTemplate(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	if err := s.Messages.DeleteTemplate(ctx, r.Caller.Actor, id); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}
