package coach

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Content is an open document or one size of a picture. The caller must close it.
type Content struct {
	io.ReadSeekCloser
	Document Document
	// Size is the name of the size, "" for the file itself.
	Size string
	// Public reports whether anyone may read it now.
	Public bool
}

// Open returns the content of a document to its owner, and a profile picture that
// the directory shows to anyone. size "" is the file itself. Errors: not_found also
// if the caller may not see the document.
func (s *Documents) Open(ctx context.Context, by actor.Actor, id, size string) (*Content, error) {
	d, err := s.Store.DocumentByID(ctx, id)
	if err != nil {
		return nil, err
	}
	own := by.Role == actor.Coach && by.AccountID == d.CoachID
	public := false
	if !own && d.Kind == ProfilePicture && d.InProfile && s.PublicPicture != nil {
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
func (s *Documents) OpenFile(ctx context.Context, id string) (*Content, error) {
	d, err := s.Store.DocumentByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, d, "")
}

// open opens the file of a document, or one size of it.
func (s *Documents) open(ctx context.Context, d Document, size string) (*Content, error) {
	for attempt := 1; ; attempt++ {
		key, err := d.File.key(size)
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
		if d, readErr = s.Store.DocumentByID(ctx, d.ID); readErr != nil || d.Version == version {
			return nil, cmp.Or(readErr, err)
		}
	}
}

// key returns the blob key of the file or of one size.
func (f StoredFile) key(size string) (string, error) {
	if size == "" {
		return f.Blob, nil
	}
	i := slices.IndexFunc(f.Sizes, func(p PictureSize) bool { return p.Name == size })
	if i < 0 {
		return "", fault.Validation([]fault.Field{{Pointer: "/size", Code: "invalid_value", Detail: "This document has no such size. Leave size out to get the file itself."}})
	}
	return f.Sizes[i].Blob, nil
}
