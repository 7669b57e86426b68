package coach

import (
	"slices"
	"strings"
)

// Source is everything of one coach that the directory is made of, as it is kept.
type ListingSource struct {
	Profile
	// Suspended says that an operator keeps the coach out.
	Suspended bool
}

// Wish is what a coach wants the public to see. It is kept, whatever keeps the
// coach out of the directory for a while.
type VisibilityRequest struct {
	Visible bool
	// Show are fields of Showable, in its order.
	Show []string
}

// Certificate is what the public may know of a certificate: what it is called,
// and, to the service alone, its last day ("" without an end).
type Certificate struct {
	Title string
	Until Date
}

// Portrait is a profile picture as the public sees it: the document that holds it, its size in pixels,
// and the smaller ones made of it.
type ListingPicture struct {
	DocumentID    string
	Width, Height int
	Sizes         []ListingPictureSize
}

// PortraitSize is one of the sizes of a portrait, in pixels.
type ListingPictureSize struct {
	Name          string
	Width, Height int
}

// Listing is what is kept of a coach who wishes to be seen: what the coach shows,
// and what decides whether it may be seen. No setting is in it, for settings
// change and replicas may differ: Directory judges by them at each reading.
type Listing struct {
	CoachID string
	Tier    string
	KYC     KYCState
	Filled  []string
	// Show are the fields below that are shown; the others are empty.
	Show         []string
	Name         string
	Picture      *ListingPicture
	Bio          string
	Sports       []string
	Experience   *int
	Certificates []Certificate
}

// Listing returns what the directory keeps of a coach, and whether it keeps
// anything: a coach who does not wish it, or is suspended, leaves nothing there.
func (s ListingSource) Listing() (Listing, bool) {
	if !s.Visible || s.Suspended {
		return Listing{}, false
	}
	whole := Listing{
		CoachID: s.ID, Tier: s.Tier, KYC: s.KYC, Filled: s.Filled(), Show: s.Show,
		Name: s.Name, Bio: s.Bio, Sports: s.Sports, Experience: s.Experience, Picture: newListingPicture(s.Picture()),
	}
	for _, d := range s.Certifications() {
		whole.Certificates = append(whole.Certificates, Certificate{d.Title, d.ExpiresOn})
	}
	return whole.withFields(s.Show), true
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

// only returns l with the fields of show alone.
func (l Listing) withFields(show []string) Listing {
	out := Listing{CoachID: l.CoachID, Tier: l.Tier, KYC: l.KYC, Filled: l.Filled, Show: show}
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

// Shows says whether the listing shows a field.
func (l Listing) Shows(field string) bool { return slices.Contains(l.Show, field) }

// Terms returns by what the listing is found, in order, each once: its sports, the
// beginnings of the words of name and sports, and the words of the bio. Only what
// is shown has a part in it.
func (l Listing) Terms() []string {
	var terms []string
	for _, sport := range l.Sports {
		if folded := foldSearch(sport); folded != "" {
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

// matches says of a listing whether a query finds it, without the index.
func (l Listing) matches(q Query) bool {
	if q.sport != "" && !slices.ContainsFunc(l.Sports, func(s string) bool { return foldSearch(s) == q.sport }) {
		return false
	}
	if len(q.words) == 0 {
		return true
	}
	begins, whole := splitWords(strings.Join(append([]string{l.Name}, l.Sports...), "\n")), splitWords(l.Bio)
	return !slices.ContainsFunc(q.words, func(word string) bool {
		return !slices.Contains(whole, word) &&
			!slices.ContainsFunc(begins, func(w string) bool { return strings.HasPrefix(w, word) })
	})
}
