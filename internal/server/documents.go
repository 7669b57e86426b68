package server

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/picture"
	"github.com/touchline/touchline/internal/scan"
)

// newDocuments makes what keeps the coaches' documents.
func (a *App) newDocuments(directory *coach.Directory) (*coach.Documents, error) {
	look := fileProcessor{spools: spoolsIn(a.cfg.DataDir)}
	if a.cfg.ClamAV != "off" {
		var err error
		if look.scanner, err = scan.New(a.cfg.ClamAV); err != nil {
			return nil, err
		}
	}
	return &coach.Documents{
		Store: a.db, Files: a.files, Processor: look, NewSpool: look.spools.upload, CheckStorage: a.tiers.CheckStorage, PublicPicture: directory.ShowsPicture,
		Now: a.edges.Now, NewID: a.edges.NewID, Log: a.edges.Log,
	}, nil
}

// spools is where uploads wait, by folder.
type spools string

// spoolsIn is below the data folder: what a machine takes for temporary files is
// often its memory.
func spoolsIn(dataDir string) spools { return spools(filepath.Join(dataDir, "uploads")) }

func (dir spools) upload() (coach.Spool, error) { return dir.make(coach.MaxFile + 1) }

func (dir spools) make(limit int64) (*blob.Spool, error) { return blob.NewSpool(string(dir), limit) }

// maxPrint bounds a picture that is made anew, in bytes: it is made without loss
// where it is transparent, and may be larger than what was sent.
const maxPrint = 64 << 20

// examiner fits what looks at files to documents.
type fileProcessor struct {
	spools  spools
	scanner *scan.Clamd // nil for none
}

// Type implements coach.Examiner.
func (e fileProcessor) Type(file coach.File) (string, error) {
	info, err := picture.Inspect(file, file.Size())
	return info.MediaType, flaw(err)
}

// flaw makes what is wrong with a file a flaw.
func flaw(err error) error {
	if refusal, ok := errors.AsType[*picture.FileError](err); ok {
		return &coach.FileError{Code: refusal.Code, Detail: refusal.Detail}
	}
	return err
}

// Scan implements coach.Examiner.
func (e fileProcessor) Scan(ctx context.Context, file coach.File) error {
	if e.scanner == nil {
		return nil
	}
	result, err := e.scanner.Scan(ctx, io.NewSectionReader(file, 0, file.Size()))
	if err != nil || result.Infected == "" {
		return err
	}
	return &coach.FileError{Code: "infected", Detail: "The virus scanner found something harmful in the file."}
}

// Develop implements coach.Examiner.
func (e fileProcessor) Resize(ctx context.Context, file coach.File, sizes bool) (prints []coach.Rendition, err error) {
	var made []*blob.Spool
	defer func() {
		if err != nil {
			prints = nil
			for _, spool := range made {
				_ = spool.Close() // it is of no use any more
			}
		}
	}()
	wanted := picture.DocumentSizes
	if sizes {
		wanted = picture.ProfileSizes
	}
	done, err := picture.Process(ctx, file, file.Size(), picture.Options{Sizes: wanted, Create: func(picture.Size) (io.Writer, error) {
		spool, err := e.spools.make(maxPrint)
		if err == nil {
			made = append(made, spool)
		}
		return spool, err
	}})
	if err != nil {
		return nil, flaw(err)
	}
	for i, p := range done.Pictures {
		prints = append(prints, coach.Rendition{File: made[i], Closer: made[i], Name: p.Name, MediaType: p.MediaType, Width: p.Width, Height: p.Height})
	}
	return prints, nil
}
