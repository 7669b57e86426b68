package proof

import (
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// copyOfPlayer is what the tables have of a player. Times are in microseconds, 0 is none.
type copyOfPlayer struct {
	id, coachID                    string
	version                        int64
	studentName, born, rule        string
	createdAt, deletedAt, erasedAt int64
	erasureAt                      int64 // of the row in erasures
	parties                        []copyOfParty
	problems                       []string // of the rows of the parties
	decisions                      []copyOfDecision
	requests                       []copyOfRequest
	records                        map[partyKey][]stored
	erasedAccounts                 map[string]bool // whose erasures are recorded
}

// partyKey names a party of a player.
type partyKey struct {
	role       actor.Role
	guardianID string
}

func (a copyOfParty) key() partyKey { return partyKey{a.role, a.guardianID} }

// copyOfParty is what the tables have of a party. number is that of the player, accountNumber that of the account.
type copyOfParty struct {
	role                                              actor.Role
	guardianID                                        string
	position                                          int
	gone                                              bool // a removed guardian: records without a row
	account, number, accountNumber, accountRole, name string
	relationship                                      string
	state                                             approval.State
	changedAt, pendingSince                           int64
	refused                                           bool
	reason, requestID                                 string
}

// copyOfDecision is a row of the history.
type copyOfDecision struct {
	id, party, guardianID, approver, action, reason, request string
	at                                                       int64
	coachDevice                                              bool
	via, notice, text                                        string
}

// copyOfRequest is a row of requests.
type copyOfRequest struct {
	id, coachID, party, guardianID, approver, state, via string
	requestedAt, closedAt                                int64
}

// stored is a record with its row of record_keys.
type stored struct {
	id           string
	account      string
	version      int64
	position     int64 // -1 without one
	body, sealed []byte
}

// finding is a contradiction between a player and its records. party is empty if it is of all. settled says that the service
// has ended the approval since.
type finding struct {
	party      actor.Role
	guardianID string
	text       string
	settled    bool
}

// replay replays the records of a player and compares each value that they lead to with the tables, and the tables with them.
func (s *Service) replay(p *copyOfPlayer) (found []finding) {
	add := func(format string, args ...any) { found = append(found, finding{text: fmt.Sprintf(format, args...)}) }
	switch {
	case p.erasedAt == 0 && p.erasureAt != 0:
		add("erasures has it, but it was not erased")
	case p.erasedAt != 0 && p.erasureAt == 0:
		add("it was erased, but erasures does not have it")
	}
	for _, problem := range p.problems {
		add("%s", problem)
	}
	for key := range p.records {
		if !slices.ContainsFunc(p.parties, func(a copyOfParty) bool { return a.key() == key }) {
			p.parties = append(p.parties, copyOfParty{role: key.role, guardianID: key.guardianID, gone: true})
		}
	}
	known := map[string]bool{} // decisions and requests of all parties
	for i := range p.parties {
		r := replayed{Service: s, p: p, row: &p.parties[i], known: known, requests: map[string]*copyOfRequest{}, state: approval.Pending}
		r.run()
		found = append(found, r.found...)
	}
	for _, d := range p.decisions {
		if !known[d.id] {
			found = append(found, finding{party: actor.Role(d.party), guardianID: d.guardianID, text: fmt.Sprintf("the decision %s in the history has no record", d.id), settled: p.settled(d.party, d.guardianID, d.at)})
		}
	}
	for _, q := range p.requests {
		if !known[q.id] && p.erasedAt == 0 && !p.erasedAccounts[q.approver] {
			found = append(found, finding{party: actor.Role(q.party), guardianID: q.guardianID, text: fmt.Sprintf("the request %s has no record", q.id), settled: p.settled(q.party, q.guardianID, q.requestedAt)})
		}
	}
	return found
}

// settled reports whether the service ended the approval of a party after a time.
func (p *copyOfPlayer) settled(party, guardianID string, at int64) bool {
	for _, r := range p.records[partyKey{actor.Role(party), guardianID}] {
		if f, err := factsOf(r.body); err == nil && f.kind == approval.ConsentServiceReset && at < f.at {
			return true
		}
	}
	return false
}
