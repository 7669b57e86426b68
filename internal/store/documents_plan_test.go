package store_test

import (
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/fault"
)

// documents runs every statement on documents for TestPlans.
func (p *fixture) documents() {
	p.Helper()
	c := p.coach(180)
	today := p.clock.Now()
	files := &fakeFiles{sizes: map[string]int64{}}
	service := p.newDocuments(files)
	add := func(u document.Upload) coach.Document {
		d, err := service.Add(bg, c, u)
		ok(p, err)
		return d
	}
	certificate := add(document.Upload{Kind: coach.Certification, Title: "first aid", FileName: "a", File: newFakeFile(10), ExpiresOn: coach.Date(today.AddDate(0, 0, 31).Format(time.DateOnly))})
	add(document.Upload{Kind: coach.ProfilePicture, FileName: "me", File: newFakeFile(21)})
	identity := add(document.Upload{Kind: coach.Identity, FileName: "passport", File: newFakeFile(30)})
	for _, kind := range []coach.DocumentKind{"", coach.Identity} {
		_, err := service.List(bg, c, kind, "", 5)
		ok(p, err)
	}
	if _, err := service.OpenFile(bg, identity.ID); err == nil {
		p.Error("the file store of this test opens no file")
	}
	_, err := service.Edit(bg, c, certificate.ID, document.Patch{})
	ok(p, err)
	none, picture := []string{}, ""
	ok(p, p.coaches().UpdateProfile(bg, c.AccountID, func(v coach.Profile) (coach.Profile, error) {
		return v.Apply(coach.Patch{Certifications: &none, Picture: &picture}, today)
	}))
	p.clock.advance(2 * day)
	_, err = service.SendExpiryNotifications(bg, 10)
	ok(p, err)
	submission := p.db.NewID()
	ok(p, run(p.db, `INSERT INTO kyc_submissions (id, coach_id, state, legal_name, submitted_at) VALUES ($1, $2, 'submitted', $3, 1)`, submission, c.AccountID, []byte("x")))
	ok(p, run(p.db, `INSERT INTO kyc_documents (submission_id, document_id) VALUES ($1, $2)`, submission, identity.ID))
	ok(p, run(p.db, `UPDATE coaches SET kyc_state = 'submitted' WHERE id = $1`, c.AccountID))
	_, kyc, err := service.Replace(bg, c, identity.ID, document.Upload{FileName: "passport", File: newFakeFile(40)})
	ok(p, err)
	if kyc != coach.NotStarted {
		p.Errorf("KYC state after replacing an identity document is %s, want not_started", kyc)
	}
	_, err = service.Remove(bg, c, identity.ID)
	ok(p, err)
	checks := 0
	service.CheckStorage = func(coach.TierStatus, int64, int64) error {
		if checks++; checks == 1 {
			return nil // only the transaction refuses
		}
		return fault.New(fault.Forbidden, "tier_limit", "No.")
	}
	_, err = service.Add(bg, c, document.Upload{Kind: coach.Identity, FileName: "passport", File: newFakeFile(50)})
	p.refused(err, "tier_limit")
	if deleted, err := service.DeleteExpiredBlobs(bg); err != nil || deleted != 3 {
		p.Errorf("deleted %d blobs, %v; want 3: the old, the new and the unused file", deleted, err)
	}
}
