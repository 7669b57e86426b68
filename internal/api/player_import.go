package api

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/roster"
)

// The most rows that the response about an import shows.
const (
	previewRows = 20
	faultyRows  = 100
)

// awaitImport is how long an upload waits until all rows of its file were read.
const awaitImport = 20 * time.Second

// acquireImport returns tier_limit unless the coach's tier includes imports: the file of
// another coach is not read.
func (s *Server) acquireImport(ctx context.Context, caller Caller) (release func(), err error) {
	if err := s.Subscriptions.CheckFeature(ctx, caller.Actor, coach.Import); err != nil {
		return nil, err
	}
	return s.AcquireUpload(ctx, caller)
}

// importPlayers serves POST /api/players/import.
func (s *Server) importPlayers(ctx context.Context, r Request[endpoint.Upload]) (Response, error) {
	file, err := s.readFile(r.Body)
	if err != nil {
		return CloseConnection, err
	}
	kept := false
	defer func() {
		if !kept {
			_ = file.Close() // it was only read
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, upload.WorkTimeout)
	defer cancel()
	by := r.Caller.Actor
	created := func(ctx context.Context, id string) (Response, error) {
		body, err := s.importResponse(ctx, r.Meta, id)
		if err != nil {
			return Response{}, err
		}
		return endpoint.Created("/api/players/imports/"+id, body).WithSubject(id), nil
	}
	return s.HandleOnce(ctx, r.Meta, keyed.Request{
		Owner: by.AccountID, Keep: keyed.Keep, Body: []byte(file.SHA256()),
		MayRepeat: func(ctx context.Context, id string) error {
			_, err := s.Imports.Import(ctx, by, id)
			return err
		},
		Rebuild: func(ctx context.Context, w idempotency.Work) (Response, error) { return created(ctx, w.ID) },
		Handle: func(ctx context.Context, f wire.Faults) (Response, error) {
			if err := f.Err(); err != nil {
				return Response{}, err
			}
			i, err := s.Imports.Create(ctx, by, file)
			if err != nil {
				return Response{}, err
			}
			kept = true // the import closes it
			if _, err := s.Imports.Await(ctx, by, i.ID, awaitImport); err != nil {
				return Response{}, err
			}
			return created(ctx, i.ID)
		},
	})
}

// readFile reads a CSV body into a spool, which the caller closes.
func (s *Server) readFile(file endpoint.Upload) (coach.Spool, error) {
	body := s.UploadBody(file)
	defer body.Done()
	body.Limit(roster.MaxBytes, roster.ErrTooLarge())
	return upload.ReadFile(body, s.Documents.NewSpool)
}

// listImports serves GET /api/players/imports.
func (s *Server) listImports(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	page := s.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	all, err := s.Imports.Imports(ctx, r.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	later := slices.DeleteFunc(all, func(i *roster.Import) bool { return page.After.ID != "" && i.ID >= page.After.ID })
	return endpoint.PageResponse(page, later, newImportSummary, func(i *roster.Import) Keyset { return Keyset{ID: i.ID} }), nil
}

// getImport serves GET /api/players/imports/{import_id}.
func (s *Server) getImport(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	body, err := s.importResponse(ctx, r.Meta, id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(body), nil
}

// listImportRows serves GET /api/players/imports/{import_id}/rows.
func (s *Server) listImportRows(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	i, err := s.Imports.Import(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	f := r.Faults
	state := QueryText(r.Query, "state", &f, wire.ParseRules("oneof=faulty|waiting|added|exists|refused"))
	page := s.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	rows, err := s.Imports.Rows(ctx, r.Caller.Actor, id, roster.RowFilter{
		State: roster.RowState(state), After: int(page.After.Seq), Limit: page.ReadLimit(),
	})
	if err != nil {
		return Response{}, err
	}
	convert := func(row roster.ImportRow) importRowResponse { return newImportRow(i, row) }
	return endpoint.PageResponse(page, rows, convert, func(row roster.ImportRow) Keyset { return Keyset{Seq: int64(row.Number)} }), nil
}

// runImport serves POST /api/players/imports/{import_id}/run.
func (s *Server) runImport(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	if _, err := s.Imports.Step(ctx, r.Caller.Actor, id); err != nil {
		return Response{}, err
	}
	body, err := s.importResponse(ctx, r.Meta, id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(body), nil
}
