package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
)

// sendGuardianRequest serves POST /api/approval/send-guardian-request.
func (s *Server) sendGuardianRequest(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[sendGuardianRequest](r)
	e := s.entry(&f)
	correction, channels := in.correction(e), e.channels(in.Channels)
	if err := s.named(r, in.PlayerID, f); err != nil {
		return err
	}
	return s.send(w, r, in.PlayerID, actor.Guardian, correction, channels)
}

// sendStudentRequest serves POST /api/approval/send-student-request.
func (s *Server) sendStudentRequest(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[sendStudentRequest](r)
	e := s.entry(&f)
	correction, channels := in.correction(e), e.channels(in.Channels)
	if err := s.named(r, in.PlayerID, f); err != nil {
		return err
	}
	return s.send(w, r, in.PlayerID, actor.Student, correction, channels)
}

// send asks party, and answers 201 for a new request, 200 for the same once more.
func (s *Server) send(w http.ResponseWriter, r *http.Request, playerID string, party actor.Role, correction approval.Patch, channels []approval.Channel) error {
	about(r, playerID)
	request, isNew, err := s.approvals.Send(r.Context(), caller(r), playerID, party, correction, channels)
	if err != nil {
		return err
	}
	answer := s.view(r).request(request)
	if isNew {
		return created(w, "/api/approval/requests/"+request.ID, answer)
	}
	return encode(w, http.StatusOK, answer)
}

// named judges the faults of a body that names a player. A string that is no id
// names nothing, so it is not found, whatever else is wrong; where no string
// was sent, that is one fault among the others.
func (s *Server) named(r *http.Request, playerID string, f faults) error {
	for _, field := range f {
		switch {
		case field.Pointer == "", field.Pointer == "/player_id" && field.Code != "invalid_characters":
			return f.err()
		}
	}
	if !isID(playerID) {
		return fault.Missing()
	}
	return s.invalid(r, playerID, f)
}

// sendReminder serves POST /api/approval/send-reminder.
func (s *Server) sendReminder(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[reminderRequest](r)
	if err := s.named(r, in.PlayerID, f); err != nil {
		return err
	}
	about(r, in.PlayerID)
	request, left, err := s.approvals.Remind(r.Context(), caller(r), in.PlayerID, in.party())
	if err != nil {
		return err
	}
	return encode(w, http.StatusAccepted, reminderAnswer{s.view(r).request(request), left})
}

// getRequest serves GET /api/approval/requests/{request_id}. Whether the student
// may use the app comes before whether the request is there.
func (s *Server) getRequest(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("request_id")
	if !isID(id) {
		id = ""
	}
	request, err := s.approvals.Request(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, s.view(r).request(request))
}

// cancelRequest serves POST /api/approval/requests/{request_id}/cancel.
func (s *Server) cancelRequest(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "request_id")
	if err != nil {
		return err
	}
	if err := s.noMembers(r, id); err != nil {
		return err
	}
	request, err := s.approvals.Cancel(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	about(r, request.PlayerID)
	return encode(w, http.StatusOK, s.view(r).request(request))
}

// noMembers judges the body of a call that needs none: {} is as good as nothing.
// A request that is not the caller's is not found, whatever the body.
func (s *Server) noMembers(r *http.Request, requestID string) error {
	_, f := decode[struct{}](r)
	if len(f) == 0 {
		return nil
	}
	if err := s.approvals.CheckVisible(r.Context(), caller(r), requestID); err != nil {
		return err
	}
	return f.err()
}

// disputeRequest serves POST /api/approval/requests/{request_id}/dispute.
func (s *Server) disputeRequest(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "request_id")
	if err != nil {
		return err
	}
	if err := s.noMembers(r, id); err != nil {
		return err
	}
	request, err := s.approvals.Dispute(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	about(r, request.PlayerID)
	return encode(w, http.StatusOK, s.view(r).request(request))
}

// liftDispute serves DELETE /api/approval/requests/{request_id}/dispute.
func (s *Server) liftDispute(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "request_id")
	if err != nil {
		return err
	}
	if err := s.approvals.Lift(r.Context(), caller(r), id); err != nil {
		return err
	}
	return nothing(w)
}
