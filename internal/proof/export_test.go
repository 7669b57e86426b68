package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// EntryOf is entry.
func EntryOf(body []byte) []byte { return entry(body) }

// SignCheckpoint signs any checkpoint with the key of a log.
func SignCheckpoint(s *Service, c Checkpoint) ([]byte, error) {
	key, err := newSigner(signingKey(s.Secrets), c.Origin)
	if err != nil {
		return nil, err
	}
	return key.sign(c)
}

// FillLog gives an empty log n records with the body of another one, much faster than Number.
func FillLog(ctx context.Context, s *Service, n int64, body []byte) error {
	var b Body
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	before, after, _ := bytes.Cut(body, []byte(b.RecordID))
	const rows, statements = 200, 50
	t := &tree{}
	for t.size < n {
		err := s.DB.Write(ctx, func(tx *store.Tx) error {
			for range statements {
				var args []any
				for len(args) < 4*rows && t.size < n {
					id := s.DB.NewID()
					record := slices.Concat(before, []byte(id), after)
					args = append(args, id, record, database.Micros(tx.Now), t.size)
					if err := t.add(entry(record)); err != nil {
						return err
					}
				}
				if len(args) == 0 {
					break
				}
				if err := tx.Defer(ctx, `INSERT INTO consent_records (id, body, at, position) VALUES `+database.RowsOf(len(args)/4, 4), args...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	root, err := t.root(n)
	if err != nil {
		return err
	}
	signed, err := SignCheckpoint(s, Checkpoint{s.Origin, n, root})
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		for id, hashes := range t.tiles {
			if err := tx.Defer(ctx, `INSERT INTO log_tiles (level, n, hashes) VALUES ($1, $2, $3)`, id.level, id.n, hashes); err != nil {
				return err
			}
		}
		return tx.Defer(ctx, `UPDATE consent_log SET origin = $1, size = $2, checkpoint = $3, started_at = $4 WHERE id = 1`, s.Origin, n, signed, database.Micros(tx.Now))
	})
}
