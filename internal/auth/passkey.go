package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

const (
	// PasskeyValidity is how long a challenge for a passkey can be answered.
	PasskeyValidity = 5 * time.Minute
	// maxPasskeys is how many passkeys an account has at most.
	maxPasskeys = 20
	// passkeyChallengesPerHour is how many sign-ins an address may begin. Each page of the sign-in begins one, and many
	// people of a mobile network have one address.
	passkeyChallengesPerHour = 1000
)

// Passkey is a passkey of an account. It signs in as this account without a code.
type Passkey struct {
	ID        string
	AccountID string
	Name      string
	CreatedAt time.Time
	// LastUsedAt is zero until it signs in.
	LastUsedAt time.Time

	credential webauthn.Credential
}

// CredentialID returns the id under which devices know the passkey.
func (p *Passkey) CredentialID() string { return base64.RawURLEncoding.EncodeToString(p.credential.ID) }

// ErrUnknownPasskey is the cause of passkey_invalid for a passkey that no account has, such as a removed one.
var ErrUnknownPasskey = errors.New("unknown passkey")

// Passkeys registers passkeys and signs in with them.
type Passkeys struct {
	Auth *Service
	// RelyingParty is nil if the address of the service cannot have passkeys.
	RelyingParty *webauthn.WebAuthn
	// Apps are the native apps that may use them.
	Apps []PasskeyApp
}

// NewRelyingParty returns what browsers know of the service at a URL, or nil if the host of the URL is an
// IP address, for which browsers refuse passkeys. Loopback addresses become localhost.
func NewRelyingParty(publicURL, name string, access PasskeyAccess) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return nil, err
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		if !ip.IsLoopback() {
			return nil, nil
		}
		u.Host = strings.Replace(u.Host, strings.TrimSuffix(u.Host, ":"+u.Port()), "localhost", 1)
	}
	return webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: name, RPOrigins: access.origins(u),
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		// Some password managers return more than was asked for.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
}

// Domain returns the domain of the passkeys, or "" if there are none.
func (s *Passkeys) Domain() string {
	if s == nil || s.RelyingParty == nil {
		return ""
	}
	return s.RelyingParty.Config.RPID
}

func (s *Passkeys) check() error {
	if s.Domain() == "" {
		return fault.Missing()
	}
	return nil
}

// PasskeyChallenge is a challenge that a passkey answers once.
type PasskeyChallenge struct {
	ID string
	// Options are the options for navigator.credentials in a browser, as WebAuthn writes them in JSON.
	Options any
}

// passkeyUser is an account as package webauthn knows it.
type passkeyUser struct {
	accountID, name string
	credentials     []webauthn.Credential
}

func (u passkeyUser) WebAuthnID() []byte                         { return []byte(u.accountID) }
func (u passkeyUser) WebAuthnName() string                       { return u.name }
func (u passkeyUser) WebAuthnDisplayName() string                { return u.name }
func (u passkeyUser) WebAuthnCredentials() []webauthn.Credential { return u.credentials }

// BeginRegistration returns the challenge for a new passkey of the caller. label is the account in the
// list of passkeys on the device. Errors: fresh_otp_required, passkey_limit.
func (s *Passkeys) BeginRegistration(ctx context.Context, by actor.Actor, label string) (PasskeyChallenge, error) {
	if err := s.checkRegistration(ctx, by); err != nil {
		return PasskeyChallenge{}, err
	}
	known, err := s.Auth.Store.Passkeys(ctx, by.AccountID, "", maxPasskeys)
	if err != nil {
		return PasskeyChallenge{}, err
	}
	if len(known) >= maxPasskeys {
		return PasskeyChallenge{}, errPasskeyLimit()
	}
	user := passkeyUser{accountID: by.AccountID, name: label}
	var exclude []protocol.CredentialDescriptor
	for _, p := range known {
		exclude = append(exclude, p.credential.Descriptor())
	}
	options, session, err := s.RelyingParty.BeginRegistration(user, webauthn.WithExclusions(exclude))
	if err != nil {
		return PasskeyChallenge{}, fmt.Errorf("begin registration of a passkey: %w", err)
	}
	id := s.Auth.NewID()
	return PasskeyChallenge{id, options.Response}, s.Auth.Store.AddPasskeyChallenge(ctx, id, by.AccountID, *session, nil)
}

// Register adds the passkey that answers a challenge of BeginRegistration. Errors: fresh_otp_required,
// passkey_expired, passkey_invalid, passkey_limit.
func (s *Passkeys) Register(ctx context.Context, by actor.Actor, challengeID, name string, answer []byte) (*Passkey, error) {
	if err := s.checkRegistration(ctx, by); err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		s.Auth.Store.event(ctx, "passkey_refused", account(by.AccountID), session(by.SessionID), passkeyReason(err))
		return nil, errPasskeyInvalid(err)
	}
	p := &Passkey{ID: s.Auth.NewID(), AccountID: by.AccountID, Name: name, CreatedAt: s.Auth.Now()}
	return p, s.Auth.Store.AddPasskey(ctx, by, challengeID, p, func(session webauthn.SessionData) (*webauthn.Credential, error) {
		return s.RelyingParty.CreateCredential(passkeyUser{accountID: by.AccountID}, session, parsed)
	})
}

func (s *Passkeys) checkRegistration(ctx context.Context, by actor.Actor) error {
	if err := s.check(); err != nil {
		return err
	}
	recent, err := s.Auth.HasRecentOTP(ctx, by)
	if err == nil && !recent {
		err = fault.New(fault.Forbidden, "fresh_otp_required", "Sign in again, with an OTP or a passkey. Then add the passkey within 15 minutes.")
	}
	return err
}

// List returns the passkeys of the caller, newest first, starting after the passkey with the ID after.
func (s *Passkeys) List(ctx context.Context, by actor.Actor, after string, limit int) ([]*Passkey, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Auth.Store.Passkeys(ctx, by.AccountID, after, limit)
}

// Passkey returns a passkey of the caller.
func (s *Passkeys) Passkey(ctx context.Context, by actor.Actor, id string) (*Passkey, error) {
	p, err := s.Auth.Store.Passkey(ctx, by.AccountID, id)
	if err == nil && p == nil {
		err = fault.Missing()
	}
	return p, err
}

// Remove removes a passkey of the caller. Sessions that it opened stay.
func (s *Passkeys) Remove(ctx context.Context, by actor.Actor, id string) error {
	removed, err := s.Auth.Store.RemovePasskey(ctx, by, id)
	if err == nil && !removed {
		err = fault.Missing()
	}
	return err
}

// BeginSignIn returns the challenge for a sign-in from a network address. It is the same for everyone: the
// browser finds the account. Error: rate_limited.
func (s *Passkeys) BeginSignIn(ctx context.Context, address string) (PasskeyChallenge, error) {
	if err := s.check(); err != nil {
		return PasskeyChallenge{}, err
	}
	options, session, err := s.RelyingParty.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return PasskeyChallenge{}, fmt.Errorf("begin sign-in with a passkey: %w", err)
	}
	id := s.Auth.NewID()
	limits := []Limit{{Name: "passkey_sign_ins_per_address_hour", Key: "passkey/" + address, Max: passkeyChallengesPerHour, Per: time.Hour}}
	err = s.Auth.Store.AddPasskeyChallenge(ctx, id, "", *session, limits)
	if exceeded, ok := errors.AsType[LimitExceeded](err); ok {
		err = fault.New(fault.TooMany, "rate_limited", "Too many sign-ins with a passkey begin from this network address.").After(exceeded.Wait)
	}
	return PasskeyChallenge{id, options.Response}, err
}

// PasskeySignIn is the answer to a challenge of BeginSignIn.
type PasskeySignIn struct {
	ChallengeID string
	Answer      []byte
	Proof       Proof
	DeviceName  string
}

// SignIn opens a session of the account of a passkey. Errors: passkey_expired, passkey_invalid,
// account_suspended.
func (s *Passkeys) SignIn(ctx context.Context, in PasskeySignIn) (*Grant, error) {
	now, set := s.Auth.Now(), s.Auth.Settings
	session := &Session{
		ID: s.Auth.NewID(), DeviceName: in.DeviceName, Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(set.RefreshIdle), EndsAt: now.Add(set.RefreshLifetime),
	}
	refresh, err := s.Auth.Keys.Vault.NewRefreshToken(session.ID, session.Generation)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx, in, session, vault.HashToken(refresh)); err != nil {
		return nil, err
	}
	session.FilledFields, err = s.Auth.Store.DB.FilledFields(ctx, session.AccountID)
	if err != nil {
		return nil, err
	}
	return s.Auth.grant(session, refresh, now)
}

// SignInToPages opens a session of pages of the account of a passkey. Errors: as SignIn.
func (s *Passkeys) SignInToPages(ctx context.Context, in PasskeySignIn, lifetime time.Duration) (*PageGrant, error) {
	now := s.Auth.Now()
	lifetime = min(lifetime, s.Auth.Settings.RefreshLifetime)
	idle := min(lifetime, s.Auth.Settings.RefreshIdle)
	session := &Session{
		ID: s.Auth.NewID(), DeviceName: in.DeviceName, Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(idle), EndsAt: now.Add(lifetime), PageIdle: idle,
	}
	token, err := s.Auth.Keys.Vault.PageToken(session.ID)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx, in, session, vault.HashToken(token)); err != nil {
		return nil, err
	}
	return s.Auth.pageGrant(session, token, now), nil
}

// open checks the answer and opens the session, whose refresh token or page token has this hash.
func (s *Passkeys) open(ctx context.Context, in PasskeySignIn, session *Session, tokenHash []byte) error {
	if err := s.check(); err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(in.Answer)
	if err != nil {
		return errPasskeyInvalid(err)
	}
	number, err := s.Auth.Store.PasskeyNumber(ctx, parsed.RawID)
	if err != nil {
		return err
	}
	device, err := s.device(ctx, in.Proof, number, session.CreatedAt)
	if err != nil {
		return err
	}
	session.DeviceID, session.Number, session.Passkey = device, number, true
	hash := vault.HashToken(s.Auth.Keys.Vault.DeviceToken(device))
	verify := func(challenge webauthn.SessionData, p *Passkey) (*webauthn.Credential, error) {
		if len(parsed.Response.UserHandle) == 0 { // Android leaves it out for a passkey of another phone; the credential's id names the account, too
			parsed.Response.UserHandle = []byte(p.AccountID)
		}
		user := func(_, _ []byte) (webauthn.User, error) {
			return passkeyUser{accountID: p.AccountID, credentials: []webauthn.Credential{p.credentialFor(parsed.Response.AuthenticatorData)}}, nil
		}
		_, used, err := s.RelyingParty.ValidatePasskeyLogin(user, challenge, parsed)
		return used, err
	}
	return s.Auth.Store.SignInByPasskey(ctx, in.ChallengeID, parsed.RawID, &SignIn{
		Session: session, RefreshHash: tokenHash,
		DeviceHash: hash, DeviceEnds: session.CreatedAt.Add(deviceLifetime), OtherDevices: in.Proof.otherDevices(hash),
	}, verify)
}

// device returns the device of a number that one of the tokens proves, or a new one.
func (s *Passkeys) device(ctx context.Context, p Proof, number phone.Number, now time.Time) (string, error) {
	for _, token := range append([]string{p.DeviceToken}, p.OtherTokens...) {
		if token == "" {
			continue
		}
		if id, err := s.Auth.Store.Device(ctx, vault.HashToken(token), number, now); err != nil || id != "" {
			return id, err
		}
	}
	return s.Auth.NewID(), nil
}

// PasskeyLabel returns how a list of passkeys names an account: the role in words, and the end of the number.
func PasskeyLabel(role string, n phone.Number) string { return role + " " + n.Ending() }

func errPasskeyInvalid(err error) *fault.Error {
	return fault.New(fault.Invalid, "passkey_invalid", "This passkey could not be checked. Use another one, or sign in with an OTP.").Because(err)
}

func errPasskeyExpired() *fault.Error {
	return fault.New(fault.Gone, "passkey_expired", "This challenge has expired or was answered already. Begin again.")
}

func errPasskeyLimit() *fault.Error {
	return fault.New(fault.Conflict, "passkey_limit", "An account has at most %d passkeys. Remove one first.", maxPasskeys)
}

func passkey(id string) slog.Attr { return slog.String("passkey_id", id) }

// passkeyReason says for the log why an answer was refused. The library keeps the values apart from its text: the origin or domain that the
// answer names, which is that of a program. Its challenge is left out.
func passkeyReason(err error) slog.Attr {
	reason := err.Error()
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		reason = e.Details
		if strings.Contains(e.Details, "origin") || strings.Contains(e.Details, "RP Hash") {
			reason += ": " + e.DevInfo
		}
	}
	return slog.String("reason", strings.ToValidUTF8(reason[:min(len(reason), 500)], ""))
}
