package coach

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// MaxWords bounds the words of one search.
const MaxWords = 5

// listReads bounds how often one page reads on because what it found may not be
// seen: settings can hide any number of listings, and a request ends all the same.
const maxListReads = 4

// Query is what the directory is searched for. The zero Query finds everybody.
type Query struct {
	sport          string
	words          []string
	matchesNothing bool
}

// NewQuery returns a query of a sport and of a text, either "" for any; ok is
// false where the text has more than MaxWords words. A text without any letter or
// digit finds nobody.
func NewQuery(sport, text string) (q Query, ok bool) {
	q.sport, q.words = foldSearch(sport), splitWords(text)
	slices.Sort(q.words)
	q.words = slices.Compact(q.words)
	q.matchesNothing = sport != "" && q.sport == "" || text != "" && len(q.words) == 0
	return q, len(q.words) <= MaxWords
}

// terms returns by what the index finds the query, each once.
func (q Query) terms() []string {
	var terms []string
	if q.sport != "" {
		terms = append(terms, sportTerm(q.sport))
	}
	for _, word := range q.words {
		terms = append(terms, wordTerm(word))
	}
	return slices.Compact(terms)
}

// DirectoryStore is what the directory needs kept; package store provides it.
type DirectoryStore interface {
	ListingSource(ctx context.Context, coachID string) (ListingSource, error)
	// SetVisibility loads what the directory is made of, lets fn say what the coach
	// wishes, and saves that together with the listing. Nobody changes any of it
	// meanwhile. fn may run more than once.
	SetVisibility(ctx context.Context, coachID string, fn func(ListingSource) (VisibilityRequest, error)) error
	// Listings returns up to limit listings that have all these terms, newest
	// first, from the one before the coach id on; "" is from the newest. next is
	// where to go on, "" at the end. It reads a bounded number of rows, so there may
	// be fewer than limit and a next all the same.
	Listings(ctx context.Context, terms []string, before string, limit int) (found []Listing, next string, err error)
	// Listing returns the listing of a coach; not_found where there is none.
	Listing(ctx context.Context, coachID string) (Listing, error)
}

// Directory is the public list of coaches, and each coach's place in it.
type Directory struct {
	Store DirectoryStore
	Tiers Tiers
	// Required names the fields that make a profile complete (PROFILE_REQUIRED).
	Required []string
	Now      func() time.Time
}

// List returns up to limit coaches that a query finds, the newest first, from
// before the coach id on; "" is from the newest. next is where to go on, "" at the
// end. It may return fewer, or none, and a next all the same.
func (d *Directory) List(ctx context.Context, q Query, before string, limit int) (page []Listing, next string, err error) {
	if q.matchesNothing {
		return nil, "", nil
	}
	next = before
	for range maxListReads {
		wanted := limit - len(page)
		found, after, err := d.Store.Listings(ctx, q.terms(), next, wanted)
		if err != nil {
			return nil, "", err
		}
		for _, l := range found {
			if public, ok := d.public(l); ok && d.matchesPublic(q, l, public) {
				page = append(page, public)
			}
		}
		next = after
		if next == "" || len(page) == limit || len(found) < wanted {
			break // at the end, full, or after as many rows as one search may look at
		}
	}
	return page, next, nil
}

// Coach returns what the public sees of a coach; not_found where it sees nothing.
func (d *Directory) Coach(ctx context.Context, coachID string) (Listing, error) {
	l, err := d.Store.Listing(ctx, coachID)
	if err != nil {
		return Listing{}, err
	}
	if l, ok := d.public(l); ok {
		return l, nil
	}
	return Listing{}, fault.Missing()
}

// ShowsPicture says whether a coach is in the directory and shows a profile
// picture: then anybody may have its content.
func (d *Directory) ShowsPicture(ctx context.Context, coachID string) (bool, error) {
	l, err := d.Coach(ctx, coachID)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return l.Picture != nil, err
}

// Verified says whether a listing's coach is verified, as far as this replica
// verifies anybody.
func (d *Directory) Verified(l Listing) bool { return d.Tiers.KYC && l.KYC == Verified }

// public returns what the public sees of a listing by the settings of this
// replica, and whether it sees anything.
func (d *Directory) public(l Listing) (Listing, bool) {
	if len(missingFields(d.Required, l.Filled)) > 0 || d.Tiers.CheckVisible(TierStatus{Tier: l.Tier, KYC: l.KYC}) != nil {
		return Listing{}, false
	}
	l = l.withFields(d.Tiers.Of(l.Tier).Shown(l.Show))
	today := Date(d.Now().UTC().Format(time.DateOnly))
	l.Certificates = slices.DeleteFunc(slices.Clone(l.Certificates), func(c Certificate) bool { return c.Until != "" && c.Until < today })
	return l, true
}

// finds says whether a query that the index says to find a listing finds what of
// it is public: the index knows neither the tier's settings nor the ends of long
// words.
func (d *Directory) matchesPublic(q Query, kept, public Listing) bool {
	if len(public.Show) == len(kept.Show) && !slices.ContainsFunc(q.words, exceedsIndex) {
		return true
	}
	return public.matches(q)
}

// lacking returns which of the required fields are not filled.
func missingFields(required, filled []string) []string {
	return slices.DeleteFunc(slices.Clone(required), func(f string) bool { return slices.Contains(filled, f) })
}
