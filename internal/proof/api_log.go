package proof

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Access says who may read the log.
type Access string

// The values of the setting LOG.
const (
	AccessOff       Access = "off"
	AccessOperators Access = "operators"
	AccessPublic    Access = "public"
)

// tilePatterns are the paths of tiles (C2SP tlog-tiles), of up to a million tiles in a level.
var tilePatterns = []string{"/log/tile/{level}/{tile}", "/log/tile/{level}/{tile}/{tile2}", "/log/tile/{level}/{tile}/{tile2}/{tile3}"}

// publicLog returns the operations of the log on the public listener.
func (s *Service) publicLog() []api.Route {
	routes := []api.Route{{Method: "GET", Pattern: "/log/checkpoint", Handle: endpoint.Handle(func(ctx context.Context, _ api.Request[api.NoBody]) (api.Response, error) {
		return s.serveCheckpoint(ctx, AccessPublic)
	}), Authenticate: api.Anonymous, Produces: endpoint.AnyMedia}}
	for _, pattern := range tilePatterns {
		routes = append(routes, api.Route{Method: "GET", Pattern: pattern, Handle: endpoint.Handle(func(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
			return s.serveTile(ctx, tilePath(r.PathPart), AccessPublic)
		}), Authenticate: api.Anonymous, Produces: endpoint.AnyMedia})
	}
	return routes
}

// OperatorOperations returns the operations of the log on the operators' listener.
func (s *Service) OperatorOperations(a *admin.Server) []admin.Route {
	scope := a.Scope(operator.Audit)
	routes := []admin.Route{{Method: "GET", Pattern: "/log/checkpoint", Handle: endpoint.Handle(func(ctx context.Context, _ admin.Request[admin.NoBody]) (admin.Response, error) {
		return s.serveCheckpoint(ctx, AccessOperators)
	}), Authorize: scope, Produces: endpoint.AnyMedia}}
	for _, pattern := range tilePatterns {
		routes = append(routes, admin.Route{Method: "GET", Pattern: pattern, Handle: endpoint.Handle(func(ctx context.Context, r admin.Request[admin.NoBody]) (admin.Response, error) {
			return s.serveTile(ctx, tilePath(r.PathPart), AccessOperators)
		}), Authorize: scope, Produces: endpoint.AnyMedia})
	}
	return routes
}

// tilePath joins the parts of the path of a tile.
func tilePath(part func(string) string) string {
	parts := []string{part("level"), part("tile")}
	for _, name := range []string{"tile2", "tile3"} {
		if p := part(name); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "/")
}

// readable returns not_found unless the readers of a listener may read the log.
func (s *Service) readable(listener Access) error {
	if s.Access == AccessPublic || s.Access == listener && listener != AccessOff {
		return nil
	}
	return fault.Missing()
}

// serveCheckpoint serves the newest checkpoint.
func (s *Service) serveCheckpoint(ctx context.Context, listener Access) (endpoint.Response, error) {
	if err := s.readable(listener); err != nil {
		return endpoint.Response{}, err
	}
	signed, err := s.Checkpoint(ctx)
	if err != nil {
		return endpoint.Response{}, err
	}
	header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Cache-Control": {"no-cache"}}
	return endpoint.Response{Header: header, Raw: signed}, nil
}

// Checkpoint returns the newest signed checkpoint with its cosignatures, or one of the last servedCosigned that more witnesses
// cosigned: under load the newest has none yet. It returns not_found before the first record.
func (s *Service) Checkpoint(ctx context.Context) (signed []byte, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		var size int64
		err := tx.QueryRow(ctx, `SELECT size, checkpoint FROM consent_log WHERE id = 1`).Scan(&size, &signed)
		if err != nil || signed == nil {
			return err
		}
		recent := s.DB.Now().Add(-servedCosigned)
		c, err := s.cosigned(ctx, tx, nameOf(signed), func(c cosigned) bool { return c.size == size || c.at.After(recent) })
		if c.size > 0 {
			signed = c.checkpoint
		}
		return err
	})
	if database.IsNoRows(err) || err == nil && signed == nil {
		err = fault.Missing()
	}
	return signed, err
}

// serveTile serves a tile of hashes, or a bundle of entries.
func (s *Service) serveTile(ctx context.Context, path string, listener Access) (endpoint.Response, error) {
	if err := s.readable(listener); err != nil {
		return endpoint.Response{}, err
	}
	content, err := s.Tile(ctx, path)
	if err != nil {
		return endpoint.Response{}, err
	}
	header := http.Header{"Content-Type": {"application/octet-stream"}, "Cache-Control": {"public, max-age=31536000, immutable"}}
	return endpoint.Response{Header: header, Raw: content}, nil
}

// Tile returns the hashes or entries of a tile with the path <level>/<number>[.p/<width>], whose level may be "entries", or
// not_found if the log has no such tile. The length of each entry, in 16 bits, precedes it.
func (s *Service) Tile(ctx context.Context, path string) (content []byte, err error) {
	rest, entries := strings.CutPrefix(path, "entries/")
	if entries {
		rest = "data/" + rest
	}
	tile, err := tlog.ParseTilePath(fmt.Sprintf("tile/%d/%s", tileHeight, rest))
	if err != nil || tile.L < 0 != entries {
		return nil, fault.Missing()
	}
	if tile.L >= 0 {
		tiles, err := readTiles(ctx, s.DB, tile.L, tile.N, tile.N)
		if err != nil {
			return nil, fmt.Errorf("read a tile: %w", err)
		}
		if content = tiles[tile.N]; len(content) < tile.W*tlog.HashSize {
			return nil, fault.Missing()
		}
		return content[:tile.W*tlog.HashSize], nil
	}
	first, n := tile.N*tileWidth, 0
	rs, err := s.DB.Query(ctx, `SELECT body FROM consent_records WHERE position >= $1 AND position < $2 ORDER BY position`, first, first+int64(tile.W))
	err = database.Each(rs, err, func(row database.Scanner) error {
		var body []byte
		err := row.Scan(&body)
		e := entry(body)
		content = append(binary.BigEndian.AppendUint16(content, uint16(len(e))), e...)
		n++
		return err
	})
	if err == nil && n < tile.W {
		err = fault.Missing()
	}
	return content, err
}
