package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/idempotency"
)

// claimKey claims a key for a request with this lease.
func (p *fixture) claimKey(lease string) (idempotency.Holder, *idempotency.StoredResponse) {
	p.Helper()
	now := p.clock.Now()
	h := idempotency.Holder{Owner: "owner", Key: "key", LeaseID: lease}
	stored, err := p.keys().ClaimKey(bg, idempotency.Claim{
		Holder: h, Fingerprint: []byte("f"), Now: now, LeaseEndsAt: now.Add(3 * time.Second), EndsAt: now.Add(time.Hour),
	})
	ok(p, err)
	return h, stored
}

// A request that outlived its lease cannot commit its work once another has taken over.
func TestWorkOfLostLeaseFails(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		slow, _ := p.claimKey("slow")
		if _, stored := p.claimKey("early"); stored == nil || stored.Work != nil || stored.Sealed != nil {
			p.Fatalf("claim during the lease: got %+v, want a running request", stored)
		}
		p.clock.advance(2 * time.Second)
		ok(p, p.keys().RenewKey(bg, slow, p.clock.Now().Add(3*time.Second)))
		p.clock.advance(2 * time.Second)
		if _, stored := p.claimKey("early"); stored == nil {
			p.Fatal("a renewed lease was taken over")
		}
		p.clock.advance(time.Second)
		second, stored := p.claimKey("second")
		if stored != nil {
			p.Fatalf("claim after the lease: got %+v, want the key", stored)
		}
		_, err := p.Add(idempotency.WithHolder(bg, slow), by, child("Asha", number(21)), mother(number(31)))
		p.refused(err, "request_in_progress")
		if n := p.count(`SELECT count(*) FROM players`); n != 0 {
			p.Errorf("got %d players of the slow request, want none", n)
		}

		added, err := p.Add(idempotency.WithHolder(bg, second), by, child("Asha", number(21)), mother(number(31)))
		ok(p, err)
		p.clock.advance(time.Minute)
		if _, stored := p.claimKey("third"); stored == nil || stored.Work == nil || stored.Work.ID != added.ID {
			p.Errorf("claim after the commit: got %+v, want the work", stored)
		}
		if work, err := p.keys().ReleaseKey(bg, second); err != nil || work == nil || work.ID != added.ID {
			p.Errorf("ReleaseKey = %v, %v; want the work", work, err)
		}
		_, err = p.Add(idempotency.WithHolder(bg, second), by, child("Ravi", number(22)), mother(number(32)))
		p.refused(err, "request_in_progress")
	})
}

func (p *fixture) keys() idempotency.SQL { return idempotency.SQL{DB: p.sql} }
