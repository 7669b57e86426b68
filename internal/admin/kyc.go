package admin

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/wire"
)

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

func newQueuedResponse(s coach.Submission) queuedResponse {
	return queuedResponse{
		SubmissionID: s.ID, CoachID: s.CoachID, CoachName: wire.OrNull(s.CoachName), State: string(s.State),
		SubmittedAt: wire.Timestamp(s.SubmittedAt), DecidedAt: wire.TimestampOrNull(s.DecidedAt), Reason: wire.OrNull(s.Reason),
	}
}

// listKYC serves GET /api/admin/kyc: the submissions that wait for a decision, oldest first.
// The audit log records the read.
func (s *Server) listKYC(ctx context.Context, r Request[noBody]) (Response, error) {
	f := r.Faults
	page := s.queryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	after := coach.KYCCursor{At: page.After.at(), ID: page.After.ID}
	waiting, err := s.Verifications.Queue(ctx, r.Caller.Operator(), after, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, waiting, newQueuedResponse, func(v coach.Submission) keyset {
		return keysetAt(v.SubmittedAt, v.ID)
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

// kyc serves GET /api/admin/kyc/{coach_id}: the newest submission. The audit log records
// the read.
func (s *Server) kyc(ctx context.Context, r Request[noBody], id string) (Response, error) {
	submission, err := s.Verifications.Newest(ctx, id)
	if err != nil {
		return Response{}, err
	}
	v, err := s.Verifications.Read(ctx, r.Caller.Operator(), submission)
	if err != nil {
		return Response{}, err
	}
	documents, err := s.Verifications.Documents(ctx, v)
	if err != nil {
		return Response{}, err
	}
	out := submissionResponse{queuedResponse: newQueuedResponse(v), MobileNumber: string(v.Number), LegalName: v.LegalName, Documents: []documentResponse{}}
	for _, d := range documents {
		out.Documents = append(out.Documents, documentResponse{
			DocumentID: d.ID, Title: d.Title, FileName: d.File.Name, MediaType: d.File.MediaType, Size: d.File.Size,
			Issuer: wire.OrNull(d.Issuer), ExpiresOn: wire.OrNull(string(d.ExpiresOn)),
			ContentURL: "/api/admin/kyc/" + id + "/documents/" + d.ID + "/content",
		})
	}
	return endpoint.OK(out), nil
}

// kycDocument serves GET .../documents/{document_id}/content. The audit log records the
// read before the first byte is sent.
func (s *Server) kycDocument(ctx context.Context, r Request[noBody]) (Response, error) {
	id, err := r.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	documentID, err := r.PathID("document_id")
	if err != nil {
		return Response{}, err
	}
	content, err := s.Documents.OpenForOperator(ctx, documentID)
	if err != nil {
		return Response{}, err
	}
	err = fault.Missing()
	if content.Document.CoachID == id {
		err = s.Tokens.Record(ctx, r.Caller.Operator(), operator.DocumentRead, "document", documentID, "of coach "+id)
	}
	if err == nil {
		err = r.Faults.Err()
	}
	if err != nil {
		_ = content.Close()
		return Response{}, err
	}
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
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

// approveKYC serves POST /api/admin/kyc/{coach_id}/approve.
func (s *Server) approveKYC(ctx context.Context, r Request[approveRequest]) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingSubmissionOr(ctx, r.Meta, err)
	}
	return s.decideKYC(ctx, r.Meta, in.SubmissionID, s.Verifications.Approve)
}

// rejectKYC serves POST /api/admin/kyc/{coach_id}/reject.
func (s *Server) rejectKYC(ctx context.Context, r Request[rejectRequest]) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingSubmissionOr(ctx, r.Meta, err)
	}
	return s.decideKYC(ctx, r.Meta, in.SubmissionID, func(ctx context.Context, by actor.Operator, id string) (coach.Submission, error) {
		return s.Verifications.Reject(ctx, by, id, in.Reason)
	})
}

// missingSubmissionOr returns not_found if the coach of the path has no submission, else err:
// not_found comes before validation_failed.
func (s *Server) missingSubmissionOr(ctx context.Context, m endpoint.Meta[Caller], err error) error {
	id, missing := m.PathID("coach_id")
	if missing == nil {
		_, missing = s.Verifications.Newest(ctx, id)
	}
	if missing != nil {
		return missing
	}
	return err
}

// decideKYC decides the coach's newest submission, if it is the submission that the operator
// has read.
func (s *Server) decideKYC(ctx context.Context, m endpoint.Meta[Caller], submissionID string, decide func(context.Context, actor.Operator, string) (coach.Submission, error)) (Response, error) {
	id, err := m.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	if err := s.Verifications.CheckNewest(ctx, id, submissionID); err != nil {
		return Response{}, err
	}
	v, err := decide(ctx, m.Caller.Operator(), submissionID)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newQueuedResponse(v)), nil
}
