package store_test

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
)

// addStoredDocument reserves blobs and adds a document with them.
func (p *fixture) addStoredDocument(by actor.Actor, kind coach.DocumentKind, name string, size int64, expires coach.Date) coach.Document {
	p.Helper()
	now := p.clock.Now()
	d := coach.Document{
		ID: p.db.NewID(), CoachID: by.AccountID, Kind: kind, Title: name, ExpiresOn: expires, InProfile: kind != coach.Identity,
		File: p.reserveFile(by, size), Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	d.NotifyAt = d.NextExpiryNotification(now)
	saved, err := p.db.AddDocument(bg, d, nil)
	ok(p, err)
	return saved
}

// reserveFile returns a file whose blobs are reserved.
func (p *fixture) reserveFile(by actor.Actor, size int64) coach.StoredFile {
	p.Helper()
	f := coach.StoredFile{
		Name: "a.jpg", MediaType: coach.JPEG, Size: size, SHA256: fmt.Sprint(size), Width: 2, Height: 3, Blob: p.db.NewID(),
	}
	f.Sizes = []coach.PictureSize{{Name: "small", Width: 1, Height: 2, Size: 1, Blob: f.Blob + "/small"}, {Name: "large", Width: 2, Height: 3, Size: size, Blob: f.Blob}}
	ok(p, p.db.ReserveBlobs(bg, by.AccountID, []coach.Blob{{Key: f.Blob, Size: size}, {Key: f.Blob + "/small", Size: 1}}, p.clock.Now().Add(time.Hour)))
	return f
}

// documents runs every statement on documents for TestPlans.
func (p *fixture) documents() {
	p.Helper()
	c := p.coach(180)
	today := p.clock.Now()
	certificate := p.addStoredDocument(c, coach.Certification, "first aid", 10, coach.Date(today.AddDate(0, 0, 31).Format(time.DateOnly)))
	p.addStoredDocument(c, coach.ProfilePicture, "me", 20, "")
	identity := p.addStoredDocument(c, coach.Identity, "passport", 30, "")
	for _, kind := range []coach.DocumentKind{"", coach.Identity} {
		_, err := p.db.Documents(bg, c.AccountID, kind, "", 5)
		ok(p, err)
	}
	_, err := p.db.Document(bg, c.AccountID, identity.ID)
	ok(p, err)
	_, err = p.db.DocumentByID(bg, identity.ID)
	ok(p, err)
	_, _, _, err = p.db.Storage(bg, c.AccountID)
	ok(p, err)
	ok(p, p.db.UpdateDocument(bg, c.AccountID, certificate.ID, func(d coach.Document) (coach.Document, error) { return d, nil }))
	none, picture := []string{}, ""
	ok(p, p.db.UpdateProfile(bg, c.AccountID, func(v coach.Profile) (coach.Profile, error) {
		return v.Apply(coach.Patch{Certifications: &none, Picture: &picture}, today)
	}))
	p.clock.advance(2 * day)
	_, err = p.db.SendExpiryNotifications(bg, 10)
	ok(p, err)
	submission := p.db.NewID()
	ok(p, run(p.db, `INSERT INTO kyc_submissions (id, coach_id, state, legal_name, submitted_at) VALUES ($1, $2, 'submitted', $3, 1)`, submission, c.AccountID, []byte("x")))
	ok(p, run(p.db, `INSERT INTO kyc_documents (submission_id, document_id) VALUES ($1, $2)`, submission, identity.ID))
	ok(p, run(p.db, `UPDATE coaches SET kyc_state = 'submitted' WHERE id = $1`, c.AccountID))
	_, kyc, err := p.db.ReplaceFile(bg, c.AccountID, identity.ID, p.reserveFile(c, 40), p.clock.Now(), nil)
	ok(p, err)
	if kyc != coach.NotStarted {
		p.Errorf("KYC state after replacing an identity document is %s, want not_started", kyc)
	}
	_, err = p.db.RemoveDocument(bg, c.AccountID, identity.ID)
	ok(p, err)
	ok(p, p.db.ReleaseBlobs(bg, p.reserveFile(c, 50).Blobs()))
	expired, err := p.db.ExpiredBlobs(bg, coach.ExpiredBlob{}, 10)
	ok(p, err)
	for _, b := range expired {
		ok(p, p.db.DeleteBlob(bg, b.Key))
	}
	if len(expired) != 6 {
		p.Errorf("got %d expired blobs, want 6: two each of the old, the new and the unused file", len(expired))
	}
}
