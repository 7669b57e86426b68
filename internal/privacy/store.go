package privacy

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Service serves the notice. It is safe for concurrent use.
type Service struct {
	DB *store.DB
	// Auth and Streams are for the pages and operations; server sets both.
	Auth    *auth.Service
	Streams *notice.Streams
	// Export has the sources of the export; server sets it.
	Export Export
	// LeavePlayer unlinks a guardian or student from a player; server sets it.
	LeavePlayer func(ctx context.Context, by actor.Actor, playerID, language, text string) error
	// RemovePlayer removes a player that an operator erases, and CloseCoach closes the account of a coach and runs also in
	// its transaction; server sets both.
	RemovePlayer func(ctx context.Context, playerID string) error
	CloseCoach   func(ctx context.Context, by actor.Actor, also Also) error
	// notices are the current ones, the default language first.
	notices []Notice
}

// Keep stores the notices that the database does not have yet, so that every version can be read later, and
// makes them the current ones. Replicas that start at the same time agree on the version of a text.
func Keep(ctx context.Context, db *store.DB, notices []Notice) (*Service, error) {
	s := &Service{DB: db}
	for _, n := range notices {
		kept, err := s.keep(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("keep the notice in %s: %w", n.Language, err)
		}
		s.notices = append(s.notices, kept)
	}
	return s, nil
}

// keepAttempts is how often a replica takes the next version while other replicas take it for other texts.
const keepAttempts = 20

func (s *Service) keep(ctx context.Context, n Notice) (Notice, error) {
	for range keepAttempts {
		kept, err := s.read(ctx, `language = $1 AND hash = $2`, n.Language, n.Hash)
		if err == nil || fault.KindOf(err) != fault.NotFound {
			return kept, err
		}
		if err := s.DB.Write(ctx, func(tx *store.Tx) error { return add(ctx, tx, n) }); err != nil {
			return Notice{}, err
		}
	}
	return Notice{}, fmt.Errorf("other replicas took each version")
}

// Current returns the notice in a language, or in the first of its fallbacks that has one.
func (s *Service) Current(code string) Notice {
	for _, c := range language.Chain(code) {
		for _, n := range s.notices {
			if n.Language == c {
				return n
			}
		}
	}
	return s.notices[0]
}

// Version returns a version of the notice in a language, 0 for the current one, or not_found.
func (s *Service) Version(ctx context.Context, code string, version int64) (Notice, error) {
	n := s.Current(code)
	if version == 0 || version == n.Version {
		return n, nil
	}
	return s.read(ctx, `language = $1 AND version = $2`, n.Language, version)
}

// ByHash returns the notice with a hash, or not_found. Notices in two languages with the same text are equal.
func (s *Service) ByHash(ctx context.Context, hash string) (Notice, error) {
	return s.read(ctx, `hash = $1 ORDER BY language LIMIT 1`, hash)
}

func (s *Service) read(ctx context.Context, where string, args ...any) (n Notice, err error) {
	err = s.DB.QueryRow(ctx, `SELECT language, version, hash, text, first_seen FROM notices WHERE `+where, args...).
		Scan(&n.Language, &n.Version, &n.Hash, &n.Text, database.IntoTime(&n.FirstSeen))
	return n, database.OrMissing(err, "read the notice")
}

// add adds a new notice, unless another replica did. If it replaces an earlier one, each request that can be answered, now or again,
// has a new version: its party is shown another notice.
func add(ctx context.Context, tx *store.Tx, n Notice) error {
	var version int64
	err := tx.QueryRow(ctx, `
		INSERT INTO notices (language, version, hash, text, first_seen)
		SELECT $1, (SELECT coalesce(max(version), 0) + 1 FROM notices WHERE language = $1), $2, $3, $4 WHERE TRUE
		ON CONFLICT DO NOTHING
		RETURNING version`, n.Language, n.Hash, n.Text, database.Micros(tx.Now)).Scan(&version)
	if database.IsNoRows(err) || err == nil && version == 1 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, answerable := range []string{
		`state = 'pending' AND player_id > ''`,
		`state = 'disputed' AND id IN (SELECT d.request_id FROM disputes d WHERE d.coach_id > '')`,
		outbox.OfEndedYes + `a.coach_id > '')`,
	} {
		if err := tx.Defer(ctx, `UPDATE requests SET version = version + 1 WHERE `+answerable); err != nil {
			return err
		}
	}
	return nil
}
