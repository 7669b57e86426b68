package coach

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// ListingSource returns the data from which the listing of one coach is made.
func (db Store) ListingSource(ctx context.Context, coachID string) (s ListingSource, err error) {
	return s, db.DB.View(ctx, func(tx *store.Tx) (err error) {
		s, err = listingSource(ctx, tx, coachID)
		return err
	})
}

// SetVisibility loads the source of the listing, lets fn decide the visibility, and
// saves it with the listing. fn may run more than once.
func (db Store) SetVisibility(ctx context.Context, coachID string, fn func(ListingSource) (VisibilityRequest, error)) error {
	var before, visible bool
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockCoach(ctx, coachID); err != nil {
			return err
		}
		s, err := listingSource(ctx, tx, coachID)
		if err != nil {
			return err
		}
		before = s.Visible
		was := s.shown()
		s.VisibilityRequest, err = fn(s)
		if err != nil {
			return err
		}
		visible = s.Visible
		shown, err := json.Marshal(s.Show)
		if err != nil {
			return err
		}
		if err := tx.ExecOne(ctx, `UPDATE coaches SET visible = $2, shown = $3, updated_at = $4 WHERE id = $1`,
			coachID, s.Visible, string(shown), database.Micros(tx.Now)); err != nil {
			return err
		}
		if err := tx.CoachChanged(ctx, coachID, was, s.shown()); err != nil {
			return err
		}
		return saveListing(ctx, tx, s)
	})
	if err == nil && before != visible {
		db.changed(ctx, coachID, slog.String("setting", "visibility"), slog.Bool("value", visible))
	}
	return err
}

// listingSource reads a coach's profile and whether the account is suspended.
func listingSource(ctx context.Context, tx *store.Tx, coachID string) (ListingSource, error) {
	p, err := profile(ctx, tx, coachID)
	if err != nil {
		return ListingSource{}, err
	}
	var suspended sql.NullInt64
	if err := tx.QueryRow(ctx, `SELECT suspended_at FROM accounts WHERE id = $1`, coachID).Scan(&suspended); err != nil {
		return ListingSource{}, fmt.Errorf("read account of coach %s: %w", coachID, err)
	}
	return ListingSource{Profile: p, Suspended: suspended.Valid}, nil
}

// ReindexListing updates the directory listing of a coach. Every transaction that
// changes a coaches row, a suspension or a document calls it last.
//
// It locks the coach's row first: of two transactions that change different parts
// of one coach, the second waits here and then sees both changes.
func ReindexListing(ctx context.Context, tx *store.Tx, coachID string) error {
	visible, err := tx.LockCoach(ctx, coachID)
	if err != nil {
		return err
	}
	if err := queueNameCheck(ctx, tx, coachID); err != nil {
		return err
	}
	if !visible {
		return deleteListing(ctx, tx, coachID)
	}
	s, err := listingSource(ctx, tx, coachID)
	if err != nil {
		return err
	}
	return saveListing(ctx, tx, s)
}

// saveListing is ReindexListing for a caller that holds the lock and has read the source.
func saveListing(ctx context.Context, tx *store.Tx, s ListingSource) error {
	l, ok := s.Listing()
	if !ok {
		return deleteListing(ctx, tx, s.ID)
	}
	stored, err := json.Marshal(newStoredListing(l))
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		INSERT INTO listings (coach_id, card, updated_at) VALUES ($1, $2, $3)
		ON CONFLICT (coach_id) DO UPDATE SET card = excluded.card, updated_at = excluded.updated_at`,
		s.ID, string(stored), database.Micros(tx.Now))
	if err != nil {
		return fmt.Errorf("save listing of coach %s: %w", s.ID, err)
	}
	return saveTerms(ctx, tx, s.ID, l.Terms())
}

// deleteListing removes a coach from the directory; the terms are deleted with the listing.
func deleteListing(ctx context.Context, tx *store.Tx, coachID string) error {
	if err := tx.Defer(ctx, `DELETE FROM listings WHERE coach_id = $1`, coachID); err != nil {
		return fmt.Errorf("remove listing of coach %s: %w", coachID, err)
	}
	return nil
}

// saveTerms writes the difference between the stored terms and want, which is sorted.
func saveTerms(ctx context.Context, tx *store.Tx, coachID string, want []string) error {
	rs, err := tx.Query(ctx, `SELECT term FROM listing_terms WHERE coach_id = $1`, coachID)
	have, err := database.CollectTexts(rs, err)
	if err != nil {
		return err
	}
	slices.Sort(have)
	for batch := range termBatches(difference(have, want)) {
		args := append([]any{coachID}, database.TextArgs(batch)...)
		if err := tx.Defer(ctx, `DELETE FROM listing_terms WHERE coach_id = $1 AND term IN (`+database.Params(2, len(batch))+`)`, args...); err != nil {
			return err
		}
	}
	for batch := range termBatches(difference(want, have)) {
		var args []any
		for _, term := range batch {
			args = append(args, term, coachID)
		}
		err := tx.Defer(ctx, `INSERT INTO listing_terms (term, coach_id) VALUES `+database.RowsOf(len(batch), 2)+`
			ON CONFLICT (term, coach_id) DO NOTHING`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// difference returns the elements of a that are not in b; both are sorted.
func difference(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool {
		_, found := slices.BinarySearch(b, s)
		return found
	})
}

// termBatches splits terms into batches of 16 or 128, so that there are only two
// statements to prepare. It pads the last batch with its last term.
func termBatches(terms []string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for len(terms) > 0 {
			size := 16
			if len(terms) > size {
				size = 128
			}
			batch := slices.Clone(terms[:min(size, len(terms))])
			terms = terms[len(batch):]
			for len(batch) < size {
				batch = append(batch, batch[len(batch)-1])
			}
			if !yield(batch) {
				return
			}
		}
	}
}

// storedListing is the JSON form of a listing.
type storedListing struct {
	Tier         string              `json:"tier,omitempty"`
	KYC          string              `json:"kyc"`
	Marked       bool                `json:"marked,omitempty"`
	Filled       []string            `json:"filled"`
	Show         []string            `json:"show"`
	Name         string              `json:"name,omitempty"`
	Picture      *storedPicture      `json:"picture,omitempty"`
	Bio          string              `json:"bio,omitempty"`
	Sports       []string            `json:"sports,omitempty"`
	Experience   *int                `json:"years,omitempty"`
	Certificates []storedCertificate `json:"certificates,omitempty"`
}

type storedCertificate struct {
	Title string `json:"title"`
	Until string `json:"until,omitempty"`
}

type storedPicture struct {
	ID     string              `json:"id"`
	Width  int                 `json:"width"`
	Height int                 `json:"height"`
	Sizes  []storedPictureSize `json:"sizes"`
}

type storedPictureSize struct {
	Name   string `json:"name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

func newStoredListing(l Listing) storedListing {
	stored := storedListing{
		Tier: l.Tier, KYC: string(l.KYC), Marked: l.Marked, Filled: l.Filled, Show: l.Show,
		Name: l.Name, Bio: l.Bio, Sports: l.Sports, Experience: l.Experience,
	}
	if l.Picture != nil {
		stored.Picture = &storedPicture{ID: l.Picture.DocumentID, Width: l.Picture.Width, Height: l.Picture.Height}
		for _, size := range l.Picture.Sizes {
			stored.Picture.Sizes = append(stored.Picture.Sizes, storedPictureSize(size))
		}
	}
	for _, c := range l.Certificates {
		stored.Certificates = append(stored.Certificates, storedCertificate{c.Title, string(c.Until)})
	}
	return stored
}

func (stored storedListing) listing(coachID string) Listing {
	l := Listing{
		CoachID: coachID, Tier: stored.Tier, KYC: KYCState(stored.KYC), Marked: stored.Marked, Filled: stored.Filled, Show: stored.Show,
		Name: stored.Name, Bio: stored.Bio, Sports: stored.Sports, Experience: stored.Experience,
	}
	if stored.Picture != nil {
		l.Picture = &ListingPicture{DocumentID: stored.Picture.ID, Width: stored.Picture.Width, Height: stored.Picture.Height}
		for _, size := range stored.Picture.Sizes {
			l.Picture.Sizes = append(l.Picture.Sizes, ListingPictureSize(size))
		}
	}
	for _, c := range stored.Certificates {
		l.Certificates = append(l.Certificates, Certificate{Title: c.Title, Until: Date(c.Until)})
	}
	return l
}

// scanListing reads a coach's id and listing.
func scanListing(s database.Scanner) (Listing, error) {
	var id, raw string
	if err := s.Scan(&id, &raw); err != nil {
		return Listing{}, err
	}
	var stored storedListing
	if err := json.Unmarshal([]byte(raw), &stored); err != nil {
		return Listing{}, fmt.Errorf("decode listing of coach %s: %w", id, err)
	}
	return stored.listing(id), nil
}
