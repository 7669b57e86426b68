package coach

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/team"
)

// ListingSource is all the stored data that the listing of a coach is made of.
type ListingSource struct {
	Profile
	// Suspended reports whether an operator suspended the account.
	Suspended bool
}

// VisibilityRequest is the coach's choice for the directory. It is stored even
// while other rules keep the coach out of the directory.
type VisibilityRequest struct {
	Visible bool
	// Show is a subset of Showable, in its order.
	Show []string
}

// Certificate is the public part of a certificate. Until is its last day, ""
// without an expiry; it is not shown.
type Certificate struct {
	Title string
	Until Date
}

// ListingPicture is the public part of a profile picture: the document id, the size
// in pixels and the smaller sizes.
type ListingPicture struct {
	DocumentID    string
	Width, Height int
	Sizes         []ListingPictureSize
}

// ListingPictureSize is one size of a ListingPicture, in pixels.
type ListingPictureSize struct {
	Name          string
	Width, Height int
}

// Listing is the stored directory entry of a coach: the fields that the coach
// shows, and what decides whether it is visible. It contains no settings, because
// settings change and may differ between replicas: Directory applies them on each read.
type Listing struct {
	CoachID string
	Tier    string
	KYC     KYCState
	// Marked reports whether the coach is verified under this name and with this picture.
	Marked bool
	Filled []string
	// Show lists the fields below that are shown; the others are empty.
	Show         []string
	Name         string
	Picture      *ListingPicture
	Bio          string
	Sports       []string
	Experience   *int
	Certificates []Certificate
}

// Listing returns the listing of a coach; ok is false if the coach is hidden or suspended.
func (s ListingSource) Listing() (l Listing, ok bool) {
	if !s.Visible || s.Suspended {
		return Listing{}, false
	}
	l = Listing{
		CoachID: s.ID, Tier: s.Tier, KYC: s.KYC, Marked: len(s.Unmarked()) == 0, Filled: s.Filled(), Show: s.Show,
		Name: s.Name, Bio: s.Bio, Sports: s.Sports, Experience: s.Experience, Picture: newListingPicture(s.Picture()),
	}
	for _, d := range s.Certifications() {
		l.Certificates = append(l.Certificates, Certificate{d.Title, d.ExpiresOn})
	}
	return l.withFields(s.Show), true
}

func newListingPicture(d *Document) *ListingPicture {
	if d == nil {
		return nil
	}
	p := &ListingPicture{DocumentID: d.ID, Width: d.File.Width, Height: d.File.Height}
	for _, size := range d.File.Sizes {
		p.Sizes = append(p.Sizes, ListingPictureSize{size.Name, size.Width, size.Height})
	}
	return p
}

// withFields returns l with the fields of show only.
func (l Listing) withFields(show []string) Listing {
	out := Listing{CoachID: l.CoachID, Tier: l.Tier, KYC: l.KYC, Marked: l.Marked, Filled: l.Filled, Show: show}
	for _, field := range show {
		switch field {
		case "name":
			out.Name = l.Name
		case "profile_picture":
			out.Picture = l.Picture
		case "bio":
			out.Bio = l.Bio
		case "sports":
			out.Sports = l.Sports
		case "experience_years":
			out.Experience = l.Experience
		case "certifications":
			out.Certificates = l.Certificates
		}
	}
	return out
}

// Shows reports whether the listing shows a field.
func (l Listing) Shows(field string) bool { return slices.Contains(l.Show, field) }

// Terms returns the sorted index terms of the shown fields without duplicates: the
// sports, every prefix of the words of name and sports, and the whole words of the bio.
func (l Listing) Terms() []string {
	var terms []string
	for _, sport := range l.Sports {
		if folded := team.FoldName(sport); folded != "" {
			terms = append(terms, sportTerm(folded))
		}
	}
	for _, text := range append([]string{l.Name}, l.Sports...) {
		for _, word := range splitWords(text) {
			eachPrefix(word, func(part string) { terms = append(terms, wordTerm(part)) })
		}
	}
	for _, word := range splitWords(l.Bio) {
		terms = append(terms, wordTerm(word))
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// matches reports whether q matches the listing, without the index.
func (l Listing) matches(q Query) bool {
	if q.sport != "" && !slices.ContainsFunc(l.Sports, func(s string) bool { return team.FoldName(s) == q.sport }) {
		return false
	}
	if len(q.words) == 0 {
		return true
	}
	prefixWords, wholeWords := splitWords(strings.Join(append([]string{l.Name}, l.Sports...), "\n")), splitWords(l.Bio)
	return !slices.ContainsFunc(q.words, func(word string) bool {
		return !slices.Contains(wholeWords, word) &&
			!slices.ContainsFunc(prefixWords, func(w string) bool { return strings.HasPrefix(w, word) })
	})
}
