package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
)

// call is what the adapter knows of the request that it is answering.
type call struct {
	httpx.RequestInfo

	by     actor.Actor
	claims auth.Claims
	// refused is why a call whose sign-in is optional has no caller.
	refused error

	raw   []byte // the body as it came
	value any    // the body, parsed; nil where there is none
	// faults found before the handler: duplicate members, a malformed key.
	faults faults

	// limit is how long the call may work once its body is here; 0 is timeLimit.
	limit time.Duration

	// subject is what the answer is about, for whoever asks for it once more.
	subject string
}

type callKey struct{}

// callOf returns the call of a request that came through Handler.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// caller returns who asks; the zero Actor where the call is open.
func caller(r *http.Request) actor.Actor { return callOf(r.Context()).by }

// claims returns what the caller's access token says.
func claims(r *http.Request) auth.Claims { return callOf(r.Context()).claims }

// about notes the player or session that the answer is about: before the answer
// is repeated for an Idempotency-Key, it must be visible to the caller still.
func about(r *http.Request, id string) { callOf(r.Context()).subject = id }

// visible answers not_found unless the caller may see the player.
func (s *Server) visible(ctx context.Context, by actor.Actor, playerID string) error {
	_, err := s.approvals.Player(ctx, by, playerID)
	return err
}

// invalid answers the faults of a request that names a player, if there are any.
// What is not the caller's is not found, whatever else is wrong with the request
// (contract section 1, order of checks).
func (s *Server) invalid(r *http.Request, playerID string, f faults) error {
	if len(f) == 0 {
		return nil
	}
	if isID(playerID) {
		if err := s.visible(r.Context(), caller(r), playerID); err != nil {
			return err
		}
	}
	return f.err()
}

// pathID returns an identifier in the path. What is no identifier names nothing.
func pathID(r *http.Request, name string) (string, error) {
	id := r.PathValue(name)
	if !isID(id) {
		return "", fault.Missing()
	}
	return id, nil
}

// isID says whether s is an identifier of this service: a UUID version 7 (RFC
// 9562), written as it writes them.
func isID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.Version() == 7 && len(s) == 36 && strings.ToLower(s) == s
}
