package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// Settings are the settings of the operator that the store passes to the domain.
type Settings struct {
	// Outbox are the settings of the outbox.
	Outbox message.Settings
	// Brand is the name of the service in notifications.
	Brand string
	// PrivacyProfile is the setting PRIVACY_PROFILE.
	PrivacyProfile string
	// OTPSegments returns how many segments an OTP has in a language; nil is one.
	OTPSegments func(role actor.Role, language string) int
	// MaxOTPCost is the highest cost of an OTP, or 0 if it is unknown: then all requests for
	// OTPs lock the same rows.
	MaxOTPCost int64
	// MaxCallCost is the same for a call.
	MaxCallCost int64
	// DefaultTimeZone is the time zone of coaches who chose none; "" is UTC.
	DefaultTimeZone string
	// Route returns where a channel sends a notification to a person, and the first state of
	// the delivery. nil sends nothing.
	Route func(channel message.Channel, a message.Addresses) message.Destination
}

// Destination returns where a channel sends a notification to a person.
func (s Settings) Destination(channel message.Channel, a message.Addresses) message.Destination {
	if s.Route == nil {
		return message.Destination{}
	}
	return s.Route(channel, a)
}

// zoneOf returns the time zone of a coach who chose zone, or none.
func (s Settings) zoneOf(zone string) string { return cmp.Or(zone, s.DefaultTimeZone, "UTC") }

// ZoneOf returns the time zone of a coach who chose zone, or none.
func (db *DB) ZoneOf(zone string) string { return db.options.Settings.zoneOf(zone) }

// ZoneOf returns the time zone of a coach who chose zone, or none.
func (tx *Tx) ZoneOf(zone string) string { return tx.db.ZoneOf(zone) }

// ZoneIn returns the name of the time zone of a coach.
func (db *DB) ZoneIn(ctx context.Context, q database.Querier, coachID string) (string, error) {
	var name string
	err := q.QueryRow(ctx, `SELECT time_zone FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&name))
	if err != nil && !database.IsNoRows(err) {
		return "", fmt.Errorf("read time zone: %w", err)
	}
	return db.ZoneOf(name), nil
}

// FilledBy selects the names of the profile fields that are set, as coach.Profile.Missing
// does. An account id and a closing parenthesis must follow. It is NULL without a profile.
const FilledBy = `(SELECT CASE WHEN c.name IS NULL THEN '' ELSE 'name,' END
		|| CASE WHEN c.email IS NULL THEN '' ELSE 'email,' END
		|| CASE WHEN c.bio IS NULL THEN '' ELSE 'bio,' END
		|| CASE WHEN c.experience_years IS NULL THEN '' ELSE 'experience_years,' END
		|| CASE WHEN c.sports = '[]' THEN '' ELSE 'sports,' END
		|| CASE WHEN c.picture_id IS NULL THEN '' ELSE 'profile_picture,' END
		|| CASE WHEN EXISTS (SELECT 1 FROM documents f WHERE f.coach_id = c.id AND f.in_profile = TRUE AND f.kind <> 'profile_picture')
			THEN 'certifications,' ELSE '' END
	FROM coaches c WHERE c.id = `

// FilledFields returns the names of the profile fields that an account has set, none
// without a profile.
func (db *DB) FilledFields(ctx context.Context, accountID string) ([]string, error) {
	return filled(ctx, db.sql, accountID)
}

// FilledFields is DB.FilledFields within the transaction.
func (tx *Tx) FilledFields(ctx context.Context, accountID string) ([]string, error) {
	return filled(ctx, tx, accountID)
}

func filled(ctx context.Context, q database.Querier, accountID string) (fields []string, err error) {
	return fields, q.QueryRow(ctx, `SELECT `+FilledBy+`$1)`, accountID).Scan(database.IntoWords(&fields))
}

// LockCoach locks the coach's row until the transaction ends, so that no other
// transaction changes or lists the coach. It returns whether the coach chose to be
// visible; false if there is no such coach.
//
// Lock order: coaches, then players, then the coach's account. PostgreSQL locks the
// account for the foreign key of each inserted row that refers to it. Another order
// deadlocks, and PostgreSQL takes a second to detect that.
func (tx *Tx) LockCoach(ctx context.Context, coachID string) (visible bool, err error) {
	err = tx.QueryRow(ctx, `UPDATE coaches SET version = version WHERE id = $1 RETURNING visible`, coachID).Scan(&visible)
	if database.IsNoRows(err) {
		return false, nil
	}
	return visible, err
}

// WithParties joins the first guardian g and the student s of the player p. A statement that locks the player, so that a concurrent
// change of its parties commits before or waits, locks all three: after a wait PostgreSQL reads only locked rows again.
const WithParties = ` JOIN parties g ON g.player_id = p.id AND g.role = 'guardian' AND g.position = 1 JOIN parties s ON s.player_id = p.id AND s.role = 'student'`

// AccountRoles selects the role facts of the account a. Each LIMIT matters: PostgreSQL may answer an
// EXISTS in a select list by reading all players once (a hashed subplan), which it does while it has
// no statistics of a new table.
const AccountRoles = `
	(SELECT 1 FROM coaches c WHERE c.id = a.id LIMIT 1) IS NOT NULL,
	(SELECT 1 FROM parties p WHERE p.account_id = a.id AND p.deleted_at IS NULL LIMIT 1) IS NOT NULL,
	((SELECT 1 FROM disputes d WHERE d.approver_id = a.id LIMIT 1) IS NOT NULL OR (SELECT 1 FROM former_guardians f WHERE f.account_id = a.id LIMIT 1) IS NOT NULL)`

// approvedParty is the row of the party whose approval the row h of approval_history is, while it stands.
const approvedParty = ` FROM parties p WHERE p.player_id = h.player_id AND p.account_id = h.approver_id AND p.deleted_at IS NULL AND p.state = 'approved' LIMIT 1)`

// Approved are the approvals of the account a that stand. It reads the history: an index of parties by state would change with each
// answer, and one without reads all children of a guardian who has answered for none.
const Approved = `FROM approval_history h WHERE h.approver_id = a.id AND h.action = 'approved' AND (SELECT p.state` + approvedParty + ` IS NOT NULL`

// NameOf selects the name of the account a: of a coach that of the profile, of another that of the newest player which has one.
// A guardian learns the name that a coach entered only from a player that the guardian approved.
const NameOf = `CASE a.role
	WHEN 'guardian' THEN (SELECT (SELECT p.name` + approvedParty + ` ` + Approved + ` ORDER BY h.player_id DESC LIMIT 1)
	WHEN 'student' THEN (SELECT p.student_name FROM parties s JOIN players p ON p.id = s.player_id
		WHERE s.account_id = a.id AND s.role = 'student' AND s.deleted_at IS NULL ORDER BY s.player_id DESC LIMIT 1)
	ELSE (SELECT c.name FROM coaches c WHERE c.id = a.id) END`

// Settings returns the settings of the store.
func (db *DB) Settings() Settings { return db.options.Settings }

// Hooks returns what features do in the transactions of others.
func (db *DB) Hooks() Hooks { return db.options.Hooks }
