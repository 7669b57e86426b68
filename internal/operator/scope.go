package operator

import "slices"

// Scope is a permission of a token.
type Scope string

// The scopes. None of them gives access to consent.
const (
	// KYC reads submissions with their documents, and decides them.
	KYC Scope = "kyc"
	// Coaches finds coaches, sets their tier, suspends and restores them.
	Coaches Scope = "coaches"
	// Disputes finds and lifts disputes.
	Disputes Scope = "disputes"
	// Deliveries lists messages that failed and sends them again.
	Deliveries Scope = "deliveries"
	// Introspect checks access and refresh tokens of accounts, and revokes their
	// sessions (RFC 7662, 7009).
	Introspect Scope = "introspect"
	// AvailabilityScope reads which services the parties of players have, and the feed of
	// changes, for other services.
	AvailabilityScope Scope = "availability"
	// Safeguarding reads what a coach and a family wrote to each other, with a reason.
	Safeguarding Scope = "safeguarding"
	// AvailabilityByNumber reads the same of the players that name a number.
	AvailabilityByNumber Scope = "availability_by_number"
	// Webhooks manages the webhooks, which send every change to other services.
	Webhooks Scope = "webhooks"
	// Metrics reads figures without personal data.
	Metrics Scope = "metrics"
	// Profiles reads profiles of the process.
	Profiles Scope = "profiles"
	// Audit reads the audit log.
	Audit Scope = "audit"
)

// Scopes lists every scope, in the order of responses.
var Scopes = []Scope{KYC, Coaches, Disputes, Deliveries, Introspect, AvailabilityScope, AvailabilityByNumber, Safeguarding, Webhooks, Metrics, Profiles, Audit}

// Valid reports whether s is one of Scopes.
func (s Scope) Valid() bool { return slices.Contains(Scopes, s) }

// sorted returns scopes in the order of Scopes, without duplicates.
func sorted(scopes []Scope) []Scope {
	var out []Scope
	for _, s := range Scopes {
		if slices.Contains(scopes, s) {
			out = append(out, s)
		}
	}
	return out
}
