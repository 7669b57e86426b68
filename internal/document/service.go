package document

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/coaching"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Service manages the documents of coaches. A document of another coach is not_found.
type Service struct {
	DB *store.DB
	// Profiles serves the profile, which shows the documents.
	Profiles  coaching.Service
	Files     blob.Store
	Processor Processor
	// CheckStorage returns a tier_limit if a coach who stores usage bytes may not store more bytes; nil
	// is no limit.
	CheckStorage func(status coach.TierStatus, usage, more int64) error
	// PublicPicture reports whether the directory shows the picture of a coach; nil means no.
	PublicPicture func(ctx context.Context, coachID string) (bool, error)
	// Withdraw withdraws the undecided verification that names a document, and reports whether there
	// was one; nil does nothing.
	Withdraw func(ctx context.Context, tx *store.Tx, coachID, documentID string) (bool, error)

	Log *slog.Logger

	// cleanupStopped is the blob at which the last run of DeleteExpiredBlobs stopped; nil if it
	// came to the end.
	cleanupStopped atomic.Pointer[expiredBlob]
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

// Removed is the state of the coach after a document was deleted.
type Removed struct {
	Filled []string // the profile fields that are not empty
	KYC    coach.KYCState
}

// Document returns a document of the caller, or not_found.
func (s *Service) Document(ctx context.Context, by actor.Actor, id string) (coach.Document, error) {
	return read(ctx, s.DB, by.AccountID, id)
}

// Read returns a document of a coach, or not_found.
func (s *Service) Read(ctx context.Context, coachID, id string) (coach.Document, error) {
	return read(ctx, s.DB, coachID, id)
}

// Edit changes the description of a document of the caller.
func (s *Service) Edit(ctx context.Context, by actor.Actor, id string, patch Patch) (d coach.Document, err error) {
	today, err := s.today(ctx, by)
	if err != nil {
		return coach.Document{}, err
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if d, err = read(ctx, tx, by.AccountID, id); err != nil {
			return err
		}
		if d, err = patch.Apply(d, s.Now(), today); err != nil {
			return err
		}
		if !d.InProfile {
			return saveDescription(ctx, tx, d)
		}
		if _, err := updateUsage(ctx, tx, by.AccountID, 0, true); err != nil {
			return err
		}
		if err := saveDescription(ctx, tx, d); err != nil {
			return err
		}
		return coach.ReindexListing(ctx, tx, by.AccountID)
	})
	return d, err
}

// today returns the current day in the time zone of the caller.
func (s *Service) today(ctx context.Context, by actor.Actor) (coach.Date, error) {
	name, err := s.DB.ZoneIn(ctx, s.DB, by.AccountID)
	return coach.Date(team.DateOf(s.Now(), team.Zone(name))), err
}

// Remove deletes a document of the caller and every reference to it. The clean-up deletes its bytes
// later.
func (s *Service) Remove(ctx context.Context, by actor.Actor, id string) (out Removed, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		d, err := read(ctx, tx, by.AccountID, id)
		if err != nil {
			return err
		}
		u, err := updateUsage(ctx, tx, d.CoachID, -d.File.Size, d.InProfile)
		if err != nil {
			return err
		}
		before, err := coach.Shown(ctx, tx, d.CoachID)
		if err != nil {
			return err
		}
		if err := tx.ExecOne(ctx, `DELETE FROM documents WHERE coach_id = $1 AND id = $2 AND version = $3`, d.CoachID, id, d.Version); err != nil {
			return err
		}
		if d.Kind == coach.ProfilePicture && d.InProfile {
			if err := coach.SetPicture(ctx, tx, d.CoachID, ""); err != nil {
				return err
			}
		}
		if err := coach.ShownChanged(ctx, tx, d.CoachID, before); err != nil {
			return err
		}
		if err := expireBlobs(ctx, tx, d.File.Blobs()); err != nil {
			return err
		}
		if out.KYC, err = s.withdraw(ctx, tx, d, u.status.KYC); err != nil {
			return err
		}
		if err := coach.ReindexListing(ctx, tx, d.CoachID); err != nil {
			return err
		}
		out.Filled, err = tx.FilledFields(ctx, d.CoachID)
		return err
	})
	return out, err
}

// withdraw withdraws the verification that names d, if d is an identity document, because an operator
// could no longer check it. It returns the coach's KYC state, which was kyc before.
func (s *Service) withdraw(ctx context.Context, tx *store.Tx, d coach.Document, kyc coach.KYCState) (coach.KYCState, error) {
	if d.Kind != coach.Identity || s.Withdraw == nil {
		return kyc, nil
	}
	withdrawn, err := s.Withdraw(ctx, tx, d.CoachID, d.ID)
	if withdrawn {
		kyc = coach.NotStarted
	}
	return kyc, err
}

// Content is an open document or one size of a picture. The caller must close it.
type Content struct {
	io.ReadSeekCloser
	Document coach.Document
	// Size is the name of the size, "" for the file itself.
	Size string
	// Public reports whether anyone may read it now.
	Public bool
}

// Open returns the content of a document to its owner, and a profile picture that the directory shows to
// anyone. size "" is the file itself. A document that the caller may not see is not_found.
func (s *Service) Open(ctx context.Context, by actor.Actor, id, size string) (*Content, error) {
	d, err := readAny(ctx, s.DB, id)
	if err != nil {
		return nil, err
	}
	own := by.Role == actor.Coach && by.AccountID == d.CoachID
	public := false
	if !own && d.Kind == coach.ProfilePicture && d.InProfile && s.PublicPicture != nil {
		if public, err = s.PublicPicture(ctx, d.CoachID); err != nil {
			return nil, err
		}
	}
	if !own && !public {
		return nil, fault.Missing()
	}
	c, err := s.open(ctx, d, size)
	if c != nil {
		c.Public = public
	}
	return c, err
}

// OpenFile returns the content of a document of any coach: the caller has checked who may read it.
func (s *Service) OpenFile(ctx context.Context, id string) (*Content, error) {
	d, err := readAny(ctx, s.DB, id)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, d, "")
}

// open opens the file of a document, or one size of it.
func (s *Service) open(ctx context.Context, d coach.Document, size string) (*Content, error) {
	for attempt := 1; ; attempt++ {
		key, err := blobKey(d.File, size)
		if err != nil {
			return nil, err
		}
		content, _, err := s.Files.Open(ctx, key)
		if err == nil {
			return &Content{ReadSeekCloser: content, Document: d, Size: size}, nil
		}
		if attempt > 1 || fault.KindOf(err) != fault.Internal {
			return nil, err
		}
		// The file may have been replaced or deleted after the document was read.
		version := d.Version
		var readErr error
		if d, readErr = readAny(ctx, s.DB, d.ID); readErr != nil || d.Version == version {
			return nil, cmp.Or(readErr, err)
		}
	}
}

// blobKey returns the blob key of the file or of one size.
func blobKey(f coach.StoredFile, size string) (string, error) {
	if size == "" {
		return f.Blob, nil
	}
	i := slices.IndexFunc(f.Sizes, func(p coach.PictureSize) bool { return p.Name == size })
	if i < 0 {
		return "", fault.Validation([]fault.Field{{Pointer: "/size", Code: "invalid_value", Detail: "This document has no such size. Leave size out to get the file itself."}})
	}
	return f.Sizes[i].Blob, nil
}
