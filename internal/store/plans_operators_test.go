package store_test

import (
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
)

// operators creates, uses and revokes a token, finds and suspends a coach, and reads the
// audit log.
func (p *fixture) operators() {
	p.Helper()
	now, by := p.clock.Now(), actor.Operator{Name: "shell:root"}
	t := operator.Token{ID: "token", Name: "support", Scopes: operator.Scopes, CreatedAt: now, EndsAt: now.Add(day)}
	ok(p, p.db.Operators.AddToken(bg, by, t, []byte("hash")))
	_, err := p.db.Operators.TokenByHash(bg, []byte("hash"))
	ok(p, err)
	ok(p, p.db.Operators.MarkTokenUsed(bg, t.ID, now, now))
	ok(p, p.db.Operators.AddOperatorSession(bg, operator.Session{ID: "session", Token: t, CreatedAt: now, EndsAt: now.Add(time.Hour)}, []byte("session hash")))
	_, err = p.db.Operators.OperatorSessionByHash(bg, []byte("session hash"))
	ok(p, err)
	ok(p, p.db.Operators.EndOperatorSession(bg, by, "session"))
	for range 2 {
		_, err = p.db.Operators.RevokeToken(bg, t.Operator(), t.ID)
		ok(p, err)
	}
	_, err = p.db.Operators.Tokens(bg, auditor, "", 5)
	ok(p, err)
	ok(p, p.db.Operators.Record(bg, by, operator.CoachRead, "coach", "c", ""))
	ok(p, p.db.Operators.RecordIntrospections(bg, []operator.Introspections{{By: t.Operator(), Minute: now, Count: 1}}))
	_, err = p.accounts().RevokeSession(bg, by, "session")
	ok(p, err)
	for _, object := range []string{"", "token"} {
		_, err = p.db.Operators.Audit(bg, auditor, object, "", 5)
		ok(p, err)
	}
	_, err = p.db.Operators.Counts(bg, now)
	ok(p, err)
	_, err = p.db.Outbox.DeliveriesTo(bg, by, message.NumberDeliverySearch{Number: "+919812300001"}, 5)
	ok(p, err)
	waiting, _, err := p.db.Backlog(bg, message.Lane{Channel: message.SMS, Kind: message.OTP}, 10)
	if err != nil || waiting < 0 {
		p.Fatal(waiting, err)
	}
	c := p.coach(9400)
	ok(p, p.coaches().UpdateProfile(bg, c.AccountID, func(v coach.Profile) (coach.Profile, error) { v.Name = "Zoya"; return v, nil }))
	_, err = p.coaches().FindCoaches(bg, by, coach.AccountSearch{}, 5)
	ok(p, err)
	for _, search := range []coach.AccountSearch{{Number: c.Number}, {ID: c.AccountID}, {Name: "zo"}} {
		found, err := p.coaches().FindCoaches(bg, by, search, 5)
		if err != nil || len(found) != 1 {
			p.Fatal(found, err)
		}
	}
	ok(p, p.coaches().CheckCoach(bg, c.AccountID))
	_, _, err = p.coaches().ReadCoach(bg, by, c.AccountID)
	ok(p, err)
	allow := func(coach.Account) error { return nil }
	ok(p, p.coaches().Suspend(bg, by, c.AccountID, "reason", allow))
	ok(p, p.coaches().Restore(bg, by, c.AccountID, allow))
	_, _ = p.verify().Newest(bg, c.AccountID)
}
