package coach

import (
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// DocumentKind is the purpose of a document.
type DocumentKind string

// The document kinds.
const (
	Certification  DocumentKind = "certification"
	Qualification  DocumentKind = "qualification"
	Identity       DocumentKind = "identity"
	ProfilePicture DocumentKind = "profile_picture"
)

// Certifies reports whether documents of the kind appear under certifications and
// have expiry notifications.
func (k DocumentKind) Certifies() bool { return k == Certification || k == Qualification }

// Document is a file that a coach uploaded, with its description.
type Document struct {
	ID, CoachID string
	Kind        DocumentKind
	Title       string
	Issuer      string // optional
	// IssuedOn and ExpiresOn are optional.
	IssuedOn, ExpiresOn Date
	File                StoredFile
	// InProfile reports whether the profile shows it, as a certification or as the picture.
	InProfile bool
	// NotifyAt is when the next expiry notification is due; zero if none is.
	NotifyAt             time.Time
	Version              int64
	CreatedAt, UpdatedAt time.Time
}

// StoredFile is the file of a document.
type StoredFile struct {
	// Name is a display name that package document made safe. It is never used as a path.
	Name      string
	MediaType string
	Size      int64
	SHA256    string // of the stored bytes, in hex
	// Width and Height of a picture in pixels; 0 of anything else.
	Width, Height int
	// Blob is the key in the file store.
	Blob string
	// Sizes of a profile picture, smallest first.
	Sizes []PictureSize
}

// PictureSize is one size of a profile picture. It is stored as JSON.
type PictureSize struct {
	Name   string `json:"name"`  // small, medium or large
	Width  int    `json:"width"` // in pixels, as Height
	Height int    `json:"height"`
	Size   int64  `json:"size"`
	Blob   string `json:"blob"`
}

// Blobs returns all blob keys of the file.
func (f StoredFile) Blobs() []string {
	keys := []string{f.Blob}
	for _, size := range f.Sizes {
		if size.Blob != f.Blob { // the largest is the file itself
			keys = append(keys, size.Blob)
		}
	}
	return keys
}

// Date is a day, YYYY-MM-DD, so that string order is date order.
type Date string

// ParseDate parses a day; ok is false for a day that does not exist.
func ParseDate(s string) (d Date, ok bool) {
	_, err := time.Parse(time.DateOnly, s)
	return Date(s), err == nil
}

// daysBefore returns the start, in UTC, of the day that is days before d.
func (d Date) daysBefore(days int) time.Time {
	t, _ := time.Parse(time.DateOnly, string(d))
	return t.AddDate(0, 0, -days)
}

// expiryNotificationDays are the days before expiry on which the coach is notified.
var expiryNotificationDays = []int{30, 7}

// NextExpiryNotification returns the time of the next expiry notification after now: the
// start, in UTC, of the 30th or the 7th day before expiry. It is zero if both have passed
// or the document has no expiry notifications.
func (d Document) NextExpiryNotification(now time.Time) time.Time {
	if !d.Kind.Certifies() || d.ExpiresOn == "" {
		return time.Time{}
	}
	for _, days := range expiryNotificationDays {
		if at := d.ExpiresOn.daysBefore(days); at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// Certifications returns the documents under certifications, newest first.
func (p Profile) Certifications() []Document {
	var named []Document
	for _, d := range p.Documents {
		if d.InProfile && d.Kind.Certifies() {
			named = append(named, d)
		}
	}
	return named
}

// Picture returns the profile picture, or nil.
func (p Profile) Picture() *Document {
	i := slices.IndexFunc(p.Documents, func(d Document) bool { return d.InProfile && d.Kind == ProfilePicture })
	if i < 0 {
		return nil
	}
	return &p.Documents[i]
}

// setInProfile shows the documents with these ids in the profile and hides the coach's
// others, all of the kinds for which fits returns true. It returns a fault for each id that
// is not a document of the coach of such a kind.
func (p *Profile) setInProfile(ids []string, fits func(DocumentKind) bool, pointer func(i int) string) []fault.Field {
	var faults []fault.Field
	p.Documents = slices.Clone(p.Documents)
	for i, id := range ids {
		if !slices.ContainsFunc(p.Documents, func(d Document) bool { return d.ID == id && fits(d.Kind) }) {
			faults = append(faults, fault.Field{Pointer: pointer(i), Code: "unknown_document", Detail: "You have no document with this id that fits here. Upload one first."})
		}
	}
	for i, d := range p.Documents {
		if fits(d.Kind) {
			p.Documents[i].InProfile = slices.Contains(ids, d.ID)
		}
	}
	return faults
}

// applyDocuments shows the documents in the profile that patch names.
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

// missingDocumentFaults returns a fault for each required document that is missing.
func missingDocumentFaults(missing []string) []fault.Field {
	var faults []fault.Field
	for _, field := range missing {
		if field == "certifications" || field == "profile_picture" {
			faults = append(faults, fault.Field{Pointer: "/" + field, Code: "required", Detail: "This is required. Upload it first."})
		}
	}
	return faults
}

// Validity says whether a document with an expiry date is valid, ends soon or has ended.
type Validity string

// The validities.
const (
	Unlimited Validity = "unlimited" // no expiry date
	Valid     Validity = "valid"
	EndsSoon  Validity = "ends_soon" // in at most 30 days
	Ended     Validity = "ended"     // its last day, in UTC, has passed
)

// Validity returns the validity of the document.
func (d Document) Validity(now time.Time) Validity {
	switch {
	case d.ExpiresOn == "":
		return Unlimited
	case !now.Before(d.ExpiresOn.daysBefore(-1)):
		return Ended
	case !now.Before(d.ExpiresOn.daysBefore(expiryNotificationDays[0])):
		return EndsSoon
	}
	return Valid
}
