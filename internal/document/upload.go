package document

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/store"
)

// Check detects the type of an uploaded file and returns the faults of the file, without decoding it,
// and of the day of issue.
func (s *Service) Check(ctx context.Context, by actor.Actor, up Upload) (mediaType string, faults []fault.Field, err error) {
	if up.IssuedOn != "" {
		today, err := s.today(ctx, by)
		if err != nil {
			return "", nil, err
		}
		faults = checkIssued(up.IssuedOn, today)
	}
	if up.File == nil {
		return "", append(faults, fault.Field{Pointer: "/file", Code: "required", Detail: "This is needed."}), nil
	}
	if up.File.Size() == 0 {
		return "", append(faults, fault.Field{Pointer: "/file", Code: "empty", Detail: "The file is empty. Choose another one."}), nil
	}
	mediaType, err = s.Processor.Type(up.File)
	if fileErr, ok := errors.AsType[*picture.FileError](err); ok {
		if up.Kind == coach.ProfilePicture && fileErr.Code == picture.UnsupportedType { // its detail offers PDF
			return "", append(faults, notAPicture), nil
		}
		return "", append(faults, fileField(fileErr)), nil
	}
	if err == nil && up.Kind == coach.ProfilePicture && mediaType == picture.PDF {
		faults = append(faults, notAPicture)
	}
	if err == nil && up.Kind == coach.Identity && mediaType == picture.PDF {
		locked, err := picture.IsEncrypted(up.File, up.File.Size())
		if err != nil {
			return "", nil, err
		}
		if locked { // an operator could not read it
			faults = append(faults, fault.Field{
				Pointer: "/file", Code: picture.PasswordProtected,
				Detail: "The PDF is protected by a password. Open it, print it to a new PDF without a password, and send that one.",
			})
		}
	}
	return mediaType, faults, err
}

// Add stores a new document of the caller. The document exists only when its bytes are durable.
func (s *Service) Add(ctx context.Context, by actor.Actor, up Upload) (coach.Document, error) {
	mediaType, faults, err := s.Check(ctx, by, up)
	if err = cmp.Or(err, fault.Validation(faults)); err != nil {
		return coach.Document{}, err
	}
	if err := s.checkCapacity(ctx, by.AccountID, true, minGrowth(mediaType, up.File.Size())); err != nil {
		return coach.Document{}, err
	}
	var d coach.Document
	err = s.storeFile(ctx, by.AccountID, up, mediaType, func(file coach.StoredFile) error {
		now := s.Now()
		d = coach.Document{
			ID: s.NewID(), CoachID: by.AccountID, Kind: up.Kind, Title: cmp.Or(up.Title, defaultTitle(file.Name)), Issuer: up.Issuer,
			IssuedOn: up.IssuedOn, ExpiresOn: up.ExpiresOn, File: file, InProfile: up.Kind != coach.Identity,
			Version: 1, CreatedAt: now, UpdatedAt: now,
		}
		d.NotifyAt = d.NextExpiryNotification(now)
		return s.DB.Write(ctx, func(tx *store.Tx) error { return s.add(ctx, tx, d) })
	})
	return d, err
}

// add saves d and makes its blobs permanent. A new picture becomes the profile picture.
func (s *Service) add(ctx context.Context, tx *store.Tx, d coach.Document) error {
	if err := tx.Complete(ctx, idempotency.Work{ID: d.ID, New: true}); err != nil {
		return err
	}
	u, err := updateUsage(ctx, tx, d.CoachID, d.File.Size, d.InProfile)
	if err != nil {
		return err
	}
	n, err := count(ctx, tx, d.CoachID)
	if err != nil {
		return err
	}
	if err := CheckCount(n); err != nil {
		return err
	}
	if err := s.checkStorage(u.status, u.bytes-d.File.Size, d.File.Size); err != nil {
		return err
	}
	if err := keepBlobs(ctx, tx, d.CoachID, d.File.Blobs()); err != nil {
		return err
	}
	if err := insert(ctx, tx, d); err != nil {
		return err
	}
	if d.Kind == coach.ProfilePicture {
		before, err := coach.Shown(ctx, tx, d.CoachID)
		if err != nil {
			return err
		}
		if err := coach.SetPicture(ctx, tx, d.CoachID, d.ID); err != nil {
			return err
		}
		if err := coach.ShownChanged(ctx, tx, d.CoachID, before); err != nil {
			return err
		}
	}
	return coach.ReindexListing(ctx, tx, d.CoachID)
}

// Replace gives a document of the caller a new file; of the upload it uses only the
// file and its name. It returns the document and the KYC state: replacing an
// identity document of an undecided submission withdraws that submission.
func (s *Service) Replace(ctx context.Context, by actor.Actor, id string, up Upload) (coach.Document, coach.KYCState, error) {
	old, err := s.Document(ctx, by, id)
	if err != nil {
		return coach.Document{}, "", err
	}
	up.Kind = old.Kind
	mediaType, faults, err := s.Check(ctx, by, up)
	if err = cmp.Or(err, fault.Validation(faults)); err != nil {
		return coach.Document{}, "", err
	}
	if err := s.checkCapacity(ctx, by.AccountID, false, minGrowth(mediaType, up.File.Size()-old.File.Size)); err != nil {
		return coach.Document{}, "", err
	}
	var d coach.Document
	var kyc coach.KYCState
	err = s.storeFile(ctx, by.AccountID, up, mediaType, func(file coach.StoredFile) error {
		return s.DB.Write(ctx, func(tx *store.Tx) error {
			d, kyc, err = s.replace(ctx, tx, by.AccountID, id, file)
			return err
		})
	})
	return d, kyc, err
}

// replace saves the new file of a document and lets the clean-up delete the old one.
func (s *Service) replace(ctx context.Context, tx *store.Tx, coachID, id string, file coach.StoredFile) (d coach.Document, kyc coach.KYCState, err error) {
	if d, err = read(ctx, tx, coachID, id); err != nil {
		return d, "", err
	}
	more := file.Size - d.File.Size
	u, err := updateUsage(ctx, tx, coachID, more, d.InProfile)
	if err != nil {
		return d, "", err
	}
	if err := s.checkStorage(u.status, u.bytes-more, more); err != nil {
		return d, "", err
	}
	if err := keepBlobs(ctx, tx, coachID, file.Blobs()); err != nil {
		return d, "", err
	}
	if err := expireBlobs(ctx, tx, d.File.Blobs()); err != nil {
		return d, "", err
	}
	before, err := coach.Shown(ctx, tx, coachID)
	if err != nil {
		return d, "", err
	}
	d.File, d.UpdatedAt = file, s.Now()
	if err := saveFile(ctx, tx, d); err != nil {
		return d, "", err
	}
	if err := coach.ShownChanged(ctx, tx, coachID, before); err != nil {
		return d, "", err
	}
	if kyc, err = s.withdraw(ctx, tx, d, u.status.KYC); err != nil {
		return d, "", err
	}
	return d, kyc, coach.ReindexListing(ctx, tx, coachID)
}

// checkCapacity refuses an upload early if a limit is reached. The transaction that
// adds the document decides.
func (s *Service) checkCapacity(ctx context.Context, coachID string, isNew bool, bytes int64) error {
	n, u, err := storage(ctx, s.DB, coachID)
	if err != nil {
		return err
	}
	if isNew {
		if err := CheckCount(n); err != nil {
			return err
		}
	}
	return s.checkStorage(u.status, u.bytes, bytes)
}

// checkStorage returns a tier_limit if a coach who stores usage bytes may not store more.
func (s *Service) checkStorage(status coach.TierStatus, usage, more int64) error {
	if s.CheckStorage == nil || more <= 0 {
		return nil
	}
	return s.CheckStorage(status, usage, more)
}

// minGrowth returns the least number of bytes by which an upload grows the storage:
// a re-encoded picture may become very small.
func minGrowth(mediaType string, bytes int64) int64 {
	if mediaType != picture.PDF {
		return min(bytes, 1)
	}
	return bytes
}

// storeFile checks and converts the file, writes it to the file store and calls add
// to make it part of a document. The order is reserve, write, add: a failure in
// between leaves only reserved bytes, which the clean-up deletes.
func (s *Service) storeFile(ctx context.Context, coachID string, up Upload, mediaType string, add func(coach.StoredFile) error) error {
	if err := s.Processor.Scan(ctx, up.File); err != nil {
		return fileFault(err)
	}
	renditions := []Rendition{{File: up.File, MediaType: mediaType}}
	if mediaType != picture.PDF {
		var err error
		if renditions, err = s.Processor.Resize(ctx, up.File, up.Kind == coach.ProfilePicture); err != nil {
			return fileFault(err)
		}
		defer func() {
			for _, p := range renditions {
				_ = p.Close() // a temporary file
			}
		}()
	}
	file, keys := s.layout(up.FileName, renditions)
	err := s.reserveBlobs(ctx, coachID, keys, renditions)
	for i, p := range renditions {
		if err == nil {
			err = s.Files.Put(ctx, keys[i], p.File, p.Size(), p.MediaType)
		}
	}
	if err == nil {
		err = add(file)
	}
	if err != nil && fault.KindOf(err) != fault.Internal && fault.KindOf(err) != fault.Unavailable {
		// add refused the file, so its bytes can be deleted now.
		s.releaseBlobs(ctx, keys)
	}
	return err
}

// fileFault converts a *picture.FileError to a fault.
func fileFault(err error) error {
	if fileErr, ok := errors.AsType[*picture.FileError](err); ok {
		return fault.Validation([]fault.Field{fileField(fileErr)})
	}
	return err
}

// notAPicture is the fault of a profile picture of another type.
var notAPicture = fault.Field{Pointer: "/file", Code: "not_a_picture", Detail: "A profile picture must be a JPEG, PNG or WebP file. Take a screenshot of another picture and send that."}

func fileField(err *picture.FileError) fault.Field {
	return fault.Field{Pointer: "/file", Code: err.Code, Detail: err.Detail}
}

// layout assigns a blob key to each rendition and describes the stored file.
func (s *Service) layout(fileName string, renditions []Rendition) (coach.StoredFile, []string) {
	main := renditions[0] // the largest
	file := coach.StoredFile{
		Name: FileName(fileName, main.MediaType), MediaType: main.MediaType, Size: main.Size(), SHA256: main.SHA256(),
		Width: main.Width, Height: main.Height, Blob: s.NewID(),
	}
	var keys []string
	for i, p := range renditions {
		key := file.Blob
		if i > 0 {
			key += "/" + p.Name
		}
		keys = append(keys, key)
		if p.Name != "" {
			file.Sizes = append(file.Sizes, coach.PictureSize{Name: p.Name, Width: p.Width, Height: p.Height, Size: p.Size(), Blob: key})
		}
	}
	slices.Reverse(file.Sizes)
	return file, keys
}
