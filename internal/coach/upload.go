package coach

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// bookedFor is how long bytes may be on their way into a document: much longer
// than any call takes.
const reservationTTL = time.Hour

// Draft is a document as it was sent, before its file is judged. Title "" is the
// file's name.
type Upload struct {
	Kind                DocumentKind
	Title, Issuer       string
	IssuedOn, ExpiresOn Date
	FileName            string // as sent
	File                File   // nil where none was sent
}

// Check returns what is wrong with the file of a draft as far as its beginning
// tells, and its type.
func (s *Documents) Check(draft Upload) (mediaType string, faults []fault.Field, err error) {
	if draft.File == nil {
		return "", []fault.Field{{Pointer: "/file", Code: "required", Detail: "This is needed."}}, nil
	}
	if draft.File.Size() == 0 {
		return "", []fault.Field{{Pointer: "/file", Code: "empty", Detail: "The file is empty."}}, nil
	}
	mediaType, err = s.Processor.Type(draft.File)
	if flaw, ok := errors.AsType[*FileError](err); ok {
		return "", []fault.Field{flaw.field()}, nil
	}
	if err == nil && draft.Kind == ProfilePicture && mediaType == PDF {
		faults = append(faults, fault.Field{Pointer: "/file", Code: "not_a_picture", Detail: "A profile picture must be a JPEG, PNG or WebP picture."})
	}
	return mediaType, faults, err
}

// Add keeps a new document of the caller's, whose draft has no faults. It is there
// once its bytes are safe, or not at all.
func (s *Documents) Add(ctx context.Context, by actor.Actor, draft Upload) (Document, error) {
	mediaType, faults, err := s.Check(draft)
	if err = firstError(err, fault.Validation(faults)); err != nil {
		return Document{}, err
	}
	if err := s.checkCapacity(ctx, by.AccountID, 1, minGrowth(mediaType, draft.File.Size())); err != nil {
		return Document{}, err
	}
	var saved Document
	err = s.storeFile(ctx, by.AccountID, draft, mediaType, func(file StoredFile) error {
		now := s.Now()
		d := Document{
			ID: s.NewID(), CoachID: by.AccountID, Kind: draft.Kind, Title: draft.Title, Issuer: draft.Issuer,
			IssuedOn: draft.IssuedOn, ExpiresOn: draft.ExpiresOn, File: file, InProfile: draft.Kind != Identity,
			Version: 1, CreatedAt: now, UpdatedAt: now,
		}
		if d.Title == "" {
			d.Title = defaultTitle(file.Name)
		}
		d.NoticeAt = d.NextNotice(now)
		saved, err = s.Store.AddDocument(ctx, d, s.CheckStorage)
		return err
	})
	return saved, err
}

// Replace gives one of the caller's documents another file, of which the draft
// says no more than the name. It returns the document and the KYC state: an
// identity document that waits for a decision takes its submission back.
func (s *Documents) Replace(ctx context.Context, by actor.Actor, id string, draft Upload) (Document, KYCState, error) {
	old, err := s.Store.Document(ctx, by.AccountID, id)
	if err != nil {
		return Document{}, "", err
	}
	draft.Kind = old.Kind
	mediaType, faults, err := s.Check(draft)
	if err = firstError(err, fault.Validation(faults)); err != nil {
		return Document{}, "", err
	}
	if err := s.checkCapacity(ctx, by.AccountID, 0, minGrowth(mediaType, draft.File.Size()-old.File.Size)); err != nil {
		return Document{}, "", err
	}
	var saved Document
	var kyc KYCState
	err = s.storeFile(ctx, by.AccountID, draft, mediaType, func(file StoredFile) error {
		saved, kyc, err = s.Store.ReplaceFile(ctx, by.AccountID, id, file, s.Now(), s.CheckStorage)
		return err
	})
	return saved, kyc, err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ErrTooMany is the fault of one document more than a coach may have.
func ErrTooMany() error {
	return fault.Validation([]fault.Field{{Pointer: "/file", Code: "too_many", Detail: "You have as many documents as there may be: 100. Delete one first."}})
}

// roomFor spares the work where there is no room. Whether there is, the
// transaction says that adds the document.
func (s *Documents) checkCapacity(ctx context.Context, coachID string, documents int, bytes int64) error {
	n, stored, at, err := s.Store.Storage(ctx, coachID)
	if err != nil {
		return err
	}
	if documents > 0 && n+documents > MaxDocuments {
		return ErrTooMany()
	}
	if s.CheckStorage == nil || bytes <= 0 {
		return nil
	}
	return s.CheckStorage(at, stored, bytes)
}

// growth is by how much a file adds to what is stored, as far as that is known
// before: a picture that is made anew may shrink to almost nothing.
func minGrowth(mediaType string, bytes int64) int64 {
	if mediaType != PDF {
		return min(bytes, 1)
	}
	return bytes
}

// keep brings the file of a draft into the file store, and lets add make it a
// document's. The order is that of the file store's promise: booked, written,
// named. What fails in between leaves bytes that are booked and nothing else.
func (s *Documents) storeFile(ctx context.Context, coachID string, draft Upload, mediaType string, add func(StoredFile) error) error {
	if err := s.Processor.Scan(ctx, draft.File); err != nil {
		return fileFault(err)
	}
	prints := []Rendition{{File: draft.File, MediaType: mediaType}}
	if mediaType != PDF {
		var err error
		if prints, err = s.Processor.Resize(ctx, draft.File, draft.Kind == ProfilePicture); err != nil {
			return fileFault(err)
		}
		defer func() {
			for _, p := range prints {
				_ = p.Close() // it is a copy
			}
		}()
	}
	file, blobs := s.layout(draft.FileName, prints)
	if err := s.Store.ReserveBlobs(ctx, coachID, blobs, s.Now().Add(reservationTTL)); err != nil {
		return err
	}
	err := s.writeBlobs(ctx, blobs, prints)
	if err == nil {
		err = add(file)
	}
	if err != nil && fault.KindOf(err) != fault.Internal && fault.KindOf(err) != fault.Unavailable {
		// Refused, not failed: nobody will name these bytes, so they need not wait.
		s.releaseBlobs(ctx, file.Blobs())
	}
	return err
}

// flawed makes the fault of an upload of a flaw.
func fileFault(err error) error {
	if flaw, ok := errors.AsType[*FileError](err); ok {
		return fault.Validation([]fault.Field{flaw.field()})
	}
	return err
}

// plan gives the prints their keys, and says what file they make.
func (s *Documents) layout(fileName string, prints []Rendition) (StoredFile, []Blob) {
	main := prints[0] // the largest
	file := StoredFile{
		Name: FileName(fileName, main.MediaType), MediaType: main.MediaType, Size: main.Size(), SHA256: main.SHA256(),
		Width: main.Width, Height: main.Height, Blob: s.NewID(),
	}
	blobs := []Blob{{file.Blob, file.Size}}
	for i, p := range prints {
		key := file.Blob
		if i > 0 {
			key += "/" + p.Name
			blobs = append(blobs, Blob{key, p.Size()})
		}
		if p.Name != "" {
			file.Sizes = append(file.Sizes, PictureSize{Name: p.Name, Width: p.Width, Height: p.Height, Size: p.Size(), Blob: key})
		}
	}
	slices.Reverse(file.Sizes)
	return file, blobs
}

func (s *Documents) writeBlobs(ctx context.Context, blobs []Blob, prints []Rendition) error {
	for i, p := range prints {
		if err := s.Files.Put(ctx, blobs[i].Key, p.File, p.Size(), p.MediaType); err != nil {
			return err
		}
	}
	return nil
}

func (s *Documents) releaseBlobs(ctx context.Context, keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.Store.ReleaseBlobs(ctx, slices.Clone(keys)); err != nil {
		s.Log.Warn("bytes that nobody names stay for an hour", "error", err)
	}
}
