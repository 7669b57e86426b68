package dump

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/touchline/touchline/internal/platform/database"
)

// A backup is a tar archive, compressed with zstd and encrypted with age. Its entries, in this order:
//
//	backup.json             Manifest
//	tables/<table>/<chunk>  encoded rows: see appendRow
//	files/<key>             a file of the file store
//	erasures                the file ERASURES
//	end.json                Contents: how many rows and files there must be
//
// age authenticates every byte and the end of the file. So a backup that was cut or changed is never restored.
const (
	manifestName = "backup.json"
	tablesFolder = "tables/"
	filesFolder  = "files/"
	ledgerName   = "erasures"
	endName      = "end.json"

	// format is the version of the archive.
	format = 1
	// chunkSize is the size in bytes from which the rows of a table continue in the next entry.
	chunkSize = 1 << 20
	// maxEntry limits an entry in bytes, which is read as a whole.
	maxEntry = 1 << 30
)

// Manifest says what a backup is. Its rows and files follow.
type Manifest struct {
	Format int `json:"format"`
	// Release is the release of the program that made the backup, Migration the newest migration of the database.
	Release   string    `json:"release"`
	Migration int64     `json:"migration"`
	Engine    string    `json:"engine"`
	CreatedAt time.Time `json:"created_at"`
	// Tables are in the order of their rows.
	Tables []database.Table `json:"tables,omitempty"`
}

// String names a backup.
func (m Manifest) String() string {
	return fmt.Sprintf("backup of %s from a %s database", m.CreatedAt.Format(time.RFC3339Nano), m.Engine)
}

// Contents says what a backup has.
type Contents struct {
	Tables []Total `json:"tables"`
	Files  Files   `json:"files"`
	// Erasures says that the backup has a file ERASURES.
	Erasures bool `json:"erasures"`
}

// Rows returns how many rows there are in all tables.
func (c Contents) Rows() (n int64) {
	for _, t := range c.Tables {
		n += t.Rows
	}
	return n
}

// ErrDamaged says that a backup was cut or changed, or cannot be read.
var ErrDamaged = errors.New("the backup is damaged or not complete")

// ErrNewer says that this program is older than the backup.
var ErrNewer = errors.New("a newer release made this backup: restore it with that release")

func damaged(err error) error {
	if err == nil || errors.Is(err, ErrDamaged) {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// archiveWriter writes the entries of a backup.
type archiveWriter struct {
	*tar.Writer
	compressed *zstd.Encoder
	encrypted  io.WriteCloser
	time       time.Time
}

func newArchiveWriter(w io.Writer, now time.Time, recipients []age.Recipient) (*archiveWriter, error) {
	encrypted, err := age.Encrypt(w, recipients...)
	if err != nil {
		return nil, fmt.Errorf("encrypt the backup: %w", err)
	}
	// One goroutine: the service on the same machine comes first.
	compressed, err := zstd.NewWriter(encrypted, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &archiveWriter{tar.NewWriter(compressed), compressed, encrypted, now}, nil
}

// begin begins an entry of size bytes, which the caller writes then.
func (a *archiveWriter) begin(name string, size int64) error {
	return a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.time, Format: tar.FormatPAX})
}

func (a *archiveWriter) add(name string, content []byte) error {
	if err := a.begin(name, int64(len(content))); err != nil {
		return err
	}
	_, err := a.Write(content)
	return err
}

func (a *archiveWriter) addJSON(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.add(name, text)
}

// Close ends the backup. Without it the backup is not complete.
func (a *archiveWriter) Close() error {
	for _, c := range []io.Closer{a.Writer, a.compressed, a.encrypted} {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Archive is a backup that is read once, from its start to its end.
type Archive struct {
	Manifest Manifest

	tar        *tar.Reader
	compressed *zstd.Decoder
	// entry is the next one; nil after the last.
	entry *tar.Header
	chunk []byte
}

// OpenArchive decrypts a backup and reads its manifest. Call Close afterwards. Errors: ErrDamaged, ErrNewer.
func OpenArchive(r io.Reader, newest int64, identities ...age.Identity) (*Archive, error) {
	plain, err := age.Decrypt(r, identities...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, errors.New("no identity opens this backup: it needs the one of its recipient")
	}
	if err != nil {
		return nil, fmt.Errorf("this is not a backup, or its first part is damaged: %w", damaged(err))
	}
	compressed, err := zstd.NewReader(plain)
	if err != nil {
		return nil, damaged(err)
	}
	a := &Archive{tar: tar.NewReader(compressed), compressed: compressed}
	if err := a.readManifest(newest); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *Archive) readManifest(newest int64) error {
	if err := a.next(); err != nil {
		return err
	}
	var version struct{ Format int }
	text, err := a.content(manifestName)
	if err == nil {
		err = json.Unmarshal(text, &version)
	}
	switch {
	case err != nil:
		return damaged(err)
	case version.Format > format:
		return ErrNewer
	}
	if err := json.Unmarshal(text, &a.Manifest); err != nil {
		return damaged(err)
	}
	if a.Manifest.Migration > newest {
		return ErrNewer
	}
	return a.next()
}

// Close ends the reading.
func (a *Archive) Close() { a.compressed.Close() }

// next goes to the next entry.
func (a *Archive) next() (err error) {
	a.entry, err = a.tar.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return damaged(err)
	}
	if a.entry.Size > maxEntry {
		return damaged(fmt.Errorf("%s has %d bytes", a.entry.Name, a.entry.Size))
	}
	return nil
}

// at returns the rest of the name of the entry, if its name begins with prefix.
func (a *Archive) at(prefix string) (rest string, ok bool) {
	if a.entry == nil {
		return "", false
	}
	return strings.CutPrefix(a.entry.Name, prefix)
}

// content reads the entry, which must have this name.
func (a *Archive) content(name string) ([]byte, error) {
	if a.entry == nil || a.entry.Name != name {
		return nil, damaged(fmt.Errorf("%s is missing", name))
	}
	content, err := io.ReadAll(a.tar)
	return content, damaged(err)
}

// rows returns a function that returns the next row of t, or nil after the last one. A row is valid until the next call.
func (a *Archive) rows(t database.Table, sum *Sum) func() ([]any, error) {
	row := make([]any, len(t.Columns))
	var rest []byte
	return func() ([]any, error) {
		for len(rest) == 0 {
			if _, ok := a.at(tablesFolder + t.Name + "/"); !ok {
				return nil, nil
			}
			chunk, err := readInto(a.chunk, a.tar)
			if err == nil {
				a.chunk, rest, err = chunk, chunk, a.next()
			}
			if err != nil {
				return nil, damaged(err)
			}
		}
		after, err := readRow(rest, t.Columns, row)
		if err != nil {
			return nil, damaged(fmt.Errorf("table %s: %w", t.Name, err))
		}
		sum.add(rest[:len(rest)-len(after)])
		rest = after
		return row, nil
	}
}

// readInto reads all of r into b, which grows if needed.
func readInto(b []byte, r io.Reader) ([]byte, error) {
	b = b[:0]
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, max(chunkSize, len(b)))
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// files calls each with all files.
func (a *Archive) files(each func(key string, content []byte) error) (files Files, err error) {
	for {
		key, ok := a.at(filesFolder)
		if !ok {
			return files, nil
		}
		content, err := a.content(filesFolder + key)
		if err == nil {
			err = each(key, content)
		}
		if err == nil {
			files.Count, files.Bytes = files.Count+1, files.Bytes+int64(len(content))
			err = a.next()
		}
		if err != nil {
			return files, err
		}
	}
}

// erasures calls fn with the file ERASURES, if there is one.
func (a *Archive) erasures(fn func(io.Reader) error) (found bool, err error) {
	if _, ok := a.at(ledgerName); !ok {
		return false, nil
	}
	if err := fn(damagedReader{a.tar}); err != nil {
		return true, err
	}
	return true, a.next()
}

type damagedReader struct{ io.Reader }

func (d damagedReader) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(err)
	}
	return n, err
}

// end reads the last entry and the end of the file, and compares them with what was read.
func (a *Archive) end(read Contents) (Contents, error) {
	var end Contents
	text, err := a.content(endName)
	if err == nil {
		err = json.Unmarshal(text, &end)
	}
	if err == nil {
		err = a.next()
	}
	if err == nil && a.entry != nil {
		err = fmt.Errorf("%s is too much", a.entry.Name)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, a.compressed) // age reports a cut end here
	}
	if err != nil {
		return end, damaged(err)
	}
	if len(end.Tables) != len(read.Tables) || end.Files.Count != read.Files.Count || end.Files.Bytes != read.Files.Bytes || end.Erasures != read.Erasures {
		return end, damaged(errors.New("tables or files are missing"))
	}
	return end, damaged(differences(end.Tables, read.Tables))
}
