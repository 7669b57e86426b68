package coach

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// MaxWords bounds the words of one search.
const MaxWords = 5

// maxListReads bounds the reads for one page: settings may hide any number of the
// listings that a read finds.
const maxListReads = 4

// Query is a directory search. The zero Query matches every listing.
type Query struct {
	sport          string
	words          []string
	matchesNothing bool
}

// NewQuery returns a search by sport and text, either of them "" for any. ok is
// false if the text has more than MaxWords words. A text without letters and digits
// matches nothing.
func NewQuery(sport, text string) (q Query, ok bool) {
	q.sport, q.words = team.FoldName(sport), splitWords(text)
	slices.Sort(q.words)
	q.words = slices.Compact(q.words)
	q.matchesNothing = sport != "" && q.sport == "" || text != "" && len(q.words) == 0
	return q, len(q.words) <= MaxWords
}

// terms returns the index terms of the query without duplicates.
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

// Directory is the public list of coaches.
type Directory struct {
	Store Store
	Tiers Tiers
	// Required are the fields of a complete profile (PROFILE_REQUIRED).
	Required []string
	Now      func() time.Time
}

// List returns up to limit coaches that match q, newest first, after the coach id
// before ("" starts at the newest). next is the next cursor, "" at the end. A page
// may be short or empty although next is set.
func (d *Directory) List(ctx context.Context, q Query, before string, limit int) (page []Listing, next string, err error) {
	if q.matchesNothing {
		return nil, "", nil
	}
	next = before
	for range maxListReads {
		missing := limit - len(page)
		found, after, err := d.Store.Listings(ctx, q.terms(), next, missing)
		if err != nil {
			return nil, "", err
		}
		for _, l := range found {
			if public, ok := d.public(l); ok && d.matchesPublic(q, l, public) {
				page = append(page, public)
			}
		}
		next = after
		if next == "" || len(page) == limit || len(found) < missing {
			break // the end, a full page, or the row limit of the store
		}
	}
	return page, next, nil
}

// Coach returns the public listing of a coach, or not_found.
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

// ShowsPicture reports whether the directory shows the profile picture of a coach,
// so that anyone may read it.
func (d *Directory) ShowsPicture(ctx context.Context, coachID string) (bool, error) {
	l, err := d.Coach(ctx, coachID)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return l.Picture != nil, err
}

// Verified reports whether the coach is verified under the name and with the picture of the listing; false while
// the setting KYC is off.
func (d *Directory) Verified(l Listing) bool { return d.Tiers.KYC && l.Marked }

// public returns the part of a listing that the settings allow, and whether the
// listing is visible at all.
func (d *Directory) public(l Listing) (Listing, bool) {
	if len(missingFields(d.Required, l.Filled)) > 0 || d.Tiers.CheckVisible(TierStatus{Tier: l.Tier, KYC: l.KYC}) != nil {
		return Listing{}, false
	}
	return d.withValidCertificates(l.withFields(d.Tiers.Of(l.Tier).Shown(l.Show))), true
}

// withValidCertificates returns l without the certificates that have ended.
func (d *Directory) withValidCertificates(l Listing) Listing {
	today := Date(d.Now().UTC().Format(time.DateOnly))
	l.Certificates = slices.DeleteFunc(slices.Clone(l.Certificates), func(c Certificate) bool { return c.Until != "" && c.Until < today })
	return l
}

// matchesPublic reports whether q matches the public part of a listing that the
// index found. The index ignores tier settings and cuts long words.
func (d *Directory) matchesPublic(q Query, stored, public Listing) bool {
	if len(public.Show) == len(stored.Show) && !slices.ContainsFunc(q.words, exceedsIndex) {
		return true
	}
	return public.matches(q)
}

// missingFields returns the required fields that are not in filled.
func missingFields(required, filled []string) []string {
	return slices.DeleteFunc(slices.Clone(required), func(f string) bool { return slices.Contains(filled, f) })
}
