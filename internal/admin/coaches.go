package admin

import (
	"net/http"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

// foundResponse is a coach in a list. The number is shown: operators are called by
// people who say theirs; that it was looked up is recorded.
type foundResponse struct {
	CoachID      string  `json:"coach_id"`
	MobileNumber string  `json:"mobile_number"`
	Name         *string `json:"name"`
	Tier         string  `json:"tier"`
	KYCState     string  `json:"kyc_state"`
	State        string  `json:"state"`
	SuspendedAt  *string `json:"suspended_at"`
	CreatedAt    string  `json:"created_at"`
}

func (s *Server) found(a coach.Account) foundResponse {
	return foundResponse{
		CoachID: a.ID, MobileNumber: string(a.Number), Name: wire.OrNull(a.Name), Tier: s.Subscriptions.Tiers.Of(a.Tier).Name,
		KYCState: s.kycState(a.KYC), State: a.State(), SuspendedAt: wire.TimestampOrNull(a.SuspendedAt), CreatedAt: wire.Timestamp(a.CreatedAt),
	}
}

// kycState is a state as it is shown: while the setting is off there is none.
func (s *Server) kycState(state coach.KYCState) string {
	if !s.Verifications.On {
		return string(coach.Disabled)
	}
	return string(state)
}

// coachResponse is one coach: profile, tier and use. It holds nothing of the
// coach's players but how many there are.
type coachResponse struct {
	foundResponse
	SuspendedFor    *string      `json:"suspended_for"`
	Email           *string      `json:"email"`
	Bio             *string      `json:"bio"`
	ExperienceYears *int         `json:"experience_years"`
	Sports          []string     `json:"sports"`
	UpdatedAt       string       `json:"updated_at"`
	TierSince       string       `json:"tier_since"`
	Use             useResponse  `json:"use"`
	Visible         bool         `json:"visible"`
	Limits          limitsAnswer `json:"limits"`
}

type useResponse struct {
	Players       int64 `json:"players"`
	StorageBytes  int64 `json:"storage_bytes"`
	MessagesToday int64 `json:"messages_today"`
}

// limitsAnswer has null where there is no limit.
type limitsAnswer struct {
	Players        *int64 `json:"players"`
	StorageBytes   *int64 `json:"storage_bytes"`
	MessagesPerDay *int64 `json:"messages_per_day"`
}

// coach serves GET /api/admin/coaches/{coach_id}.
func (s *Server) coach(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	return s.answerCoach(w, r, id)
}

// answerCoach answers one coach, which is recorded.
func (s *Server) answerCoach(w http.ResponseWriter, r *http.Request, id string) error {
	a, p, err := s.Oversight.Read(r.Context(), callOf(r).operator(), id)
	if err != nil {
		return err
	}
	sub, err := s.Subscriptions.Of(r.Context(), id)
	if err != nil {
		return err
	}
	sports := p.Sports
	if sports == nil {
		sports = []string{}
	}
	limit := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return wire.Encode(w, http.StatusOK, coachResponse{
		foundResponse: s.found(a), SuspendedFor: wire.OrNull(a.SuspendedReason),
		Email: wire.OrNull(p.Email), Bio: wire.OrNull(p.Bio), ExperienceYears: p.Experience, Sports: sports, UpdatedAt: wire.Timestamp(p.UpdatedAt),
		TierSince: wire.Timestamp(sub.Since), Use: useResponse{sub.Usage.Players, sub.Usage.StorageBytes, sub.Usage.Messages}, Visible: p.Visible,
		Limits: limitsAnswer{limit(sub.Tier.Limits.Players), limit(sub.Tier.Limits.StorageBytes), limit(sub.Tier.Limits.MessagesPerDay)},
	})
}

type tierRequest struct {
	Tier string `json:"tier" rule:"required,min=1,max=100"`
}

// setTier serves PUT /api/admin/coaches/{coach_id}/tier.
func (s *Server) setTier(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	in, err := decode[tierRequest](r)
	if err != nil {
		return err
	}
	if _, err := s.Subscriptions.Set(r.Context(), callOf(r).operator(), id, in.Tier); err != nil {
		return err
	}
	return s.answerCoach(w, r, id)
}

type suspendRequest struct {
	Reason string `json:"reason" rule:"required,name,lines,min=1,max=500"`
}

// Reason returns the reason of a suspension or a rejection as these calls take it,
// for whoever gives one in a shell; or validation_failed, at /reason.
func Reason(text string) (string, error) {
	var f wire.Faults
	var in suspendRequest
	if !utf8.ValidString(text) {
		f.Add("/reason", "invalid_characters", "This is not UTF-8.")
	} else {
		wire.Bind(map[string]any{"reason": text}, &in, &f)
	}
	return in.Reason, f.Err()
}

// suspend serves POST /api/admin/coaches/{coach_id}/suspend.
func (s *Server) suspend(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	in, err := decode[suspendRequest](r)
	if err != nil {
		return err
	}
	if err := s.Oversight.Suspend(r.Context(), callOf(r).operator(), id, in.Reason); err != nil {
		return err
	}
	s.Wake(id) // its streams end
	return s.answerCoach(w, r, id)
}

// restore serves POST /api/admin/coaches/{coach_id}/restore.
func (s *Server) restore(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	if err := s.Oversight.Restore(r.Context(), callOf(r).operator(), id); err != nil {
		return err
	}
	return s.answerCoach(w, r, id)
}
