package coach

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// MaxSuspensionReason bounds the reason of a suspension, in characters.
const MaxSuspensionReason = 500

// DeviceApproval is an approval that a party gave on a device that had signed in as the coach. It
// stands; an operator looks whether the coach answered for the family.
type DeviceApproval struct {
	PlayerID string
	Party    actor.Role
	At       time.Time
}

// Account is a coach's account as operators see it. It contains nothing about players.
type Account struct {
	ID              string
	Number          phone.Number
	Name            string
	Tier            string // the stored name, "" for the first tier
	KYC             KYCState
	CreatedAt       time.Time
	SuspendedAt     time.Time // zero if not suspended
	SuspendedReason string
}

// AccountSearch searches by at most one of Number, ID and Name. Without any it lists all
// coaches, the newest first.
type AccountSearch struct {
	Number phone.Number
	ID     string
	// Name is a prefix; case does not matter. A name without letters matches no coach.
	Name string
	// After is the cursor of the previous page, for a search by name and for the list.
	After AccountCursor
}

// AccountCursor is a position in the order of names, or without Name in the order of the list.
type AccountCursor struct {
	Name []byte
	ID   string
}

// AccountMatch is one search result and its cursor.
type AccountMatch struct {
	Account
	Cursor AccountCursor
}

// AccountAdmin lets operators manage coach accounts. It never changes players:
// guardians and students can still respond while their coach is suspended.
type AccountAdmin struct {
	Store Store
	// DeviceApprovals returns the newest approvals that were given on a device of the coach, the newest
	// first.
	DeviceApprovals func(ctx context.Context, id string) ([]DeviceApproval, error)
}

// Find returns up to limit matching coaches, ordered by name, or by registration if the
// search is empty, and audits the search.
func (a *AccountAdmin) Find(ctx context.Context, by actor.Operator, s AccountSearch, limit int) ([]AccountMatch, error) {
	return a.Store.FindCoaches(ctx, by, s, limit)
}

// Read returns one coach and audits the access.
func (a *AccountAdmin) Read(ctx context.Context, by actor.Operator, id string) (Account, Profile, error) {
	return a.Store.ReadCoach(ctx, by, id)
}

// Check returns not_found if there is no such coach. It shows nothing of the coach, so it is not
// audited.
func (a *AccountAdmin) Check(ctx context.Context, id string) error {
	return a.Store.CheckCoach(ctx, id)
}

// Suspend ends every session of a coach at once and blocks sign-in. The listing is
// removed; players, requests and notifications stay.
func (a *AccountAdmin) Suspend(ctx context.Context, by actor.Operator, id, reason string) error {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxSuspensionReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return fault.Validation([]fault.Field{{
			Pointer: "/reason", Code: "invalid_value", Detail: fmt.Sprintf("Give a reason of 1 to %d characters. Operators read it.", MaxSuspensionReason),
		}})
	}
	return a.Store.Suspend(ctx, by, id, reason, func(account Account) error { return account.checkAction("suspend") })
}

// Restore lets a suspended coach sign in again, and restores the listing.
func (a *AccountAdmin) Restore(ctx context.Context, by actor.Operator, id string) error {
	return a.Store.Restore(ctx, by, id, func(account Account) error { return account.checkAction("restore") })
}

// State returns "active" or "suspended".
func (a Account) State() string {
	if a.SuspendedAt.IsZero() {
		return "active"
	}
	return "suspended"
}

// checkAction returns an invalid_transition unless action, "suspend" or "restore",
// is allowed.
func (a Account) checkAction(action string) error {
	allowed := map[string]string{"active": "suspend", "suspended": "restore"}[a.State()]
	if action == allowed {
		return nil
	}
	return fault.New(fault.Conflict, "invalid_transition", "This account is already %s.", a.State()).
		With("state", a.State()).With("allowed", []string{allowed})
}
