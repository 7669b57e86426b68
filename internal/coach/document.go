package coach

import (
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// DocumentKind says what a document is for (contract section 3).
type DocumentKind string

// The kinds of documents.
const (
	Certification  DocumentKind = "certification"
	Qualification  DocumentKind = "qualification"
	Identity       DocumentKind = "identity"
	ProfilePicture DocumentKind = "profile_picture"
)

// Certifies says whether documents of the kind stand among the certifications of
// a profile, and whether their end is worth a notice.
func (k DocumentKind) Certifies() bool { return k == Certification || k == Qualification }

// The bounds of documents: bytes of a file (contract section 1), documents of one
// coach, and characters.
const (
	MaxFile      = 10 << 20
	MaxDocuments = 100
	MaxTitle     = 100
	MaxIssuer    = 100
	MaxFileName  = 255
)

// Document is a file that a coach keeps here, and what the coach says of it.
type Document struct {
	ID, CoachID string
	Kind        DocumentKind
	Title       string
	Issuer      string // "" where it is not said
	// IssuedOn and ExpiresOn are days, "" where they are not said.
	IssuedOn, ExpiresOn Date
	File                StoredFile
	// InProfile says that the profile names it: as a certification, or as the picture.
	InProfile bool
	// NoticeAt is when the coach is next told that it ends; zero for not again.
	NoticeAt             time.Time
	Version              int64
	CreatedAt, UpdatedAt time.Time
}

// StoredFile is the file of a document as it is kept.
type StoredFile struct {
	// Name is for people, harmless, and never a path here.
	Name      string
	MediaType string
	Size      int64
	SHA256    string // of what is kept, in hexadecimal
	// Width and Height of a picture in pixels; 0 of anything else.
	Width, Height int
	// Blob is its key in the file store.
	Blob string
	// Sizes of a profile picture, smallest first.
	Sizes []PictureSize
}

// PictureSize is a profile picture made smaller.
type PictureSize struct {
	Name          string // small, medium or large
	Width, Height int
	Size          int64
	Blob          string
}

// Blobs returns the keys of all that is kept of the file.
func (f StoredFile) Blobs() []string {
	keys := []string{f.Blob}
	for _, size := range f.Sizes {
		if size.Blob != f.Blob { // the largest is the file itself
			keys = append(keys, size.Blob)
		}
	}
	return keys
}

// Date is a day of the calendar, YYYY-MM-DD, so that later days sort later.
type Date string

// ParseDate reads a day and refuses those that do not exist.
func ParseDate(s string) (Date, bool) {
	_, err := time.Parse(time.DateOnly, s)
	return Date(s), err == nil
}

// before returns the first instant, UTC, of the day that comes so many days before d.
func (d Date) daysBefore(days int) time.Time {
	t, _ := time.Parse(time.DateOnly, string(d))
	return t.AddDate(0, 0, -days)
}

// DocumentPatch changes what a coach says of a document: nil leaves it, a pointer
// to "" clears it. Values are valid by themselves.
type DocumentPatch struct {
	Title, Issuer       *string
	IssuedOn, ExpiresOn *Date
}

// Apply returns d with the patch applied at now. A new last day is noticed anew.
func (d Document) Apply(patch DocumentPatch, now time.Time) (Document, error) {
	ends := d.ExpiresOn
	set(&d.Title, patch.Title)
	set(&d.Issuer, patch.Issuer)
	set(&d.IssuedOn, patch.IssuedOn)
	set(&d.ExpiresOn, patch.ExpiresOn)
	if err := fault.Validation(CheckDates(d.IssuedOn, d.ExpiresOn)); err != nil {
		return d, err
	}
	if d.ExpiresOn != ends {
		d.NoticeAt = d.NextNotice(now)
	}
	d.UpdatedAt = now
	return d, nil
}

// CheckDates says what is wrong with a document that is good from one day to another.
func CheckDates(issued, expires Date) []fault.Field {
	if issued == "" || expires == "" || expires >= issued {
		return nil
	}
	return []fault.Field{{Pointer: "/expires_on", Code: "before_issued_on", Detail: "This cannot be before issued_on."}}
}

// noticeDays are how many days before the end of a certificate its coach is told.
var expiryNoticeDays = []int{30, 7}

// NextNotice returns when the coach is next told, after now, that d ends: at the
// first instant, UTC, of the 30th and of the 7th day before. It is zero where
// neither is still to come and where d does not certify anything.
func (d Document) NextNotice(now time.Time) time.Time {
	if !d.Kind.Certifies() || d.ExpiresOn == "" {
		return time.Time{}
	}
	for _, days := range expiryNoticeDays {
		if at := d.ExpiresOn.daysBefore(days); at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// Certifications are the documents that p names under certifications, newest first.
func (p Profile) Certifications() []Document {
	var named []Document
	for _, d := range p.Documents {
		if d.InProfile && d.Kind.Certifies() {
			named = append(named, d)
		}
	}
	return named
}

// Picture is the profile's picture, nil where there is none.
func (p Profile) Picture() *Document {
	i := slices.IndexFunc(p.Documents, func(d Document) bool { return d.InProfile && d.Kind == ProfilePicture })
	if i < 0 {
		return nil
	}
	return &p.Documents[i]
}

// name makes ids the documents that p names, of those that fit, and returns a
// fault for each that is not p's own or of another kind.
func (p *Profile) setInProfile(ids []string, fits func(DocumentKind) bool, pointer func(i int) string) []fault.Field {
	var faults []fault.Field
	p.Documents = slices.Clone(p.Documents)
	for i, id := range ids {
		if !slices.ContainsFunc(p.Documents, func(d Document) bool { return d.ID == id && fits(d.Kind) }) {
			faults = append(faults, fault.Field{Pointer: pointer(i), Code: "unknown_document", Detail: "You have no such document that fits here."})
		}
	}
	for i, d := range p.Documents {
		if fits(d.Kind) {
			p.Documents[i].InProfile = slices.Contains(ids, d.ID)
		}
	}
	return faults
}

// nameAll applies what patch says of documents.
func (p *Profile) applyDocuments(patch Patch) error {
	var faults []fault.Field
	if patch.Certifications != nil {
		faults = append(faults, p.setInProfile(*patch.Certifications, DocumentKind.Certifies, func(i int) string {
			return "/certifications/" + strconv.Itoa(i)
		})...)
	}
	if patch.Picture != nil {
		var ids []string
		if *patch.Picture != "" {
			ids = []string{*patch.Picture}
		}
		faults = append(faults, p.setInProfile(ids, func(k DocumentKind) bool { return k == ProfilePicture }, func(int) string {
			return "/profile_picture"
		})...)
	}
	return fault.Validation(faults)
}

// missingDocuments are the faults of a completion that leaves documents out.
func missingDocumentFaults(missing []string) []fault.Field {
	var faults []fault.Field
	for _, field := range missing {
		if field == "certifications" || field == "profile_picture" {
			faults = append(faults, fault.Field{Pointer: "/" + field, Code: "required", Detail: "Upload this first; it is needed."})
		}
	}
	return faults
}
