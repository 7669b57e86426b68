// Package operator owns operators' tokens and sessions, scopes, and the audit log. An
// operator runs the service. Each domain package writes the audit entries of its
// operations in the same transaction.
package operator

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Store saves tokens, sessions and audit entries. SQL implements it; tests keep one session in memory.
type Store interface {
	// AddToken saves t with the hash of its secret, and an audit entry.
	AddToken(ctx context.Context, by actor.Operator, t Token, hash []byte) error
	// RevokeToken revokes a token and adds an audit entry. It returns nil if there is
	// no such token. A token that is revoked already stays unchanged, without an entry.
	RevokeToken(ctx context.Context, by actor.Operator, id string) (*Token, error)
	// TokenByHash returns a token, even a revoked or expired one, or nil.
	TokenByHash(ctx context.Context, hash []byte) (*Token, error)
	// MarkTokenUsed saves now as the last use if the saved one is older than before.
	MarkTokenUsed(ctx context.Context, id string, now, before time.Time) error
	// Tokens lists tokens, newest first, starting after the token with the ID after, and
	// adds an audit entry.
	Tokens(ctx context.Context, by actor.Operator, after string, limit int) ([]Token, error)
	// Audit lists entries, newest first, of one object, or of all if objectID is empty. It
	// then adds an entry for this read.
	Audit(ctx context.Context, by actor.Operator, objectID, after string, limit int) ([]Entry, error)
	// AddOperatorSession saves a session with the hash of its secret, and an audit entry.
	AddOperatorSession(ctx context.Context, session Session, hash []byte) error
	// OperatorSessionByHash returns a session with its token, even an ended one, or nil.
	OperatorSessionByHash(ctx context.Context, hash []byte) (*Session, error)
	// EndOperatorSession deletes a session and adds an audit entry. It does nothing if the session
	// has been deleted already.
	EndOperatorSession(ctx context.Context, by actor.Operator, id string) error
	// Record adds an entry for an operation that changes nothing: a read.
	Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error
	// Counts counts what waits for operators, each up to MaxCount, and messages that failed after since.
	Counts(ctx context.Context, since time.Time) (Counts, error)
	// RecordIntrospections adds each count to the entry of its token and minute.
	RecordIntrospections(ctx context.Context, all []Introspections) error
}

// Service creates, checks and revokes tokens, begins and ends sessions, and reads the
// audit log.
type Service struct {
	Store Store
	Now   func() time.Time
	NewID func() string
	Rand  io.Reader

	verified       verifiedTokens
	introspections introspectionCounts
}

// Create makes a token and returns its secret, which cannot be read again.
func (s *Service) Create(ctx context.Context, by actor.Operator, r TokenRequest) (*Token, string, error) {
	r.Name = strings.TrimSpace(r.Name)
	if err := r.validate(); err != nil {
		return nil, "", err
	}
	secret, err := newSecret(s.Rand, tokenPrefix)
	if err != nil {
		return nil, "", err
	}
	now := s.Now()
	t := Token{ID: s.NewID(), Name: r.Name, Scopes: sorted(r.Scopes), CreatedAt: now, EndsAt: now.AddDate(0, 0, r.Days)}
	if err := s.Store.AddToken(ctx, by, t, hash(secret)); err != nil {
		return nil, "", err
	}
	return &t, secret, nil
}

// Revoke revokes a token immediately. Revoking it again is no error.
func (s *Service) Revoke(ctx context.Context, by actor.Operator, id string) (*Token, error) {
	t, err := s.Store.RevokeToken(ctx, by, id)
	if err == nil && t == nil {
		err = fault.Missing()
	}
	return t, err
}

// Authenticate returns the token with this secret. An unknown, an expired and a
// revoked token get the same error at the same cost: one hash and one lookup.
func (s *Service) Authenticate(ctx context.Context, secret string) (*Token, error) {
	return s.authenticate(ctx, hash(secret))
}

// AuthenticateScrape is Authenticate for metrics, which must be readable while the
// database is unavailable: it then accepts a token that this process has verified in
// the last 24 h. While the database answers, a revoked token ends at once.
func (s *Service) AuthenticateScrape(ctx context.Context, secret string) (*Token, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	sum := hash(secret)
	t, err := s.authenticate(ctx, sum)
	switch {
	case err == nil:
		s.verified.add(sum, *t, s.Now())
	case fault.KindOf(err) == fault.Unauthenticated:
		s.verified.remove(sum)
	default:
		if known := s.verified.get(sum, s.Now()); known != nil {
			return known, nil
		}
	}
	return t, err
}

func (s *Service) authenticate(ctx context.Context, hash []byte) (*Token, error) {
	t, err := s.Store.TokenByHash(ctx, hash)
	if err != nil {
		return nil, err
	}
	if t == nil || !t.Valid(s.Now()) {
		return nil, fault.New(fault.Unauthenticated, "token_invalid", "This operator token is not valid. Create a new one with touchline admin token create.")
	}
	if err := s.markUsed(ctx, t); err != nil {
		return nil, err
	}
	return t, nil
}

// markUsed saves the use of t, every lastUsedPrecision at most.
func (s *Service) markUsed(ctx context.Context, t *Token) error {
	now := s.Now()
	before := now.Add(-lastUsedPrecision)
	if !t.LastUsedAt.Before(before) {
		return nil
	}
	// A database that takes no writes, for example because its disk is full, still
	// serves reads; a later request marks the use.
	if err := s.Store.MarkTokenUsed(ctx, t.ID, now, before); err != nil && fault.KindOf(err) != fault.Unavailable {
		return err
	}
	return nil
}

// RequireScope returns insufficient_scope if t lacks scope.
func (s *Service) RequireScope(t *Token, scope Scope) error {
	if t.HasScope(scope) {
		return nil
	}
	return fault.New(fault.Forbidden, "insufficient_scope", "This call needs a token with the scope %s.", scope).With("scope", string(scope))
}

// Tokens lists tokens, newest first, and audits the access.
func (s *Service) Tokens(ctx context.Context, by actor.Operator, after string, limit int) ([]Token, error) {
	return s.Store.Tokens(ctx, by, after, limit)
}

// Audit lists audit entries, newest first, of one object or, with "", of all. The next
// call lists this one.
func (s *Service) Audit(ctx context.Context, by actor.Operator, objectID, after string, limit int) ([]Entry, error) {
	if err := s.RecordIntrospections(ctx); err != nil {
		return nil, err
	}
	return s.Store.Audit(ctx, by, objectID, after, limit)
}

// Record adds an entry for a read. Call it before the response is sent.
func (s *Service) Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error {
	return s.Store.Record(ctx, by, action, objectKind, objectID, detail)
}

// MaxCount limits each of Counts: an overview shows "more than 99".
const MaxCount = 100

// failedWithin is how old the failed messages of Counts are at most.
const failedWithin = 24 * time.Hour

// Counts are what waits for operators. They name no person.
type Counts struct {
	// Verifications and TierRequests wait for a decision.
	Verifications, TierRequests int
	// Names are names and pictures of coaches that wait for a decision, Disputes the wrong numbers that stand, and Webhooks
	// those that fail or were disabled because they failed.
	Names, Disputes, Webhooks int
	// FailedDeliveries are the messages that failed in the last 24 h.
	FailedDeliveries int
}

// Counts returns what waits for operators. It is not in the audit log, because it is about no person.
func (s *Service) Counts(ctx context.Context) (Counts, error) {
	return s.Store.Counts(ctx, s.Now().Add(-failedWithin))
}
