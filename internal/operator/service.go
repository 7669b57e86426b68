// Package operator owns those who run the service: their tokens with scopes and
// an end, and the audit log of what they did. What they do is the matter of the
// features that they do it to; each of these writes its entry of the log in the
// transaction of the deed.
package operator

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// Store is what operators need kept; package store provides it.
type Store interface {
	// AddToken keeps t and hash, and records that by made it.
	AddToken(ctx context.Context, by actor.Operator, t Token, hash []byte) error
	// RevokeToken ends the token and records that by did; nil where there is none.
	// A token that had ended before stays as it was, and nothing is recorded.
	RevokeToken(ctx context.Context, by actor.Operator, id string) (*Token, error)
	// TokenByHash returns the token, also one that has ended; nil where there is none.
	TokenByHash(ctx context.Context, hash []byte) (*Token, error)
	// MarkTokenUsed notes a use at now unless one was noted after before.
	MarkTokenUsed(ctx context.Context, id string, now, before time.Time) error
	// Tokens lists tokens, newest first, those that follow the one with the id after.
	Tokens(ctx context.Context, after string, limit int) ([]Token, error)
	// Audit lists entries, newest first, of one object or, where objectID is empty, all.
	Audit(ctx context.Context, objectID, after string, limit int) ([]Entry, error)
	// Record writes an entry by itself, for what changes nothing else: a read.
	Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error
}

// Service makes, checks and ends tokens, and reads the audit log.
type Service struct {
	Store Store
	Now   func() time.Time
	NewID func() string
	Rand  io.Reader
}

// Create makes a token and returns its secret, which nobody can read again.
func (s *Service) Create(ctx context.Context, by actor.Operator, w Wish) (*Token, string, error) {
	w.Name = strings.TrimSpace(w.Name)
	if err := w.check(); err != nil {
		return nil, "", err
	}
	secret, err := newSecret(s.Rand)
	if err != nil {
		return nil, "", err
	}
	now := s.Now()
	t := Token{ID: s.NewID(), Name: w.Name, Scopes: inOrder(w.Scopes), CreatedAt: now, EndsAt: now.AddDate(0, 0, w.Days)}
	if err := s.Store.AddToken(ctx, by, t, hash(secret)); err != nil {
		return nil, "", err
	}
	return &t, secret, nil
}

// Revoke ends a token at once. It is no error where it has ended before.
func (s *Service) Revoke(ctx context.Context, by actor.Operator, id string) (*Token, error) {
	t, err := s.Store.RevokeToken(ctx, by, id)
	if err == nil && t == nil {
		err = fault.Missing()
	}
	return t, err
}

// Authenticate returns the token whose secret is presented, if it can be used.
// Whatever is presented costs the same: one hash, one lookup by it. What is no
// token, an ended and a revoked one are answered alike.
func (s *Service) Authenticate(ctx context.Context, secret string) (*Token, error) {
	t, err := s.Store.TokenByHash(ctx, hash(secret))
	if err != nil {
		return nil, err
	}
	now := s.Now()
	if t == nil || !t.Live(now) {
		return nil, fault.New(fault.Unauthenticated, "token_invalid", "This is no operator's token that works. Ask whoever runs the service for one.")
	}
	if before := now.Add(-usedEvery); t.LastUsedAt.Before(before) {
		if err := s.Store.MarkTokenUsed(ctx, t.ID, now, before); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Admit refuses a token that lacks the scope.
func (s *Service) Admit(t *Token, scope Scope) error {
	if t.May(scope) {
		return nil
	}
	return fault.New(fault.Forbidden, "insufficient_scope", "This call needs a token with the scope %s.", scope).With("scope", string(scope))
}

// Tokens lists tokens, newest first.
func (s *Service) Tokens(ctx context.Context, after string, limit int) ([]Token, error) {
	return s.Store.Tokens(ctx, after, limit)
}

// Audit lists what operators did, newest first: to one object, or in all.
func (s *Service) Audit(ctx context.Context, objectID, after string, limit int) ([]Entry, error) {
	return s.Store.Audit(ctx, objectID, after, limit)
}

// Record writes down a read, before what was read is shown.
func (s *Service) Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error {
	return s.Store.Record(ctx, by, action, objectKind, objectID, detail)
}
