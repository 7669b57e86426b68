package verification

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/wire"
)

// operators serves verifications as JSON to operators.
type operators struct {
	*Service
	admin *admin.Server
}

// OperatorOperations returns the operations of operators.
func (s *Service) OperatorOperations(a *admin.Server) []admin.Route {
	h, scope := operators{s, a}, a.Scope(operator.KYC)
	const one = "/api/admin/kyc/{coach_id}"
	return []admin.Route{
		{Method: "GET", Pattern: "/api/admin/kyc", Handle: endpoint.Handle(h.list), Authorize: scope, Query: endpoint.Paged()},
		{Method: "GET", Pattern: one, Handle: endpoint.HandleID("coach_id", h.get), Authorize: scope},
		{Method: "GET", Pattern: one + "/documents/{document_id}/content", Handle: endpoint.HandleID("coach_id", h.document), Authorize: scope, Produces: endpoint.AnyMedia, Timeout: httpx.FileTimeout},
		{Method: "POST", Pattern: one + "/approve", Handle: endpoint.Handle(h.approve), Authorize: scope, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/admin/names", Handle: endpoint.Handle(h.listNames), Authorize: scope, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/admin/names/{coach_id}", Handle: endpoint.HandleID("coach_id", h.getName), Authorize: scope},
		{Method: "GET", Pattern: "/api/admin/names/{coach_id}/pictures/{document_id}/content", Handle: endpoint.HandleID("coach_id", h.picture), Authorize: scope, Produces: endpoint.AnyMedia, Timeout: httpx.FileTimeout},
		{Method: "POST", Pattern: "/api/admin/names/{coach_id}/confirm", Handle: endpoint.HandleID("coach_id", h.confirmName), Authorize: scope, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/admin/names/{coach_id}/refuse", Handle: endpoint.HandleID("coach_id", h.refuseName), Authorize: scope, Body: endpoint.JSON},
		{Method: "POST", Pattern: one + "/reject", Handle: endpoint.Handle(h.reject), Authorize: scope, Body: endpoint.JSON},
	}
}

// queuedResponse is a submission in the queue, without the legal name.
type queuedResponse struct {
	SubmissionID string  `json:"submission_id"`
	CoachID      string  `json:"coach_id"`
	CoachName    *string `json:"coach_name"`
	State        string  `json:"state"`
	SubmittedAt  string  `json:"submitted_at"`
	DecidedAt    *string `json:"decided_at"`
	Reason       *string `json:"reason"`
}

func newQueuedResponse(s Submission) queuedResponse {
	return queuedResponse{
		SubmissionID: s.ID, CoachID: s.CoachID, CoachName: wire.OrNull(s.CoachName), State: string(s.State),
		SubmittedAt: wire.Timestamp(s.SubmittedAt), DecidedAt: wire.TimestampOrNull(s.DecidedAt), Reason: wire.OrNull(s.Reason),
	}
}

// list serves GET /api/admin/kyc: the submissions that wait for a decision, oldest first. The audit
// log records the read.
func (h operators) list(ctx context.Context, r admin.Request[admin.NoBody]) (admin.Response, error) {
	f := r.Faults
	page := h.admin.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	queue, err := h.Queue(ctx, r.Caller.Operator(), Cursor{At: page.After.Time(), ID: page.After.ID}, page.ReadLimit())
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.PageResponse(page, queue, newQueuedResponse, func(s Submission) admin.Keyset {
		return admin.KeysetAt(s.SubmittedAt, s.ID)
	}), nil
}

// submissionResponse is a submission with the data that an operator compares.
type submissionResponse struct {
	queuedResponse
	MobileNumber string             `json:"mobile_number"`
	LegalName    string             `json:"legal_name"`
	Documents    []documentResponse `json:"documents"`
}

type documentResponse struct {
	DocumentID string  `json:"document_id"`
	Title      string  `json:"title"`
	FileName   string  `json:"file_name"`
	MediaType  string  `json:"media_type"`
	Size       int64   `json:"size"`
	Issuer     *string `json:"issuer"`
	ExpiresOn  *string `json:"expires_on"`
	ContentURL string  `json:"content_url"`
}

// get serves GET /api/admin/kyc/{coach_id}: the newest submission. The audit log records the read.
func (h operators) get(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	newest, err := h.Newest(ctx, id)
	if err != nil {
		return admin.Response{}, err
	}
	s, err := h.Read(ctx, r.Caller.Operator(), newest)
	if err != nil {
		return admin.Response{}, err
	}
	documents, err := h.DocumentsOf(ctx, s)
	if err != nil {
		return admin.Response{}, err
	}
	out := submissionResponse{queuedResponse: newQueuedResponse(s), MobileNumber: string(s.Number), LegalName: s.LegalName, Documents: []documentResponse{}}
	for _, d := range documents {
		out.Documents = append(out.Documents, documentResponse{
			DocumentID: d.ID, Title: d.Title, FileName: d.File.Name, MediaType: d.File.MediaType, Size: d.File.Size,
			Issuer: wire.OrNull(d.Issuer), ExpiresOn: wire.OrNull(string(d.ExpiresOn)),
			ContentURL: "/api/admin/kyc/" + id + "/documents/" + d.ID + "/content",
		})
	}
	return endpoint.OK(out), nil
}

// document serves GET .../documents/{document_id}/content.
func (h operators) document(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	documentID, err := r.PathID("document_id")
	if err != nil {
		return admin.Response{}, err
	}
	content, err := h.OpenDocument(ctx, r.Caller.Operator(), id, documentID)
	if err != nil {
		return admin.Response{}, err
	}
	if err := r.Faults.Err(); err != nil {
		_ = content.Close() // it was not read
		return admin.Response{}, err
	}
	return admin.Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		defer content.Close()
		file := content.Document.File
		return httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: file.SHA256, Attachment: true, Content: content}.Serve(w, r)
	}}, nil
}

type approveRequest struct {
	SubmissionID string `json:"submission_id" rule:"required,id"`
}

type rejectRequest struct {
	SubmissionID string `json:"submission_id" rule:"required,id"`
	Reason       string `json:"reason" rule:"required,name,lines,min=1,max=500"`
}

// approve serves POST /api/admin/kyc/{coach_id}/approve.
func (h operators) approve(ctx context.Context, r admin.Request[approveRequest]) (admin.Response, error) {
	return h.decideNewest(ctx, r.Meta, r.Faults, r.Body.SubmissionID, h.Approve)
}

// reject serves POST /api/admin/kyc/{coach_id}/reject.
func (h operators) reject(ctx context.Context, r admin.Request[rejectRequest]) (admin.Response, error) {
	return h.decideNewest(ctx, r.Meta, r.Faults, r.Body.SubmissionID, func(ctx context.Context, by actor.Operator, id string) (Submission, error) {
		return h.Reject(ctx, by, id, r.Body.Reason)
	})
}

// decideNewest decides the coach's newest submission, if the operator has read it. A
// coach without a submission is not_found, whatever the faults of the request.
func (h operators) decideNewest(ctx context.Context, m admin.Meta, f wire.Faults, submissionID string, decide func(context.Context, actor.Operator, string) (Submission, error)) (admin.Response, error) {
	id, err := m.PathID("coach_id")
	if err != nil {
		return admin.Response{}, err
	}
	if len(f) > 0 {
		if _, err := h.Newest(ctx, id); err != nil {
			return admin.Response{}, err
		}
		return admin.Response{}, f.Err()
	}
	if err := h.CheckNewest(ctx, id, submissionID); err != nil {
		return admin.Response{}, err
	}
	s, err := decide(ctx, m.Caller.Operator(), submissionID)
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.OK(newQueuedResponse(s)), nil
}
