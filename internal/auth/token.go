package auth

import (
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Audience is the aud claim of every access token.
const Audience = "touchline"

// ClientID is the client_id claim of every access token (RFC 9068, section 2.2): the pages and apps
// of this service.
const ClientID = "touchline"

// Claims are the claims of a valid access token. They do not show whether its session
// is still active.
type Claims struct {
	AccountID  string
	SessionID  string
	Role       actor.Role
	Generation int64
	ExpiresAt  time.Time
}

// Tokens issues and verifies access tokens: JWTs (RFC 7519, 8725) of the type at+jwt
// (RFC 9068), signed with ES256. It is safe for concurrent use.
type Tokens struct {
	keys     *Keys
	issuer   string
	lifetime time.Duration
	now      func() time.Time
	parser   *jwt.Parser
	verified *lru.Cache[[32]byte, Claims] // by SHA-256 of the token
}

// NewTokens returns Tokens with the issuer, an absolute URL. Tokens of another issuer
// are not valid.
func NewTokens(keys *Keys, issuer string, lifetime time.Duration, now func() time.Time) *Tokens {
	return newTokens(keys, issuer, lifetime, now, jwt.WithIssuer(issuer))
}

// NewTokensWithoutURL is NewTokens for a service without a configured URL. Each replica
// then has the address of its listener as issuer, and accepts the tokens of the others:
// only a holder of the master key can sign them.
func NewTokensWithoutURL(keys *Keys, issuer string, lifetime time.Duration, now func() time.Time) *Tokens {
	return newTokens(keys, issuer, lifetime, now)
}

func newTokens(keys *Keys, issuer string, lifetime time.Duration, now func() time.Time, options ...jwt.ParserOption) *Tokens {
	verified, _ := lru.New[[32]byte, Claims](cacheSize) // fails only for a size below 1
	options = append(options,
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(Audience),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(now), jwt.WithStrictDecoding())
	return &Tokens{keys: keys, issuer: issuer, lifetime: lifetime, now: now, verified: verified, parser: jwt.NewParser(options...)}
}

const (
	tokenType = "at+jwt"
	// maxToken is several times the length, in bytes, of an access token.
	maxToken = 2048
	// cacheSize is the number of verified tokens to remember: about 2 MB.
	cacheSize = 8192
)

type accessClaims struct {
	jwt.RegisteredClaims
	ClientID  string     `json:"client_id"`
	SessionID string     `json:"sid"`
	Role      actor.Role `json:"role"`
}

// Access returns an access token for the current generation of s.
func (t *Tokens) Access(s *Session) (string, error) {
	key, now := t.keys.signer(), t.now()
	ends := now.Add(t.lifetime)
	if !s.EndsAt.IsZero() && s.EndsAt.Before(ends) {
		ends = s.EndsAt
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, accessClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: t.issuer, Audience: jwt.ClaimStrings{Audience}, Subject: s.AccountID, ID: tokenID(s.ID, s.Generation),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(ends),
		},
		ClientID: ClientID, SessionID: s.ID, Role: s.Role,
	})
	token.Header["typ"], token.Header["kid"] = tokenType, key.id
	signed, err := token.SignedString(key.private)
	return signed, fault.Wrap(err, "sign access token")
}

// tokenID returns the jti of an access token: its session and generation.
func tokenID(sessionID string, generation int64) string {
	return sessionID + "." + strconv.FormatInt(generation, 10)
}

// Verify checks a token without its session. It caches valid tokens, because checking a
// signature takes 100 µs. Errors: token_invalid, token_expired.
func (t *Tokens) Verify(token string) (Claims, error) {
	var text [maxToken]byte // on the stack: every request runs this
	if len(token) > len(text) {
		return Claims{}, errToken("token_invalid", "This is not an access token of this service.")
	}
	sum := sha256.Sum256(text[:copy(text[:], token)])
	if c, ok := t.verified.Get(sum); ok {
		if !t.now().Before(c.ExpiresAt) {
			return Claims{}, errExpired()
		}
		return c, nil
	}
	var claims accessClaims
	_, err := t.parser.ParseWithClaims(token, &claims, t.key)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired) && !errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return Claims{}, errExpired()
	case fault.KindOf(err) == fault.Unavailable:
		return Claims{}, err
	case err != nil:
		return Claims{}, errToken("token_invalid", "This is not a valid access token.").Because(err)
	}
	sid, generation, ok := strings.Cut(claims.ID, ".")
	n, err := strconv.ParseInt(generation, 10, 64)
	if !ok || err != nil || sid != claims.SessionID || !claims.Role.Valid() || claims.Subject == "" {
		return Claims{}, errToken("token_invalid", "This is not a valid access token.")
	}
	c := Claims{claims.Subject, claims.SessionID, claims.Role, n, claims.ExpiresAt.Time}
	t.verified.Add(sum, c)
	return c, nil
}

// key returns the key that a token names. It refuses other types of tokens, which the
// same keys might sign in future (RFC 8725, section 3.11).
func (t *Tokens) key(token *jwt.Token) (any, error) {
	if strings.ContainsAny(token.Raw, "\r\n") {
		return nil, errors.New("the token contains line breaks")
	}
	if typ, _ := token.Header["typ"].(string); !strings.EqualFold(typ, tokenType) {
		return nil, errors.New("the token type is not at+jwt")
	}
	kid, _ := token.Header["kid"].(string)
	key, err := t.keys.publicKey(kid)
	if err == nil && key == nil {
		err = errors.New("the key ID is unknown")
	}
	return key, err
}

func errExpired() error {
	return errToken("token_expired", "The access token has expired.")
}

// errToken ends the detail with what the client should do.
func errToken(code, what string) *fault.Error {
	return fault.New(fault.Unauthenticated, code, "%s Refresh it. If that does not help, sign in again.", what)
}
