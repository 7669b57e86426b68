package coach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// reservationTTL is how long reserved blobs are kept for an upload: much longer
// than any request.
const reservationTTL = time.Hour

// Upload is a document as a client sent it. An empty Title becomes the file name.
type Upload struct {
	Kind                DocumentKind
	Title, Issuer       string
	IssuedOn, ExpiresOn Date
	FileName            string // as the client sent it
	File                File   // nil if the client sent none
}

// Check detects the type of an uploaded file and returns the faults of the file, without decoding it,
// and of the day of issue.
func (s *Documents) Check(ctx context.Context, by actor.Actor, upload Upload) (mediaType string, faults []fault.Field, err error) {
	if upload.IssuedOn != "" {
		today, err := s.today(ctx, by)
		if err != nil {
			return "", nil, err
		}
		faults = checkIssued(upload.IssuedOn, today)
	}
	if upload.File == nil {
		return "", append(faults, fault.Field{Pointer: "/file", Code: "required", Detail: "This is needed."}), nil
	}
	if upload.File.Size() == 0 {
		return "", append(faults, fault.Field{Pointer: "/file", Code: "empty", Detail: "The file is empty. Choose another one."}), nil
	}
	mediaType, err = s.Processor.Type(upload.File)
	if fileErr, ok := errors.AsType[*FileError](err); ok {
		return "", append(faults, fileErr.field()), nil
	}
	if err == nil && upload.Kind == ProfilePicture && mediaType == PDF {
		faults = append(faults, fault.Field{Pointer: "/file", Code: "not_a_picture", Detail: "A profile picture must be a JPEG, PNG or WebP file."})
	}
	return mediaType, faults, err
}

// Add stores a new document of the caller. The document exists only when its bytes are durable.
func (s *Documents) Add(ctx context.Context, by actor.Actor, upload Upload) (Document, error) {
	mediaType, faults, err := s.Check(ctx, by, upload)
	if err = cmp.Or(err, fault.Validation(faults)); err != nil {
		return Document{}, err
	}
	if err := s.checkCapacity(ctx, by.AccountID, true, minGrowth(mediaType, upload.File.Size())); err != nil {
		return Document{}, err
	}
	var saved Document
	err = s.storeFile(ctx, by.AccountID, upload, mediaType, func(file StoredFile) error {
		now := s.Now()
		d := Document{
			ID: s.NewID(), CoachID: by.AccountID, Kind: upload.Kind, Title: upload.Title, Issuer: upload.Issuer,
			IssuedOn: upload.IssuedOn, ExpiresOn: upload.ExpiresOn, File: file, InProfile: upload.Kind != Identity,
			Version: 1, CreatedAt: now, UpdatedAt: now,
		}
		if d.Title == "" {
			d.Title = defaultTitle(file.Name)
		}
		d.NotifyAt = d.NextExpiryNotification(now)
		saved, err = s.Store.AddDocument(ctx, d, s.CheckStorage)
		return err
	})
	return saved, err
}

// Replace gives a document of the caller a new file; of the upload it uses only the
// file and its name. It returns the document and the KYC state: replacing an
// identity document of an undecided submission withdraws that submission.
func (s *Documents) Replace(ctx context.Context, by actor.Actor, id string, upload Upload) (Document, KYCState, error) {
	old, err := s.Store.Document(ctx, by.AccountID, id)
	if err != nil {
		return Document{}, "", err
	}
	upload.Kind = old.Kind
	mediaType, faults, err := s.Check(ctx, by, upload)
	if err = cmp.Or(err, fault.Validation(faults)); err != nil {
		return Document{}, "", err
	}
	if err := s.checkCapacity(ctx, by.AccountID, false, minGrowth(mediaType, upload.File.Size()-old.File.Size)); err != nil {
		return Document{}, "", err
	}
	var saved Document
	var kyc KYCState
	err = s.storeFile(ctx, by.AccountID, upload, mediaType, func(file StoredFile) error {
		saved, kyc, err = s.Store.ReplaceFile(ctx, by.AccountID, id, file, s.Now(), s.CheckStorage)
		return err
	})
	return saved, kyc, err
}

// CheckDocuments returns a fault if a coach with this many documents may not add another.
func CheckDocuments(stored int) error {
	if stored < MaxDocuments {
		return nil
	}
	return fault.Validation([]fault.Field{{Pointer: "/file", Code: "too_many", Detail: fmt.Sprintf("You have %d documents, the most allowed. Delete one first.", MaxDocuments)}})
}

// checkCapacity refuses an upload early if a limit is reached. The transaction that
// adds the document decides.
func (s *Documents) checkCapacity(ctx context.Context, coachID string, isNew bool, bytes int64) error {
	n, stored, status, err := s.Store.Storage(ctx, coachID)
	if err != nil {
		return err
	}
	if isNew {
		if err := CheckDocuments(n); err != nil {
			return err
		}
	}
	if s.CheckStorage == nil || bytes <= 0 {
		return nil
	}
	return s.CheckStorage(status, stored, bytes)
}

// minGrowth returns the least number of bytes by which an upload grows the storage:
// a re-encoded picture may become very small.
func minGrowth(mediaType string, bytes int64) int64 {
	if mediaType != PDF {
		return min(bytes, 1)
	}
	return bytes
}

// storeFile checks and converts the file, writes it to the file store and calls add
// to make it part of a document. The order is reserve, write, add: a failure in
// between leaves only reserved bytes, which the clean-up deletes.
func (s *Documents) storeFile(ctx context.Context, coachID string, upload Upload, mediaType string, add func(StoredFile) error) error {
	if err := s.Processor.Scan(ctx, upload.File); err != nil {
		return fileFault(err)
	}
	renditions := []Rendition{{File: upload.File, MediaType: mediaType}}
	if mediaType != PDF {
		var err error
		if renditions, err = s.Processor.Resize(ctx, upload.File, upload.Kind == ProfilePicture); err != nil {
			return fileFault(err)
		}
		defer func() {
			for _, p := range renditions {
				_ = p.Close() // a temporary file
			}
		}()
	}
	file, blobs := s.layout(upload.FileName, renditions)
	if err := s.Store.ReserveBlobs(ctx, coachID, blobs, s.Now().Add(reservationTTL)); err != nil {
		return err
	}
	err := s.writeBlobs(ctx, blobs, renditions)
	if err == nil {
		err = add(file)
	}
	if err != nil && fault.KindOf(err) != fault.Internal && fault.KindOf(err) != fault.Unavailable {
		// add refused the file, so its bytes can be deleted now.
		s.releaseBlobs(ctx, file.Blobs())
	}
	return err
}

// fileFault converts a *FileError to a fault.
func fileFault(err error) error {
	if fileErr, ok := errors.AsType[*FileError](err); ok {
		return fault.Validation([]fault.Field{fileErr.field()})
	}
	return err
}

// layout assigns blob keys to the renditions and describes the stored file.
func (s *Documents) layout(fileName string, renditions []Rendition) (StoredFile, []Blob) {
	main := renditions[0] // the largest
	file := StoredFile{
		Name: FileName(fileName, main.MediaType), MediaType: main.MediaType, Size: main.Size(), SHA256: main.SHA256(),
		Width: main.Width, Height: main.Height, Blob: s.NewID(),
	}
	blobs := []Blob{{file.Blob, file.Size}}
	for i, p := range renditions {
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

func (s *Documents) writeBlobs(ctx context.Context, blobs []Blob, renditions []Rendition) error {
	for i, p := range renditions {
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
		s.Log.Warn("release blobs of a refused upload", "error", err)
	}
}
