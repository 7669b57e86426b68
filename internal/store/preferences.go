package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

// Preferences returns the preferences of a number; the zero value if it has none.
func (db *DB) Preferences(ctx context.Context, n phone.Number) (notify.Preferences, error) {
	var p notify.Preferences
	err := db.sql.QueryRow(ctx, `SELECT language, time_zone FROM preferences WHERE mobile_number = $1`, string(n)).
		Scan(intoText(&p.Language), intoText(&p.TimeZone))
	if isNone(err) {
		return notify.Preferences{}, nil
	}
	if err != nil {
		return notify.Preferences{}, fmt.Errorf("read preferences: %w", err)
	}
	return p, nil
}

// SavePreferences applies the patch and returns the result. Concurrent patches of
// different fields are both saved.
func (db *DB) SavePreferences(ctx context.Context, n phone.Number, patch notify.PreferencesPatch) (notify.Preferences, error) {
	var saved notify.Preferences
	err := db.sql.ExecRow(ctx, func(row database.Scanner) error {
		return row.Scan(intoText(&saved.Language), intoText(&saved.TimeZone))
	}, `
		INSERT INTO preferences (mobile_number, language, time_zone, updated_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (mobile_number) DO UPDATE SET
			language  = CASE WHEN CAST($5 AS BOOLEAN) THEN excluded.language ELSE preferences.language END,
			time_zone = CASE WHEN CAST($6 AS BOOLEAN) THEN excluded.time_zone ELSE preferences.time_zone END,
			updated_at = excluded.updated_at
		RETURNING language, time_zone`,
		string(n), patched(patch.Language), patched(patch.TimeZone), micros(db.Now()), patch.Language != nil, patch.TimeZone != nil)
	if err != nil {
		return notify.Preferences{}, fmt.Errorf("save preferences: %w", err)
	}
	return saved, nil
}

// patched returns the stored form of a field of a patch; NULL if it is cleared or kept.
func patched(field *string) any {
	if field == nil {
		return nil
	}
	return text(*field)
}

// languagesOf returns the languages that the coach chose for the numbers of p.
func languagesOf(p *approval.Player) map[phone.Number]string {
	languages := map[phone.Number]string{}
	if p.Student.Number != "" && p.Student.Language != "" {
		languages[p.Student.Number] = p.Student.Language
	}
	if p.Guardian != nil && p.Guardian.Language != "" {
		languages[p.Guardian.Number] = p.Guardian.Language
	}
	return languages
}

// chooseLanguages saves the languages of numbers that have none. Choices in before were
// saved earlier: the person may have cleared them since.
func (tx *tx) chooseLanguages(ctx context.Context, languages, before map[phone.Number]string) error {
	var args []any
	rows := 0
	// Sorted, so that concurrent transactions lock the rows in the same order.
	for _, n := range slices.Sorted(maps.Keys(languages)) {
		if before[n] != languages[n] {
			args = append(args, string(n), languages[n], micros(tx.Now))
			rows++
		}
	}
	if rows == 0 {
		return nil
	}
	err := tx.Defer(ctx, `
		INSERT INTO preferences (mobile_number, language, updated_at) VALUES `+rowsOf(rows, 3)+`
		ON CONFLICT (mobile_number) DO UPDATE SET language = excluded.language, updated_at = excluded.updated_at
		WHERE preferences.language IS NULL`, args...)
	if err != nil {
		return fmt.Errorf("choose languages: %w", err)
	}
	return nil
}

// copyPreferences gives a new number of a person the preferences of the old one, unless
// the new one has some.
func (tx *tx) copyPreferences(ctx context.Context, from, to phone.Number) error {
	err := tx.Defer(ctx, `
		INSERT INTO preferences (mobile_number, language, time_zone, updated_at)
		SELECT $2, language, time_zone, updated_at FROM preferences WHERE mobile_number = $1
		ON CONFLICT (mobile_number) DO NOTHING`, string(from), string(to))
	if err != nil {
		return fmt.Errorf("copy preferences: %w", err)
	}
	return nil
}

// deleteUnusedPreferences deletes the preferences of a number that has no account: its
// next owner is another person.
func (tx *tx) deleteUnusedPreferences(ctx context.Context, n phone.Number) error {
	err := tx.Defer(ctx, `
		DELETE FROM preferences
		WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)`, string(n))
	if err != nil {
		return fmt.Errorf("delete preferences: %w", err)
	}
	return nil
}
