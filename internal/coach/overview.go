package coach

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
)

// Overview is the data of the coach's start page. It counts like Dashboard, and has the most
// urgent needs in place of complete lists.
type Overview struct {
	Summary
	// Reached and FollowedUp are as in FollowUp.
	Reached, FollowedUp int
	Needs               Needs
	// Certificates expire soon or have expired, newest first.
	Certificates []Attention
}

// Overview returns the caller's overview with at most limit needs.
func (d *Dashboards) Overview(ctx context.Context, by actor.Actor, limit int) (*Overview, error) {
	now := d.Now()
	o, err := d.Store.Overview(ctx, by.AccountID, limit, now)
	if err != nil {
		return nil, err
	}
	d.complete(&o.Summary)
	o.Certificates = expiringCertificates(o.Profile.Documents, now)
	sortAttention(o.Certificates)
	return o, nil
}
