package privacy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// Reapply erases again what a file ERASURES names and the database does not know as erased, because an older copy of it was
// restored. It returns how many erasures those are, and the numbers of lines that it cannot read. It is safe to repeat, and
// for replicas that start together.
func (s *Service) Reapply(ctx context.Context, path string) (erased int, unreadable []int, err error) {
	var missing, batch []Erasure
	find := func() error {
		list, err := s.unknownErasures(ctx, batch)
		missing, batch = append(missing, list...), batch[:0]
		return err
	}
	unreadable, err = ReadLedger(path, func(e Erasure) error {
		if batch = append(batch, e); len(batch) < ledgerBatch {
			return nil
		}
		return find()
	})
	if err == nil {
		err = find()
	}
	if err != nil {
		return 0, unreadable, fmt.Errorf("compare %s with the database: %w", path, err)
	}
	// Players first: their erasure erases the accounts that no other player names, without a notification to the coach.
	slices.SortStableFunc(missing, func(a, b Erasure) int { return cmp.Compare(erasureOrder[a.Kind], erasureOrder[b.Kind]) })
	for _, e := range missing {
		if err := s.eraseAgain(ctx, e); err != nil {
			return erased, unreadable, fmt.Errorf("erase %s %s again: %w", e.Kind, e.ID, err)
		}
		erased++
	}
	if erased == 0 {
		return 0, unreadable, nil
	}
	return erased, unreadable, s.DB.EmptyLog(ctx)
}

var erasureOrder = map[string]int{store.PlayerErased: 0, string(actor.Coach): 1, string(actor.Guardian): 2, string(actor.Student): 2}

// unknownErasures returns those of list that the database does not have.
func (s *Service) unknownErasures(ctx context.Context, list []Erasure) ([]Erasure, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	args := database.TextArgs(ids)
	rs, err := s.DB.Query(ctx, `SELECT object_id FROM erasures WHERE object_id IN (`+database.Params(1, len(args))+`)`, args...)
	known, err := database.CollectTexts(rs, err)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, id := range known {
		seen[id] = true
	}
	var unknown []Erasure
	for _, e := range list {
		if !seen[e.ID] {
			seen[e.ID] = true
			unknown = append(unknown, e)
		}
	}
	return unknown, nil
}

// eraseAgain repeats an erasure. What it names may not exist: then it was added after the copy.
func (s *Service) eraseAgain(ctx context.Context, e Erasure) error {
	var err error
	if e.Kind == store.PlayerErased {
		err = s.ErasePlayer(ctx, e.ID, nil)
	} else if err = s.endSuspension(ctx, e.ID); err == nil {
		err = s.EraseAccount(ctx, e.ID, nil)
	}
	if err != nil && !isMissing(err) {
		return err
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error { return tx.RecordEarlierErasure(ctx, e.Kind, e.ID, e.At) })
}

// endSuspension ends the suspension of an account that was erased later: no suspended account is erased, so the copy is from
// before an operator restored the account.
func (s *Service) endSuspension(ctx context.Context, id string) error {
	_, err := s.DB.Exec(ctx, `UPDATE accounts SET suspended_at = NULL, suspended_why = NULL WHERE id = $1 AND closed_at IS NULL AND suspended_at IS NOT NULL`, id)
	return err
}
