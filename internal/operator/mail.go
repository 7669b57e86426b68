package operator

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
)

// MailStore changes which addresses get mail; package store implements it.
type MailStore interface {
	// AllowAddressForOperator ends a stop of mail to an address and adds an audit entry with the
	// reason, which does not name the address. It returns not_found if mail was not stopped.
	AllowAddressForOperator(ctx context.Context, by actor.Operator, address, reason string) error
}
