package proof

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

const (
	// tileHeight is the height of a tile; a full tile has tileWidth hashes.
	tileHeight = 8
	tileWidth  = 1 << tileHeight
)

// tileID names a tile.
type tileID struct {
	level int
	n     int64
}

// tree is the Merkle tree of the log (RFC 6962) in tiles. It reads each tile once. The zero
// value of changed and tiles is ready to use.
type tree struct {
	size    int64
	load    func(tileID) ([]byte, error)
	tiles   map[tileID][]byte
	changed map[tileID]bool
}

// newTree returns the tree of that size in the database.
func newTree(ctx context.Context, q database.Querier, size int64) *tree {
	return &tree{size: size, load: func(id tileID) ([]byte, error) {
		tiles, err := readTiles(ctx, q, id.level, id.n, id.n)
		return tiles[id.n], err
	}}
}

// readTiles returns the tiles of a level from number first to last. The open tile of level 0 has one row for each hash; a hash whose row
// is missing or damaged before others is 0, which no entry has.
func readTiles(ctx context.Context, q database.Querier, level int, first, last int64) (map[int64][]byte, error) {
	type part struct {
		position int64 // of a hash; -1 for a tile
		n        int64
		hashes   []byte
	}
	from, to := first<<tileHeight, (last+1)<<tileHeight
	if level > 0 {
		from, to = 0, 0
	}
	rs, err := q.Query(ctx, `
		SELECT CAST(-1 AS BIGINT), n, hashes FROM log_tiles WHERE level = $1 AND n >= $2 AND n <= $3
		UNION ALL
		SELECT position, CAST(0 AS BIGINT), hash FROM log_hashes WHERE position >= $4 AND position < $5`, level, first, last, from, to)
	parts, err := database.Collect(rs, err, func(row database.Scanner) (p part, err error) {
		return p, row.Scan(&p.position, &p.n, &p.hashes)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.position, b.position) })
	tiles := make(map[int64][]byte)
	for _, p := range parts {
		if p.position < 0 {
			tiles[p.n] = p.hashes
			continue
		}
		n, at := p.position>>tileHeight, int(p.position&(tileWidth-1))*tlog.HashSize
		if hashes := tiles[n]; at >= len(hashes) && len(p.hashes) == tlog.HashSize {
			tiles[n] = append(append(hashes, make([]byte, at-len(hashes))...), p.hashes...)
		}
	}
	return tiles, nil
}

// save writes what was added to a tree that had that size before.
func (t *tree) save(ctx context.Context, tx *store.Tx, before int64) error {
	open := tileID{0, t.size >> tileHeight}
	for id := range t.changed {
		if id == open {
			continue
		}
		err := tx.Defer(ctx, `
			INSERT INTO log_tiles (level, n, hashes) VALUES ($1, $2, $3)
			ON CONFLICT (level, n) DO UPDATE SET hashes = excluded.hashes`, id.level, id.n, t.tiles[id])
		if err != nil {
			return err
		}
	}
	first := open.n << tileHeight
	if before < first {
		if err := tx.Defer(ctx, `DELETE FROM log_hashes WHERE position < $1`, first); err != nil {
			return err
		}
	}
	var rows []any
	for position := max(before, first); position < t.size; position++ {
		at := (position - first) * tlog.HashSize
		rows = append(rows, position, t.tiles[open][at:at+tlog.HashSize])
	}
	return tx.InsertRows(ctx, `INSERT INTO log_hashes (position, hash)`, ` ON CONFLICT (position) DO UPDATE SET hash = excluded.hash`, 2, rows)
}

// tile returns the hashes of a tile; none if there is no such tile.
func (t *tree) tile(id tileID) ([]byte, error) {
	if hashes, ok := t.tiles[id]; ok {
		return hashes, nil
	}
	var hashes []byte
	if t.load != nil {
		var err error
		if hashes, err = t.load(id); err != nil {
			return nil, fmt.Errorf("read tile %d/%d: %w", id.level, id.n, err)
		}
	}
	t.set(id, hashes)
	return hashes, nil
}

func (t *tree) set(id tileID, hashes []byte) {
	if t.tiles == nil {
		t.tiles, t.changed = map[tileID][]byte{}, map[tileID]bool{}
	}
	t.tiles[id] = hashes
}

// add appends an entry.
func (t *tree) add(entry []byte) error {
	h, n := tlog.RecordHash(entry), t.size
	for level := 0; ; level++ {
		id := tileID{level, n >> tileHeight}
		hashes, err := t.tile(id)
		if err != nil {
			return err
		}
		width := int(n & (tileWidth - 1))
		if len(hashes) < width*tlog.HashSize {
			return fmt.Errorf("tile %d/%d has %d bytes, want %d", id.level, id.n, len(hashes), width*tlog.HashSize)
		}
		if hashes == nil {
			hashes = make([]byte, 0, tileWidth*tlog.HashSize)
		}
		hashes = append(hashes[:width*tlog.HashSize], h[:]...)
		t.set(id, hashes)
		t.changed[id] = true
		if width < tileWidth-1 {
			break
		}
		h, n = tileRoot(hashes), n>>tileHeight
	}
	t.size++
	return nil
}

// tileRoot returns the hash of a full tile.
func tileRoot(hashes []byte) tlog.Hash {
	level := make([]tlog.Hash, tileWidth)
	for i := range level {
		copy(level[i][:], hashes[i*tlog.HashSize:])
	}
	for len(level) > 1 {
		for i := range len(level) / 2 {
			level[i] = tlog.NodeHash(level[2*i], level[2*i+1])
		}
		level = level[:len(level)/2]
	}
	return level[0]
}

// ReadHashes implements tlog.HashReader.
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		tile := tlog.TileForIndex(tileHeight, index)
		hashes, err := t.tile(tileID{tile.L, tile.N})
		if err != nil {
			return nil, err
		}
		if len(hashes) < tile.W*tlog.HashSize {
			return nil, fmt.Errorf("tile %d/%d has %d bytes, want %d", tile.L, tile.N, len(hashes), tile.W*tlog.HashSize)
		}
		if list[i], err = tlog.HashFromTile(tile, hashes[:tile.W*tlog.HashSize], index); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// root returns the hash of the tree when it had that size.
func (t *tree) root(size int64) (tlog.Hash, error) { return tlog.TreeHash(size, t) }
