package proof

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/database"
)

// Report is the result of an audit.
type Report struct {
	// Records is how many records have a position, Players how many players were checked.
	Records, Players int64
	// Findings say what contradicts the log; none if all is well.
	Findings []string
	// Left is how many findings are not in Findings.
	Left int
}

// maxFindings limits the findings of a report.
const maxFindings = 100

func (r *Report) add(format string, args ...any) {
	if len(r.Findings) == maxFindings {
		r.Left++
		return
	}
	r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
}

// auditBatch is how many records a statement of the audit reads: whole tiles.
const auditBatch = 64 * tileWidth

// idWithin is where most bodies have their record_id: in so many bytes at the end. Searching the whole body takes a fifth of
// the time of an audit.
const idWithin = 256

// Audit computes the log again from the bodies of all records, and compares it with the tiles, the signed checkpoint of the
// database, the published one, and outside: signed checkpoints that were kept elsewhere. Then it replays the records of each player,
// and compares what they lead to with the tables, and the tables with the records. The service may be running.
func (s *Service) Audit(ctx context.Context, outside ...[]byte) (Report, error) {
	var r Report
	var state logState
	err := s.DB.QueryRow(ctx, `SELECT origin, generation, size, checkpoint, stopped_reason FROM consent_log WHERE id = 1`).Scan(state.dest()...)
	missing := database.IsNoRows(err)
	switch {
	case missing:
		r.add("%s", errNoLog)
		err = s.DB.QueryRow(ctx, `SELECT coalesce(max(position), -1) + 1 FROM consent_records WHERE position IS NOT NULL`).Scan(&state.size)
		state.origin, state.generation = s.Origin, 1
	case state.stopped != "":
		r.add("the log has stopped: %s", state.stopped)
	}
	if err != nil {
		return r, fmt.Errorf("read the log: %w", err)
	}
	t := &tree{}
	present, err := auditRecords(ctx, s.DB, &r, t, state.size)
	if err != nil {
		return r, err
	}
	r.Records = t.size
	published, err := s.lastPublished()
	if err != nil {
		return r, err
	}
	switch has := sizeOf(state.checkpoint); {
	case missing:
	case len(state.checkpoint) == 0 && state.size > 0:
		r.add("the log has records and no checkpoint")
	case has < state.size:
		r.add("checkpoint of the database: it has %d records, the log has %d", has, state.size)
	}
	kept := []namedCheckpoint{{"checkpoint of the database", state.checkpoint}, {"published checkpoint", published}}
	for _, signed := range outside {
		kept = append(kept, namedCheckpoint{"outside checkpoint", signed})
	}
	var players int64 // of the latest checkpoint that is valid
	for _, c := range kept {
		players = max(players, s.auditCheckpoint(&r, state, t, c.name, c.signed))
	}
	if err := auditTiles(ctx, s.DB, &r, t); err != nil {
		return r, err
	}
	seen, err := s.auditPlayers(ctx, &r, state.size)
	if err != nil {
		return r, err
	}
	if r.Players < players {
		r.add("players were removed: a signed checkpoint has %d, the database has %d", players, r.Players)
	}
	if seen < present {
		if err := s.findUnseen(ctx, &r, state.size); err != nil {
			return r, err
		}
	}
	return r, s.auditWaiting(ctx, &r)
}

// namedCheckpoint is a signed checkpoint with what it is.
type namedCheckpoint struct {
	name   string
	signed []byte
}

// auditCheckpoint compares a signed checkpoint with the tree that was computed from the records. It returns the players of one that
// the key of the log signed.
func (s *Service) auditCheckpoint(r *Report, state logState, t *tree, what string, signed []byte) (players int64) {
	if len(signed) == 0 {
		return 0
	}
	name := nameOf(signed)
	key, err := newSigner(signingKey(s.Secrets), name)
	if err != nil {
		r.add("%s: %s", what, err)
		return 0
	}
	c, err := OpenCheckpoint(signed, key)
	if err != nil {
		r.add("%s: %s", what, err)
		return 0
	}
	generation := state.generationOf(name)
	switch {
	case generation == 0:
		r.add("%s: it is of the log %q, not of %q", what, name, state.name())
		return 0
	case generation > state.generation:
		r.add("%s: it is of %q, the database is older: %q", what, name, state.name())
		return 0
	case c.Size > t.size:
		r.add("%s: it has %d records, the database has %d: records were removed, or an older copy was restored", what, c.Size, t.size)
		return c.Players
	}
	root, err := t.root(c.Size)
	if err != nil || root != c.Root {
		r.add("%s: its %d records are not the first of the database: records were edited, removed, inserted or reordered", what, c.Size)
	}
	return c.Players
}

// auditRecords adds the entries of the records with a position below size to t, and notes positions that are missing. It
// returns how many records there are.
func auditRecords(ctx context.Context, q database.Querier, r *Report, t *tree, size int64) (present int64, err error) {
	fill := func(to int64) error {
		for t.size < to {
			r.add("record %d was removed", t.size)
			if err := t.add(nil); err != nil {
				return err
			}
		}
		return nil
	}
	// The next batch is read while this one is hashed.
	batches := make(chan auditedBatch, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(batches)
		for from := int64(0); from < size; from += auditBatch {
			b := auditedBatch{from: from, to: min(from+auditBatch, size)}
			b.records, b.err = readBatch(ctx, q, b.from, b.to)
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	for b := range batches {
		if b.err != nil {
			return 0, fmt.Errorf("read records from %d: %w", b.from, b.err)
		}
		for _, record := range b.records {
			if err := fill(record.position); err != nil {
				return 0, err
			}
			present++
			if id := []byte(`"record_id":"` + record.id + `"`); !bytes.Contains(record.body[max(0, len(record.body)-idWithin):], id) && !bytes.Contains(record.body, id) {
				r.add("record %d: its row has the id %s, its body another one", record.position, record.id)
			}
			if err := t.add(entry(record.body)); err != nil {
				return 0, err
			}
		}
		if err := fill(b.to); err != nil {
			return 0, err
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// One statement, because other replicas give positions meanwhile.
	var newest, now int64
	err = q.QueryRow(ctx, `SELECT size, coalesce((SELECT max(position) FROM consent_records WHERE position IS NOT NULL), -1) FROM consent_log WHERE id = 1`).Scan(&now, &newest)
	if database.IsNoRows(err) {
		return present, nil
	}
	if err == nil && newest >= now {
		r.add("record %d was inserted: the log has %d records", newest, now)
	}
	return present, err
}

// auditedBatch has the records with positions in [from, to).
type auditedBatch struct {
	from, to int64
	records  []auditedRecord
	err      error
}

type auditedRecord struct {
	position int64
	id       string
	body     []byte
}

func readBatch(ctx context.Context, q database.Querier, from, to int64) ([]auditedRecord, error) {
	records := make([]auditedRecord, 0, to-from)
	// Without statistics PostgreSQL would sort the bodies in a file.
	rs, err := q.Query(ctx, `SELECT position, id, body FROM consent_records WHERE position >= $1 AND position < $2`, from, to)
	err = database.Each(rs, err, func(row database.Scanner) error {
		var r auditedRecord
		err := row.Scan(&r.position, &r.id, &r.body)
		records = append(records, r)
		return err
	})
	slices.SortFunc(records, func(a, b auditedRecord) int { return cmp.Compare(a.position, b.position) })
	return records, err
}

// auditTiles compares the tiles of the database with those of t. A tile may have grown meanwhile.
func auditTiles(ctx context.Context, q database.Querier, r *Report, t *tree) error {
	ids := slices.SortedFunc(maps.Keys(t.tiles), func(a, b tileID) int { return cmp.Or(a.level-b.level, cmp.Compare(a.n, b.n)) })
	for _, batch := range inLevels(ids) {
		first, last := batch[0], batch[len(batch)-1]
		tiles, err := readTiles(ctx, q, first.level, first.n, last.n)
		if err != nil {
			return fmt.Errorf("read tiles: %w", err)
		}
		for _, id := range batch {
			compareTile(r, id, t.tiles[id], tiles[id.n])
		}
	}
	return nil
}

// inLevels splits sorted tiles into batches of one level each, which a statement reads.
func inLevels(ids []tileID) (batches [][]tileID) {
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && n < tileWidth && ids[n].level == ids[0].level {
			n++
		}
		batches, ids = append(batches, ids[:n]), ids[n:]
	}
	return batches
}

// compareTile notes the hashes of a tile that are not those that follow from the records.
func compareTile(r *Report, id tileID, want, got []byte) {
	if len(got) >= len(want) && bytes.Equal(want, got[:len(want)]) {
		return
	}
	if id.level > 0 || len(got) == 0 {
		r.add("tile %d/%d is missing, or has hashes that do not follow from the records", id.level, id.n)
		return
	}
	for i := range len(want) / tlog.HashSize {
		from, to := i*tlog.HashSize, (i+1)*tlog.HashSize
		if len(got) < to || !bytes.Equal(want[from:to], got[from:to]) {
			r.add("record %d is not the one that was numbered: it was edited, inserted, removed or moved", id.n*tileWidth+int64(i))
		}
	}
}
