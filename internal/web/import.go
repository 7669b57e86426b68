package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/csvfile"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/roster"
)

const (
	// maxImportForm limits the body of the import: a file or a pasted spreadsheet, and the
	// other fields.
	maxImportForm = roster.MaxBytes + 64<<10
	// importUpload limits the time in which the file arrives: 4 MiB at 300 kbit/s.
	importUpload = 2 * time.Minute
	// importWork limits the time to read and keep the rows of a file.
	importWork = 30 * time.Second
)

// importPage serves GET /coach/players/import: upload a file or paste cells, and the
// recent imports.
func (p *Pages) importPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Subscriptions.CheckFeature(ctx, by, coach.Import); err != nil {
		return p.featureNeeded(ctx, r, by, coach.Import, err)
	}
	return p.importForm(ctx, r, by, r.restored(new(Form)))
}

func (p *Pages) importForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	imports, err := p.Imports.Imports(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "players", "import.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form = f
	v.Path = "/coach/players/import"
	v.Data = map[string]any{"Imports": imports, "Token": p.Imports.NewID(), "MaxBytes": roster.MaxBytes >> 20}
	return formPageResponse("import", v), nil
}

// featureNeeded shows which tier has a feature. It returns err if it is not tier_limit.
func (p *Pages) featureNeeded(ctx context.Context, r *Request, by actor.Actor, feature string, err error) (Response, error) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != "tier_limit" {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "players", "feature.title", by)
	if err != nil {
		return Response{}, err
	}
	title := func(name any) string {
		text, _ := name.(string)
		tier, _ := p.Subscriptions.Tiers.Named(text)
		return tier.Title
	}
	v.Data = map[string]any{"Feature": feature, "Tier": title(f.Extra["tier"]), "Needed": title(f.Extra["needed_tier"])}
	return page("feature", v).with(http.StatusForbidden), nil
}

// createImport serves POST /coach/players/import. It keeps the rows and adds no player.
// The token of the form is the id of the import, so that the same form sent twice makes
// one import.
func (p *Pages) createImport(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	data, err := p.readImport(r)
	if err != nil && fault.KindOf(err) != fault.TooLarge {
		return Response{}, err
	}
	if err == nil && r.Form.Get("account") != by.AccountID {
		return p.otherAccount(r, by), nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), importWork) // the upload may have used up the time of ctx
	defer cancel()
	id := r.Value("token")
	if !endpoint.IsID(id) {
		id = p.Imports.NewID()
	}
	var i *roster.Import
	switch {
	case err != nil:
	case len(bytes.TrimSpace(data)) == 0:
		f := &Form{Values: r.Form}
		f.Add("file", p.view(r, "import.title").mustT("import.file.none"))
		return p.importForm(ctx, r, by, f)
	default:
		i, err = p.Imports.CreateOnce(ctx, by, id, data)
	}
	if err == nil {
		return redirect("/coach/imports/" + i.ID), nil
	}
	if fault.CodeOf(err) == "tier_limit" {
		return p.featureNeeded(ctx, r, by, coach.Import, err)
	}
	f := &Form{Values: r.Form}
	if !p.addFileFaults(r, f, err) {
		return Response{}, err
	}
	return p.importForm(ctx, r, by, f)
}

// readImport reads the form with its file. A pasted text counts if there is no file.
func (p *Pages) readImport(r *Request) ([]byte, error) {
	if !isMultipart(r) {
		return []byte(r.Form.Get("text")), nil
	}
	control := http.NewResponseController(r.w)
	_ = control.SetReadDeadline(time.Now().Add(importUpload)) // the deadline of the server is for short forms
	_ = control.SetWriteDeadline(time.Now().Add(importUpload + importWork + httpx.WriteTimeout))
	if err := r.ParseMultipartForm(maxImportForm); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			r.Form = r.URL.Query()
			return nil, roster.ErrTooLarge()
		}
		return nil, fault.New(fault.Malformed, "malformed_request", "This form could not be read. Open the page again.").Because(err)
	}
	r.Form = r.MultipartForm.Value
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	if files := r.MultipartForm.File["file"]; len(files) > 0 && files[0].Size > 0 {
		file, err := files[0].Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return io.ReadAll(file)
	}
	return []byte(r.Form.Get("text")), nil
}

// quoted finds the name of a column in the detail of a fault.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// addFileFaults adds the faults of a file. It returns false if err is another error.
func (p *Pages) addFileFaults(r *Request, f *Form, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Invalid && e.Kind != fault.TooLarge {
		return false
	}
	v := p.view(r, "import.title")
	if e.Kind == fault.TooLarge {
		f.Add("file", v.mustT("import.file.too_large", "Count", roster.MaxBytes>>20))
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

// importExample serves GET /coach/players/import/example.csv.
func (p *Pages) importExample(context.Context, *Request, actor.Actor) (Response, error) {
	return download("example.csv", csvfile.MediaType, func(_ context.Context, out io.Writer) error {
		file := roster.NewWriter(out)
		if err := file.WriteTitles(); err != nil {
			return err
		}
		for _, e := range roster.Examples {
			if err := file.Write(roster.Export{Entry: e}); err != nil {
				return err
			}
		}
		return file.Flush()
	}), nil
}

// exportPlayers serves GET /coach/players/export: the players of the list as CSV.
func (p *Pages) exportPlayers(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Subscriptions.CheckFeature(ctx, by, coach.Export); err != nil {
		return p.featureNeeded(ctx, r, by, coach.Export, err)
	}
	filter := playerFilter(r)
	return download("players.csv", csvfile.MediaType, func(ctx context.Context, out io.Writer) error {
		return p.ExportPlayers(ctx, by, filter, out)
	}), nil
}

// exportAll serves GET /coach/settings/export: everything of the coach as a ZIP of CSV files.
func (p *Pages) exportAll(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Subscriptions.CheckFeature(ctx, by, coach.Export); err != nil {
		return p.featureNeeded(ctx, r, by, coach.Export, err)
	}
	return download("export.zip", csvfile.ArchiveMediaType, func(ctx context.Context, out io.Writer) error { return p.ExportAll(ctx, by, out) }), nil
}

// download sends a file while it is written.
func download(name, mediaType string, write func(ctx context.Context, out io.Writer) error) Response {
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), httpx.FileTimeout)
		defer cancel()
		return httpx.Download(w, r, name, mediaType, func(out io.Writer) error { return write(ctx, out) })
	}}
}
