package document

import (
	"context"
	"io"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/scan"
	"github.com/touchline/touchline/internal/platform/upload"
)

// Processor checks and converts uploaded files. It returns a *picture.FileError for an invalid file, and
// fault.Down if it cannot check it. Tests have a faster one than FileProcessor.
type Processor interface {
	// Type returns the media type of a file by content, or an error for other types and for pictures
	// that are too large to decode.
	Type(file upload.File) (string, error)
	// Scan returns an error for an infected file.
	Scan(ctx context.Context, file upload.File) error
	// Resize re-encodes a picture from its pixels, upright and without metadata: in one size, or in
	// three if sizes is true, largest first.
	Resize(ctx context.Context, file upload.File, sizes bool) ([]Rendition, error)
}

// Rendition is a re-encoded picture. Close frees its file.
type Rendition struct {
	upload.File
	io.Closer
	Name          string // of the size; "" if there is only one
	MediaType     string
	Width, Height int
}

// maxRendition limits a resized picture, in bytes. A transparent picture is stored without loss and can
// be larger than the upload.
const maxRendition = 64 << 20

// FileProcessor implements Processor with packages picture and scan.
type FileProcessor struct {
	// Dir is the folder of temporary files.
	Dir     string
	Scanner *scan.Clamd // nil scans nothing
}

// Type implements Processor.
func (FileProcessor) Type(file upload.File) (string, error) {
	info, err := picture.Inspect(file, file.Size())
	return info.MediaType, err
}

// Scan implements Processor.
func (p FileProcessor) Scan(ctx context.Context, file upload.File) error {
	if p.Scanner == nil {
		return nil
	}
	result, err := p.Scanner.Scan(ctx, io.NewSectionReader(file, 0, file.Size()))
	if err != nil || result.Infected == "" {
		return err
	}
	return &picture.FileError{Code: "infected", Detail: "The virus scanner found something harmful in the file."}
}

// Resize implements Processor.
func (p FileProcessor) Resize(ctx context.Context, file upload.File, sizes bool) (renditions []Rendition, err error) {
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
		spool, err := blob.NewSpool(p.Dir, maxRendition)
		if err == nil {
			spools = append(spools, spool)
		}
		return spool, err
	}})
	if err != nil {
		return nil, err
	}
	for i, pic := range done.Pictures {
		renditions = append(renditions, Rendition{File: spools[i], Closer: spools[i], Name: pic.Name, MediaType: pic.MediaType, Width: pic.Width, Height: pic.Height})
	}
	return renditions, nil
}
