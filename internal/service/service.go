// Package service lists the services that package server makes once and passes to the
// listeners and the shell. Package public has the rest of the list. The list is in two
// packages because operators cannot change consents: what package admin gets must not
// depend on approval.
package service

import (
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/vault"
)

// Common are the services of both listeners and of the shell.
type Common struct {
	Subscriptions *coach.Subscriptions
	Phones        phone.Parser
}

// HTTP are the services of both listeners.
type HTTP struct {
	// NewSpool creates a temporary file for an upload.
	NewSpool func() (upload.Spool, error)
	Streams  *notice.Streams
	// Idempotency keeps the responses to requests with an Idempotency-Key.
	Idempotency *idempotency.Service
}

// Shell are the services of the commands of touchline admin.
type Shell struct {
	Common
	Tokens     *operator.Service
	Accounts   *coach.AccountAdmin
	Deliveries *outbox.Store
	Mail       *outbox.Store
}

// Operators are the services of the operators' listener.
type Operators struct {
	Shell
	HTTP
	Inspector *auth.Introspector
	// Vault encrypts the cursors of lists.
	Vault *vault.Vault
}
