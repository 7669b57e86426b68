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

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// The life of a token, in days, and its name, in characters.
const (
	DefaultDays = 90
	MaxDays     = 366
	MaxName     = 100
)

const (
	// secretPrefix tells people, and programs that look for leaked secrets, what
	// they have found.
	secretPrefix = "tlo_"
	secretBytes  = 32
	// usedEvery is how exact LastUsedAt is.
	usedEvery = 5 * time.Minute
)

// Token is an operator's key to the operators' listener. The secret itself is
// shown once, when it is made; what is kept is its SHA-256, which is enough
// against guessing for it has 256 bits.
type Token struct {
	ID     string
	Name   string
	Scopes []Scope

	CreatedAt time.Time
	EndsAt    time.Time
	// LastUsedAt is exact to some minutes; zero before the first use.
	LastUsedAt time.Time
	RevokedAt  time.Time
}

// Operator returns who acts with t.
func (t *Token) Operator() actor.Operator { return actor.Operator{ID: t.ID, Name: t.Name} }

// May says whether t has the scope.
func (t *Token) May(s Scope) bool { return slices.Contains(t.Scopes, s) }

// Live says whether t can be used at now.
func (t *Token) Live(now time.Time) bool { return t.RevokedAt.IsZero() && now.Before(t.EndsAt) }

// Wish is a token to make.
type Wish struct {
	Name   string
	Scopes []Scope
	// Days is how long it shall work.
	Days int
}

// check returns validation_failed with everything that is wrong with w.
func (w Wish) check() error {
	var f []fault.Field
	switch n := utf8.RuneCountInString(w.Name); {
	case strings.TrimSpace(w.Name) == "":
		f = append(f, fault.Field{Pointer: "/name", Code: "required", Detail: "Name what will use the token."})
	case n > MaxName || !utf8.ValidString(w.Name) || strings.ContainsFunc(w.Name, confuses):
		f = append(f, fault.Field{Pointer: "/name", Code: "invalid_value", Detail: fmt.Sprintf("A name has 1 to %d characters, in one line.", MaxName)})
	case strings.HasPrefix(w.Name, Shell("")):
		f = append(f, fault.Field{Pointer: "/name", Code: "invalid_value", Detail: "Names that begin so are those of shells."})
	}
	if len(w.Scopes) == 0 {
		f = append(f, fault.Field{Pointer: "/scopes", Code: "required", Detail: "Name at least one scope: " + list(Scopes) + "."})
	}
	for _, s := range w.Scopes {
		if !s.Valid() {
			f = append(f, fault.Field{Pointer: "/scopes", Code: "invalid_value", Detail: fmt.Sprintf("There is no scope %q; there are %s.", string(s), list(Scopes))})
		}
	}
	if w.Days < 1 || w.Days > MaxDays {
		f = append(f, fault.Field{Pointer: "/days", Code: "invalid_value", Detail: fmt.Sprintf("A token works for 1 to %d days.", MaxDays)})
	}
	return fault.Validation(f)
}

// confuses says whether r would break or turn round the line in which a name is shown.
func confuses(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

func list(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// newSecret draws the secret of a token.
func newSecret(random io.Reader) (string, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("draw an operator's token: %w", err)
	}
	return secretPrefix + base64.RawURLEncoding.EncodeToString(raw), nil
}

// hash is what is kept of a secret.
func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Shell is the name of whoever acts in a shell as user.
func Shell(user string) string { return "shell:" + user }
