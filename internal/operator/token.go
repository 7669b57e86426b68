package operator

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Limits of a token: lifetime in days, name in characters.
const (
	DefaultDays = 90
	MaxDays     = 366
	MaxName     = 100
)

const (
	// tokenPrefix and sessionPrefix identify leaked secrets to people and to secret
	// scanners.
	tokenPrefix   = "tlo_"
	sessionPrefix = "tlos_"
	secretBytes   = 32
	// lastUsedPrecision limits the writes of LastUsedAt.
	lastUsedPrecision = 5 * time.Minute
)

// Token gives an operator access to the admin listener. Its secret is shown once,
// on creation. The store has its SHA-256; the secret has 256 random bits, so it
// needs no slow hash.
type Token struct {
	ID     string
	Name   string
	Scopes []Scope

	CreatedAt time.Time
	EndsAt    time.Time
	// LastUsedAt is exact to 5 minutes; zero before the first use.
	LastUsedAt time.Time
	RevokedAt  time.Time
}

// Operator returns the operator that t identifies.
func (t *Token) Operator() actor.Operator { return actor.Operator{ID: t.ID, Name: t.Name} }

// HasScope reports whether t has the scope.
func (t *Token) HasScope(s Scope) bool { return slices.Contains(t.Scopes, s) }

// Valid reports whether t is neither expired nor revoked at now.
func (t *Token) Valid(now time.Time) bool { return t.RevokedAt.IsZero() && now.Before(t.EndsAt) }

// TokenRequest is the input of Service.Create.
type TokenRequest struct {
	Name   string
	Scopes []Scope
	// Days is the lifetime.
	Days int
}

// validate returns validation_failed with every fault of r.
func (r TokenRequest) validate() error {
	var f []fault.Field
	switch n := utf8.RuneCountInString(r.Name); {
	case n > MaxName || !utf8.ValidString(r.Name) || strings.ContainsFunc(r.Name, Misleading):
		f = append(f, fault.Field{Pointer: "/name", Code: "invalid_value", Detail: fmt.Sprintf("A name has 1 to %d characters, in one line.", MaxName)})
	case !strings.ContainsFunc(r.Name, visible):
		f = append(f, fault.Field{Pointer: "/name", Code: "required", Detail: "Name the program or person that will use the token."})
	case strings.HasPrefix(strings.ToLower(strings.Map(withoutFormat, r.Name)), ShellName("")):
		f = append(f, fault.Field{Pointer: "/name", Code: "invalid_value", Detail: "A name must not begin with shell:."})
	}
	if len(r.Scopes) == 0 {
		f = append(f, fault.Field{Pointer: "/scopes", Code: "required", Detail: "Name at least one scope: " + list(Scopes) + "."})
	}
	for _, s := range r.Scopes {
		if !s.Valid() {
			f = append(f, fault.Field{Pointer: "/scopes", Code: "invalid_value", Detail: fmt.Sprintf("There is no scope %q; there are %s.", string(s), list(Scopes))})
		}
	}
	if r.Days < 1 || r.Days > MaxDays {
		f = append(f, fault.Field{Pointer: "/days", Code: "invalid_value", Detail: fmt.Sprintf("A token works for 1 to %d days.", MaxDays)})
	}
	return fault.Validation(f)
}

// Misleading reports whether c breaks a line or changes the writing direction, so
// that a name could look like another one.
func Misleading(c rune) bool {
	return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || unicode.Is(unicode.Bidi_Control, c)
}

// visible reports whether c is a letter or a number that shows something.
func visible(c rune) bool {
	return unicode.In(c, unicode.L, unicode.N) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c)
}

// withoutFormat drops format characters, such as the joiners of Devanagari, which show nothing.
func withoutFormat(c rune) rune {
	if unicode.Is(unicode.Cf, c) {
		return -1
	}
	return c
}

func list(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// newSecret returns a random secret that begins with prefix.
func newSecret(random io.Reader, prefix string) (string, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("generate operator secret: %w", err)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(raw), nil
}

// hash returns the hash of a secret, which the store saves in place of the secret.
func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// ShellName is the operator name in the audit log for commands that a user runs in
// a shell.
func ShellName(user string) string { return "shell:" + user }
