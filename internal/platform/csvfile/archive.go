package csvfile

import (
	"archive/zip"
	"context"
	"io"
)

// ArchiveMediaType is the media type of an archive of WriteArchive.
const ArchiveMediaType = "application/zip"

// Table is one file of an archive.
type Table struct {
	// Name is the name of the file.
	Name   string
	Titles []string
	// Each calls row with the cells of each row.
	Each func(ctx context.Context, row func(cells ...string) error) error
}

// WriteArchive writes a ZIP file with a CSV file for each table, one after the other. It
// holds no more than a few rows in memory.
func WriteArchive(ctx context.Context, out io.Writer, tables []Table) error {
	archive := zip.NewWriter(out)
	for _, t := range tables {
		file, err := archive.Create(t.Name)
		if err != nil {
			return err
		}
		if err := WriteTable(file, t.Titles, func(row func(...string) error) error { return t.Each(ctx, row) }); err != nil {
			return err
		}
	}
	return archive.Close()
}
