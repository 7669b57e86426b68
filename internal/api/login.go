package api

import (
	"context"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
)

// keepLogin is how long a login whose answer was lost can be sent again.
const keepLogin = time.Minute

type loginRequest struct {
	MobileNumber string `json:"mobile_number" rule:"required,min=1,max=64"`
	OTP          string `json:"otp" rule:"required,max=64"`
	Role         string `json:"role" rule:"oneof=coach|guardian|student"`
	DeviceName   string `json:"device_name" rule:"min=1,max=100"`
	DeviceToken  string `json:"device_token" rule:"secret,min=1,max=128"`
}

type accountResponse struct {
	ID           string `json:"id"`
	Role         string `json:"role"`
	MobileNumber string `json:"mobile_number"`
}

func newAccountResponse(by actor.Actor) accountResponse {
	return accountResponse{ID: by.AccountID, Role: string(by.Role), MobileNumber: string(by.Number)}
}

type tokenResponse struct {
	AccessToken      string          `json:"access_token"`
	TokenType        string          `json:"token_type"`
	ExpiresIn        int             `json:"expires_in"`
	RefreshToken     string          `json:"refresh_token"`
	RefreshExpiresIn int             `json:"refresh_expires_in"`
	SessionID        string          `json:"session_id"`
	DeviceToken      string          `json:"device_token"`
	Account          accountResponse `json:"account"`
	ProfileComplete  bool            `json:"profile_complete"`
	Next             string          `json:"next"`
}

// login serves POST /auth/login. With an Idempotency-Key the answer can be had
// again for a minute, while its session lives.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[loginRequest](r)
	slot, otp := s.slot(in.MobileNumber, in.Role, &f), digits(in.OTP, "/otp", &f)
	if err := f.err(); err != nil {
		return err
	}
	owner := "login/" + string(slot.Role) + "/" + string(slot.Number)
	return s.answerOnce(w, r, owner, keepLogin, func(w http.ResponseWriter, r *http.Request) error {
		// A malformed key is found only now.
		if err := callOf(r.Context()).faults.err(); err != nil {
			return err
		}
		grant, err := s.auth.Login(r.Context(), slot, otp, in.DeviceToken, in.DeviceName)
		if err != nil {
			return err
		}
		about(r, grant.Session.ID)
		return s.answerGrant(w, grant)
	}, s.sessionLives)
}

// sessionLives answers otp_expired where the session that a login opened has
// ended: the OTP is used up, and 401 is never said here.
func (s *Server) sessionLives(ctx context.Context, id string) error {
	lives, err := s.auth.SessionLives(ctx, id)
	if err == nil && !lives {
		err = fault.New(fault.Gone, "otp_expired", "This OTP was used, and the session that it opened has ended. Ask for a new OTP.")
	}
	return err
}

type refreshRequest struct {
	// Of any length: what is no token of ours is 401, so that the app signs in again.
	RefreshToken string `json:"refresh_token" rule:"required,secret,min=1"`
}

// refresh serves POST /auth/refresh.
func (s *Server) refresh(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[refreshRequest](r)
	if err := f.err(); err != nil {
		return err
	}
	grant, err := s.auth.Refresh(r.Context(), in.RefreshToken)
	if err != nil {
		return err
	}
	return s.answerGrant(w, grant)
}

// answerGrant asks the store nothing: the OTP or the token is used up by now, and
// nothing that fails may lose the answer.
func (s *Server) answerGrant(w http.ResponseWriter, g *auth.Grant) error {
	by := g.Session.Actor()
	complete := by.Role != actor.Coach || s.coaches.Completed(g.Session.Filled)
	return encode(w, http.StatusOK, tokenResponse{
		AccessToken: g.AccessToken, TokenType: "Bearer", ExpiresIn: seconds(g.AccessEnds),
		RefreshToken: g.RefreshToken, RefreshExpiresIn: seconds(g.RefreshEnds),
		SessionID: g.Session.ID, DeviceToken: g.DeviceToken, Account: newAccountResponse(by),
		ProfileComplete: complete, Next: nextScreen(by.Role, complete),
	})
}

// nextScreen says what the app should show.
func nextScreen(role actor.Role, complete bool) string {
	switch {
	case role != actor.Coach:
		return "approvals"
	case complete:
		return "dashboard"
	}
	return "complete_profile"
}
