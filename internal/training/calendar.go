package training

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// secretBytes is the length of the secret of an address, 144 bits.
const secretBytes = 18

// secretOf returns the secret of an address. It is derived, so the database does not have it.
func (s *Service) secretOf(what, id string) string {
	return base64.RawURLEncoding.EncodeToString(s.Secrets.MAC([]byte(what), []byte(id))[:secretBytes])
}

func hashOf(secret string) []byte {
	hash := sha256.Sum256([]byte(secret))
	return hash[:]
}

// Calendar is the address of a calendar.
type Calendar struct {
	ID, URL   string
	CreatedAt time.Time
}

// Subscribe returns the address as a link that opens the calendar program of a phone or computer.
func (c *Calendar) Subscribe() template.URL {
	_, rest, _ := strings.Cut(c.URL, ":")
	return template.URL("webcal:" + rest) // PUBLIC_URL and a derived secret
}

func (s *Service) calendar(id string, createdAt time.Time) *Calendar {
	return &Calendar{id, s.PublicURL + "/calendars/" + s.secretOf("calendar", id) + ".ics", createdAt}
}

// NewCalendar makes an address for the calendar of the calling coach, or of a player for the calling
// guardian or student. An earlier one ends at once. playerID is "" for a coach. Error: see team.Access.
func (s *Service) NewCalendar(ctx context.Context, by actor.Actor, playerID string) (c *Calendar, err error) {
	id := s.NewID()
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		coachID, approvedAt := by.AccountID, time.Time{}
		if by.Role != actor.Coach {
			link, err := s.Consent.Link(ctx, tx, by, playerID, team.App)
			if err != nil {
				return err
			}
			coachID, approvedAt = link.CoachID, link.ApprovedAt
		}
		if err := tx.Complete(ctx, idempotency.Work{ID: id, New: true}); err != nil {
			return err
		}
		c = s.calendar(id, tx.Now)
		return tx.DeferOne(ctx, `
			INSERT INTO calendars (account_id, player_id, id, hash, role, coach_id, approved_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (account_id, player_id) DO UPDATE SET id = excluded.id, hash = excluded.hash, approved_at = excluded.approved_at, created_at = excluded.created_at`,
			by.AccountID, playerID, id, hashOf(s.secretOf("calendar", id)), string(by.Role), coachID, database.SinceMicros(approvedAt), database.Micros(tx.Now))
	})
	return c, err
}

// CheckCalendar returns the error that NewCalendar has for a guardian or student who may not read the trainings of a player, or nil.
func (s *Service) CheckCalendar(ctx context.Context, by actor.Actor, playerID string) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		_, err := s.Consent.Link(ctx, tx, by, playerID, team.App)
		return err
	})
}

// CalendarOf returns the address that the caller has made, or nil. Error: see team.Access.
func (s *Service) CalendarOf(ctx context.Context, by actor.Actor, playerID string) (c *Calendar, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		c = nil
		approvedAt := time.Time{}
		if by.Role != actor.Coach {
			link, err := s.Consent.Link(ctx, tx, by, playerID, team.App)
			if err != nil {
				return err
			}
			approvedAt = link.ApprovedAt
		}
		var id string
		var createdAt time.Time
		err := tx.QueryRow(ctx, `SELECT c.id, c.created_at FROM calendars c WHERE c.account_id = $1 AND c.player_id = $2 AND c.approved_at = $3`,
			by.AccountID, playerID, database.SinceMicros(approvedAt)).Scan(&id, database.IntoTime(&createdAt))
		if database.IsNoRows(err) {
			return nil
		}
		c = s.calendar(id, createdAt)
		return err
	})
	return c, err
}

// EndCalendar ends the address of the caller. It does nothing if there is none.
func (s *Service) EndCalendar(ctx context.Context, by actor.Actor, playerID string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		if by.Role != actor.Coach {
			if _, err := s.Consent.Link(ctx, tx, by, playerID, team.App); err != nil {
				return err
			}
		}
		return tx.Defer(ctx, `DELETE FROM calendars WHERE account_id = $1 AND player_id = $2`, by.AccountID, playerID)
	})
}

// The days of a calendar around today.
const (
	calendarPast  = 30
	calendarAhead = 92
)

// Feed returns a calendar (RFC 5545) by the secret of its address. It is not_found once the address
// ended: the caller made another one, the party's approval ended, even if there is a new one, or the
// coach is suspended. It has no names but the first name of the player.
func (s *Service) Feed(ctx context.Context, secret string) (calendar []byte, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		var by actor.Actor
		var playerID, coachID, language string
		var approvedAt, preferredAt int64
		var suspended bool
		err := tx.QueryRow(ctx, `
			SELECT c.account_id, c.role, c.player_id, c.coach_id, c.approved_at,
				p.language, COALESCE(p.updated_at, 0),
				EXISTS (SELECT 1 FROM accounts s WHERE s.id = c.coach_id AND s.suspended_at IS NOT NULL)
			FROM calendars c JOIN accounts a ON a.id = c.account_id LEFT JOIN preferences p ON p.mobile_number = a.mobile_number
			WHERE c.hash = $1`, hashOf(secret)).
			Scan(&by.AccountID, &by.Role, &playerID, &coachID, &approvedAt, database.IntoText(&language), &preferredAt, &suspended)
		if err != nil {
			return database.OrMissing(err, "read calendar")
		}
		if suspended {
			return fault.Missing()
		}
		// The language of the words, and the name of the player: a new name needs a new approval, and so another calendar.
		f := feed{language: language, wordedAt: time.UnixMicro(max(preferredAt, approvedAt)), answers: map[string]*Answer{}}
		now := s.Now()
		from, to := team.DateOf(now, time.UTC).AddDays(-calendarPast), team.DateOf(now, time.UTC).AddDays(calendarAhead)
		var batches []*team.Batch
		if by.Role == actor.Coach {
			batches, err = store.BatchesOf(ctx, tx, coachID, false, "", team.MaxBatches)
		} else {
			link, linkErr := s.Consent.Link(ctx, tx, by, playerID, team.App)
			if fault.KindOf(linkErr) == fault.Forbidden || linkErr == nil && database.SinceMicros(link.ApprovedAt) != approvedAt {
				return fault.Missing()
			}
			if linkErr != nil {
				return linkErr
			}
			f.firstName = message.FirstName(link.StudentName)
			if f.answers, err = answersOf(ctx, tx, coachID, playerID, from, to); err != nil {
				return err
			}
			batches, err = tx.BatchesOfPlayer(ctx, playerID)
		}
		if err != nil {
			return err
		}
		trainings, err := readPlan(ctx, tx, coachID, batches, from, to)
		if err != nil {
			return err
		}
		calendar = f.serialize(trainings)
		return nil
	})
	return calendar, err
}

// feed words the trainings of a calendar. Names are as the pages show them: an address such as "B-12/34 Karol Bagh" is no link
// that must be removed, as it must in a message.
type feed struct {
	language  string
	wordedAt  time.Time // of the newest change of the language or the first name
	firstName string    // of the player, or empty
	answers   map[string]*Answer
}

func (f feed) text(key string) string { return message.TextOf(f.language, key, nil) }

// serialize returns the calendar. The same trainings give the same bytes. Each training is one event
// with times in UTC, so that no program computes daylight saving.
func (f feed) serialize(trainings []*Training) []byte {
	c := ics.NewCalendarFor("Touchline") // without METHOD, which would need an ORGANIZER (RFC 5546 3.2.1)
	c.SetXWRCalName(f.named(f.text("ics.trainings")))
	c.SetXPublishedTTL("PT1H")
	c.SetRefreshInterval("PT1H") // the package writes VALUE=DURATION
	for _, t := range trainings {
		e := c.AddEvent(t.ID + "@touchline")
		a := f.answers[t.ID]
		// ICSx5 shows a change only if LAST-MODIFIED grew, others only if SEQUENCE did.
		updated := latest(latest(t.UpdatedAt, t.Batch.UpdatedAt), f.wordedAt)
		if a != nil {
			updated = latest(updated, a.AnsweredAt)
		}
		e.SetDtStampTime(updated)
		e.SetModifiedAt(updated)
		e.SetSequence(int(t.Batch.Version + t.stored.version))
		e.SetStartAt(t.StartsAt())
		e.SetEndAt(t.EndsAt())
		summary := f.named(cmp.Or(message.Line(t.Batch.Name), f.text("notification.kind.training")))
		if t.Kind != Practice || t.Title != "" {
			summary += ": " + f.what(t)
		}
		status, details := ics.ObjectStatusConfirmed, ""
		if a != nil {
			details = f.text(map[bool]string{true: "ics.yes", false: "ics.no"}[a.Attending])
		}
		if t.State() == Cancelled {
			status, summary, details = ics.ObjectStatusCancelled, f.text("ics.cancelled")+": "+summary, message.Line(t.Reason)
		}
		e.SetStatus(status)
		e.SetSummary(summary)
		if venue := message.Line(t.Venue); venue != "" {
			e.SetLocation(venue)
		}
		if details != "" {
			e.SetDescription(details)
		}
	}
	return []byte(c.Serialize(ics.WithNewLineWindows))
}

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// named returns a text with the first name of the player.
func (f feed) named(text string) string {
	if f.firstName == "" {
		return text
	}
	return f.firstName + ", " + text
}

// what returns what a training is.
func (f feed) what(t *Training) string {
	switch opponent := message.Line(t.Opponent); {
	case t.Kind == Match && opponent != "":
		return message.TextOf(f.language, "ics.against", map[string]string{"opponent": opponent})
	case t.Title != "":
		return cmp.Or(message.Line(t.Title), f.text("notification.kind."+string(t.Kind)))
	}
	return f.text("notification.kind." + string(t.Kind))
}

// Ended is what ends with the service secret: the secret derives the addresses.
var Ended = []store.Ended{
	{What: "addresses of calendars", Query: `DELETE FROM calendars WHERE (account_id, player_id) IN (SELECT account_id, player_id FROM calendars ORDER BY account_id, player_id LIMIT $1)`},
	{What: "links to answer about trainings", Query: `DELETE FROM training_links WHERE id IN (SELECT id FROM training_links ORDER BY id LIMIT $1)`},
}
