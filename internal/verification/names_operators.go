package verification

import (
	"context"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// nameResponse is a name or a picture that waits, in the queue.
type nameResponse struct {
	CoachID       string  `json:"coach_id"`
	Name          *string `json:"name"`
	NamePending   *string `json:"name_pending"`
	TakesEffectAt *string `json:"takes_effect_at"`
	ConfirmedName *string `json:"confirmed_name"`
}

func newNameResponse(n NameCheck) nameResponse {
	return nameResponse{
		CoachID: n.CoachID, Name: wire.OrNull(n.Name), NamePending: wire.OrNull(n.Pending), TakesEffectAt: wire.TimestampOrNull(n.TakesEffectAt),
		ConfirmedName: wire.OrNull(n.ConfirmedName),
	}
}

// listNames serves GET /api/admin/names, oldest first. The audit log records the read.
func (h operators) listNames(ctx context.Context, r admin.Request[admin.NoBody]) (admin.Response, error) {
	f := r.Faults
	page := h.admin.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	found, err := h.Names(ctx, r.Caller.Operator(), Cursor{At: page.After.Time(), ID: page.After.ID}, page.ReadLimit())
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.PageResponse(page, found, newNameResponse, func(n NameCheck) admin.Keyset { return admin.KeysetAt(n.At, n.CoachID) }), nil
}

// comparedResponse is what an operator compares.
type comparedResponse struct {
	nameResponse
	LegalName        *string          `json:"legal_name"`
	Unmarked         []string         `json:"unmarked"`
	ProfilePicture   *pictureResponse `json:"profile_picture"`
	ConfirmedPicture *pictureResponse `json:"confirmed_picture"`
}

type pictureResponse struct {
	DocumentID string `json:"document_id"`
	SHA256     string `json:"sha256"`
	ContentURL string `json:"content_url"`
}

// getName serves GET /api/admin/names/{coach_id}. The audit log records the read.
func (h operators) getName(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	n, err := h.ReadName(ctx, r.Caller.Operator(), id)
	if err != nil {
		return admin.Response{}, err
	}
	out := comparedResponse{nameResponse: newNameResponse(n), LegalName: wire.OrNull(n.LegalName), Unmarked: append([]string{}, n.Unmarked...)}
	if n.Picture != nil {
		out.ProfilePicture = newPictureResponse(id, n.Picture)
	}
	if n.ConfirmedPicture != nil {
		out.ConfirmedPicture = newPictureResponse(id, n.ConfirmedPicture)
	}
	return endpoint.OK(out), nil
}

func newPictureResponse(coachID string, d *coach.Document) *pictureResponse {
	return &pictureResponse{d.ID, d.File.SHA256, "/api/admin/names/" + coachID + "/pictures/" + d.ID + "/content"}
}

// picture serves GET .../pictures/{document_id}/content.
func (h operators) picture(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	documentID, err := r.PathID("document_id")
	if err != nil {
		return admin.Response{}, err
	}
	content, err := h.OpenPicture(ctx, r.Caller.Operator(), id, documentID)
	if err != nil {
		return admin.Response{}, err
	}
	if err := r.Faults.Err(); err != nil {
		_ = content.Close() // it was not read
		return admin.Response{}, err
	}
	return admin.Response{Write: func(w http.ResponseWriter, r *http.Request) error { return serve(w, r, content, true) }}, nil
}

func serve(w http.ResponseWriter, r *http.Request, content *document.Content, attachment bool) error {
	defer content.Close()
	file := content.Document.File
	return httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: file.SHA256, Attachment: attachment, Content: content}.Serve(w, r)
}

type confirmNameRequest struct {
	Name    string           `json:"name" rule:"required,min=1,max=100"`
	Picture wire.Opt[string] `json:"sha256" rule:"max=64"`
}

// confirmName serves POST /api/admin/names/{coach_id}/confirm.
func (h operators) confirmName(ctx context.Context, r admin.Request[confirmNameRequest], id string) (admin.Response, error) {
	if err := r.Faults.Err(); err != nil {
		return admin.Response{}, err
	}
	if err := h.ConfirmName(ctx, r.Caller.Operator(), id, SeenName{r.Body.Name, r.Body.Picture.Value}); err != nil {
		return admin.Response{}, err
	}
	return h.getName(ctx, admin.Request[admin.NoBody]{Meta: r.Meta}, id)
}

type refuseNameRequest struct {
	Name   string `json:"name" rule:"required,min=1,max=100"`
	Reason string `json:"reason" rule:"required,name,lines,min=1,max=500"`
}

// refuseName serves POST /api/admin/names/{coach_id}/refuse.
func (h operators) refuseName(ctx context.Context, r admin.Request[refuseNameRequest], id string) (admin.Response, error) {
	if err := r.Faults.Err(); err != nil {
		return admin.Response{}, err
	}
	if err := h.RefuseName(ctx, r.Caller.Operator(), id, r.Body.Name, r.Body.Reason); err != nil {
		return admin.Response{}, err
	}
	return h.getName(ctx, admin.Request[admin.NoBody]{Meta: r.Meta}, id)
}

// names serves GET /names: the names and pictures that wait for an operator, oldest first.
func (c console) names(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	var after Cursor
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		after = Cursor{At: at, ID: r.Value("after")}
	}
	queue, err := c.Names(ctx, by, after, web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := c.site.NewView(r, "kyc", "operator.names.title")
	v.Data = map[string]any{"Queue": queue, "Last": web.LastOfFull(queue)}
	return web.Page("operator_names", v), nil
}

// name serves GET /names/{coach_id}.
func (c console) name(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	return c.namePage(ctx, r, by, new(web.Form))
}

func (c console) namePage(ctx context.Context, r *web.Request, by actor.Operator, f *web.Form) (web.Response, error) {
	n, err := c.ReadName(ctx, by, r.PathValue("coach_id"))
	if err != nil {
		return web.Response{}, err
	}
	v := c.site.NewView(r, "kyc", "operator.names.title")
	v.Form, v.Path = f, "/names/"+n.CoachID
	v.Data = map[string]any{"Name": n, "Open": n.Pending != "" || len(n.Unmarked) > 0}
	return web.FormPage("operator_name", v), nil
}

// picture serves a picture of a coach whose name waits.
func (c console) picture(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	content, err := c.OpenPicture(context.WithoutCancel(ctx), by, r.PathValue("coach_id"), r.PathValue("document_id")) // it is read after the handler
	if err != nil {
		return web.Response{}, err
	}
	return web.Response{Write: func(w http.ResponseWriter, r *http.Request) error { return serve(w, r, content, false) }}, nil
}

// decideName serves POST /names/{coach_id}: it confirms or refuses what the operator has seen.
func (c console) decideName(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	id := r.PathValue("coach_id")
	var err error
	if r.Value("action") == "confirm" {
		err = c.ConfirmName(ctx, by, id, SeenName{r.Value("name"), r.Value("picture")})
	} else {
		var faults wire.Faults
		reason := wire.ParseRules("name,lines,min=1,max=500").Text(r.Value("reason"), "/reason", &faults)
		if err = faults.Err(); err == nil {
			err = c.RefuseName(ctx, by, id, r.Value("name"), reason)
		}
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		f := &web.Form{Values: r.Form}
		if !c.site.Pages.AddFaults(r, f, err, nil) {
			c.site.Pages.AddError(r, f, "", err)
		}
		return c.namePage(ctx, r, by, f)
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/names"), nil
}
