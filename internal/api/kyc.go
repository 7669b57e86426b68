package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/coach"
)

// kycRoutes are the coach's side of verification.
func (s *Server) kycRoutes() []route {
	return []route{
		{method: "GET", pattern: "/api/coach/kyc", handle: s.kyc, roles: coachOnly},
		{method: "POST", pattern: "/api/coach/kyc", handle: s.submitKYC, roles: coachOnly, body: bodyJSON, once: true},
	}
}

type kycResponse struct {
	State       string   `json:"state"`
	Reason      *string  `json:"reason"`
	LegalName   *string  `json:"legal_name"`
	DocumentIDs []string `json:"document_ids"`
	SubmittedAt *string  `json:"submitted_at"`
	DecidedAt   *string  `json:"decided_at"`
}

func newKYCResponse(state coach.KYCState, sub coach.Submission) kycResponse {
	ids := sub.DocumentIDs
	if ids == nil {
		ids = []string{}
	}
	return kycResponse{
		State: string(state), Reason: orNull(sub.Reason), LegalName: orNull(sub.LegalName), DocumentIDs: ids,
		SubmittedAt: timestampOrNull(sub.SubmittedAt), DecidedAt: timestampOrNull(sub.DecidedAt),
	}
}

// kyc serves GET /api/coach/kyc.
func (s *Server) kyc(w http.ResponseWriter, r *http.Request) error {
	state, sub, err := s.verifications.State(r.Context(), caller(r))
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, newKYCResponse(state, sub))
}

type kycRequest struct {
	LegalName   string   `json:"legal_name" rule:"required,name,min=1,max=100"`
	DocumentIDs []string `json:"document_ids" rule:"required,min=1,max=10,id"`
}

// submitKYC serves POST /api/coach/kyc.
func (s *Server) submitKYC(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[kycRequest](r)
	seen := map[string]bool{}
	for i, id := range in.DocumentIDs {
		if seen[id] {
			f.add(pointTo("/document_ids", i), "duplicate", "Name each document once.")
		}
		seen[id] = true
	}
	if err := f.err(); err != nil {
		return err
	}
	state, sub, err := s.verifications.Submit(r.Context(), caller(r), in.LegalName, in.DocumentIDs)
	if err != nil {
		return err
	}
	return created(w, "/api/coach/kyc", newKYCResponse(state, sub))
}
