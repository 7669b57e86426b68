package roster

import (
	"context"
	"embed"
	"errors"
	"io"
	"net/url"
	"regexp"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// maxShownAgain limits the cells that a page with a fault or a question carries, in bytes: 1,000 rows.
const maxShownAgain = 256 << 10

// offeredBatches is the number of batches that the form offers, newest first.
const offeredBatches = 100

// pageWait is how long the page of an import waits until all rows of its file were read.
const pageWait = 2 * time.Second

// pages serves the pages about imports and the export.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the pages about imports and the export.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const players, one = "/coach/players", "/coach/imports/{import_id}"
	return []web.Route{
		{Method: "GET", Pattern: players + "/export", Handle: site.SignedIn(actor.Coach, p.export)},
		{Method: "GET", Pattern: players + "/import", Handle: site.SignedIn(actor.Coach, p.importPage)},
		{Method: "POST", Pattern: players + "/import", Handle: site.SignedIn(actor.Coach, site.WithUpload(p.upload())), Upload: true},
		{Method: "GET", Pattern: players + "/import/example.csv", Handle: site.SignedIn(actor.Coach, p.example)},
		{Method: "GET", Pattern: one, Handle: site.SignedIn(actor.Coach, p.status)},
		{Method: "POST", Pattern: one + "/correct", Handle: site.SignedIn(actor.Coach, p.correct)},
		{Method: "POST", Pattern: one + "/run", Handle: site.SignedIn(actor.Coach, p.run)},
	}
}

// upload is the form of the import: a file or pasted cells.
func (p pages) upload() web.UploadForm {
	return web.UploadForm{
		Fields:  upload.Fields{Texts: append([]string{"token", "choose", "date_order", "batch"}, columnFields...), Pasted: "text"},
		MaxFile: maxBytes, TooLarge: errTooLarge(),
		Allow: func(ctx context.Context, by actor.Actor) error {
			return p.CheckFeature(ctx, by, coach.Import)
		},
		Refuse: p.refused, Handle: p.create,
	}
}

// importPage serves GET /coach/players/import: upload a file or paste cells, and the
// recent imports.
func (p pages) importPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.CheckFeature(ctx, by, coach.Import); err != nil {
		return p.site.FeatureNeeded(r, by, coach.Import, err)
	}
	return p.form(ctx, r, by, r.Restored(&web.Form{Values: url.Values{"batch": r.Form["batch"]}}))
}

func (p pages) form(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	imports, err := p.Imports(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	batches, err := store.BatchNames(ctx, p.DB, by.AccountID, offeredBatches)
	if err != nil {
		return web.Response{}, err
	}
	if len(batches) == 1 && r.Method == "GET" && f.Value("batch") == "" {
		f.Values = url.Values{"batch": {batches[0].ID}}
	}
	v := p.site.CoachView(r, "players", "import.title", by)
	v.Form = f
	v.Path = "/coach/players/import"
	v.Data = map[string]any{"Imports": imports, "Batches": batches, "Token": p.NewID(), "MaxBytes": maxBytes >> 20}
	return web.FormPage("import", v), nil
}

// create serves POST /coach/players/import. It keeps the rows and adds no player.
// The token of the form is the id of the import, so that the same form sent twice makes
// one import.
func (p pages) create(ctx context.Context, r *web.Request, by actor.Actor, form *upload.Form) (web.Response, error) {
	id := r.Value("token")
	if !endpoint.IsID(id) {
		id = p.NewID()
	}
	if form.Pasted != nil && form.Pasted.Size() <= maxShownAgain {
		text, _ := io.ReadAll(form.Pasted) // a page with a fault has no cells if they cannot be read
		r.Form.Set("text", string(text))
	}
	file := form.File
	if form.Pasted != nil && form.Pasted.Size() > 0 && (file == nil || file.Size() == 0) {
		file = form.Pasted
	}
	if file == nil || file.Size() == 0 {
		text := "import.file.none"
		if file != nil {
			text = "import.file.empty"
		}
		f := &web.Form{Values: r.Form}
		f.Add("file", p.site.NewView(r, "import.title").MustT(text))
		return p.form(ctx, r, by, f)
	}
	options := answers(r)
	i, err := p.CreateOnce(ctx, by, id, file, options)
	if q, ok := errors.AsType[*Question](err); ok {
		return p.ask(r, by, file, options, q)
	}
	if err != nil {
		return p.refused(ctx, r, by, err)
	}
	form.Keep(file) // the import closes it
	if _, err := p.Await(ctx, by, i.ID, pageWait); err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/coach/imports/" + i.ID), nil
}

// refused returns the page of an import that was not made.
func (p pages) refused(ctx context.Context, r *web.Request, by actor.Actor, err error) (web.Response, error) {
	if fault.CodeOf(err) == "tier_limit" {
		return p.site.FeatureNeeded(r, by, coach.Import, err)
	}
	f := &web.Form{Values: r.Form}
	if !p.addFileFaults(r, f, err) {
		return web.Response{}, err
	}
	return p.form(ctx, r, by, f)
}

// quoted finds the name of a column in the detail of a fault.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// addFileFaults adds the faults of a file. It returns false if err is another error.
func (p pages) addFileFaults(r *web.Request, f *web.Form, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Invalid && e.Kind != fault.TooLarge {
		return false
	}
	v := p.site.NewView(r, "import.title")
	if e.Kind == fault.TooLarge {
		f.Add("file", v.MustT("import.file.too_large", "Count", maxBytes>>20))
		return true
	}
	for _, field := range e.Fields {
		name := ""
		if match := quoted.FindStringSubmatch(field.Detail); match != nil {
			name = match[1]
		}
		text, err := v.T("import.file."+field.Code, "Name", name)
		if err != nil {
			text = field.Detail
		}
		f.Add("file", text)
	}
	return len(e.Fields) > 0
}

// example serves GET /coach/players/import/example.csv.
func (p pages) example(context.Context, *web.Request, actor.Actor) (web.Response, error) {
	return web.Download("example.csv", csvfile.MediaType, func(_ context.Context, out io.Writer) error { return writeEntries(out, examples) }), nil
}

// export serves GET /coach/players/export: the players of the list as CSV.
func (p pages) export(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.CheckFeature(ctx, by, coach.Export); err != nil {
		return p.site.FeatureNeeded(r, by, coach.Export, err)
	}
	filter := web.PlayerFilter(r)
	return web.Download("players.csv", csvfile.MediaType, func(ctx context.Context, out io.Writer) error {
		return p.Export(ctx, by, filter, out)
	}), nil
}
