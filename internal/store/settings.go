package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/auth"
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
	// OTPSegments returns how many segments an OTP has in a language; nil is one.
	OTPSegments func(role actor.Role, language string) int
	// MaxOTPCost is the highest cost of an OTP, or 0 if it is unknown: then all requests for
	// OTPs lock the same rows.
	MaxOTPCost int64
	// DefaultTimeZone is the time zone of coaches who chose none; "" is UTC.
	DefaultTimeZone string
	// Route returns where a channel sends a notification to a person, and the first state of
	// the delivery. nil sends nothing.
	Route func(channel message.Channel, a message.Addresses) message.Destination
}

// otpCost returns the cost of an OTP.
func (s Settings) otpCost(channel message.Channel, key auth.ChallengeKey, language string) int64 {
	segments := 1
	if s.OTPSegments != nil {
		segments = s.OTPSegments(key.Role, language)
	}
	return int64(segments) * s.Outbox.Price(channel, key.Number)
}

// route returns where a channel sends a notification to a person.
func (s Settings) route(channel message.Channel, a message.Addresses) message.Destination {
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
