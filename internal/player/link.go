package player

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// askedParty is the party that a link asked, and the state of its request.
type askedParty struct {
	By        actor.Actor
	RequestID string
	PlayerID  string
	State     approval.RequestState
}

// DisputeByLink is Dispute without a session, for the holder of a valid link that left to
// the asked number itself, and read w. It ends only an open request. It is no error if the request is
// disputed already. Errors: not_found, no_open_request.
func (s *Service) DisputeByLink(ctx context.Context, tokenHash []byte, w approval.Wording) error {
	asked, err := s.askedParty(ctx, tokenHash, s.DB.Now())
	if err != nil || asked.State == approval.RequestDisputed {
		return err
	}
	_, err = s.update(ctx, asked.PlayerID, loadOptions{}, s.dispute(asked.By, asked.RequestID, w))
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	// A concurrent request closed it: perhaps the same one, sent twice.
	if asked, again := s.askedParty(ctx, tokenHash, s.DB.Now()); again == nil && asked.State == approval.RequestDisputed {
		return nil
	}
	return err
}

// Link returns the state of the link whose token has this hash. It needs no session. It is only Old if the link has
// expired and its request is open, the zero LinkState if the link is unknown or its request is not open. A link that
// left by mail is unknown once the coach has corrected the address.
func (s *Service) Link(ctx context.Context, hash []byte) (approval.LinkState, error) {
	l, now := approval.LinkState{Open: true}, s.DB.Now()
	var born string
	var old bool
	err := s.DB.QueryRow(ctx, `
		SELECT l.ends_at <= $2, r.id, r.version, r.player_id, r.approver_type, a.mobile_number, c.name, c.tier, p.student_name, p.date_of_birth, l.to_number, r.coach_id,
			(SELECT min(b.name) FROM batch_players m JOIN batches b ON b.id = m.batch_id AND b.archived_at IS NULL
				WHERE m.player_id = r.player_id AND m.left_at IS NULL AND l.to_number = TRUE),
			EXISTS (SELECT 1 FROM requests o WHERE o.approver_id = r.approver_id AND o.state = 'pending' AND o.id <> r.id)
		FROM request_links l
		JOIN requests r ON r.id = l.request_id AND r.state = 'pending'
		JOIN accounts a ON a.id = r.approver_id
		JOIN players p ON p.id = r.player_id AND p.deleted_at IS NULL
		LEFT JOIN coaches c ON c.id = r.coach_id
		WHERE l.hash = $1 AND (l.to_number = TRUE
			OR l.address = (SELECT g.email FROM parties g WHERE g.player_id = p.id AND g.role = 'guardian' AND g.guardian_id = r.guardian_id))`, hash, database.Micros(now)).
		Scan(&old, &l.RequestID, &l.Version, &l.PlayerID, &l.Party, &l.Number, database.IntoText(&l.CoachName), database.IntoText(&l.CoachTier), &l.StudentName, &born, &l.ToNumber,
			&l.CoachID, database.IntoText(&l.BatchName), &l.OthersOpen)
	if err == nil && old {
		return approval.LinkState{Old: true}, nil
	}
	return linkState(l, born, now, err)
}

// linkState completes a LinkState that was scanned with err.
func linkState(l approval.LinkState, born string, now time.Time, err error) (approval.LinkState, error) {
	if database.IsNoRows(err) {
		return approval.LinkState{}, nil
	}
	var date approval.Date
	if err == nil {
		date, err = approval.ParseDate(born)
	}
	if err != nil {
		return approval.LinkState{}, fmt.Errorf("read link: %w", err)
	}
	l.Adult = date.IsAdult(now)
	return l, nil
}

// LinkedPlayer returns the id of the player that the link with this hash is about, open or closed, or
// not_found unless by was asked and is still a party of the player.
func (s *Service) LinkedPlayer(ctx context.Context, by actor.Actor, hash []byte) (string, error) {
	var id string
	err := s.DB.QueryRow(ctx, `
		SELECT p.id
		FROM request_links l
		JOIN requests r ON r.id = l.request_id AND r.approver_id = $2
		JOIN players p ON p.id = r.player_id AND p.deleted_at IS NULL AND EXISTS (SELECT 1 FROM parties a WHERE a.player_id = p.id AND a.account_id = $2)
		WHERE l.hash = $1`, hash, by.AccountID).Scan(&id)
	return id, database.OrMissing(err, "read the player of a link")
}

// askedParty returns the party that the link with this hash asked, or not_found unless the
// Link is valid and left to the asked number itself.
func (s *Service) askedParty(ctx context.Context, hash []byte, now time.Time) (askedParty, error) {
	p := askedParty{By: actor.Actor{Via: actor.ViaPage}}
	err := s.DB.QueryRow(ctx, `
		SELECT r.id, r.player_id, r.state, a.id, a.role, a.mobile_number
		FROM request_links l
		JOIN requests r ON r.id = l.request_id
		JOIN accounts a ON a.id = r.approver_id
		WHERE l.hash = $1 AND l.ends_at > $2 AND l.to_number = TRUE`, hash, database.Micros(now)).
		Scan(&p.RequestID, &p.PlayerID, &p.State, &p.By.AccountID, &p.By.Role, &p.By.Number)
	return p, database.OrMissing(err, "read the party of a link")
}

// findByShortCode finds the open request with this short code to this number, and counts
// the pair against the limits of wrong pairs if there is none. The limits refuse a right
// pair, too: otherwise its response would show that it is right. Both kinds run the same
// statements.
func (s *Service) findByShortCode(ctx context.Context, pair approval.ShortCodePair, now time.Time) (state approval.LinkState, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		state, err = byShortCode(ctx, tx, pair, now)
		if err != nil {
			return err
		}
		var limits []auth.Limit
		for _, l := range pair.Limits() {
			limits = append(limits, auth.Limit{Name: l.Name, Key: l.Key, Max: l.Max, Per: approval.WrongPairsWindow, CheckOnly: state.Open})
		}
		exceeded, err := auth.CountOccurrence(ctx, tx, now, limits)
		if err == nil && exceeded != nil {
			err = wrongPairsExceeded{Limit: exceeded.Name, Wait: exceeded.Wait}
		}
		return err
	})
	if err != nil {
		return approval.LinkState{}, err
	}
	return state, nil
}

func byShortCode(ctx context.Context, tx *store.Tx, pair approval.ShortCodePair, now time.Time) (approval.LinkState, error) {
	l := approval.LinkState{Open: true, Number: pair.Number}
	var born string
	err := tx.QueryRow(ctx, `
		SELECT r.id, r.version, r.player_id, r.approver_type, c.name, p.student_name, p.date_of_birth,
			EXISTS (SELECT 1 FROM requests o WHERE o.approver_id = r.approver_id AND o.state = 'pending' AND o.id <> r.id)
		FROM requests r
		JOIN accounts a ON a.id = r.approver_id AND a.mobile_number = $2
		JOIN players p ON p.id = r.player_id AND p.deleted_at IS NULL
		LEFT JOIN coaches c ON c.id = r.coach_id
		WHERE r.short_code = $1 AND r.state = 'pending'`, pair.Code, string(pair.Number)).
		Scan(&l.RequestID, &l.Version, &l.PlayerID, &l.Party, database.IntoText(&l.CoachName), &l.StudentName, &born, &l.OthersOpen)
	return linkState(l, born, now, err)
}

// RenewLinks makes the links of messages valid for their full time, in the moment before the
// messages leave: a message may have waited for its gateway, for a limit, for others to gather or
// for an operator. It inserts a link that a sweep has deleted meanwhile.
func (s *Service) RenewLinks(ctx context.Context, leaving []message.Delivery) error {
	leaving = slices.DeleteFunc(slices.Clone(leaving), func(d message.Delivery) bool {
		return d.Kind != message.Request && d.Kind != message.Reminder || d.Channel == message.Voice
	})
	if len(leaving) == 0 {
		return nil
	}
	// Sorted, so that concurrent transactions lock the rows in the same order.
	slices.SortFunc(leaving, func(a, b message.Delivery) int { return strings.Compare(a.ID, b.ID) })
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		for _, d := range leaving {
			hash, err := s.DB.LinkHash(d.ID)
			if err != nil {
				return err
			}
			err = tx.Defer(ctx, `
				INSERT INTO request_links (hash, request_id, ends_at, to_number, address)
				SELECT $1, r.id, $3, a.mobile_number = $4, CASE WHEN a.mobile_number <> $4 THEN CAST($4 AS TEXT) END
				FROM requests r JOIN accounts a ON a.id = r.approver_id
				WHERE r.id = $2
				ON CONFLICT (hash) DO UPDATE SET ends_at = excluded.ends_at`,
				hash, d.RequestID, database.Micros(tx.Now.Add(s.Rules.LinkValidity)), d.To)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return fault.Wrap(err, "renew links")
}

// LinkedRequest is auth.Service.LinkedRequest: it returns the ID of the request behind the link with this hash, if the
// link left to number itself and asks it in this role, or "". open reports whether the link is valid and the request is
// open.
func LinkedRequest(ctx context.Context, db *store.DB, linkHash []byte, number phone.Number, role actor.Role, now time.Time) (requestID string, open bool, err error) {
	err = db.QueryRow(ctx, `
		SELECT r.id, r.state = 'pending' AND l.ends_at > $4
		FROM request_links l
		JOIN requests r ON r.id = l.request_id AND r.approver_type = $3
		JOIN accounts a ON a.id = r.approver_id AND a.mobile_number = $2
		WHERE l.hash = $1 AND l.to_number = TRUE`, linkHash, string(number), string(role), database.Micros(now)).Scan(&requestID, &open)
	if database.IsNoRows(err) {
		return "", false, nil
	}
	return requestID, open, err
}
