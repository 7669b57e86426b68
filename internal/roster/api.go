package roster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
)

// The most rows that the response about an import shows.
const (
	previewRows = 20
	faultyRows  = 100
)

// uploadWait is how long an upload waits until all rows of its file were read.
const uploadWait = 20 * time.Second

// handlers serves imports as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of imports.
func (s *Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	const imports, one = "/api/players/imports", "/api/players/imports/{import_id}"
	return []api.Route{
		{Method: "POST", Pattern: "/api/players/import", Handle: endpoint.Handle(h.add), Authorize: a.CompleteCoach(), Query: []string{"columns", "date_order"}, Body: endpoint.CSV, MaxUpload: maxBytes, Acquire: h.acquire},
		{Method: "GET", Pattern: imports, Handle: endpoint.Handle(h.list), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: one, Handle: endpoint.HandleID("import_id", h.get), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: one + "/rows", Handle: endpoint.HandleID("import_id", h.listRows), Authorize: api.CoachOnly, Query: endpoint.Paged("state")},
		{Method: "POST", Pattern: one + "/run", Handle: endpoint.HandleID("import_id", h.run), Authorize: a.CompleteCoach(), Timeout: stepTimeout},
	}
}

// acquire returns tier_limit unless the coach's tier includes imports: the file of
// another coach is not read.
func (h handlers) acquire(ctx context.Context, caller api.Caller) (release func(), err error) {
	if err := h.CheckFeature(ctx, caller.Actor, coach.Import); err != nil {
		return nil, err
	}
	return h.api.AcquireUpload(ctx, caller)
}

// add serves POST /api/players/import.
func (h handlers) add(ctx context.Context, r api.Request[endpoint.Upload]) (api.Response, error) {
	file, err := h.readFile(r.Body)
	if err != nil {
		return api.CloseConnection, err
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
	faults := r.Faults
	options := readOptions(r.Query, &faults)
	created := func(ctx context.Context, id string) (api.Response, error) {
		body, err := h.response(ctx, by, id)
		if err != nil {
			return api.Response{}, err
		}
		return endpoint.Created("/api/players/imports/"+id, body).WithSubject(id), nil
	}
	return h.api.HandleOnce(ctx, r.Meta, keyed.Request{
		Owner: by.AccountID, Keep: keyed.Keep, Body: fmt.Append(nil, file.SHA256(), options.Columns, options.DateOrder),
		MayRepeat: func(ctx context.Context, id string) error {
			_, err := h.Import(ctx, by, id)
			return err
		},
		Rebuild: func(ctx context.Context, w idempotency.Work) (api.Response, error) { return created(ctx, w.ID) },
		Handle: func(ctx context.Context, f wire.Faults) (api.Response, error) {
			f = append(f, faults...)
			if err := f.Err(); err != nil {
				return api.Response{}, err
			}
			i, err := h.Create(ctx, by, file, options)
			if q, ok := errors.AsType[*Question](err); ok {
				err = q.Unwrap()
			}
			if err != nil {
				return api.Response{}, err
			}
			kept = true // the import closes it
			if _, err := h.Await(ctx, by, i.ID, uploadWait); err != nil {
				return api.Response{}, err
			}
			return created(ctx, i.ID)
		},
	})
}

// readOptions reads what the query says about a file.
func readOptions(query url.Values, f *wire.Faults) Options {
	o := Options{DateOrder: DateOrder(api.QueryText(query, "date_order", f, wire.ParseRules("oneof=day_first|month_first")))}
	if text := query.Get("columns"); text != "" {
		for name := range strings.SplitSeq(text, ",") {
			c := Column(strings.TrimSpace(name))
			if c != "" && c != ignored && !slices.Contains(choices, c) {
				f.Add("/columns", "invalid_value", "Name the column of each title in their order, with commas between. There is one name that is no column. The description of this call lists the names.")
				return o
			}
			o.Columns = append(o.Columns, c)
			if len(o.Columns) > maxTitles {
				f.Add("/columns", "too_many", "Name at most 200 columns.")
				return o
			}
		}
	}
	return o
}

// readFile reads a CSV body into a spool, which the caller closes.
func (h handlers) readFile(file endpoint.Upload) (upload.Spool, error) {
	body := h.api.UploadBody(file)
	defer body.Done()
	body.Limit(maxBytes, errTooLarge())
	return upload.ReadFile(body, h.api.NewSpool)
}

// list serves GET /api/players/imports.
func (h handlers) list(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	all, err := h.Imports(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	later := slices.DeleteFunc(all, func(i *Import) bool { return page.After.ID != "" && i.ID >= page.After.ID })
	return endpoint.PageResponse(page, later, newImportSummary, func(i *Import) api.Keyset { return api.Keyset{ID: i.ID} }), nil
}

// get serves GET /api/players/imports/{import_id}.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	body, err := h.response(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(body), nil
}

// listRows serves GET /api/players/imports/{import_id}/rows.
func (h handlers) listRows(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	i, err := h.Import(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	f := r.Faults
	state := api.QueryText(r.Query, "state", &f, wire.ParseRules("oneof=faulty|waiting|added|exists|refused"))
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	rows, err := h.Rows(ctx, r.Caller.Actor, id, RowFilter{
		State: RowState(state), After: int(page.After.Seq), Limit: page.ReadLimit(),
	})
	if err != nil {
		return api.Response{}, err
	}
	convert := func(row ImportRow) importRowResponse { return newImportRow(i, row) }
	return endpoint.PageResponse(page, rows, convert, func(row ImportRow) api.Keyset { return api.Keyset{Seq: int64(row.Number)} }), nil
}

// run serves POST /api/players/imports/{import_id}/run.
func (h handlers) run(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	if _, err := h.Step(ctx, r.Caller.Actor, id); err != nil {
		return api.Response{}, err
	}
	body, err := h.response(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(body), nil
}
