package coach

import (
	"context"
	"io"
	"slices"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// Content is the bytes of a document, or of one size of a picture. Close must
// follow.
type Content struct {
	io.ReadSeekCloser
	Document Document
	// Size is its name, "" of the file itself.
	Size string
	// Public says that anybody may have it at the moment.
	Public bool
}

// Open returns the content of a document for whoever may see it: its owner, and
// of the picture of a listed coach who shows it, anybody. size "" is the file
// itself. Errors are those of a call whose sign-in is optional: not_found also
// where there is nobody to see anything.
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

// OpenForOperator returns the content of an identity document, for an operator
// who decides on its coach. That it was read must be recorded before anything of
// it is shown: this does not know who asks.
func (s *Documents) OpenForOperator(ctx context.Context, id string) (*Content, error) {
	d, err := s.Store.DocumentByID(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.Kind != Identity {
		return nil, fault.Missing()
	}
	return s.open(ctx, d, "")
}

// open reads a document's file, or one size of it.
func (s *Documents) open(ctx context.Context, d Document, size string) (*Content, error) {
	for try := 1; ; try++ {
		key, err := d.File.key(size)
		if err != nil {
			return nil, err
		}
		content, _, err := s.Files.Open(ctx, key)
		if err == nil {
			return &Content{ReadSeekCloser: content, Document: d, Size: size}, nil
		}
		if try > 1 || fault.KindOf(err) != fault.Internal {
			return nil, err
		}
		// It may have been replaced or deleted since it was looked up.
		version := d.Version
		var gone error
		if d, gone = s.Store.DocumentByID(ctx, d.ID); gone != nil || d.Version == version {
			return nil, firstError(gone, err)
		}
	}
}

// key is where the file, or one size of it, is kept.
func (f StoredFile) key(size string) (string, error) {
	if size == "" {
		return f.Blob, nil
	}
	i := slices.IndexFunc(f.Sizes, func(p PictureSize) bool { return p.Name == size })
	if i < 0 {
		return "", fault.Validation([]fault.Field{{Pointer: "/size", Code: "invalid_value", Detail: "This document does not come in that size."}})
	}
	return f.Sizes[i].Blob, nil
}
