package identity

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Identity is what a provider says about a person. Only Adult, Assurance and a hash of Issuer and Subject are kept.
type Identity struct {
	Issuer, Subject string
	// Name is compared with the name that the coach entered.
	Name  string
	Adult bool
	// Assurance is the level or framework that the provider names, or "".
	Assurance string
}

// Failure is why a person is not proved to be an adult.
type Failure string

// The failures.
const (
	// Cancelled: the person went back or refused at the provider.
	Cancelled Failure = "cancelled"
	// Away: the provider did not respond, or not as its protocol says.
	Away Failure = "away"
	// Untrusted: the provider's answer failed a check: signature, issuer, audience, nonce, time or hash of the token.
	Untrusted Failure = "untrusted"
	// NoAge: the provider does not say how old the person is.
	NoAge Failure = "no_age"
	// WrongDate: the birth date is in the future or longer ago than a person lives.
	WrongDate Failure = "wrong_date"
	// Minor: the person is under 18.
	Minor Failure = "minor"
	// OtherBrowser: an app began, and the answer came in a browser that did not open its address.
	OtherBrowser Failure = "other_browser"
)

// Error is a Failure with its cause, which is for the log of operators.
type Error struct {
	Failure Failure
	cause   error
}

func (e *Error) Error() string {
	if e.cause == nil {
		return string(e.Failure)
	}
	return string(e.Failure) + ": " + e.cause.Error()
}

func (e *Error) Unwrap() error { return e.cause }

// NewError returns an Error.
func NewError(f Failure, cause error) error { return &Error{f, cause} }

func failed(f Failure, cause error) error { return NewError(f, cause) }

// FailureOf returns the failure of an error, Away for any other error.
func FailureOf(err error) Failure {
	if e, ok := err.(*Error); ok {
		return e.Failure
	}
	return Away
}

const (
	adultAge = 18
	// oldestAge is above the age of every person.
	oldestAge = 115
)

// claimSet are the claims of a token or of a userinfo response.
type claimSet map[string]json.RawMessage

func parseClaims(raw []byte) (c claimSet, err error) { return c, json.Unmarshal(raw, &c) }

func (c claimSet) text(name string) string {
	var s string
	_ = json.Unmarshal(c[name], &s)
	return s
}

// verified returns the first verified_claims (OpenID Connect for Identity Assurance) and their verification.
func (c claimSet) verified() (claims, verification claimSet) {
	type element struct {
		Verification claimSet `json:"verification"`
		Claims       claimSet `json:"claims"`
	}
	var one element
	var many []element
	raw := c[verifiedClaims]
	switch {
	case json.Unmarshal(raw, &many) == nil && len(many) > 0:
		one = many[0]
	case json.Unmarshal(raw, &one) != nil:
		return nil, nil
	}
	if one.Verification.text("trust_framework") == "" { // it verifies nothing
		return nil, nil
	}
	return one.Claims, one.Verification
}

// adult reports whether the claims say that the person is an adult. The claim is Provider.Adult. It returns a Failure if they
// say nothing, or something impossible.
func (c claimSet) adult(claim string, now time.Time) (adult bool, err error) {
	if claim == verifiedClaims {
		claims, _ := c.verified()
		if claims[birthDate] != nil {
			return claims.adult(birthDate, now)
		}
		return claims.adult("age_over_18", now)
	}
	if claim != birthDate {
		if c[claim] == nil || json.Unmarshal(c[claim], &adult) != nil {
			return false, failed(NoAge, nil)
		}
		return adult, nil
	}
	return bornAdult(c.text(birthDate), now)
}

// bornAdult reports whether a person born on a date is an adult on the UTC date of now. A year alone counts from its last day.
func bornAdult(text string, now time.Time) (bool, error) {
	if year, err := strconv.Atoi(text); err == nil && len(text) == 4 && year > 0 {
		text = strconv.Itoa(year) + "-12-31"
		if year == now.UTC().Year() {
			return false, nil
		}
	}
	born, err := time.Parse(time.DateOnly, text)
	if err != nil || strings.HasPrefix(text, "0000") { // without the year: OpenID Connect Core, section 5.1
		return false, failed(NoAge, nil)
	}
	today := now.UTC().Truncate(24 * time.Hour)
	if born.After(today) || born.AddDate(oldestAge, 0, 0).Before(today) {
		return false, failed(WrongDate, nil)
	}
	return !born.AddDate(adultAge, 0, 0).After(today), nil
}

// name returns the name of the person.
func (c claimSet) name() string {
	if claims, _ := c.verified(); claims != nil {
		if name := claims.name(); name != "" {
			return name
		}
	}
	if name := c.text("name"); name != "" {
		return name
	}
	return strings.TrimSpace(c.text("given_name") + " " + c.text("family_name"))
}

// maxAssurance limits the kept text, in characters.
const maxAssurance = 64

// assurance returns what the provider says about how well it knows the person.
func (c claimSet) assurance() string {
	_, v := c.verified()
	text := strings.TrimSpace(v.text("trust_framework") + " " + v.text("assurance_level"))
	if text == "" {
		text = c.text("acr")
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	if utf8.RuneCountInString(text) > maxAssurance {
		text = string([]rune(text)[:maxAssurance])
	}
	return text
}
