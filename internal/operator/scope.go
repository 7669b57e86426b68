package operator

import "slices"

// Scope is one thing that a token may be used for.
type Scope string

// The scopes. None of them reaches consent.
const (
	// KYC reads submissions with their documents, and decides them.
	KYC Scope = "kyc"
	// Coaches finds coaches, sets their tier, suspends and restores them.
	Coaches Scope = "coaches"
	// Introspect asks about people's tokens and ends their sessions (RFC 7662, 7009).
	Introspect Scope = "introspect"
	// Metrics reads figures without personal data.
	Metrics Scope = "metrics"
	// Audit reads what operators did.
	Audit Scope = "audit"
)

// Scopes lists every scope, in the order in which answers name them.
var Scopes = []Scope{KYC, Coaches, Introspect, Metrics, Audit}

// Valid says whether s is one of Scopes.
func (s Scope) Valid() bool { return slices.Contains(Scopes, s) }

// inOrder returns each of scopes once, in the order of Scopes.
func inOrder(scopes []Scope) []Scope {
	var out []Scope
	for _, s := range Scopes {
		if slices.Contains(scopes, s) {
			out = append(out, s)
		}
	}
	return out
}
