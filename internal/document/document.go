// Package document owns the files that coaches upload: certificates, identity documents and the profile
// picture, with rules, SQL, JSON, pages, templates and texts. The type of a document is coach.Document,
// which profiles and the directory use too. Removing an identity document withdraws a verification by
// the hook Service.Withdraw.
package document

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/upload"
)

// Limits: documents of one coach, characters of a title, bytes of a name.
const (
	MaxDocuments = 100
	maxTitle     = 100
	maxFileName  = 255
)

// Upload is a document as a client sent it. An empty Title becomes the file name.
type Upload struct {
	Kind                coach.DocumentKind
	Title, Issuer       string
	IssuedOn, ExpiresOn coach.Date
	FileName            string      // as the client sent it
	File                upload.File // nil if the client sent none
}

// Patch changes the description of a document: nil keeps a field, a pointer to "" clears it. Each value
// has been validated.
type Patch struct {
	Title, Issuer       *string
	IssuedOn, ExpiresOn *coach.Date
}

// Apply returns d with the patch applied. A new expiry date restarts the expiry notifications. today is
// the day of the coach.
func (p Patch) Apply(d coach.Document, now time.Time, today coach.Date) (coach.Document, error) {
	ends := d.ExpiresOn
	set(&d.Title, p.Title)
	set(&d.Issuer, p.Issuer)
	set(&d.IssuedOn, p.IssuedOn)
	set(&d.ExpiresOn, p.ExpiresOn)
	faults := checkDates(d.IssuedOn, d.ExpiresOn)
	if p.IssuedOn != nil {
		faults = append(faults, checkIssued(d.IssuedOn, today)...)
	}
	if err := fault.Validation(faults); err != nil {
		return d, err
	}
	if d.ExpiresOn != ends {
		d.NotifyAt = d.NextExpiryNotification(now)
	}
	d.UpdatedAt = now
	return d, nil
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// checkDates returns a fault if expires is before issued.
func checkDates(issued, expires coach.Date) []fault.Field {
	if issued == "" || expires == "" || expires >= issued {
		return nil
	}
	return []fault.Field{{Pointer: "/expires_on", Code: "before_issued_on", Detail: "This cannot be before issued_on."}}
}

// checkIssued returns a fault for a day of issue after today.
func checkIssued(issued, today coach.Date) []fault.Field {
	if issued <= today {
		return nil
	}
	return []fault.Field{{Pointer: "/issued_on", Code: "in_future", Detail: "This day has not come yet. Write the day on the document."}}
}

// CheckCount returns a fault if a coach with this many documents may not add another.
func CheckCount(stored int) error {
	if stored < MaxDocuments {
		return nil
	}
	return fault.Validation([]fault.Field{{Pointer: "/file", Code: "too_many", Detail: fmt.Sprintf("You have %d documents, the most allowed. Delete one first.", MaxDocuments)}})
}
