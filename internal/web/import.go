package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/roster"
)

// maxPastedAgain limits the pasted cells that a page with a fault shows again, in bytes.
const maxPastedAgain = 64 << 10

// importUpload is the form of the import: a file or pasted cells.
func (p *Pages) importUpload() UploadForm {
	return UploadForm{
		Fields:  upload.Fields{Texts: []string{"token"}, Pasted: "text"},
		MaxFile: roster.MaxBytes, TooLarge: roster.ErrTooLarge(),
		Allow: func(ctx context.Context, by actor.Actor) error {
			return p.Subscriptions.CheckFeature(ctx, by, coach.Import)
		},
		Refuse: p.importRefused, Handle: p.createImport,
	}
}

// awaitImport is how long the page of an import waits until all rows of its file were read.
const awaitImport = 2 * time.Second

// importPage serves GET /coach/players/import: upload a file or paste cells, and the
// recent imports.
func (p *Pages) importPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Subscriptions.CheckFeature(ctx, by, coach.Import); err != nil {
		return p.FeatureNeeded(ctx, r, by, coach.Import, err)
	}
	return p.importForm(ctx, r, by, r.Restored(new(Form)))
}

func (p *Pages) importForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	imports, err := p.Imports.Imports(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "import.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form = f
	v.Path = "/coach/players/import"
	v.Data = map[string]any{"Imports": imports, "Token": p.Imports.NewID(), "MaxBytes": roster.MaxBytes >> 20}
	return FormPage("import", v), nil
}

// FeatureNeeded shows which tier has a feature. It returns err if it is not tier_limit.
func (p *Pages) FeatureNeeded(ctx context.Context, r *Request, by actor.Actor, feature string, err error) (Response, error) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != "tier_limit" {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "feature.title", by)
	if err != nil {
		return Response{}, err
	}
	title := func(name any) string {
		text, _ := name.(string)
		tier, _ := p.Subscriptions.Tiers.Named(text)
		return tier.Title
	}
	v.Data = map[string]any{"Feature": feature, "Tier": title(f.Extra["tier"]), "Needed": title(f.Extra["needed_tier"])}
	return Page("feature", v).with(http.StatusForbidden), nil
}

// createImport serves POST /coach/players/import. It keeps the rows and adds no player.
// The token of the form is the id of the import, so that the same form sent twice makes
// one import.
func (p *Pages) createImport(ctx context.Context, r *Request, by actor.Actor, form *upload.Form) (Response, error) {
	id := r.Value("token")
	if !endpoint.IsID(id) {
		id = p.Imports.NewID()
	}
	if form.Pasted != nil && form.Pasted.Size() <= maxPastedAgain {
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
		f := &Form{Values: r.Form}
		f.Add("file", p.NewView(r, "import.title").MustT(text))
		return p.importForm(ctx, r, by, f)
	}
	i, err := p.Imports.CreateOnce(ctx, by, id, file)
	if err != nil {
		return p.importRefused(ctx, r, by, err)
	}
	form.Keep(file) // the import closes it
	if _, err := p.Imports.Await(ctx, by, i.ID, awaitImport); err != nil {
		return Response{}, err
	}
	return Redirect("/coach/imports/" + i.ID), nil
}

// importRefused returns the page of an import that was not made.
func (p *Pages) importRefused(ctx context.Context, r *Request, by actor.Actor, err error) (Response, error) {
	if fault.CodeOf(err) == "tier_limit" {
		return p.FeatureNeeded(ctx, r, by, coach.Import, err)
	}
	f := &Form{Values: r.Form}
	if !p.addFileFaults(r, f, err) {
		return Response{}, err
	}
	return p.importForm(ctx, r, by, f)
}

// quoted finds the name of a column in the detail of a fault.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// addFileFaults adds the faults of a file. It returns false if err is another error.
func (p *Pages) addFileFaults(r *Request, f *Form, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Invalid && e.Kind != fault.TooLarge {
		return false
	}
	v := p.NewView(r, "import.title")
	if e.Kind == fault.TooLarge {
		f.Add("file", v.MustT("import.file.too_large", "Count", roster.MaxBytes>>20))
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
	return Download("example.csv", csvfile.MediaType, func(_ context.Context, out io.Writer) error {
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
		return p.FeatureNeeded(ctx, r, by, coach.Export, err)
	}
	filter := PlayerFilter(r)
	return Download("players.csv", csvfile.MediaType, func(ctx context.Context, out io.Writer) error {
		return p.ExportPlayers(ctx, by, filter, out)
	}), nil
}

// exportAll serves GET /coach/settings/export: everything of the coach as a ZIP of CSV files.
func (p *Pages) exportAll(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Subscriptions.CheckFeature(ctx, by, coach.Export); err != nil {
		return p.FeatureNeeded(ctx, r, by, coach.Export, err)
	}
	return Download("export.zip", csvfile.ArchiveMediaType, func(ctx context.Context, out io.Writer) error { return p.ExportAll(ctx, by, out) }), nil
}

// Download sends a file while it is written.
func Download(name, mediaType string, write func(ctx context.Context, out io.Writer) error) Response {
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), httpx.FileTimeout)
		defer cancel()
		return httpx.Download(w, r, name, mediaType, func(out io.Writer) error { return write(ctx, out) })
	}}
}
