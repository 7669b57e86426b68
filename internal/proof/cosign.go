package proof

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/witness"
	"github.com/touchline/touchline/internal/store"
)

// servedCosigned is for how long a cosigned checkpoint is served although the log has grown.
const servedCosigned = 30 * time.Second

// witnessID returns the key of a witness in log_destinations.
func witnessID(w witness.Witness) string {
	sum := sha256.Sum256([]byte(w.Vkey + "\n" + w.URL))
	return hex.EncodeToString(sum[:16])
}

// target returns the checkpoint that all witnesses are asked to cosign, or nil if another replica just chose one. It becomes the
// newest one at most once in publishEvery, so that the witnesses of a busy log cosign the same one.
func (s *Service) target(ctx context.Context, newest, current []byte, since, now time.Time) ([]byte, error) {
	if bytes.Equal(newest, current) || nameOf(newest) == nameOf(current) && now.Sub(since) < publishEvery {
		return current, nil
	}
	n, err := s.DB.Exec(ctx, `
		UPDATE consent_log SET cosign = $1, cosign_at = $2 WHERE id = 1 AND checkpoint = $1 AND cosign IS NOT DISTINCT FROM $3`,
		newest, database.Micros(now), current)
	if err != nil || n == 0 {
		return nil, err
	}
	return newest, nil
}

// cosign asks a witness for a cosignature, and saves it. The log stops if the witness has seen a later or another log: the
// database was restored from a backup.
func (s *Service) cosign(ctx context.Context, w witness.Witness, o offer) error {
	c, err := parseCheckpoint(string(o.checkpoint))
	if err != nil {
		return err
	}
	var old int64
	if nameOf(o.published) == c.Origin {
		old = min(sizeOf(o.published), c.Size)
	}
	for range 2 { // the first response may say which size to begin from
		proof, err := s.consistency(ctx, old, c.Size)
		if err != nil {
			return err
		}
		r, err := w.AddCheckpoint(ctx, s.Sender, old, proof, o.checkpoint)
		switch {
		case err != nil:
			return attemptError{reason: err.Error()}
		case r.Status == http.StatusOK:
			return s.saveCosignatures(ctx, witnessID(w), c, o, r.Cosignatures)
		case r.Status == http.StatusConflict && r.Size > c.Size:
			return s.contradicted(ctx, c.Origin, r.Size, fmt.Sprintf("the witness %s has cosigned %d records", w.Name, r.Size))
		case r.Status == http.StatusConflict && r.Size != old:
			old = r.Size
		case r.Status == http.StatusUnprocessableEntity && old > 0:
			return s.contradicted(ctx, c.Origin, 0, fmt.Sprintf("the first %d records are not those that the witness %s has cosigned", old, w.Name))
		case r.Status == http.StatusNotFound:
			return attemptError{reason: "responded 404: it does not know the log " + c.Origin}
		case r.Status == http.StatusForbidden:
			return attemptError{reason: "responded 403: it does not know the key of the log " + c.Origin}
		default:
			return failure(r.Response)
		}
	}
	return attemptError{reason: "responded 409 twice"}
}

// consistency returns the proof that the tree with size records continues the one with old records.
func (s *Service) consistency(ctx context.Context, old, size int64) (proof tlog.TreeProof, err error) {
	if old == 0 || old == size {
		return nil, nil
	}
	return tlog.ProveTree(size, old, newTree(ctx, s.DB, size))
}

// contradicted stops the log, unless it has size records by now: then another replica sent them to the witness.
func (s *Service) contradicted(ctx context.Context, origin string, size int64, reason string) error {
	stopped, err := s.guard(ctx, func(tx *store.Tx) error {
		state, err := s.lock(ctx, tx)
		if err != nil || state.stopped != "" || state.name() != origin || size > 0 && size <= state.size {
			return err
		}
		return errInconsistent(fmt.Sprintf("%s, the database has %d", reason, state.size))
	})
	switch {
	case err != nil:
		return err
	case stopped:
		return attemptError{reason: "it contradicts the database: " + reason}
	default:
		return attemptError{reason: "it has a later checkpoint"}
	}
}

// saveCosignatures saves the cosignatures of a witness beside those of its last checkpoint.
func (s *Service) saveCosignatures(ctx context.Context, id string, c Checkpoint, o offer, lines string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Defer(ctx, `DELETE FROM log_cosignatures WHERE witness = $1 AND (origin <> $2 OR size < $3)`, id, c.Origin, sizeOf(o.published)); err != nil {
			return err
		}
		return tx.Defer(ctx, `
			INSERT INTO log_cosignatures (origin, size, witness, checkpoint, lines, cosigned_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (origin, size, witness) DO UPDATE SET checkpoint = excluded.checkpoint, lines = excluded.lines, cosigned_at = excluded.cosigned_at`,
			c.Origin, c.Size, id, o.checkpoint, lines, database.Micros(tx.Now))
	})
}

// cosigned is a checkpoint with the cosignatures of witnesses.
type cosigned struct {
	size       int64
	checkpoint []byte
	witnesses  int
	at         time.Time // of the newest cosignature
}

// cosigned returns the accepted checkpoint of a log that most witnesses cosigned, of several the largest, or the zero value if
// there is none.
func (s *Service) cosigned(ctx context.Context, q database.Querier, origin string, accept func(cosigned) bool) (best cosigned, err error) {
	if len(s.Witnesses) == 0 {
		return best, nil
	}
	rs, err := q.Query(ctx, `
		SELECT size, witness, checkpoint, lines, cosigned_at FROM log_cosignatures WHERE origin = $1
		ORDER BY size DESC, witness DESC LIMIT 64`, origin)
	type row struct {
		cosigned
		witness, lines string
	}
	rows, err := database.Collect(rs, err, func(sc database.Scanner) (r row, err error) {
		return r, sc.Scan(&r.size, &r.witness, &r.checkpoint, &r.lines, database.IntoTime(&r.at))
	})
	if err != nil {
		return best, fmt.Errorf("read cosignatures: %w", err)
	}
	var all []cosigned
	for _, r := range rows {
		if !slices.ContainsFunc(s.Witnesses, func(w witness.Witness) bool { return witnessID(w) == r.witness }) {
			continue // it was removed from the settings
		}
		if len(all) == 0 || all[len(all)-1].size != r.size {
			all = append(all, r.cosigned)
		}
		last := &all[len(all)-1]
		last.witnesses++
		last.checkpoint = append(last.checkpoint, r.lines...)
		if r.at.After(last.at) {
			last.at = r.at
		}
	}
	all = slices.DeleteFunc(all, func(c cosigned) bool { return !accept(c) })
	if len(all) == 0 {
		return best, nil
	}
	return slices.MaxFunc(all, func(a, b cosigned) int {
		return cmp.Or(cmp.Compare(a.witnesses, b.witnesses), cmp.Compare(a.size, b.size))
	}), nil
}
