package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// stressTest runs random operations of a few coaches concurrently.
type stressTest struct {
	*fixture
	files     *fakeFiles
	documents *document.Service

	mu      sync.Mutex
	coaches []actor.Actor // sessions, of accounts that may have ended
	next    int
	seen    map[string]int
}

func (c *stressTest) pick(dice *rand.Rand) actor.Actor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.coaches[dice.IntN(len(c.coaches))]
}

func (c *stressTest) number() phone.Number {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	return number(c.next)
}

// attempt opens a challenge and returns a verification of it with the correct code.
func (c *stressTest) attempt(n phone.Number) auth.Attempt {
	now := c.clock.Now()
	_, err := auth.Store{DB: c.db}.OpenChallenge(bg, auth.ChallengeRequest{
		Challenge:   auth.Challenge{ChallengeKey: auth.ChallengeKey{Number: n, Role: actor.Coach}, ID: c.db.NewID(), Code: []byte("x"), SentAt: now, EndsAt: now.Add(time.Hour)},
		MaxAttempts: 100, LastSentBefore: now,
	})
	var soon auth.ResendTooSoon
	if err != nil && !errors.As(err, &soon) {
		c.Error(err)
	}
	return auth.Attempt{
		Keys: []auth.ChallengeKey{{Number: n, Role: actor.Coach}}, MaxAttempts: 100, MaxFailures: func(auth.ChallengeKey) int { return 1000 }, Now: now,
		Matches: func(auth.Challenge) bool { return true },
	}
}

// signIn opens a session of a number as coach.
func (c *stressTest) signIn(n phone.Number) error {
	t, now := c.attempt(n), c.clock.Now()
	session := &auth.Session{
		ID: c.db.NewID(), AccountID: c.db.NewID(), Role: actor.Coach, Number: n, DeviceID: uuid.NewString(), Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(day), EndsAt: now.Add(2 * day),
	}
	t.SignIn = &auth.SignIn{Session: session, RefreshHash: []byte(session.ID), DeviceHash: []byte(session.DeviceID), DeviceEnds: now.Add(day)}
	result, err := auth.Store{DB: c.db}.VerifyOTP(bg, t)
	if err != nil || result.Outcome != auth.CorrectCode {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coaches = append(c.coaches, session.Actor())
	return nil
}

// act runs one random operation.
func (c *stressTest) act(dice *rand.Rand) (what string, err error) {
	by := c.pick(dice)
	kinds := []coach.DocumentKind{coach.Certification, coach.Identity, coach.ProfilePicture}
	player := func() string {
		var id string
		if c.db.QueryRow(bg, `SELECT id FROM players WHERE coach_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT 1`, by.AccountID).Scan(&id) != nil {
			id = c.db.NewID()
		}
		return id
	}
	submission := func() string {
		var id string
		if c.db.QueryRow(bg, `SELECT id FROM kyc_submissions WHERE coach_id = $1 ORDER BY id DESC LIMIT 1`, by.AccountID).Scan(&id) != nil {
			id = c.db.NewID()
		}
		return id
	}
	name := fmt.Sprint("name", dice.IntN(30))
	switch n := dice.IntN(40); {
	case n < 6:
		return "documents", changeRandomDocument(c.documents, by, kinds[dice.IntN(3)], dice)
	case n < 10:
		_, err = c.Add(bg, by, child(name, c.number()), mother(c.number()))
		return "add", err
	case n < 13:
		err = c.Remove(bg, by, player())
		return "remove", err
	case n < 16:
		id := player()
		p, err := c.Player(bg, by, id)
		if err != nil {
			return "decide", err
		}
		guardian := actor.Actor{AccountID: p.Party(actor.Guardian).AccountID, Role: actor.Guardian, Number: p.Number(actor.Guardian)}
		return "decide", c.decide(guardian, id, []approval.Trigger{approval.Approve, approval.Reject, approval.Revoke}[dice.IntN(3)])
	case n < 18:
		return "profile", c.profile(by.AccountID, name, "bio", "cricket")
	case n < 20:
		return "visibility", c.show(by.AccountID, dice.IntN(3) > 0)
	case n < 23:
		list, err := c.documents.List(bg, by, coach.Identity, "", 3)
		if err != nil || len(list) == 0 {
			return "submit", err
		}
		_, _, err = c.verify().Submit(bg, by, "Legal", []string{list[0].ID})
		return "submit", err
	case n < 25:
		_, err = c.verify().Approve(bg, testOperator, submission())
		return "approve", err
	case n < 27:
		_, err = c.verify().Reject(bg, testOperator, submission(), "no")
		return "reject", err
	case n < 29:
		return "suspend", (&coach.AccountAdmin{Store: coach.Store{DB: c.db}}).Suspend(bg, testOperator, by.AccountID, "why")
	case n < 31:
		return "restore", (&coach.AccountAdmin{Store: coach.Store{DB: c.db}}).Restore(bg, testOperator, by.AccountID)
	case n < 33:
		return "tier", coach.Store{DB: c.db}.UpdateTier(bg, by.AccountID, func(coach.TierChoice) (coach.TierChoice, error) { return coach.TierChoice{Tier: name}, nil })
	case n < 35:
		to := c.number()
		changed, err := auth.Store{DB: c.db}.ChangeNumber(bg, auth.NumberChange{By: by, To: to, Current: c.attempt(by.Number), New: c.attempt(to)})
		if err == nil && changed.New.Outcome == auth.CorrectCode {
			by.Number = to
			c.mu.Lock()
			c.coaches = append(c.coaches, by)
			c.mu.Unlock()
		}
		return "number", err
	case n < 36:
		_, err = auth.Store{DB: c.db}.CloseAccount(bg, auth.CloseRequest{By: by, Attempt: c.attempt(by.Number)})
		return "close", err
	case n < 37:
		_, err = coach.Store{DB: c.db}.Dashboard(bg, by.AccountID, c.clock.Now())
		return "dashboard", err
	case n < 38:
		_, err = c.documents.DeleteExpiredBlobs(bg)
		return "sweep", err
	default:
		return "login", c.signIn(by.Number)
	}
}

// TestStress runs random operations concurrently and then checks the invariants of the
// database.
func TestStress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := &stressTest{fixture: p, files: &fakeFiles{sizes: map[string]int64{}}, seen: map[string]int{}}
		c.documents = p.newDocuments(c.files)
		for range 3 {
			ok(t, c.signIn(c.number()))
		}
		seed := newSeed(t)
		var wait sync.WaitGroup
		for worker := range 8 {
			wait.Go(func() {
				dice := newRand(seed, worker)
				for range 120 {
					c.clock.advance(time.Millisecond)
					what, err := c.act(dice)
					kind := fault.KindOf(err)
					if err != nil && (kind == fault.Internal || kind == fault.Unavailable) {
						t.Errorf("%s: %v", what, err)
					}
					if err == nil {
						c.mu.Lock()
						c.seen[what]++
						c.mu.Unlock()
					}
				}
			})
		}
		wait.Wait()
		t.Log(c.seen, len(c.coaches))
		p.checkConsistency(c.files)
		for query, want := range map[string]int{
			`SELECT count(*) FROM coaches c WHERE c.players <> (SELECT count(*) FROM players p WHERE p.coach_id = c.id AND p.deleted_at IS NULL)`:                           0,
			`SELECT count(*) FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.revoked_at IS NULL AND (a.suspended_at IS NOT NULL OR a.closed_at IS NOT NULL)`: 0,
			`SELECT count(*) FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.revoked_at IS NULL AND s.mobile_number <> a.mobile_number`:                      0,
			`SELECT count(*) FROM accounts a WHERE a.closed_at IS NOT NULL AND (EXISTS (SELECT 1 FROM coaches c WHERE c.id = a.id)
				OR EXISTS (SELECT 1 FROM documents c WHERE c.coach_id = a.id) OR EXISTS (SELECT 1 FROM kyc_submissions c WHERE c.coach_id = a.id)
				OR EXISTS (SELECT 1 FROM listings c WHERE c.coach_id = a.id) OR EXISTS (SELECT 1 FROM notifications c WHERE c.account_id = a.id)
				OR EXISTS (SELECT 1 FROM digests c WHERE c.coach_id = a.id)
				OR EXISTS (SELECT 1 FROM players c WHERE c.coach_id = a.id AND c.deleted_at IS NULL))`: 0,
			`SELECT count(*) FROM parties p JOIN accounts a ON a.id = p.coach_id WHERE p.deleted_at IS NULL AND p.number = a.mobile_number`:                                                             0,
			`SELECT count(*) FROM players p WHERE (SELECT count(*) FROM parties a WHERE a.player_id = p.id AND a.coach_id = p.coach_id AND coalesce(a.deleted_at, 0) = coalesce(p.deleted_at, 0)) <> 2`: 0,
			`SELECT count(*) FROM requests r JOIN players p ON p.id = r.player_id WHERE r.state = 'pending' AND p.deleted_at IS NOT NULL`:                                                               0,
			`SELECT count(*) FROM coaches c WHERE (c.kyc_state = 'submitted') <> EXISTS (SELECT 1 FROM kyc_submissions s WHERE s.coach_id = c.id AND s.state = 'submitted')`:                            0,
			`SELECT count(*) FROM kyc_submissions s WHERE s.state = 'submitted' AND NOT EXISTS (SELECT 1 FROM kyc_documents k JOIN documents d ON d.id = k.document_id WHERE k.submission_id = s.id)`:   0,
			`SELECT count(*) FROM listings l JOIN accounts a ON a.id = l.coach_id WHERE a.suspended_at IS NOT NULL`:                                                                                     0,
		} {
			if got := p.count(query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		for _, by := range c.coaches {
			card, terms := p.storedListing(by.AccountID)
			wantCard, wantTerms := p.reindexedListing(by.AccountID)
			if card != wantCard || fmt.Sprint(terms) != fmt.Sprint(wantTerms) {
				t.Errorf("the listing is stale: %s, want %s", card, wantCard)
			}
		}
	})
}

// TestLockOrder: closing and suspending an account lock the coach's row before the
// account's, as a KYC decision and a new document do. They cannot deadlock, so each runs
// once.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := &stressTest{fixture: p}
		for name, end := range map[string]func(actor.Actor, auth.Attempt) error{
			"close": func(by actor.Actor, try auth.Attempt) error {
				result, err := p.accounts().CloseAccount(bg, auth.CloseRequest{By: by, Attempt: try})
				if err == nil && result.Outcome != auth.CorrectCode {
					err = fmt.Errorf("outcome of the verification: %d", result.Outcome)
				}
				return err
			},
			"suspend": func(by actor.Actor, _ auth.Attempt) error {
				return (&coach.AccountAdmin{Store: p.coaches()}).Suspend(bg, testOperator, by.AccountID, "why")
			},
		} {
			ok(t, c.signIn(c.number()))
			by := c.coaches[len(c.coaches)-1]
			try := c.attempt(by.Number)
			var runs atomic.Int64 // number of transactions: each reads the clock once
			p.clock.setHook(func() time.Time { runs.Add(1); return p.clock.stopped() })
			ended := make(chan error, 1)
			ok(t, p.db.Write(bg, func(tx *store.Tx) error {
				if err := coach.ReindexListing(bg, tx, by.AccountID); err != nil {
					return err
				}
				if runs.Load() == 1 {
					go func() { ended <- end(by, try) }()
					time.Sleep(300 * time.Millisecond) // until it waits
				}
				_, err := tx.Exec(bg, `UPDATE accounts SET tray_seq = tray_seq + 1 WHERE id = $1`, by.AccountID)
				return err
			}))
			ok(t, <-ended)
			if n := runs.Load(); n != 2 {
				t.Errorf("%s: %d transactions, want 2", name, n)
			}
			p.clock.setHook(nil)
		}
	})
}
