package coach

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// Blob is bytes in the file store: their key and how many.
type Blob struct {
	Key  string
	Size int64
}

// Judge says whether a coach who stores use bytes may store more of them: nil, or
// a tier_limit. Tiers.Storage is one.
type StorageCheck func(at TierStatus, use, more int64) error

// Removal is what deleting a document did to its coach.
type RemovedDocument struct {
	Filled []string // the fields of the profile that are still filled
	KYC    KYCState
}

// DocumentStore is what documents need kept; package store provides it. Bytes
// are booked before they are written, and are the document's only from the
// transaction on that adds it: what is booked and not used within an hour, and
// what no document names any more, the sweeper removes.
type DocumentStore interface {
	// Documents are a coach's, newest first, of a kind where it is not "", after
	// the one with the id before where that is not "".
	Documents(ctx context.Context, coachID string, kind DocumentKind, before string, n int) ([]Document, error)
	// Document is one of a coach's; not_found where it is not.
	Document(ctx context.Context, coachID, id string) (Document, error)
	// DocumentByID is anybody's.
	DocumentByID(ctx context.Context, id string) (Document, error)
	// Storage says how many documents and bytes a coach has, and where they stand.
	Storage(ctx context.Context, coachID string) (documents int, bytes int64, at TierStatus, err error)

	// BookBlobs notes bytes that are about to be written, until ends.
	ReserveBlobs(ctx context.Context, coachID string, blobs []Blob, ends time.Time) error
	// AddDocument makes d the coach's, and its blobs d's, if there is room.
	AddDocument(ctx context.Context, d Document, judge StorageCheck) (Document, error)
	// UpdateDocument loads, lets fn change, and saves if nobody saved meanwhile.
	// fn may run more than once.
	UpdateDocument(ctx context.Context, coachID, id string, fn func(Document) (Document, error)) error
	// ReplaceFile gives a document another file, if there is room, and returns it
	// and the coach's KYC state.
	ReplaceFile(ctx context.Context, coachID, id string, file StoredFile, now time.Time, judge StorageCheck) (Document, KYCState, error)
	// RemoveDocument takes a document out of everything that names it.
	RemoveDocument(ctx context.Context, coachID, id string) (RemovedDocument, error)

	// EndBlobs lets the sweeper have what was booked and is not needed.
	ReleaseBlobs(ctx context.Context, keys []string) error
	// EndedBlobs are up to n whose time is over, after the one given.
	ExpiredBlobs(ctx context.Context, after ExpiredBlob, n int) ([]ExpiredBlob, error)
	// DropBlob forgets bytes that are gone from the file store.
	DeleteBlob(ctx context.Context, key string) error
}

// EndedBlob is bytes that may be removed, and since when.
type ExpiredBlob struct {
	Key    string
	EndsAt time.Time
}

// Files keeps bytes by key; package blob provides it. What keeps it from doing so
// is fault.Down.
type Files interface {
	// Put keeps the bytes of r under key; they are safe when it returns.
	Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error
	// Open reads what is under key, while ctx lasts.
	Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error)
	// Delete removes what is under key; it is no error where nothing is.
	Delete(ctx context.Context, key string) error
}

// File is a whole file at hand, to be read as often as needed.
type File interface {
	io.ReadSeeker
	io.ReaderAt
	Size() int64
	SHA256() string // hexadecimal
}

// Examiner looks at files of strangers. What is wrong with the file itself it
// says as a *Flaw; where it cannot look, as fault.Down.
type FileProcessor interface {
	// Type returns the media type of a file by its content: one of those that
	// documents have, and not more pixels than may be decoded.
	Type(file File) (string, error)
	// Scan looks for what is harmful.
	Scan(ctx context.Context, file File) error
	// Develop makes a picture anew from its pixels alone, upright, and in three
	// sizes where these are wanted, the largest first.
	Resize(ctx context.Context, file File, sizes bool) ([]Rendition, error)
}

// Print is a picture that was made anew. Close frees what it takes.
type Rendition struct {
	File
	io.Closer
	Name          string // of the size; "" where there is but one
	MediaType     string
	Width, Height int
}

// Flaw is why a file cannot be taken.
type FileError struct{ Code, Detail string }

// Error says why.
func (f *FileError) Error() string { return f.Code + ": " + f.Detail }

// field is the fault that f is of an upload.
func (f *FileError) field() fault.Field {
	return fault.Field{Pointer: "/file", Code: f.Code, Detail: f.Detail}
}

// Documents keeps what coaches upload.
type Documents struct {
	Store     DocumentStore
	Files     Files
	Processor FileProcessor
	// NewSpool makes room for an upload of at most MaxFile+1 bytes.
	NewSpool func() (Spool, error)
	// Judge is the tier's say on storage; nil is no limit.
	CheckStorage StorageCheck
	// PublicPicture says whether a coach is listed and shows the picture; nil is no.
	PublicPicture func(ctx context.Context, coachID string) (bool, error)

	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

// List returns up to n of the caller's own documents, newest first, of a kind
// where it is not "", after the one with the id before where that is not "".
func (s *Documents) List(ctx context.Context, by actor.Actor, kind DocumentKind, before string, n int) ([]Document, error) {
	return s.Store.Documents(ctx, by.AccountID, kind, before, n)
}

// Document returns one of the caller's own.
func (s *Documents) Document(ctx context.Context, by actor.Actor, id string) (Document, error) {
	return s.Store.Document(ctx, by.AccountID, id)
}

// Edit changes what the caller says of a document.
func (s *Documents) Edit(ctx context.Context, by actor.Actor, id string, patch DocumentPatch) (Document, error) {
	var saved Document
	err := s.Store.UpdateDocument(ctx, by.AccountID, id, func(d Document) (Document, error) {
		var err error
		saved, err = d.Apply(patch, s.Now())
		return saved, err
	})
	return saved, err
}

// Remove deletes one of the caller's documents, at any time. Its bytes go soon after.
func (s *Documents) Remove(ctx context.Context, by actor.Actor, id string) (RemovedDocument, error) {
	return s.Store.RemoveDocument(ctx, by.AccountID, id)
}

// Spool is a File while it comes in: written once, then read. Close removes it.
type Spool interface {
	File
	io.WriteCloser
}
