package verification

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// console serves the pages of operators.
type console struct {
	*Service
	site *web.Console
}

// ConsolePages returns the pages of operators.
func (s *Service) ConsolePages(site *web.Console) []web.Route {
	c := console{s, site}
	const one = "/kyc/{coach_id}"
	return []web.Route{
		{Method: "GET", Pattern: "/kyc", Handle: site.Scope(operator.KYC, c.queue)},
		{Method: "GET", Pattern: one, Handle: site.Scope(operator.KYC, c.show)},
		{Method: "GET", Pattern: one + "/documents/{document_id}", Handle: site.Scope(operator.KYC, c.document)},
		{Method: "POST", Pattern: one, Handle: site.Scope(operator.KYC, c.save)},
		{Method: "GET", Pattern: "/names", Handle: site.Scope(operator.KYC, c.names)},
		{Method: "GET", Pattern: "/names/{coach_id}", Handle: site.Scope(operator.KYC, c.name)},
		{Method: "GET", Pattern: "/names/{coach_id}/pictures/{document_id}", Handle: site.Scope(operator.KYC, c.picture)},
		{Method: "POST", Pattern: "/names/{coach_id}", Handle: site.Scope(operator.KYC, c.decideName)},
	}
}

// queue serves GET /kyc: submissions that wait for a decision, oldest first.
func (c console) queue(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	var after Cursor
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		after = Cursor{At: at, ID: r.Value("after")}
	}
	queue, err := c.Queue(ctx, by, after, web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := c.site.NewView(r, "kyc", "operator.kyc.title")
	v.Data = map[string]any{"Queue": queue, "Last": web.LastOfFull(queue)}
	return web.Page("operator_kyc", v), nil
}

// show serves GET /kyc/{coach_id}: the newest submission with its documents.
func (c console) show(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	return c.page(ctx, r, by, new(web.Form))
}

func (c console) page(ctx context.Context, r *web.Request, by actor.Operator, f *web.Form) (web.Response, error) {
	id := r.PathValue("coach_id")
	newest, err := c.Newest(ctx, id)
	if err != nil {
		return web.Response{}, err
	}
	submission, err := c.Read(ctx, by, newest)
	if err != nil {
		return web.Response{}, err
	}
	documents, err := c.DocumentsOf(ctx, submission)
	if err != nil {
		return web.Response{}, err
	}
	v := c.site.NewView(r, "kyc", "operator.kyc.title")
	v.Form = f
	v.Path = "/kyc/" + id
	v.Data = map[string]any{"Submission": submission, "Documents": documents, "Open": submission.State == coach.Submitted}
	resp := web.FormPage("operator_kyc_case", v)
	resp.Frames = true
	return resp, nil
}

// document serves one document of a submission.
func (c console) document(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	content, err := c.OpenDocument(context.WithoutCancel(ctx), by, r.PathValue("coach_id"), r.PathValue("document_id")) // it is read after the handler
	if err != nil {
		return web.Response{}, err
	}
	file := content.Document.File
	shown := file.MediaType == picture.PDF || strings.HasPrefix(file.MediaType, "image/")
	return web.Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		defer content.Close()
		return httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: file.SHA256, Attachment: !shown, Framed: true, Content: content}.Serve(w, r)
	}}, nil
}

// save serves POST /kyc/{coach_id}: it approves or rejects the submission that the
// operator has read.
func (c console) save(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	id := r.PathValue("coach_id")
	submission := r.Value("submission")
	err := c.CheckNewest(ctx, id, submission)
	if err == nil {
		err = c.decideForm(ctx, r, by, submission)
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		f := &web.Form{Values: r.Form}
		if !c.site.Pages.AddFaults(r, f, err, nil) {
			c.site.Pages.AddError(r, f, "", err)
		}
		return c.page(ctx, r, by, f)
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/kyc"), nil
}

func (c console) decideForm(ctx context.Context, r *web.Request, by actor.Operator, submission string) error {
	if r.Value("action") == "approve" {
		_, err := c.Approve(ctx, by, submission)
		return err
	}
	var faults wire.Faults
	reason := wire.ParseRules("name,lines,min=1,max=500").Text(r.Value("reason"), "/reason", &faults)
	if err := faults.Err(); err != nil {
		return err
	}
	_, err := c.Reject(ctx, by, submission, reason)
	return err
}
