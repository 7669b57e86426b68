package web

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
	"github.com/touchline/touchline/internal/platform/wire"
)

// listPage is the length of one page of a list on the operators' pages.
const listPage = 50

// lastOfFull returns the last entry of a full page, after which the next page begins, or nil.
func lastOfFull[T any](list []T) *T {
	if len(list) < listPage {
		return nil
	}
	return &list[len(list)-1]
}

// kycQueue serves GET /kyc: submissions that wait for a decision, oldest first.
func (c *Console) kycQueue(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	var after coach.KYCCursor
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		after = coach.KYCCursor{At: at, ID: r.Value("after")}
	}
	queue, err := c.Verifications.Queue(ctx, by, after, listPage)
	if err != nil {
		return Response{}, err
	}
	v := c.NewView(r, "kyc", "operator.kyc.title")
	v.Data = map[string]any{"Queue": queue, "Last": lastOfFull(queue)}
	return Page("operator_kyc", v), nil
}

// kycCase serves GET /kyc/{coach_id}: the newest submission with its documents.
func (c *Console) kycCase(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	return c.kycPage(ctx, r, by, new(Form))
}

func (c *Console) kycPage(ctx context.Context, r *Request, by actor.Operator, f *Form) (Response, error) {
	id, err := r.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	newest, err := c.Verifications.Newest(ctx, id)
	if err != nil {
		return Response{}, err
	}
	submission, err := c.Verifications.Read(ctx, by, newest)
	if err != nil {
		return Response{}, err
	}
	documents, err := c.Verifications.Documents(ctx, submission)
	if err != nil {
		return Response{}, err
	}
	v := c.NewView(r, "kyc", "operator.kyc.title")
	v.Form = f
	v.Path = "/kyc/" + id
	v.Data = map[string]any{"Submission": submission, "Documents": documents, "Open": submission.State == coach.Submitted}
	resp := FormPage("operator_kyc_case", v)
	resp.Frames = true
	return resp, nil
}

// kycDocument serves one document of a submission. The audit log records the read before
// the first byte is sent.
func (c *Console) kycDocument(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	id, err := r.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	documentID, err := r.PathID("document_id")
	if err != nil {
		return Response{}, err
	}
	content, err := c.Documents.OpenForOperator(context.WithoutCancel(ctx), documentID) // it is read after the handler
	if err != nil {
		return Response{}, err
	}
	err = fault.Missing()
	if content.Document.CoachID == id {
		err = c.Tokens.Record(ctx, by, operator.DocumentRead, "document", documentID, "of coach "+id)
	}
	if err != nil {
		_ = content.Close()
		return Response{}, err
	}
	file := content.Document.File
	shown := file.MediaType == coach.PDF || strings.HasPrefix(file.MediaType, "image/")
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		defer content.Close()
		return httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: file.SHA256, Attachment: !shown, Framed: true, Content: content}.Serve(w, r)
	}}, nil
}

// decideKYC serves POST /kyc/{coach_id}: it approves or rejects the submission that the
// operator has read.
func (c *Console) decideKYC(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	id, err := r.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	submission := r.Value("submission")
	err = c.Verifications.CheckNewest(ctx, id, submission)
	if err == nil {
		err = c.decide(ctx, r, by, submission)
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		f := &Form{Values: r.Form}
		if !c.pages.AddFaults(r, f, err, nil) {
			c.pages.AddError(r, f, "", err)
		}
		return c.kycPage(ctx, r, by, f)
	}
	if err != nil {
		return Response{}, err
	}
	return Redirect("/kyc"), nil
}

func (c *Console) decide(ctx context.Context, r *Request, by actor.Operator, submission string) error {
	if r.Value("action") == "approve" {
		_, err := c.Verifications.Approve(ctx, by, submission)
		return err
	}
	var faults wire.Faults
	reason := wire.ParseRules("name,lines,min=1,max=500").Text(r.Value("reason"), "/reason", &faults)
	if err := faults.Err(); err != nil {
		return err
	}
	_, err := c.Verifications.Reject(ctx, by, submission, reason)
	return err
}
