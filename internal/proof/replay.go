package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/vault"
)

// person are the values that a record says about a student and a party.
type person struct{ student, born, account, number, name, relationship string }

func (c claimed) person() person {
	return person{c.Claims["student_name"], c.Claims["student_birth_date"], c.Claims["party_id"], c.Claims["party_phone"], c.Claims["party_name"], c.Claims["relationship"]}
}

// replayed is the consent of a party while its records are replayed.
type replayed struct {
	*Service
	p     *copyOfPlayer
	row   *copyOfParty
	known map[string]bool
	found []finding

	state    approval.State
	person   person
	free     bool // the next record may have other values
	consent  string
	requests map[string]*copyOfRequest
	open     string // the newest request
	erased   bool
	// unknown says that the key of a record was erased, so that its values are not known.
	unknown bool
	lost    bool // it was so of any record
	left    bool // the newest record says that the party left
	resets  int  // how many records were replayed up to the last one in which the service ended the approval
}

func (r *replayed) add(format string, args ...any) {
	r.found = append(r.found, finding{party: r.row.role, guardianID: r.row.guardianID, text: fmt.Sprintf(format, args...)})
}

func (r *replayed) run() {
	records := r.p.records[r.row.key()]
	if len(records) == 0 {
		r.add("the state is %q, but there is no record", r.row.state)
		return
	}
	for i := range records {
		r.next(i, &records[i])
	}
	for i := range r.resets {
		r.found[i].settled = true
	}
	last := records[len(records)-1].id
	switch {
	case r.row.gone && r.state != approval.Removed:
		r.add("the row is missing, but the newest record (%s) says %q", last, r.state)
	case r.row.gone:
	case r.p.erasedAt != 0:
		if !r.erased {
			r.add("it was erased, but no record says so")
		}
	case r.p.deletedAt != 0:
		if r.state != approval.Removed {
			r.add("the player is deleted, but the newest record (%s) says %q", last, r.state)
		}
	case r.row.state != r.state:
		r.add("the state is %q, but the newest record (%s) says %q", r.row.state, last, r.state)
	}
	switch {
	case r.p.erasedAt != 0, r.row.gone:
	case !r.unknown:
		r.compareRow(last)
	case r.left && (r.row.account != "" || r.row.number != ""):
		r.add("it left (record %s), but the player has an account or number", last)
	}
	r.compareRequests()
}

// next replays the ith record.
func (r *replayed) next(i int, record *stored) {
	if record.body == nil {
		r.add("record %s was removed", record.id)
		return
	}
	f, err := factsOf(record.body)
	if err != nil {
		r.add("record %s is not readable: %s", record.id, err)
		return
	}
	if f.recordID != record.id || f.party != r.row.role {
		r.add("record %s is of another consent", record.id)
		return
	}
	c, opened := r.unseal(record, f)
	if f.first != (i == 0) && f.kind != approval.ConsentErased {
		r.add("record %s is not the first of the %s, or an earlier one is missing", record.id, r.row.role)
	}
	if f.kind == approval.ConsentOldDisputeLifted {
		if opened {
			r.request(c.Claims["request_id"], func(q *copyOfRequest) { q.state = string(approval.RequestCancelled) })
		}
		return
	}
	if f.before != r.state && f.kind != approval.ConsentServiceReset {
		r.add("record %s follows the state %q, but the record before says %q", record.id, f.before, r.state)
	}
	r.state, r.left = f.state, f.kind == approval.ConsentLeft || f.kind == approval.ConsentGuardianEnded
	if f.kind == approval.ConsentErased {
		r.erased = r.erased || opened
		return
	}
	if opened {
		r.values(record, f, c)
	}
	switch f.kind {
	case approval.ConsentKind(approval.Approve), approval.ConsentKind(approval.Reject), approval.ConsentKind(approval.Revoke):
		r.decision(record, f, c, opened)
	}
	if f.kind == approval.ConsentServiceReset {
		r.resets = len(r.found)
	}
}

// unseal decrypts the key and the claims of a record, and compares them with the digests of its body.
func (r *replayed) unseal(record *stored, f facts) (c claimed, opened bool) {
	if len(record.sealed) == 0 {
		r.unknown, r.lost = true, true
		if r.p.erasedAt == 0 && !r.p.erasedAccounts[record.account] {
			r.add("the key of record %s is missing", record.id)
		}
		return c, false
	}
	plain, err := r.DB.Unseal(vault.ForRecord, record.sealed, record.id)
	if err == nil && len(plain) < keyBytes {
		err = fmt.Errorf("%d bytes are too short", len(plain))
	}
	if err == nil {
		c, err = parseClaims([]byte(plain[keyBytes:]))
	}
	switch {
	case err != nil:
		r.unknown = true
		r.add("the key of record %s is not readable: %s", record.id, err)
		return c, false
	case !c.sameDigests([]byte(plain[:keyBytes]), f.digestsOfClaim):
		r.add("the values of record %s are not those of its digests", record.id)
	case c.Claims["player_id"] != r.p.id:
		r.add("record %s is of another player", record.id)
	case f.kind == approval.ConsentErased:
	case c.version != record.version || c.Claims["party_id"] != record.account:
		r.add("record %s has another account or version in record_keys", record.id)
	}
	return c, true
}

// values follows the values of a record.
func (r *replayed) values(record *stored, f facts, c claimed) {
	now := c.person()
	if f.first || f.kind == approval.ConsentCorrected {
		r.person, r.free = now, true
	}
	if r.free || r.unknown {
		r.person = now
	}
	if r.person != now {
		r.add("record %s has another name, birth date, number or account than the record before, and no record says that it changed", record.id)
		r.person = now
	}
	if c.Claims["coach_id"] != r.p.coachID {
		r.add("record %s is of a player of another coach", record.id)
	}
	r.unknown = false
	r.free = f.kind == approval.ConsentContactReset || f.kind == approval.ConsentStudentReset
	r.consent = c.consent
	if r.left {
		r.person.account, r.person.number = "", ""
		if r.row.role == actor.Guardian {
			r.person.name, r.person.relationship = "", ""
		}
	}
	r.answer(c.Claims["request_id"], f)
}

// answer follows what a record means for the requests.
func (r *replayed) answer(id string, f facts) {
	closed := func(state approval.RequestState) func(*copyOfRequest) {
		return func(q *copyOfRequest) { q.state, q.closedAt, q.via = string(state), f.at, f.via }
	}
	switch f.kind {
	case approval.ConsentAsked:
		if q := r.requests[r.open]; q != nil && q.state == string(approval.RequestPending) {
			r.add("the request %s was never closed, but the request %s was opened", r.open, id)
		}
		r.requests[id] = &copyOfRequest{id: id, coachID: r.p.coachID, party: string(r.row.role), guardianID: r.row.guardianID, approver: r.person.account, state: string(approval.RequestPending), requestedAt: f.at}
		r.open = id
	case approval.ConsentKind(approval.Approve), approval.ConsentKind(approval.Reject):
		r.request(id, func(q *copyOfRequest) {
			if q.state == string(approval.RequestPending) { // else the proof behind a yes ended: see approval.Party.ProofEnded
				closed(approval.RequestState(f.kind))(q)
			}
		})
	case approval.ConsentDisputed:
		r.request(id, closed(approval.RequestDisputed))
	case approval.ConsentDisputeLifted:
		r.request(id, func(q *copyOfRequest) { q.state, q.closedAt, q.via = string(approval.RequestPending), 0, "" })
	case approval.ConsentCancelled:
		r.request(id, closed(approval.RequestCancelled))
	case approval.ConsentContactReset, approval.ConsentStudentReset, approval.ConsentGuardianEnded, approval.ConsentGuardianRemoved, approval.ConsentLeft, approval.ConsentRemoved:
		if q := r.requests[r.open]; q != nil && q.state == string(approval.RequestPending) {
			closed(approval.RequestCancelled)(q)
		}
	}
}

// request changes a request that was asked. Without its record, because an account was erased, it is not known.
func (r *replayed) request(id string, change func(*copyOfRequest)) {
	if q := r.requests[id]; q != nil {
		change(q)
	}
}

// decision compares a decision with its row of the history.
func (r *replayed) decision(record *stored, f facts, c claimed, opened bool) {
	i := slices.IndexFunc(r.p.decisions, func(d copyOfDecision) bool { return d.id == record.id })
	if i < 0 {
		r.add("the decision %s is missing in the history", record.id)
		return
	}
	r.known[record.id] = true
	got := r.p.decisions[i]
	want := copyOfDecision{
		id: record.id, party: string(f.party), guardianID: r.row.guardianID, approver: record.account, action: string(f.kind), at: f.at, via: f.via, notice: f.notice, text: f.text,
		reason: c.Claims["reason"], request: c.Claims["request_id"], coachDevice: c.coachDevice,
	}
	if !opened {
		want.reason, want.request, want.coachDevice = got.reason, got.request, got.coachDevice
	}
	if got != want {
		r.add("the decision %s in the history differs from its record", record.id)
	}
}

// compareRow compares the row of the player with what the records lead to.
func (r *replayed) compareRow(last string) {
	row := person{r.p.studentName, r.p.born, r.row.account, r.row.number, r.row.name, r.row.relationship}
	differs := func(what string) { r.add("%s is not what the newest record (%s) says", what, last) }
	switch {
	case row.student != r.person.student || row.born != r.person.born:
		differs("the name or birth date of the student")
	case row.account != r.person.account || row.number != r.person.number:
		differs("the account or number")
	case row.name != r.person.name || row.relationship != r.person.relationship:
		differs("the name or relationship")
	case r.free:
		differs("what was changed")
	}
	place := ""
	if r.row.role == actor.Guardian {
		place = strconv.Itoa(r.row.position) + " " + r.p.rule
	}
	if r.consent != consentRowOf(r.p.createdAt, r.row.changedAt, r.row.pendingSince, r.row.reason, place, r.row.refused) {
		differs("a time of the consent, why it is pending, a no that stands, or the place or rule of the guardian")
	}
	if r.row.account != "" {
		erasedLater := r.p.deletedAt != 0 && r.p.erasedAccounts[r.row.account]
		if r.row.accountRole != string(r.row.role) || r.row.accountNumber != r.row.number && !erasedLater {
			r.add("the account has another number or role than the records say")
		}
	}
	if r.open != r.row.requestID && (r.open != "" || !r.lost) {
		r.add("the newest request is %s, but the records say %s", cmp.Or(r.row.requestID, "none"), cmp.Or(r.open, "none"))
	}
}

// compareRequests compares the rows of requests with what the records lead to.
func (r *replayed) compareRequests() {
	for id, want := range r.requests {
		r.known[id] = true
		i := slices.IndexFunc(r.p.requests, func(q copyOfRequest) bool { return q.id == id })
		if i < 0 {
			r.add("the request %s is missing", id)
			continue
		}
		got := r.p.requests[i]
		if want.state == string(approval.RequestCancelled) { // how it was answered before is not kept
			got.via, want.via, got.closedAt, want.closedAt = "", "", 0, 0
		}
		if got != *want {
			r.add("the request %s is not what its records say", id)
		}
	}
}
