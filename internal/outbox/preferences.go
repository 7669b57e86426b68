package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// PreferenceColumns are the columns of preferences that PreferenceDest scans. A join that
// finds no row leaves them NULL.
const PreferenceColumns = `preferences.language, preferences.time_zone, preferences.quiet_start, preferences.quiet_end, preferences.channels`

func PreferenceDest(p *message.Preferences) []any {
	return []any{
		database.IntoText(&p.Language), database.IntoText(&p.TimeZone), intoTimeOfDay(&p.QuietHours.Start), intoTimeOfDay(&p.QuietHours.End),
		database.IntoJSON(&p.Channels),
	}
}

// Preferences returns the preferences of a number; the zero value if it has none.
func (st *Store) Preferences(ctx context.Context, n phone.Number) (message.Preferences, error) {
	var p message.Preferences
	err := st.DB.QueryRow(ctx, `SELECT `+PreferenceColumns+` FROM preferences WHERE mobile_number = $1`, string(n)).
		Scan(PreferenceDest(&p)...)
	if err == nil || database.IsNoRows(err) {
		p.StoppedCoaches, err = stoppedCoaches(ctx, st.DB, n)
	}
	return p, fault.Wrap(err, "read preferences")
}

// TimeZone returns the chosen time zone of a number, or "".
func (st *Store) TimeZone(ctx context.Context, n phone.Number) (name string, err error) {
	err = st.DB.QueryRow(ctx, `SELECT time_zone FROM preferences WHERE mobile_number = $1`, string(n)).Scan(database.IntoText(&name))
	if err != nil && !database.IsNoRows(err) {
		return "", fmt.Errorf("read time zone: %w", err)
	}
	return name, nil
}

// SavePreferences applies the patch and returns the result. The first statement locks the
// row, so that concurrent patches of different fields are both saved.
func (st *Store) SavePreferences(ctx context.Context, n phone.Number, patch message.PreferencesPatch) (message.Preferences, error) {
	var saved message.Preferences
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		var before message.Preferences
		err := tx.QueryRow(ctx, `
			INSERT INTO preferences (mobile_number, updated_at) VALUES ($1, $2)
			ON CONFLICT (mobile_number) DO UPDATE SET updated_at = excluded.updated_at
			RETURNING `+PreferenceColumns, string(n), database.Micros(tx.Now)).Scan(PreferenceDest(&before)...)
		if err != nil {
			return err
		}
		before.StoppedCoaches, err = stoppedCoaches(ctx, tx, n)
		if err != nil {
			return err
		}
		saved = before.With(patch)
		if message.TextLanguage(saved.Language) != message.TextLanguage(before.Language) {
			if err := askInOtherLanguage(ctx, tx, n, ""); err != nil {
				return err
			}
		}
		channels, err := json.Marshal(saved.Channels)
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `
			UPDATE preferences SET language = $2, time_zone = $3, quiet_start = $4, quiet_end = $5, channels = $6 WHERE mobile_number = $1`,
			string(n), database.Text(saved.Language), database.Text(saved.TimeZone), int(saved.QuietHours.Start), int(saved.QuietHours.End), string(channels))
		if err != nil || patch.StoppedCoaches == nil {
			return err
		}
		return replaceStopped(ctx, tx, n, before.StoppedCoaches, saved.StoppedCoaches)
	})
	return saved, fault.Wrap(err, "save preferences")
}

// ChooseLanguages saves the languages of numbers that have none. Choices in before were
// saved earlier: the person may have cleared them since.
func ChooseLanguages(ctx context.Context, tx *database.Tx, languages, before map[phone.Number]string) error {
	var args []any
	rows := 0
	// Sorted, so that concurrent transactions lock the rows in the same order.
	for _, n := range slices.Sorted(maps.Keys(languages)) {
		if before[n] != languages[n] {
			if before != nil {
				const unchosen = ` AND NOT EXISTS (SELECT 1 FROM preferences WHERE mobile_number = $1 AND language IS NOT NULL)`
				if err := askInOtherLanguage(ctx, tx, n, unchosen); err != nil {
					return err
				}
			}
			args = append(args, string(n), languages[n], database.Micros(tx.Now))
			rows++
		}
	}
	if rows == 0 {
		return nil
	}
	err := tx.Defer(ctx, `
		INSERT INTO preferences (mobile_number, language, updated_at) VALUES `+database.RowsOf(rows, 3)+`
		ON CONFLICT (mobile_number) DO UPDATE SET language = excluded.language, updated_at = excluded.updated_at
		WHERE preferences.language IS NULL`, args...)
	return fault.Wrap(err, "choose languages")
}

// OfEndedYes matches the requests of a former yes whose proof ended, which the guardian can answer: see approval.Party.ProofEnded. A
// condition on their parties and a closing parenthesis follow.
const OfEndedYes = `state = 'approved' AND id IN (
	SELECT a.request_id FROM parties a WHERE a.deleted_at IS NULL AND a.pending_reason = 'proof_ended' AND `

// askInOtherLanguage gives the requests to a number that are open, can be open again or are OfEndedYes a new version: what was shown has
// a language. The names are the same, so an answer of an app that names no version counts as before. condition is more of the WHERE
// clause.
func askInOtherLanguage(ctx context.Context, tx *database.Tx, n phone.Number, condition string) error {
	const ofNumber = ` IN (SELECT id FROM accounts WHERE mobile_number = $1)`
	for _, answerable := range []string{`state = 'pending' AND approver_id` + ofNumber, `state = 'disputed' AND approver_id` + ofNumber, OfEndedYes + `a.account_id` + ofNumber + `)`} {
		err := tx.Defer(ctx, `
			UPDATE requests SET version = version + 1, sent_version = CASE WHEN sent_version = version THEN version + 1 ELSE sent_version END
			WHERE `+answerable+condition, string(n))
		if err != nil {
			return fmt.Errorf("give requests a new version: %w", err)
		}
	}
	return nil
}

// CopyPreferences gives a new number of a person the preferences of the old one, unless
// the new one has some. The stops of both numbers apply.
func CopyPreferences(ctx context.Context, tx *database.Tx, from, to phone.Number) error {
	err := tx.Defer(ctx, `
		INSERT INTO preferences (mobile_number, language, time_zone, quiet_start, quiet_end, channels, updated_at)
		SELECT $2, language, time_zone, quiet_start, quiet_end, channels, updated_at FROM preferences WHERE mobile_number = $1
		ON CONFLICT (mobile_number) DO NOTHING`, string(from), string(to))
	if err == nil {
		err = tx.Defer(ctx, `
			INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at, by_reply)
			SELECT $2, coach_id, stopped_at, by_reply FROM stopped_coaches WHERE mobile_number = $1
			`+mergeStops, string(from), string(to))
	}
	return fault.Wrap(err, "copy preferences")
}

// DeleteUnusedPreferences deletes the preferences of a number that has no account: its
// next owner is another person. Its stops stay under kept, until RestoreStops; "" deletes them.
func DeleteUnusedPreferences(ctx context.Context, tx *database.Tx, n phone.Number, kept string) error {
	err := tx.Defer(ctx, `
		DELETE FROM preferences
		WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)`, string(n))
	if err == nil && kept != "" {
		err = tx.Defer(ctx, `
			UPDATE stopped_coaches SET mobile_number = $2
			WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)
				AND NOT EXISTS (SELECT 1 FROM stopped_coaches o WHERE o.mobile_number = $2 AND o.coach_id = stopped_coaches.coach_id)`, string(n), kept)
	}
	if err == nil {
		err = tx.Defer(ctx, `
			DELETE FROM stopped_coaches
			WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)`, string(n))
	}
	return fault.Wrap(err, "delete preferences")
}

// intoTimeOfDay scans minutes after midnight into t; NULL is midnight.
func intoTimeOfDay(t *message.TimeOfDay) any { return (*timeOfDayColumn)(t) }

type timeOfDayColumn message.TimeOfDay

// Scan implements sql.Scanner.
func (c *timeOfDayColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c = 0
	case int64: // both drivers
		*c = timeOfDayColumn(v)
	default:
		return fmt.Errorf("scan a time of day: got %T", src)
	}
	return nil
}
