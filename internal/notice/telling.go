package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// Told has the accounts that Tell notified, and the address of each copy by its channel. Every account
// has InApp, without an address.
type Told map[string]map[message.Channel]string

func (t Told) add(account string, c message.Channel, address string) {
	if t[account] == nil {
		t[account] = map[message.Channel]string{message.InApp: ""}
	}
	t[account][c] = address
}

// Add adds what another call of Tell told.
func (t Told) Add(other Told) {
	for account, channels := range other {
		for c, address := range channels {
			t.add(account, c, address)
		}
	}
}

// Tell is Notify, and returns whom it told.
func Tell(ctx context.Context, tx *store.Tx, events []event.Event) (Told, error) {
	return notify(ctx, tx, events, nil)
}

// Telling says who learnt of something that a coach did. A person is a number: a guardian of two
// players is one person.
type Telling struct {
	// People were told. By counts them by each way.
	People int                     `json:"people"`
	By     map[message.Channel]int `json:"by"`
	// Rest are the people who were not told, one entry each.
	Rest []Untold `json:"rest"`
	// At is when the transaction that queued the messages began.
	At time.Time `json:"-"`
	// What names what the coach did.
	What string `json:"-"`
}

// Untold is a person without a message. Party is empty for a player without any number.
type Untold struct {
	PlayerID string     `json:"player_id"`
	Party    actor.Role `json:"party,omitempty"`
	// GuardianID is that of the Party.
	GuardianID string `json:"guardian_id,omitempty"`
	// StudentName and Name are of today. Name is that of the party; it may be empty.
	StudentName string `json:"-"`
	Name        string `json:"-"`
}

// playersOfTelling limits the players of one statement.
const playersOfTelling = 200

// Record saves what Tell told about the object with an id to the parties of the players of a coach, in the
// same transaction. It replaces what was saved about the object before. what names what the coach did.
// A copy that the person stopped does not count.
func Record(ctx context.Context, tx *store.Tx, coachID, about, what string, playerIDs []string, told Told) (Telling, error) {
	t, err := newTelling(ctx, tx, coachID, playerIDs, told)
	if err != nil {
		return t, err
	}
	outcome, err := json.Marshal(t)
	if err != nil {
		return t, err
	}
	return t, tx.Defer(ctx, `
		INSERT INTO tellings (coach_id, about, what, outcome, told_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (coach_id, about) DO UPDATE SET what = excluded.what, outcome = excluded.outcome, told_at = excluded.told_at`,
		coachID, about, what, string(outcome), database.Micros(tx.Now))
}

// reached is a person whom a telling is for.
type reached struct {
	first Untold
	ways  map[message.Channel]string
}

func newTelling(ctx context.Context, tx *store.Tx, coachID string, playerIDs []string, told Told) (Telling, error) {
	t := Telling{At: tx.Now, By: map[message.Channel]int{}, Rest: []Untold{}}
	people, reachable := map[string]*reached{}, map[string]bool{} // players with an account by id
	var order []string
	for ids := range slices.Chunk(playerIDs, playersOfTelling) {
		args := []any{coachID}
		for _, id := range ids {
			args = append(args, id)
		}
		rs, err := tx.Query(ctx, `
			SELECT p.id, a.role, a.guardian_id, a.account_id, (SELECT o.mobile_number FROM accounts o WHERE o.id = a.account_id)
			FROM players p JOIN parties a ON a.player_id = p.id
			WHERE p.coach_id = $1 AND p.id IN (`+database.Params(2, len(ids))+`) AND p.deleted_at IS NULL ORDER BY p.id, a.role, a.position`, args...)
		_, err = database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
			var role actor.Role
			var guardianID, account, number string
			err = s.Scan(&id, &role, &guardianID, database.IntoText(&account), database.IntoText(&number))
			reachable[id] = reachable[id] || account != ""
			if account == "" {
				return id, err
			}
			p := people[number]
			if p == nil {
				p = &reached{first: Untold{PlayerID: id, Party: role, GuardianID: guardianID}, ways: map[message.Channel]string{}}
				people[number] = p
				order = append(order, number)
			}
			for c, address := range told[account] {
				p.ways[c] = address
			}
			return id, err
		})
		if err != nil {
			return t, fmt.Errorf("read whom a telling is for: %w", err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(reachable)) {
		if !reachable[id] {
			t.Rest = append(t.Rest, Untold{PlayerID: id})
		}
	}
	if err := dropStopped(ctx, tx, coachID, people); err != nil {
		return t, err
	}
	for _, number := range order {
		p := people[number]
		if len(p.ways) == 0 {
			t.Rest = append(t.Rest, p.first)
			continue
		}
		t.People++
		for c := range p.ways {
			t.By[c]++
		}
	}
	return t, nil
}

// dropStopped removes the ways that a worker will not use: SMS to a number that stopped the coach, and mail to
// an address that wants none.
func dropStopped(ctx context.Context, tx *store.Tx, coachID string, people map[string]*reached) error {
	rs, err := tx.Query(ctx, `SELECT mobile_number FROM stopped_coaches WHERE coach_id = $1`, coachID)
	numbers, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("read who stopped the coach: %w", err)
	}
	for _, number := range numbers {
		if p := people[number]; p != nil && len(p.ways) > 0 {
			p.ways = map[message.Channel]string{message.InApp: ""}
		}
	}
	var addresses []string
	for _, p := range people {
		if address := p.ways[message.Email]; address != "" {
			addresses = append(addresses, message.FoldAddress(address))
		}
	}
	for chunk := range slices.Chunk(addresses, playersOfTelling) {
		stopped, err := outbox.StoppedAmong(ctx, tx, chunk)
		if err != nil {
			return fmt.Errorf("read stopped addresses: %w", err)
		}
		for _, p := range people {
			if slices.Contains(stopped, message.FoldAddress(p.ways[message.Email])) {
				delete(p.ways, message.Email)
			}
		}
	}
	return nil
}

// Telling returns what was told last about an object of a coach, or nil if that was not what, or is no
// longer kept. An empty what stands for any.
func (t *Tray) Telling(ctx context.Context, coachID, about, what string) (*Telling, error) {
	return ReadTelling(ctx, t.DB, coachID, about, what)
}

// ReadTelling is Tray.Telling.
func ReadTelling(ctx context.Context, q database.Querier, coachID, about, what string) (*Telling, error) {
	var telling Telling
	err := q.QueryRow(ctx, `SELECT outcome, told_at, what FROM tellings WHERE coach_id = $1 AND about = $2 AND (what = $3 OR $3 = '')`, coachID, about, what).
		Scan(database.IntoJSON(&telling), database.IntoTime(&telling.At), &telling.What)
	if database.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read telling: %w", err)
	}
	students, guardians := map[string]string{}, map[[2]string]string{}
	for rest := range slices.Chunk(telling.Rest, playersOfTelling) {
		args := []any{coachID}
		for _, u := range rest {
			args = append(args, u.PlayerID)
		}
		rs, err := q.Query(ctx, `
			SELECT p.id, p.student_name, g.guardian_id, g.name FROM players p JOIN parties g ON g.player_id = p.id AND g.role = 'guardian'
			WHERE p.coach_id = $1 AND p.id IN (`+database.Params(2, len(rest))+`) AND p.deleted_at IS NULL`, args...)
		_, err = database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
			var student, guardianID, guardian string
			err = s.Scan(&id, &student, &guardianID, database.IntoText(&guardian))
			students[id], guardians[[2]string{id, guardianID}] = student, guardian
			return id, err
		})
		if err != nil {
			return nil, fmt.Errorf("read names of a telling: %w", err)
		}
	}
	telling.Rest = slices.DeleteFunc(telling.Rest, func(u Untold) bool { return students[u.PlayerID] == "" })
	for i := range telling.Rest {
		u := &telling.Rest[i]
		u.StudentName = students[u.PlayerID]
		if u.Party == actor.Guardian {
			u.Name = guardians[[2]string{u.PlayerID, u.GuardianID}]
		}
	}
	return &telling, nil
}

// tellingsKept is how long a page says who was told.
const tellingsKept = 30 * 24 * time.Hour

// CoachLeft deletes what the tellings of a coach say.
func CoachLeft(ctx context.Context, tx *store.Tx, coachID string) error {
	return tx.Defer(ctx, `DELETE FROM tellings WHERE coach_id = $1`, coachID)
}
