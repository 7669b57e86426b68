package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/database"
)

// Files says how many files of a file store were copied, or are in a backup.
type Files struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
	// Missing are the keys that a document names and the store does not have.
	Missing []string `json:"missing,omitempty"`
	// Deleted is how many files were deleted while a backup was made.
	Deleted int `json:"deleted,omitempty"`
}

// FileStoreID is the name of the value in the table installation that is the id of the file store of the database.
const FileStoreID = "files"

const (
	// storeID is the file by which a store is known.
	storeID = "touchline-store"
	// mediaType is the type of a copied file. A store returns bytes only.
	mediaType = "application/octet-stream"
)

// fileKeys returns the keys of all files. Those that may be deleted at any time are not named by a document.
func fileKeys(ctx context.Context, b *database.Bulk, tables []database.Table) (keys []string, named map[string]bool, err error) {
	i := slices.IndexFunc(tables, func(t database.Table) bool { return t.Name == "blobs" })
	column := func(name string) int {
		return slices.IndexFunc(tables[i].Columns, func(c database.Column) bool { return c.Name == name })
	}
	key, ends := column("key"), column("ends_at")
	named = map[string]bool{}
	err = b.Read(ctx, tables[i], func(row []any) error {
		name, _ := row[key].(string)
		keys = append(keys, name)
		named[name] = row[ends] == nil
		return nil
	})
	slices.Sort(keys)
	return append(keys, storeID), named, err
}

// CopyFiles copies the files of the database url from a store to another one. It leaves out those that are there already, so
// it may run again. It does not compare the content of those.
func CopyFiles(ctx context.Context, url string, from, to blob.Store) (files Files, err error) {
	b, err := database.OpenBulk(ctx, url)
	if err != nil {
		return files, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	tables, err := b.Tables(ctx)
	if err != nil {
		return files, err
	}
	keys, named, err := fileKeys(ctx, b, tables)
	if err != nil {
		return files, err
	}
	for _, key := range keys {
		n, err := copyFile(ctx, key, from, to)
		switch {
		case errors.Is(err, blob.ErrNotFound):
			if named[key] {
				files.Missing = append(files.Missing, key)
			}
		case err != nil:
			return files, fmt.Errorf("copy the file %s: %w", key, err)
		default:
			files.Count, files.Bytes = files.Count+1, files.Bytes+n
		}
	}
	return files, nil
}

func copyFile(ctx context.Context, key string, from, to blob.Store) (int64, error) {
	r, size, err := from.Open(ctx, key)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	there, known, err := to.Open(ctx, key)
	if err == nil && key == storeID {
		err = sameContent(r, there)
	}
	if err == nil {
		err = there.Close()
	}
	if err == nil && known == size {
		return size, nil
	}
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return 0, err
	}
	return size, to.Put(ctx, key, r, size, mediaType)
}

// sameContent returns an error unless two small files are equal.
func sameContent(a, b io.Reader) error {
	one, err := io.ReadAll(a)
	other, err2 := io.ReadAll(b)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !bytes.Equal(one, other) {
		return errors.New("the target store belongs to another installation")
	}
	return nil
}
