package coach

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// MaxSuspension is how long the reason of a suspension may be, in characters.
const MaxSuspensionReason = 500

// Account is a coach as operators find them. What a coach's players are is nobody's
// matter here.
type Account struct {
	ID              string
	Number          phone.Number
	Name            string
	Tier            string // as it is kept, "" for the first one
	KYC             KYCState
	CreatedAt       time.Time
	SuspendedAt     time.Time // zero while it is not
	SuspendedReason string
}

// Search is what operators look for: one of its first three.
type AccountSearch struct {
	Number phone.Number
	ID     string
	// Name is how a name begins, whatever the case.
	Name string
	// After is where the page before ended, for names.
	After AccountCursor
}

// FoundAt is a place in the order of names.
type AccountCursor struct {
	Name []byte
	ID   string
}

// Found is one coach that a search met, and its place.
type AccountMatch struct {
	Account
	Cursor AccountCursor
}

// OversightStore is what oversight needs kept; package store provides it. Each
// writes by's entry of the audit log in its transaction.
type AccountAdminStore interface {
	FindCoaches(ctx context.Context, by actor.Operator, s AccountSearch, limit int) ([]AccountMatch, error)
	// ReadCoach returns the account and the profile; not_found where there is none.
	ReadCoach(ctx context.Context, by actor.Operator, id string) (Account, Profile, error)
	// Suspend lets judge say whether the account may be suspended, then ends its
	// sessions and its listing.
	Suspend(ctx context.Context, by actor.Operator, id, reason string, judge func(Account) error) error
	Restore(ctx context.Context, by actor.Operator, id string, judge func(Account) error) error
}

// Oversight is what operators do about coaches' accounts. None of it reaches their
// players: guardians and students keep their say whatever becomes of a coach.
type AccountAdmin struct {
	Store AccountAdminStore
}

// Find returns up to limit coaches, by name; that was looked for them is recorded.
func (o *AccountAdmin) Find(ctx context.Context, by actor.Operator, s AccountSearch, limit int) ([]AccountMatch, error) {
	return o.Store.FindCoaches(ctx, by, s, limit)
}

// Read returns one coach; that they were read is recorded.
func (o *AccountAdmin) Read(ctx context.Context, by actor.Operator, id string) (Account, Profile, error) {
	return o.Store.ReadCoach(ctx, by, id)
}

// Suspend ends every session of a coach at once, and lets nobody sign in to the
// account. Listing goes; players, requests and notifications stay.
func (o *AccountAdmin) Suspend(ctx context.Context, by actor.Operator, id, reason string) error {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxSuspensionReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return fault.Validation([]fault.Field{{
			Pointer: "/reason", Code: "invalid_value", Detail: fmt.Sprintf("Say in 1 to %d characters why; operators read it.", MaxSuspensionReason),
		}})
	}
	return o.Store.Suspend(ctx, by, id, reason, func(a Account) error { return a.checkAction("suspend") })
}

// Restore lets a suspended coach sign in again, and lists them as before.
func (o *AccountAdmin) Restore(ctx context.Context, by actor.Operator, id string) error {
	return o.Store.Restore(ctx, by, id, func(a Account) error { return a.checkAction("restore") })
}

// State is active or suspended.
func (a Account) State() string {
	if a.SuspendedAt.IsZero() {
		return "active"
	}
	return "suspended"
}

// may refuses what is not possible from where the account stands.
func (a Account) checkAction(what string) error {
	allowed := map[string]string{"active": "suspend", "suspended": "restore"}[a.State()]
	if what == allowed {
		return nil
	}
	return fault.New(fault.Conflict, "invalid_transition", "This account is %s already.", a.State()).
		With("state", a.State()).With("allowed", []string{allowed})
}
