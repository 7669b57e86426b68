package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
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
	// LinkValidity is how long the link in a message works.
	LinkValidity time.Duration
	// DigestAfter is how long a request is open before its coach gets a digest;
	// DigestEvery is the least time between two digests.
	DigestAfter, DigestEvery time.Duration
	// ResendAfter is how long a message waits after another about the same child to
	// the same party and number.
	ResendAfter time.Duration
	// OTPSegments returns how many segments an OTP has in a language; nil is one.
	OTPSegments func(role actor.Role, language string) int
	// MaxOTPCost is the highest cost of an OTP, or 0 if it is unknown: then all requests for
	// OTPs lock the same rows.
	MaxOTPCost int64
	// TrustedCoach reports whether an operator verified a coach; nil is no coach.
	TrustedCoach func(coach.TierStatus) bool
	// AllowCoachAsContact lets a coach use the number of a guardian or student of one
	// of their players.
	AllowCoachAsContact bool
	// DefaultTimeZone is the time zone of coaches who chose none; "" is UTC.
	DefaultTimeZone string
	// Access are the rules that decide who has which service of the app: those of
	// approval.ConsentStatus.AppAccess.
	Access approval.Rules
	// WholeHistory lets a party see what a coach added before the party approved.
	WholeHistory bool
	// First has, by lane, the channel that is tried before the channel of the lane. It may lack
	// entries.
	First map[message.Lane]message.Channel
	// Route returns where a channel sends a notification to a person, and the first state of
	// the delivery. nil sends nothing.
	Route func(channel message.Channel, a approval.Addresses) approval.Destination
}

// first returns the lane in which a delivery of a lane starts.
func (s Settings) first(lane message.Lane, state string) message.Lane {
	if channel, ok := s.First[lane]; ok && state == approval.DeliveryQueued {
		lane.Channel = channel
	}
	return lane
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
func (s Settings) route(channel message.Channel, a approval.Addresses) approval.Destination {
	if s.Route == nil {
		return approval.Destination{}
	}
	return s.Route(channel, a)
}

// zoneOf returns the time zone of a coach who chose zone, or none.
func (s Settings) zoneOf(zone string) string { return cmp.Or(zone, s.DefaultTimeZone, "UTC") }

// ZoneOf returns the time zone of a coach who chose zone, or none.
func (db *DB) ZoneOf(zone string) string { return db.options.Settings.zoneOf(zone) }

// ZoneIn returns the name of the time zone of a coach.
func (db *DB) ZoneIn(ctx context.Context, q database.Querier, coachID string) (string, error) {
	var name string
	err := q.QueryRow(ctx, `SELECT time_zone FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&name))
	if err != nil && !database.IsNoRows(err) {
		return "", fmt.Errorf("read time zone: %w", err)
	}
	return db.ZoneOf(name), nil
}
