package proof

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// EntryOf is entry.
func EntryOf(body []byte) []byte { return entry(body) }

// SignCheckpoint signs any checkpoint with the key of a log.
func SignCheckpoint(s *Service, c Checkpoint) ([]byte, error) {
	key, err := newSigner(signingKey(s.Secrets), c.Origin)
	if err != nil {
		return nil, err
	}
	return key.sign(c)
}

// recordsOfPlayer is how many records FillLog gives a player.
const recordsOfPlayer = 4

// FillLog fills an empty database with players of one family who were asked and have answered, until their log has n records, much
// faster than the service. n is a multiple of 4.
func FillLog(ctx context.Context, s *Service, n int64) error {
	const players = 50 // in a statement
	t := &tree{}
	now := s.DB.Now().UTC().Truncate(time.Microsecond)
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		return tx.Defer(ctx, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ('coach', '1', 'coach', 1), ('guardian', '+919800000001', 'guardian', 1), ('student', '+919800000002', 'student', 1)`)
	})
	if err != nil {
		return err
	}
	for t.size < n {
		err := s.DB.Write(ctx, func(tx *store.Tx) error {
			for range 20 {
				if t.size >= n {
					return nil
				}
				rows := map[string][]any{}
				for range players {
					if t.size >= n {
						break
					}
					changes := fillPlayer(s.DB, rows, t.size, now)
					for _, c := range changes {
						key := sha256.Sum256([]byte(c.ID))
						claims := claimsOf(c)
						body := newBody(c, claims.digests(key[:]), tx.DB().Settings()).encode()
						sealed, err := seal(tx.DB(), key[:], claims, c.ID)
						if err != nil {
							return err
						}
						rows["consent_records"] = append(rows["consent_records"], c.ID, body, database.Micros(c.At), t.size)
						rows["record_keys"] = append(rows["record_keys"], c.ID, c.Player.ID, string(c.Party), claims["party_id"], c.Version, sealed)
						if err := t.add(entry(body)); err != nil {
							return err
						}
					}
				}
				for _, table := range []struct {
					name, columns string
					width         int
				}{
					{"players", "id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at", 8},
					{"parties", "player_id, role, position, coach_id, name, relationship, number, account_id, state, changed_at, pending_since, pending_reason, refused, request_id", 14},
					{"requests", "id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed, closed_at, via", 12},
					{"approval_history", "id, player_id, approver_type, approver_id, action, request_id, decided_at, via, notice_hash, text_hash", 10},
					{"consent_records", "id, body, at, position", 4},
					{"record_keys", "record_id, player_id, party, account_id, version, sealed", 6},
				} {
					args := rows[table.name]
					if err := tx.Defer(ctx, `INSERT INTO `+table.name+` (`+table.columns+`) VALUES `+database.RowsOf(len(args)/table.width, table.width), args...); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	root, err := t.root(n)
	if err != nil {
		return err
	}
	signed, err := SignCheckpoint(s, Checkpoint{s.Origin, n, root, n / recordsOfPlayer})
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := t.save(ctx, tx, 0); err != nil {
			return err
		}
		return tx.Defer(ctx, `UPDATE consent_log SET origin = $1, size = $2, checkpoint = $3 WHERE id = 1`, s.Origin, n, signed)
	})
}

// fillPlayer adds the rows of a player whose guardian approved and took that back, and whose student was asked. It returns the changes.
func fillPlayer(db *store.DB, rows map[string][]any, n int64, now time.Time) []approval.ConsentChange {
	micros := database.Micros
	p := &approval.Player{
		ID: db.NewID(), CoachID: "coach", CoachName: "Ravi Kumar", CreatedAt: now, Version: 1,
		Student: approval.Child{FullName: fmt.Sprint("Child ", n), DateOfBirth: approval.Date{Year: 2014, Month: 5, Day: 6}},
		Parties: []approval.Party{
			{Role: actor.Guardian, AccountID: "guardian", Person: approval.Person{Name: "Meera Rao", Relationship: "mother", Number: "+919800000001"}},
			{Role: actor.Student, AccountID: "student", Person: approval.Person{Number: "+919800000002"}},
		},
	}
	pending := approval.Consent{State: approval.Pending, PendingSince: now, PendingReason: approval.PendingAdded}
	asked, other := db.NewID(), db.NewID()
	wording := approval.Wording{Language: "en", TextHash: "ab", NoticeHash: "cd"}
	by := actor.Actor{AccountID: "guardian", Role: actor.Guardian, Via: actor.ViaPage, SignedInAt: now}
	yes, no := now.Add(time.Second), now.Add(2*time.Second)
	changes := []approval.ConsentChange{
		{ID: db.NewID(), Kind: approval.ConsentAsked, Party: actor.Guardian, Before: approval.Pending, After: approval.Pending, First: true, Player: p, Consent: pending, Version: 1, RequestID: asked, At: now},
		{ID: db.NewID(), Kind: approval.ConsentAsked, Party: actor.Student, Before: approval.Pending, After: approval.Pending, First: true, Player: p, Consent: pending, Version: 1, RequestID: other, At: now},
		{ID: db.NewID(), Kind: "approved", Party: actor.Guardian, Before: approval.Pending, After: approval.Approved, Player: p, Consent: approval.Consent{State: approval.Approved, ChangedAt: yes, PendingSince: now}, Version: 2, RequestID: asked, At: yes, By: by, Wording: wording},
		{ID: db.NewID(), Kind: "revoked", Party: actor.Guardian, Before: approval.Approved, After: approval.Revoked, Player: p, Consent: approval.Consent{State: approval.Revoked, ChangedAt: no, PendingSince: now, Refused: true}, Version: 3, RequestID: asked, At: no, By: by, Wording: wording},
	}
	rows["players"] = append(rows["players"], p.ID, "coach", 3, p.Student.FullName, p.ID, "2014-05-06", "", micros(now))
	rows["parties"] = append(rows["parties"],
		p.ID, "guardian", 1, "coach", "Meera Rao", "mother", "+919800000001", "guardian", "revoked", micros(no), micros(now), nil, true, asked,
		p.ID, "student", 1, "coach", nil, nil, "+919800000002", "student", "pending", nil, micros(now), "added", false, other)
	rows["requests"] = append(rows["requests"],
		asked, p.ID, "coach", "guardian", "guardian", "approved", "sms", micros(now), micros(now), false, micros(yes), "page",
		other, p.ID, "coach", "student", "student", "pending", "sms", micros(now), micros(now), false, nil, nil)
	rows["approval_history"] = append(rows["approval_history"],
		changes[2].ID, p.ID, "guardian", "guardian", "approved", asked, micros(yes), "page", "cd", "ab",
		changes[3].ID, p.ID, "guardian", "guardian", "revoked", asked, micros(no), "page", "cd", "ab")
	return changes
}
