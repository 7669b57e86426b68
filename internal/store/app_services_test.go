package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// TestAppServicesNeedApproval runs random sequences of decisions, edits, messages, fees,
// reports, attendance and work of the worker, some of them at the same time. After each step
// it checks that no app service answers or has sent anything to a party whose status is not
// approved, also not what was queued before a revocation, and that an approval opens the
// history that APP_HISTORY allows.
func TestAppServicesNeedApproval(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	strict := newRand(seed, 1).IntN(2) == 0
	for i, history := range []string{"since_approval", "all"} {
		whole := history == "all"
		t.Run(history, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(p *fixture) {
				c := newClub(p, newRand(seed, 2*i))
				c.strict, c.whole = strict, whole
				for n := 0; n < 60 || n < 600 && !c.sawAll(); n++ {
					c.step()
					if p.Failed() {
						p.Fatalf("after:\n%s", strings.Join(c.done, "\n"))
					}
				}
				if !c.sawAll() {
					p.Errorf("%d reads were granted and %d refused, %d messages delivered in the app, %d notifications, %d pushed; the sequences are too tame",
						c.granted, c.refused, c.delivered, c.notified, c.pushed)
				}
			}, func(s *settings) {
				s.Rules.WholeHistory = whole
				if strict {
					s.Rules.GuardianBelow = 18
				}
			})
		})
	}
}

// club is a coach with the players and families of a random sequence.
type club struct {
	*fixture
	rand  *rand.Rand
	coach actor.Actor
	batch string
	// strict is the setting REQUIRE_GUARDIAN_FOR_MINORS; all students are minors.
	strict bool
	// whole is the setting APP_HISTORY=all.
	whole   bool
	devices *devices
	players []*approval.Player // the newest of each student
	// guardians and students are all numbers that have been contacts.
	guardians, students []phone.Number
	done                []string

	// approved has the id of each player whose party approved while other actions of this step ran.
	approved sync.Map

	granted, refused, delivered, notified, pushed int
}

// sawAll reports whether the sequence granted and refused enough for its checks to mean something.
func (c *club) sawAll() bool {
	return c.granted >= 10 && c.refused >= 50 && c.delivered+c.notified > 0 && c.pushed > 0
}

func newClub(p *fixture, r *rand.Rand) *club {
	c := &club{fixture: p, rand: r, coach: p.coach(1), devices: newDevices(p)}
	ok(p, run(p.db, `UPDATE coaches SET upi_id = 'meera@okbank' WHERE id = $1`, c.coach.AccountID))
	c.batch = p.batch(c.coach, "Juniors").ID
	c.guardians = []phone.Number{number(2), number(3), number(4)}
	c.students = []phone.Number{number(12), number(13), number(14)}
	for i := range c.students {
		c.add(i)
	}
	return c
}

// add adds the ith student; two of them share a guardian at first.
func (c *club) add(i int) {
	c.Helper()
	added, err := c.Add(bg, c.coach, child(fmt.Sprint("Child ", i), c.students[i]), mother(c.guardians[i/2]), c.batch)
	ok(c, err)
	c.players = append(c.players[:i:i], append([]*approval.Player{added}, c.players[min(i+1, len(c.players)):]...)...)
}

// consent is what a party of a player decided.
type consent struct {
	account string
	state   approval.State
	since   time.Time
}

// consents reads the decisions about all players, without those that were removed.
func (c *club) consents() map[string]map[actor.Role]consent {
	c.Helper()
	rs, err := c.db.Query(bg, `
		SELECT p.id, coalesce(g.account_id, ''), g.state, coalesce(g.changed_at, 0), coalesce(s.account_id, ''), s.state, coalesce(s.changed_at, 0), g.refused
		FROM players p`+store.WithParties+` WHERE p.deleted_at IS NULL`)
	ok(c, err)
	defer rs.Close()
	all := map[string]map[actor.Role]consent{}
	for rs.Next() {
		var id string
		var g, s consent
		var gAt, sAt int64
		var refused bool
		ok(c, rs.Scan(&id, &g.account, &g.state, &gAt, &s.account, &s.state, &sAt, &refused))
		g.since, s.since = time.UnixMicro(gAt), time.UnixMicro(sAt)
		if c.strict && s.state == approval.Approved {
			s.state = g.state
			if refused { // a no of the guardian stands, also while the coach asks again
				s.state = approval.Rejected
			}
		}
		all[id] = map[actor.Role]consent{actor.Guardian: g, actor.Student: s}
	}
	ok(c, rs.Err())
	return all
}

// step runs one to three actions at the same time, then checks what families have.
func (c *club) step() {
	c.Helper()
	c.clock.advance(time.Duration(1+c.rand.IntN(5*60)) * time.Minute)
	c.subscribeDevices()
	before := c.consents()
	var names []string
	var actions []func() error
	for range 1 + c.rand.IntN(3) {
		name, action := c.action()
		names, actions = append(names, name), append(actions, action)
	}
	c.done = append(c.done, strings.Join(names, "; "))
	c.countCodes(concurrently(len(actions), func(i int) error { return actions[i]() }))
	for i, p := range c.players {
		if c.rand.IntN(4) > 0 {
			continue
		}
		if _, there := c.consents()[p.ID]; !there {
			c.done = append(c.done, "add "+p.Student.FullName)
			c.add(i)
		}
	}
	after := c.consents()
	c.checkTrays(after)
	c.checkDelivered(before, after)
	c.checkPushed(before, after)
	c.approved.Clear()
	if c.rand.IntN(2) == 0 {
		ok(c, c.push())
		c.checkPushed(after, after)
	}
	for range 4 {
		role, numbers := actor.Guardian, c.guardians
		if c.rand.IntN(2) == 0 {
			role, numbers = actor.Student, c.students
		}
		n := numbers[c.rand.IntN(len(numbers))]
		if c.count(`SELECT count(*) FROM accounts WHERE mobile_number = $1 AND role = $2`, string(n), string(role)) == 1 {
			p := c.players[c.rand.IntN(len(c.players))]
			c.checkReads(c.as(role, n), p.ID, after[p.ID][role])
		}
	}
}

// action draws an action of the coach, a party or the worker.
func (c *club) action() (name string, do func() error) {
	p := c.players[c.rand.IntN(len(c.players))]
	today := team.DateOf(c.clock.Now(), time.UTC)
	switch c.rand.IntN(25) {
	case 0, 1, 2, 3, 4, 5, 6:
		party, by := c.party(p)
		what := []approval.Trigger{approval.Approve, approval.Approve, approval.Approve, approval.Approve, approval.Revoke, approval.Reject}[c.rand.IntN(6)]
		return fmt.Sprint(what, " by the ", party, " of ", p.Student.FullName), func() error {
			err := c.decide(by, p.ID, what)
			if err == nil && what == approval.Approve {
				c.approved.Store(p.ID, true)
			}
			return err
		}
	case 7, 8, 23, 24:
		party, _ := c.party(p)
		return fmt.Sprint("ask the ", party, " of ", p.Student.FullName), func() error {
			_, _, err := c.Send(bg, c.coach, p.ID, party, approval.Patch{}, nil)
			return err
		}
	case 9:
		n := c.guardians[c.rand.IntN(len(c.guardians))]
		return fmt.Sprint("guardian of ", p.Student.FullName, " has ", n), func() error {
			_, err := c.Edit(bg, c.coach, p.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: &n}})
			return err
		}
	case 10:
		return "remove " + p.Student.FullName, func() error { return c.Remove(bg, c.coach, p.ID) }
	case 11, 12:
		to := []conversation.Target{{All: true}, {BatchID: c.batch}, {PlayerIDs: []string{p.ID}}}[c.rand.IntN(3)]
		audience := []conversation.Audience{conversation.ToBoth, conversation.ToGuardians, conversation.ToStudents}[c.rand.IntN(3)]
		return fmt.Sprint("message to the ", audience), func() error {
			_, err := c.messages(0).Send(bg, c.coach, conversation.Draft{To: to, Audience: audience, Text: "Training is at 5.", Channels: []conversation.Channel{conversation.InApp}})
			return err
		}
	case 13, 14:
		return "expand a message", func() error {
			_, err := c.messages(0).ExpandNext(bg)
			return err
		}
	case 15:
		due := today.AddDays(c.rand.IntN(4))
		return fmt.Sprint("fee due on ", due), func() error {
			_, err := c.fees().Add(bg, c.coach, fee.Order{PlayerID: p.ID, Title: "Training", Amount: 1000, DueOn: due})
			return err
		}
	case 16:
		fees, err := c.fees().List(bg, c.coach, fee.Filter{State: fee.Due}, fee.Page{Limit: 20})
		ok(c, err)
		if len(fees) == 0 {
			return "no fee to remind of", func() error { return nil }
		}
		f := fees[c.rand.IntN(len(fees))]
		return "remind of a fee of " + f.StudentName, func() error { return second(c.fees().Remind(bg, c.coach, f.ID)) }
	case 17:
		return "reminders of the worker", func() error { return second(c.fees().RemindDue(bg, 20)) }
	case 18:
		return "measure " + p.Student.FullName, func() error {
			return second(c.records().Measure(bg, c.coach, progress.Measurement{PlayerID: p.ID, Metric: "80 m", Value: 12.4, Unit: "s", On: today}))
		}
	case 19:
		return "report about " + p.Student.FullName, func() error {
			return second(c.records().AddReport(bg, c.coach, progress.Report{PlayerID: p.ID, Title: "March", Text: "Good", From: today, To: today}))
		}
	case 20:
		return "attendance of " + p.Student.FullName, func() error {
			return second(c.attendance().Merge(bg, c.coach, c.batch, today, marksOf(team.Present, p.ID), attendance.Precondition{}))
		}
	case 21:
		return "push messages", c.push
	default:
		party, by := c.party(p)
		return fmt.Sprint("reply of the ", party, " of ", p.Student.FullName), func() error {
			return second(c.messages(0).Reply(bg, by, p.ID, "We come."))
		}
	}
}

// party draws a party of a player.
func (c *club) party(p *approval.Player) (actor.Role, actor.Actor) {
	if c.rand.IntN(2) == 0 {
		return actor.Student, c.as(actor.Student, p.Number(actor.Student))
	}
	by := actor.Actor{Role: actor.Guardian}
	ok(c, c.db.QueryRow(bg, `SELECT a.id, a.mobile_number FROM parties p JOIN accounts a ON a.id = p.account_id WHERE p.player_id = $1 AND p.role = 'guardian'`, p.ID).Scan(&by.AccountID, &by.Number))
	return actor.Guardian, by
}

func (p *fixture) records() *progress.Service {
	return &progress.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyTier}
}

// withoutApproval are the types of notifications that a party gets whatever its status.
var withoutApproval = []message.Type{
	message.GuardianRequest, message.GuardianApprovalConfirmed, message.GuardianRejectConfirmed, message.StudentRequest, message.StudentApprovalConfirmed,
	message.StudentRejectConfirmed, message.GuardianRevoked, message.StudentRevoked, message.RequestReminder, message.SecurityNotice,
	message.PlayerChanged, message.CoachRenamed, message.CoachRenaming, message.PlayerRemoved, message.CoachLeft,
}

// checkTrays fails the test if a tray has a notification of an app service about a player
// without an approval.
func (c *club) checkTrays(now map[string]map[actor.Role]consent) {
	c.Helper()
	var args []any
	for _, t := range withoutApproval {
		args = append(args, string(t))
	}
	rs, err := c.db.Query(bg, `
		SELECT n.type, n.account_id, a.role, coalesce(n.player_id, '') FROM notifications n JOIN accounts a ON a.id = n.account_id AND a.role <> 'coach'
		WHERE n.type NOT IN (`+placeholders(len(args))+`)`, args...)
	ok(c, err)
	defer rs.Close()
	for rs.Next() {
		var kind, account, playerID string
		var role actor.Role
		ok(c, rs.Scan(&kind, &account, &role, &playerID))
		c.notified++
		if given := now[playerID][role]; given.account != account || given.state != approval.Approved {
			c.Errorf("the tray of a %s whose consent is %q has a notification %s", role, given.state, kind)
		}
	}
	ok(c, rs.Err())
}

func placeholders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "$%d,", i+1)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// checkDelivered fails the test if a message was delivered in the app in this step to a party
// that had approved neither before nor after the step, nor between two actions of it.
func (c *club) checkDelivered(before, after map[string]map[actor.Role]consent) {
	c.Helper()
	rs, err := c.db.Query(bg, `
		SELECT r.player_id, r.party FROM deliveries d JOIN team_recipients r ON r.message_id = d.team_message_id AND r.position = d.team_position
		WHERE d.channel = 'in_app' AND d.state = 'delivered' AND d.created_at = $1`, c.clock.Now().UnixMicro())
	ok(c, err)
	defer rs.Close()
	for rs.Next() {
		var id string
		var party actor.Role
		ok(c, rs.Scan(&id, &party))
		c.delivered++
		_, between := c.approved.Load(id)
		if !between && before[id][party].state != approval.Approved && after[id][party].state != approval.Approved {
			c.Errorf("a message was delivered in the app to a %s without an approval", party)
		}
	}
	ok(c, rs.Err())
}

// checkReads calls everything that families read about a player as by. It must work if given
// is an approval of that account, and else say why not. It must show all that was added since
// the approval, or from the start.
func (c *club) checkReads(by actor.Actor, playerID string, given consent) {
	c.Helper()
	want := "approval_required"
	switch {
	case given.account != by.AccountID:
		want = "not_found"
	case given.state == approval.Approved:
		want = ""
	case given.state == approval.Pending:
		want = "approval_pending"
	}
	since := given.since.UnixMicro()
	if c.whole {
		since = 0
	}
	// read counts what is shown, and saved what may be shown.
	read, saved := map[string]int{}, map[string]int{
		"messages": c.count(`
			SELECT (SELECT count(*) FROM team_recipients r JOIN team_messages m ON m.id = r.message_id WHERE r.account_id = $1 AND r.player_id = $2 AND m.created_at >= $3)
				+ (SELECT count(*) FROM team_replies WHERE account_id = $1 AND player_id = $2 AND created_at >= $3)`, by.AccountID, playerID, since),
		"progress": c.count(`SELECT count(*) FROM measurements WHERE player_id = $1 AND created_at >= $2`, playerID, since),
		"reports":  c.count(`SELECT count(*) FROM performance_reports WHERE player_id = $1 AND created_at >= $2`, playerID, since),
	}
	const all = 50
	for name, err := range map[string]error{
		"schedule": func() error {
			_, _, err := c.batches().Schedule(bg, by, playerID)
			return err
		}(),
		"attendance": second(c.attendance().OfPlayer(bg, by, playerID, attendance.Period{}, attendance.Attended{}, 50)),
		"fees":       second(c.fees().ListForFamily(bg, by, playerID, fee.Page{Limit: 50})),
		"replies":    c.messages(0).CheckReply(bg, by, playerID),
		"messages": func() error {
			list, err := c.messages(0).Conversation(bg, by, playerID, "", all)
			read["messages"] = len(list)
			return err
		}(),
		"progress": func() error {
			list, err := c.records().Measurements(bg, by, playerID, "", progress.Measurement{}, 50)
			read["progress"] = len(list)
			return err
		}(),
		"reports": func() error {
			list, err := c.records().Reports(bg, by, playerID, "", all)
			read["reports"] = len(list)
			return err
		}(),
	} {
		if got := fault.CodeOf(err); got != want || err != nil && want == "" {
			c.Errorf("%s for a %s whose consent is %q: %v, want %q", name, by.Role, given.state, err, want)
		}
		if err == nil {
			c.granted++
		} else {
			c.refused++
		}
	}
	c.checkNewest(by, playerID, want == "", saved)
	for name, n := range read {
		if want != "" {
			saved[name] = 0
		}
		if n != min(saved[name], all) {
			c.Errorf("a %s whose consent is %q since %s reads %d of the %s, want %d", by.Role, given.state, given.since, n, name, saved[name])
		}
	}
}

// checkNewest reads what the first page of a family shows of a player: something of each kind that was saved if it is granted,
// else nothing.
func (c *club) checkNewest(by actor.Actor, playerID string, granted bool, saved map[string]int) {
	c.Helper()
	owed, err := c.fees().Owed(bg, by, []string{playerID})
	ok(c, err)
	messages, err := c.messages(0).NewestEntries(bg, by, []string{playerID})
	ok(c, err)
	results, err := c.records().NewestMeasurements(bg, by, []string{playerID})
	ok(c, err)
	reports, err := c.records().NewestReports(bg, by, []string{playerID})
	ok(c, err)
	saved = maps.Clone(saved)
	saved["fees"] = c.count(`SELECT count(*) FROM fees WHERE player_id = $1 AND status = 'open'`, playerID)
	for name, n := range map[string]int{"fees": len(owed), "messages": len(messages), "progress": len(results), "reports": len(reports)} {
		want := 0
		if granted {
			want = min(saved[name], 1)
		}
		if n != want {
			c.Errorf("the first page of a %s, granted %t, has %d of the newest %s, want %d", by.Role, granted, n, name, want)
		}
	}
}
