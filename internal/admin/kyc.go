package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/wire"
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

// listKYC serves GET /api/admin/kyc: what waits for a decision, oldest first.
func (s *Server) listKYC(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	p := s.page(c, r.URL.Query())
	if err := c.faults.Err(); err != nil {
		return err
	}
	after := coach.KYCCursor{ID: p.after.ID}
	if p.after.At != 0 {
		after.At = time.UnixMicro(p.after.At).UTC()
	}
	waiting, err := s.Verifications.Queue(r.Context(), after, p.limit+1)
	if err != nil {
		return err
	}
	return answerPage(w, p, waiting, newQueuedResponse, func(v coach.Submission) keyset {
		return keyset{At: v.SubmittedAt.UnixMicro(), ID: v.ID}
	})
}

// submissionResponse is what an operator decides by.
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

// kyc serves GET /api/admin/kyc/{coach_id}: the newest submission. That it was read
// is recorded.
func (s *Server) kyc(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	submission, err := s.Verifications.Newest(r.Context(), id)
	if err != nil {
		return err
	}
	v, err := s.Verifications.Read(r.Context(), callOf(r).operator(), submission)
	if err != nil {
		return err
	}
	out := submissionResponse{queuedResponse: newQueuedResponse(v), MobileNumber: string(v.Number), LegalName: v.LegalName, Documents: []documentResponse{}}
	for _, document := range v.DocumentIDs {
		d, err := s.Documents.Store.Document(r.Context(), id, document)
		if fault.KindOf(err) == fault.NotFound {
			continue // the coach took it back a moment ago
		}
		if err != nil {
			return err
		}
		out.Documents = append(out.Documents, documentResponse{
			DocumentID: d.ID, Title: d.Title, FileName: d.File.Name, MediaType: d.File.MediaType, Size: d.File.Size,
			Issuer: wire.OrNull(d.Issuer), ExpiresOn: wire.OrNull(string(d.ExpiresOn)),
			ContentURL: "/api/admin/kyc/" + id + "/documents/" + d.ID + "/content",
		})
	}
	return wire.Encode(w, http.StatusOK, out)
}

// kycDocument serves GET .../documents/{document_id}/content. That it is read is
// recorded before a byte of it leaves.
func (s *Server) kycDocument(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	document, err := pathID(r, "document_id")
	if err != nil {
		return err
	}
	c, err := s.Documents.OpenForOperator(r.Context(), document)
	if err != nil {
		return err
	}
	defer c.Close()
	if c.Document.CoachID != id {
		return fault.Missing()
	}
	if err := s.Operators.Record(r.Context(), callOf(r).operator(), operator.DocumentRead, "document", document, "of coach "+id); err != nil {
		return err
	}
	file := c.Document.File
	httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: file.SHA256, Attachment: true, Content: c}.Serve(w, r)
	return nil
}

type approveRequest struct {
	SubmissionID string `json:"submission_id" rule:"required,id"`
}

type rejectRequest struct {
	SubmissionID string `json:"submission_id" rule:"required,id"`
	Reason       string `json:"reason" rule:"required,name,lines,min=1,max=500"`
}

// approveKYC serves POST /api/admin/kyc/{coach_id}/approve.
func (s *Server) approveKYC(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[approveRequest](r)
	if err != nil {
		return err
	}
	return s.decideKYC(w, r, in.SubmissionID, s.Verifications.Approve)
}

// rejectKYC serves POST /api/admin/kyc/{coach_id}/reject.
func (s *Server) rejectKYC(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[rejectRequest](r)
	if err != nil {
		return err
	}
	return s.decideKYC(w, r, in.SubmissionID, func(ctx context.Context, by actor.Operator, id string) (coach.Submission, error) {
		return s.Verifications.Reject(ctx, by, id, in.Reason)
	})
}

// decideKYC decides the coach's newest submission, if it is the one that the
// operator saw.
func (s *Server) decideKYC(w http.ResponseWriter, r *http.Request, saw string, decide func(context.Context, actor.Operator, string) (coach.Submission, error)) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	// What was seen must be this coach's; the verdict looks again whether it is the newest.
	newest, err := s.Verifications.Newest(r.Context(), id)
	if err == nil && newest != saw {
		err = coach.ErrSuperseded(newest)
	}
	if err != nil {
		return err
	}
	v, err := decide(r.Context(), callOf(r).operator(), saw)
	if err != nil {
		return err
	}
	return wire.Encode(w, http.StatusOK, newQueuedResponse(v))
}
