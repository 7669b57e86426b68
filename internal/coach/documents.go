package coach

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Blob is the key and the size in bytes of an object in the file store.
type Blob struct {
	Key  string
	Size int64
}

// StorageCheck decides whether a coach who stores usage bytes may store more bytes:
// nil or a tier_limit. Tiers.CheckStorage is one.
type StorageCheck func(status TierStatus, usage, more int64) error

// RemovedDocument is the state of the coach after a document was deleted.
type RemovedDocument struct {
	Filled []string // the profile fields that are not empty
	KYC    KYCState
}

// DocumentStore stores documents; package store implements it. Blobs are reserved
// before their bytes are written, and belong to a document once AddDocument or
// ReplaceFile has committed. DeleteExpiredBlobs removes reservations older than an
// hour and blobs without a document.
type DocumentStore interface {
	// Zone returns the IANA name of the time zone of a coach, the default one if the coach chose none.
	Zone(ctx context.Context, coachID string) (string, error)
	// Documents returns up to n documents of a coach, newest first, of one kind
	// unless kind is "", after the id before unless that is "".
	Documents(ctx context.Context, coachID string, kind DocumentKind, before string, n int) ([]Document, error)
	// Document returns a document of the coach, or not_found.
	Document(ctx context.Context, coachID, id string) (Document, error)
	// DocumentByID returns a document of any coach, or not_found.
	DocumentByID(ctx context.Context, id string) (Document, error)
	// Storage returns the number and bytes of a coach's documents, and the tier status.
	Storage(ctx context.Context, coachID string) (documents int, bytes int64, status TierStatus, err error)

	// ReserveBlobs records blobs that are about to be written, until expires.
	ReserveBlobs(ctx context.Context, coachID string, blobs []Blob, expires time.Time) error
	// AddDocument saves d and makes its blobs permanent, if check allows the size.
	AddDocument(ctx context.Context, d Document, check StorageCheck) (Document, error)
	// UpdateDocument loads a document, lets fn change it, and saves it unless it
	// was changed meanwhile. fn may run more than once.
	UpdateDocument(ctx context.Context, coachID, id string, fn func(Document) (Document, error)) error
	// ReplaceFile replaces the file of a document, if check allows the size. It
	// returns the document and the coach's KYC state.
	ReplaceFile(ctx context.Context, coachID, id string, file StoredFile, now time.Time, check StorageCheck) (Document, KYCState, error)
	// RemoveDocument deletes a document and every reference to it.
	RemoveDocument(ctx context.Context, coachID, id string) (RemovedDocument, error)

	// ReleaseBlobs ends the reservation of unused blobs.
	ReleaseBlobs(ctx context.Context, keys []string) error
	// ExpiredBlobs returns up to n blobs that may be deleted, after the given one.
	ExpiredBlobs(ctx context.Context, after ExpiredBlob, n int) ([]ExpiredBlob, error)
	// DeleteBlob deletes the record of a blob that the file store no longer holds.
	DeleteBlob(ctx context.Context, key string) error
}

// ExpiredBlob is a blob that may be deleted since EndsAt.
type ExpiredBlob struct {
	Key    string
	EndsAt time.Time
}

// Files stores bytes by key; package blob implements it. It returns fault.Down if
// the file store is not available.
type Files interface {
	// Put stores the bytes of r under key; they are durable when it returns.
	Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error
	// Open returns a reader of the key's content, valid while ctx lasts.
	Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error)
	// Delete deletes the content of key; a missing key is no error.
	Delete(ctx context.Context, key string) error
}

// File is a complete file that can be read repeatedly.
type File interface {
	io.ReadSeeker
	io.ReaderAt
	Size() int64
	SHA256() string // in hex
}

// FileProcessor checks and converts uploaded files. It returns a *FileError for an
// invalid file, and fault.Down if it cannot check it.
type FileProcessor interface {
	// Type returns the media type of a file by content, or an error for other types
	// and for pictures that are too large to decode.
	Type(file File) (string, error)
	// Scan returns an error for an infected file.
	Scan(ctx context.Context, file File) error
	// Resize re-encodes a picture from its pixels, upright and without metadata: in
	// one size, or in three if sizes is true, largest first.
	Resize(ctx context.Context, file File, sizes bool) ([]Rendition, error)
}

// Rendition is a re-encoded picture. Close frees its file.
type Rendition struct {
	File
	io.Closer
	Name          string // of the size; "" if there is only one
	MediaType     string
	Width, Height int
}

// FileError says why a file is not accepted.
type FileError struct{ Code, Detail string }

func (f *FileError) Error() string { return f.Code + ": " + f.Detail }

func (f *FileError) field() fault.Field {
	return fault.Field{Pointer: "/file", Code: f.Code, Detail: f.Detail}
}

// Documents manages the files that coaches upload.
type Documents struct {
	Store     DocumentStore
	Files     Files
	Processor FileProcessor
	// NewSpool creates a temporary file for an upload of at most MaxFile+1 bytes.
	NewSpool func() (Spool, error)
	// CheckStorage is the storage limit of the tier; nil is no limit.
	CheckStorage StorageCheck
	// PublicPicture reports whether the directory shows the picture of a coach; nil means no.
	PublicPicture func(ctx context.Context, coachID string) (bool, error)

	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger

	// cleanupStopped is the blob at which the last run of DeleteExpiredBlobs stopped; nil if it
	// came to the end.
	cleanupStopped atomic.Pointer[ExpiredBlob]
}

// List returns up to n documents of the caller, newest first, of one kind unless
// kind is "", after the id before unless that is "".
func (s *Documents) List(ctx context.Context, by actor.Actor, kind DocumentKind, before string, n int) ([]Document, error) {
	return s.Store.Documents(ctx, by.AccountID, kind, before, n)
}

// Document returns a document of the caller, or not_found.
func (s *Documents) Document(ctx context.Context, by actor.Actor, id string) (Document, error) {
	return s.Store.Document(ctx, by.AccountID, id)
}

// Edit changes the description of a document of the caller.
func (s *Documents) Edit(ctx context.Context, by actor.Actor, id string, patch DocumentPatch) (Document, error) {
	today, err := s.today(ctx, by)
	if err != nil {
		return Document{}, err
	}
	var saved Document
	err = s.Store.UpdateDocument(ctx, by.AccountID, id, func(d Document) (Document, error) {
		var err error
		saved, err = d.Apply(patch, s.Now(), today)
		return saved, err
	})
	return saved, err
}

// today returns the current day in the time zone of the caller.
func (s *Documents) today(ctx context.Context, by actor.Actor) (Date, error) {
	name, err := s.Store.Zone(ctx, by.AccountID)
	if err != nil {
		return "", err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		zone = time.UTC
	}
	return Date(s.Now().In(zone).Format(time.DateOnly)), nil
}

// Remove deletes a document of the caller. The clean-up deletes its bytes later.
func (s *Documents) Remove(ctx context.Context, by actor.Actor, id string) (RemovedDocument, error) {
	return s.Store.RemoveDocument(ctx, by.AccountID, id)
}

// Spool is a File that is first written, then read. Close removes it.
type Spool interface {
	File
	io.WriteCloser
}
