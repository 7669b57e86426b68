package proof

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/platform/witness"
	"github.com/touchline/touchline/internal/store"
)

// Service numbers records, signs checkpoints of them, and proves them. All replicas number; the lock of one row lets one at a time.
type Service struct {
	DB      *store.DB
	Secrets vault.Sealer
	// Origin is the name of a new log. A log keeps its name.
	Origin string
	// File has the newest checkpoint that this process published, so that a database which is restored from a backup
	// is noticed; "" is none.
	File string
	// Witnesses cosign checkpoints. Sender calls them.
	Witnesses []witness.Witness
	Sender    *webhook.Sender
	// Failing tells the operators for how long a witness has accepted nothing, 0 if it accepts; nil does nothing.
	Failing func(name string, since time.Duration)
	// Access says who may read the log over HTTP; "" allows no reader.
	Access Access
	// SecurityEvent and Stopped tell the operators that the log stopped; nil does nothing.
	SecurityEvent func(ctx context.Context, name string, attrs ...slog.Attr)
	Stopped       func(stopped bool)
	// Gate is closed while the log cannot prove the approvals.
	Gate *Gate
	// Withhold turns the app services of a party off if the player still has that version; nil does nothing.
	Withhold func(ctx context.Context, playerID string, party actor.Role, guardianID string, version int64) (bool, error)

	sampled   string // the last player of Sample
	mu        sync.Mutex
	published []byte // the newest signed checkpoint that this process has seen; nil until the file was read
}

// numberBatch limits the records that get a position in one transaction.
const numberBatch = 1000

// logState is the row of consent_log.
type logState struct {
	origin     string
	generation int64
	size       int64
	checkpoint []byte
	stopped    string // the reason
}

// name returns the origin of the checkpoints: a log that was continued has its generation as suffix.
func (s logState) name() string {
	if s.generation == 1 {
		return s.origin
	}
	return s.origin + "/" + strconv.FormatInt(s.generation, 10)
}

// unproved says why the log cannot prove the approvals, or "": it has stopped, or its records are gone. waiting says that records
// have no position yet, has that the last record is there.
func (s logState) unproved(waiting, has, players bool) string {
	switch {
	case s.stopped != "":
		return s.stopped
	case !has:
		return fmt.Sprintf("record %d of the log was deleted", s.size-1)
	case s.size == 0 && players && !waiting:
		return "the records of all players were deleted"
	}
	return ""
}

// generationOf returns the generation of a name of the log, or 0 if it names another log.
func (s logState) generationOf(name string) int64 {
	if name == s.origin {
		return 1
	}
	suffix, ok := strings.CutPrefix(name, s.origin+"/")
	n, err := parseIndex(suffix)
	if !ok || err != nil || n < 2 {
		return 0
	}
	return n
}

// dest returns the destinations of origin, generation, size, checkpoint, stopped_reason.
func (s *logState) dest() []any {
	return []any{&s.origin, &s.generation, &s.size, &s.checkpoint, database.IntoText(&s.stopped)}
}

// Number gives positions to up to numberBatch committed records and signs the new checkpoint. It returns how many,
// also with the error of the file. It does nothing while the log is stopped.
func (s *Service) Number(ctx context.Context) (int, error) {
	var state logState
	var waiting, has, players bool
	err := s.DB.QueryRow(ctx, `
		SELECT l.origin, l.generation, l.size, l.checkpoint, l.stopped_reason, EXISTS (SELECT 1 FROM consent_records WHERE position IS NULL),
			l.size = 0 OR EXISTS (SELECT 1 FROM consent_records r WHERE r.position = l.size - 1), EXISTS (SELECT 1 FROM players)
		FROM consent_log l WHERE l.id = 1`).Scan(append(state.dest(), &waiting, &has, &players)...)
	if database.IsNoRows(err) {
		s.setGate(ctx, string(errNoLog), false)
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the log: %w", err)
	}
	s.setGate(ctx, state.unproved(waiting, has, players), state.stopped != "")
	last, err := s.lastPublished()
	if err != nil || state.stopped != "" || !waiting && bytes.Equal(last, state.checkpoint) {
		return 0, err
	}
	var n int
	stopped, err := s.guard(ctx, func(tx *store.Tx) (err error) {
		state, n, err = s.number(ctx, tx, last)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("number records: %w", err)
	}
	if stopped {
		return 0, nil
	}
	return n, s.publish(state.checkpoint)
}

// guard runs fn in a transaction, and stops the log if fn returns errInconsistent. fn must lock the row of the log first,
// and have changed nothing else by then.
func (s *Service) guard(ctx context.Context, fn func(tx *store.Tx) error) (stopped bool, err error) {
	var reason string
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		reason = ""
		err := fn(tx)
		if inconsistent, ok := errors.AsType[errInconsistent](err); ok {
			reason = string(inconsistent)
			return tx.ExecOne(ctx, `UPDATE consent_log SET stopped_at = $1, stopped_reason = $2 WHERE id = 1`, database.Micros(tx.Now), reason)
		}
		return err
	})
	if err != nil || reason == "" {
		return false, err
	}
	s.setGate(ctx, reason, true)
	if s.SecurityEvent != nil {
		s.SecurityEvent(ctx, "log_stopped", slog.String("reason", reason))
	}
	return true, nil
}

// errInconsistent says why the log must not be continued.
type errInconsistent string

func (e errInconsistent) Error() string { return string(e) }

// number is Number in a transaction. It changes no row before it has checked the tree against the newest checkpoint and
// the published one.
func (s *Service) number(ctx context.Context, tx *store.Tx, published []byte) (state logState, n int, err error) {
	state, err = s.lock(ctx, tx)
	if err != nil || state.stopped != "" {
		return state, 0, err
	}
	key, err := newSigner(signingKey(s.Secrets), state.name())
	if err != nil {
		return state, 0, err
	}
	t := newTree(ctx, tx, state.size)
	if err := s.check(state, t, published); err != nil {
		return state, 0, err
	}
	rs, err := tx.Query(ctx, `
		UPDATE consent_records SET position = CAST($1 AS BIGINT) + n.ordinal
		FROM (
			SELECT id, row_number() OVER (ORDER BY at, id) - 1 AS ordinal
			FROM (SELECT id, at FROM consent_records WHERE position IS NULL ORDER BY at, id LIMIT $2) AS batch
		) AS n
		WHERE consent_records.id = n.id
		RETURNING position, body`, state.size, numberBatch)
	records, err := database.Collect(rs, err, func(row database.Scanner) (r numbered, err error) {
		return r, row.Scan(&r.position, &r.body)
	})
	players := playersOf(state.checkpoint)
	if err != nil || len(records) == 0 {
		return state, 0, err
	}
	slices.SortFunc(records, func(a, b numbered) int { return cmp.Compare(a.position, b.position) })
	for _, r := range records {
		if err := t.add(entry(r.body)); err != nil {
			return state, 0, err
		}
		if beginsPlayer(r.body) {
			players++
		}
	}
	if err := t.save(ctx, tx, state.size); err != nil {
		return state, 0, err
	}
	root, err := t.root(t.size)
	if err != nil {
		return state, 0, err
	}
	if state.checkpoint, err = key.sign(Checkpoint{state.name(), t.size, root, players}); err != nil {
		return state, 0, err
	}
	state.size = t.size
	return state, len(records), tx.DeferOne(ctx, `UPDATE consent_log SET size = $1, checkpoint = $2 WHERE id = 1`, state.size, state.checkpoint)
}

// lock locks the row of the log, and gives a new log its name.
func (s *Service) lock(ctx context.Context, tx *store.Tx) (state logState, err error) {
	err = tx.QueryRow(ctx, `
		UPDATE consent_log SET origin = CASE WHEN origin = '' THEN $1 ELSE origin END
		WHERE id = 1 RETURNING origin, generation, size, checkpoint, stopped_reason`, s.Origin).Scan(state.dest()...)
	return state, err
}

// numbered is a record with its position.
type numbered struct {
	position int64
	body     []byte
}

// check returns errInconsistent if the tree does not continue the newest signed checkpoint or the published one.
func (s *Service) check(state logState, t *tree, published []byte) error {
	if len(state.checkpoint) == 0 && state.size > 0 {
		return errInconsistent("the log has records and no checkpoint")
	}
	err := s.compare(state, t, "signed", state.checkpoint)
	if errors.As(err, new(otherKeyError)) {
		return errInconsistent(fmt.Sprintf("the signed checkpoint: %s", err))
	}
	if err != nil {
		return err
	}
	err = s.compare(state, t, "published", published)
	if errors.As(err, new(otherKeyError)) {
		// What this key signs cannot contradict what another key signed.
		s.mu.Lock()
		s.published = []byte{}
		s.mu.Unlock()
		return nil
	}
	return err
}

// compare returns errInconsistent if the tree does not continue a checkpoint, or otherKeyError if another key signed it.
func (s *Service) compare(state logState, t *tree, what string, signed []byte) error {
	if len(signed) == 0 {
		return nil
	}
	v, err := newSigner(signingKey(s.Secrets), nameOf(signed))
	if err != nil {
		return errInconsistent(fmt.Sprintf("the %s checkpoint: %s", what, err))
	}
	c, err := OpenCheckpoint(signed, v)
	switch {
	case errors.As(err, new(otherKeyError)):
		return err
	case err != nil:
		return errInconsistent(fmt.Sprintf("the %s checkpoint: %s", what, err))
	}
	return continues(c, state, t, what)
}

// continues returns errInconsistent unless the tree t, of the log in state, continues the checkpoint c.
func continues(c Checkpoint, state logState, t *tree, what string) error {
	generation := state.generationOf(c.Origin)
	switch {
	case generation == 0:
		return errInconsistent(fmt.Sprintf("the %s checkpoint is of the log %q, the database has %q", what, c.Origin, state.name()))
	case generation > state.generation:
		return errInconsistent(fmt.Sprintf("the %s checkpoint is of %q, the database is older: %q", what, c.Origin, state.name()))
	case generation < state.generation && what == "published":
		return nil // an operator continued the log under another name
	case c.Size > t.size || what == "signed" && c.Size != t.size:
		return errInconsistent(fmt.Sprintf("the %s checkpoint has %d records, the database has %d", what, c.Size, t.size))
	}
	root, err := t.root(c.Size)
	if err != nil {
		return errInconsistent(fmt.Sprintf("the tree of the %s checkpoint cannot be read: %s", what, err))
	}
	if root != c.Root {
		return errInconsistent(fmt.Sprintf("the first %d records are not those of the %s checkpoint", c.Size, what))
	}
	return nil
}

// Work numbers all waiting records.
func (s *Service) Work(ctx context.Context) error {
	for {
		if n, err := s.Number(ctx); err != nil || n < numberBatch {
			return err
		}
	}
}

// StoppedReason returns why the log has stopped, or "" if it has not.
func (s *Service) StoppedReason(ctx context.Context) (string, error) {
	state, err := s.state(ctx, s.DB)
	return state.stopped, err
}

// Continue continues a stopped log under a new name, for an operator: what was published under the old name stays, and
// contradicts nothing that is signed under the new one. It returns the new name. A log that has not stopped is a conflict.
func (s *Service) Continue(ctx context.Context, by actor.Operator) (string, error) {
	// A copy that was restored a second time does not know the name under which the log was continued the first time.
	published, err := s.lastPublished()
	if err != nil {
		return "", err
	}
	var state logState
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		state = logState{}
		before, err := s.lock(ctx, tx)
		if err != nil && !database.IsNoRows(err) {
			return err
		}
		err = tx.QueryRow(ctx, `
			UPDATE consent_log SET generation = $1, stopped_at = NULL, stopped_reason = NULL
			WHERE id = 1 AND stopped_at IS NOT NULL RETURNING origin, generation, size, checkpoint, stopped_reason`,
			max(before.generation, before.generationOf(nameOf(published)))+1).Scan(state.dest()...)
		if database.IsNoRows(err) {
			return fault.New(fault.Conflict, "log_not_stopped", "The log has not stopped.")
		}
		if err != nil {
			return err
		}
		key, err := newSigner(signingKey(s.Secrets), state.name())
		if err != nil {
			return err
		}
		// The tree as it is now is the beginning of the new log.
		t := newTree(ctx, tx, state.size)
		root, err := t.root(state.size)
		if err != nil {
			return err
		}
		if state.checkpoint, err = key.sign(Checkpoint{state.name(), state.size, root, playersOf(state.checkpoint)}); err != nil {
			return err
		}
		if err := tx.ExecOne(ctx, `UPDATE consent_log SET checkpoint = $1 WHERE id = 1`, state.checkpoint); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.LogContinued, "log", state.name(), "")
	})
	if err != nil {
		return "", err
	}
	return state.name(), s.publish(state.checkpoint)
}

// Key returns the public key of the log with that name, with which receipts and checkpoints are verified.
func (s *Service) Key(name string) (string, error) { return verifierKey(signingKey(s.Secrets), name) }

// CurrentKey returns the public key of the log with its current name.
func (s *Service) CurrentKey(ctx context.Context) (string, error) {
	state, err := s.state(ctx, s.DB)
	if err != nil {
		return "", err
	}
	state.origin = cmp.Or(state.origin, s.Origin)
	return s.Key(state.name())
}
