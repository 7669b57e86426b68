package auth

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
)

// The lifetimes of page sessions, before the settings shorten them.
const (
	PageLifetime       = 12 * time.Hour
	RememberedLifetime = 30 * 24 * time.Hour
	// LinkIdle is the idle time of a session that begins at a link or short code.
	LinkIdle = 30 * time.Minute
)

// RecentOTP is how old an OTP may be for a consent that is given on a page.
const RecentOTP = 15 * time.Minute

// repeatFor is how long a page login with the same SessionID returns the same session, if
// its code is used up.
const repeatFor = time.Minute

// extendAfter is the least time between two extensions of a page session, so that few
// requests write.
const extendAfter = time.Minute

// PageSignIn is a sign-in on a page.
type PageSignIn struct {
	Key        ChallengeKey
	OTP        string
	Proof      Proof
	DeviceName string
	// SessionID is a new ID for the session, or empty. A form that is sent twice, or whose
	// response was lost, has the same ID, and its second login returns the first session.
	SessionID string
	// Lifetime and Idle end the session. They are at most the values of refresh tokens; Idle 0
	// means as long as possible.
	Lifetime, Idle time.Duration
}

// PageGrant is a page session with its tokens, for cookies.
type PageGrant struct {
	Session *Session
	// Token is the page token. It works neither as access token nor as refresh token.
	Token       string
	DeviceToken string
	// Ends and DeviceEnds are the remaining lifetimes of the tokens.
	Ends       time.Duration
	DeviceEnds time.Duration
}

// PageLogin checks and consumes a code and opens a session of pages. A coach's first
// login registers the coach. Errors: as Login.
func (s *Service) PageLogin(ctx context.Context, in PageSignIn) (*PageGrant, error) {
	now := s.Now()
	lifetime := min(in.Lifetime, s.Settings.RefreshLifetime)
	idle := min(lifetime, s.Settings.RefreshIdle)
	if in.Idle > 0 {
		idle = min(idle, in.Idle)
	}
	id, err := s.pageSessionID(ctx, in.SessionID)
	if err != nil {
		return nil, err
	}
	session := &Session{
		ID: id, AccountID: s.NewID(), Role: in.Key.Role, Number: in.Key.Number, DeviceName: in.DeviceName, Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(idle), EndsAt: now.Add(lifetime), PageIdle: idle,
	}
	token, err := s.Keys.Vault.PageToken(session.ID)
	if err != nil {
		return nil, err
	}
	err = s.signIn(ctx, in.Key, in.OTP, in.Proof, session, vault.HashToken(token))
	if fault.CodeOf(err) == "otp_expired" && in.SessionID != "" {
		return s.repeatPageLogin(ctx, in, err)
	}
	if err != nil {
		return nil, err
	}
	return s.pageGrant(session, token, now), nil
}

// pageSessionID returns the ID of a new session: wanted, unless a session has it. Then the
// form was sent before, and is sent again with another code.
func (s *Service) pageSessionID(ctx context.Context, wanted string) (string, error) {
	if wanted == "" {
		return s.NewID(), nil
	}
	earlier, err := s.Store.Session(ctx, wanted)
	if earlier != nil {
		wanted = s.NewID()
	}
	return wanted, err
}

// repeatPageLogin returns the session that an earlier request with the same form opened a
// moment ago, or expired.
func (s *Service) repeatPageLogin(ctx context.Context, in PageSignIn, expired error) (*PageGrant, error) {
	session, err := s.Store.Session(ctx, in.SessionID)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	if !session.pageActive(now) || session.Number != in.Key.Number || session.Role != in.Key.Role || now.Sub(session.CreatedAt) > repeatFor {
		return nil, expired
	}
	token, err := s.Keys.Vault.PageToken(session.ID)
	if err != nil {
		return nil, err
	}
	return s.pageGrant(session, token, now), nil
}

func (s *Service) pageGrant(session *Session, token string, now time.Time) *PageGrant {
	return &PageGrant{
		Session: session, Token: token, DeviceToken: s.Keys.Vault.DeviceToken(session.DeviceID),
		Ends: session.EndsAt.Sub(now), DeviceEnds: deviceLifetime,
	}
}

// PageSession returns the session with this page token, and extends its idle time at most
// once a minute. Error: session_revoked, also for a text that is not a page token.
func (s *Service) PageSession(ctx context.Context, token string) (*Session, error) {
	id, ok := s.Keys.Vault.ParsePageToken(token)
	if !ok {
		return nil, fault.SessionEnded()
	}
	now := s.Now()
	session, err := s.Store.PageSession(ctx, id, vault.HashToken(token))
	if err != nil {
		return nil, err
	}
	if !session.pageActive(now) {
		return nil, fault.SessionEnded()
	}
	if now.Sub(session.LastUsedAt) < extendAfter {
		return session, nil
	}
	idleAt := now.Add(session.PageIdle)
	if session.EndsAt.Before(idleAt) {
		idleAt = session.EndsAt
	}
	if err := s.Store.ExtendPageSession(ctx, id, now, idleAt, now.Add(-extendAfter)); err != nil {
		return nil, err
	}
	session.LastUsedAt, session.IdleAt = now, idleAt
	return session, nil
}

// pageActive reports whether s is a session of pages that has not ended at now.
func (s *Session) pageActive(now time.Time) bool {
	return s.checkActive(now) == nil && s.PageIdle > 0 && now.Before(s.IdleAt)
}

// OTPAt returns when the person entered the OTP of the session. Only a sign-in takes one.
func (s *Session) OTPAt() time.Time { return s.CreatedAt }

// HasRecentOTP reports whether the OTP of s is recent enough to give a consent.
func (s *Session) HasRecentOTP(now time.Time) bool { return now.Sub(s.OTPAt()) <= RecentOTP }

// HasRecentOTP reports whether the caller has entered the OTP of its session recently.
func (s *Service) HasRecentOTP(ctx context.Context, by actor.Actor) (bool, error) {
	session, err := s.Store.Session(ctx, by.SessionID)
	if err == nil && session == nil { // the account was deleted after the call was authenticated
		err = fault.SessionEnded()
	}
	return err == nil && session.HasRecentOTP(s.Now()), err
}
