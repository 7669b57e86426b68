package server

import (
	"context"
	"errors"
	"io"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/scan"
)

// maxRendition limits a resized picture, in bytes. A transparent picture is stored
// without loss and can be larger than the upload.
const maxRendition = 64 << 20

// fileProcessor implements coach.FileProcessor with packages picture and scan.
type fileProcessor struct {
	// dir is the folder of temporary files. It is in DATA_DIR, because the system's
	// folder for temporary files is often in memory.
	dir     string
	scanner *scan.Clamd // nil without CLAMAV
}

func newFileProcessor(cfg *config.Config) (fileProcessor, error) {
	p := fileProcessor{dir: cfg.UploadDir()}
	if cfg.ClamAV != "off" {
		var err error
		if p.scanner, err = scan.New(cfg.ClamAV); err != nil {
			return fileProcessor{}, err
		}
	}
	return p, nil
}

// newUpload returns a temporary file for an upload.
func (p fileProcessor) newUpload() (coach.Spool, error) { return blob.NewSpool(p.dir, coach.MaxFile+1) }

// Type implements coach.FileProcessor.
func (p fileProcessor) Type(file coach.File) (string, error) {
	info, err := picture.Inspect(file, file.Size())
	return info.MediaType, fileError(err)
}

// fileError converts an error of package picture to one of package coach.
func fileError(err error) error {
	if e, ok := errors.AsType[*picture.FileError](err); ok {
		return &coach.FileError{Code: e.Code, Detail: e.Detail}
	}
	return err
}

// Scan implements coach.FileProcessor.
func (p fileProcessor) Scan(ctx context.Context, file coach.File) error {
	if p.scanner == nil {
		return nil
	}
	result, err := p.scanner.Scan(ctx, io.NewSectionReader(file, 0, file.Size()))
	if err != nil || result.Infected == "" {
		return err
	}
	return &coach.FileError{Code: "infected", Detail: "The virus scanner found something harmful in the file."}
}

// Resize implements coach.FileProcessor.
func (p fileProcessor) Resize(ctx context.Context, file coach.File, sizes bool) (renditions []coach.Rendition, err error) {
	var spools []*blob.Spool
	defer func() {
		if err != nil {
			for _, spool := range spools {
				_ = spool.Close() // deletes the file
			}
		}
	}()
	wanted := picture.DocumentSizes
	if sizes {
		wanted = picture.ProfileSizes
	}
	done, err := picture.Process(ctx, file, file.Size(), picture.Options{Sizes: wanted, Create: func(picture.Size) (io.Writer, error) {
		spool, err := blob.NewSpool(p.dir, maxRendition)
		if err == nil {
			spools = append(spools, spool)
		}
		return spool, err
	}})
	if err != nil {
		return nil, fileError(err)
	}
	for i, pic := range done.Pictures {
		renditions = append(renditions, coach.Rendition{File: spools[i], Closer: spools[i], Name: pic.Name, MediaType: pic.MediaType, Width: pic.Width, Height: pic.Height})
	}
	return renditions, nil
}
