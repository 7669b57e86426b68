package outbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// GatherRequests returns which of the claimed requests leave now, grouped into messages:
//
//	09:00:00  a coach adds Asha, Bela and Chetan with one guardian's number
//	09:00:00  the message for Asha leaves; GatherFor starts
//	09:02:00  one message for Bela and Chetan leaves
//
// No group is empty. The others wait: their claim ends here. Delivery.GatherStep decides what
// each does.
// The claim of every returned delivery holds until the given time.
func (st *Store) GatherRequests(ctx context.Context, claimed []message.Delivery, until time.Time) ([][]message.Delivery, error) {
	steps := make(map[message.GatherStep][]message.Delivery)
	for _, d := range claimed {
		step := d.GatherStep(st.Settings.GatherFor)
		steps[step] = append(steps[step], d)
	}
	var groups, alone [][]message.Delivery
	for _, d := range steps[message.LeaveAlone] {
		alone = append(alone, []message.Delivery{d})
	}
	if len(alone) == len(claimed) {
		return alone, nil
	}
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		groups = slices.Clone(alone)
		for _, part := range []struct {
			step  message.GatherStep
			group func(context.Context, *database.Tx, []message.Delivery, time.Time) ([][]message.Delivery, error)
		}{
			{message.OpenWindow, st.openWindows}, {message.EndWindow, claimGathering}, {message.CarryAgain, claimCarried}, {message.FollowCarrier, withoutCarrier},
		} {
			if len(steps[part.step]) == 0 {
				continue
			}
			found, err := part.group(ctx, tx, steps[part.step], until)
			if err != nil {
				return err
			}
			groups = append(groups, found...)
		}
		return nil
	})
	return groups, fault.Wrap(err, "gather requests")
}

// gatherWindow is the key of gather_windows.
type gatherWindow struct{ coachID, number string }

func windowOf(d message.Delivery) gatherWindow { return gatherWindow{d.CoachID, d.To} }

// openWindows returns the deliveries that are the first of their coach to their number,
// each alone, and opens their windows. The others wait for the end of the window. The
// upsert lets one of several workers open a window. Its keys are in order, so that two
// workers cannot deadlock.
func (st *Store) openWindows(ctx context.Context, tx *database.Tx, fresh []message.Delivery, _ time.Time) ([][]message.Delivery, error) {
	slices.SortFunc(fresh, func(a, b message.Delivery) int {
		return cmp.Or(strings.Compare(a.CoachID, b.CoachID), strings.Compare(a.To, b.To), strings.Compare(a.ID, b.ID))
	})
	var args []any
	first := make(map[gatherWindow]string)
	end := database.Micros(tx.Now.Add(st.Settings.GatherFor))
	for _, d := range fresh {
		if w := windowOf(d); first[w] == "" {
			first[w] = d.ID
			args = append(args, w.coachID, w.number, end)
		}
	}
	rs, err := tx.Query(ctx, fmt.Sprintf(`
		INSERT INTO gather_windows (coach_id, number, ends_at) VALUES %s
		ON CONFLICT (coach_id, number) DO UPDATE SET ends_at = excluded.ends_at
		WHERE gather_windows.ends_at <= $%d
		RETURNING coach_id, number`, database.RowsOf(len(first), 3), len(args)+1), append(args, database.Micros(tx.Now))...)
	opened, err := database.Collect(rs, err, func(s database.Scanner) (w gatherWindow, err error) {
		return w, s.Scan(&w.coachID, &w.number)
	})
	if err != nil {
		return nil, fmt.Errorf("open windows: %w", err)
	}
	var groups [][]message.Delivery
	for _, d := range fresh {
		if w := windowOf(d); first[w] == d.ID && slices.Contains(opened, w) {
			groups = append(groups, []message.Delivery{d})
		} else if err := awaitWindow(ctx, tx, d); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// awaitWindow makes a delivery wait for the end of its window.
func awaitWindow(ctx context.Context, tx *database.Tx, d message.Delivery) error {
	err := tx.Defer(ctx, `
		UPDATE deliveries SET reason = 'gathering', attempts = attempts - 1, total_attempts = total_attempts - 1, lease = NULL,
			due_at = (SELECT ends_at FROM gather_windows WHERE coach_id = $3 AND number = $4)
		WHERE id = $1 AND lease = $2`, d.ID, d.Lease, d.CoachID, d.To)
	return fault.Wrap(err, "wait for the window")
}

// claimGathering claims all that gather with one of the deliveries, also if another worker
// has claimed some: AdmitMessages refuses those whose claim has ended.
func claimGathering(ctx context.Context, tx *database.Tx, gathering []message.Delivery, until time.Time) ([][]message.Delivery, error) {
	var groups [][]message.Delivery
	done := make(map[gatherWindow]bool)
	for _, d := range gathering {
		if done[windowOf(d)] {
			continue
		}
		done[windowOf(d)] = true
		rs, err := tx.Query(ctx, `
			UPDATE deliveries SET attempts = CASE WHEN lease = $1 THEN attempts ELSE attempts + 1 END,
				total_attempts = CASE WHEN lease = $1 THEN total_attempts ELSE total_attempts + 1 END, lease = $1, lease_ends_at = $2
			WHERE coach_id = $3 AND recipient = $4 AND channel = $5 AND reason = 'gathering' AND reason IN ('gathering', 'held') AND state = 'queued'
			RETURNING `+DeliveryColumns, d.Lease, database.Micros(until), d.CoachID, d.To, string(d.Channel))
		group, err := database.Collect(rs, err, ScanDelivery)
		if err != nil {
			return nil, fmt.Errorf("claim gathering deliveries: %w", err)
		}
		if len(group) > 0 { // else another worker has sent it
			slices.SortFunc(group, func(a, b message.Delivery) int { return strings.Compare(a.ID, b.ID) })
			groups = append(groups, group)
		}
	}
	return groups, nil
}

// claimCarried returns the messages that were admitted with several deliveries and are
// tried again, the delivery that carries the message first. The worker that has claimed
// this one claims the others too.
func claimCarried(ctx context.Context, tx *database.Tx, carriers []message.Delivery, until time.Time) ([][]message.Delivery, error) {
	var groups [][]message.Delivery
	for _, d := range carriers {
		rs, err := tx.Query(ctx, `
			UPDATE deliveries SET lease = $1, lease_ends_at = $2 WHERE gathered_by = $3 AND state = 'queued'
			RETURNING `+DeliveryColumns, d.Lease, database.Micros(until), d.ID)
		group, err := database.Collect(rs, err, ScanDelivery)
		if err != nil {
			return nil, fmt.Errorf("claim a gathered message: %w", err)
		}
		if len(group) > 0 { // else a receipt or a closed account completed it after the claim
			slices.SortFunc(group, func(a, b message.Delivery) int { return strings.Compare(a.ID, b.ID) })
			groups = append(groups, group)
		}
	}
	return groups, nil
}

// withoutCarrier returns the deliveries that are still claimed and whose carrier is complete,
// because its request has ended: each leaves alone.
func withoutCarrier(ctx context.Context, tx *database.Tx, carried []message.Delivery, _ time.Time) ([][]message.Delivery, error) {
	var groups [][]message.Delivery
	for _, d := range carried {
		var alone bool
		err := tx.QueryRow(ctx, `
			SELECT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = $1 AND d.lease = $2 AND d.state = 'queued'
				AND NOT EXISTS (SELECT 1 FROM deliveries c WHERE c.id = d.gathered_by AND c.state = 'queued'))`, d.ID, d.Lease).Scan(&alone)
		if err != nil {
			return nil, fmt.Errorf("read delivery %s: %w", d.ID, err)
		}
		if alone {
			groups = append(groups, []message.Delivery{d})
		}
	}
	return groups, nil
}

// join makes the first delivery of an admitted message carry the others, so that every
// attempt sends the same message under the same id.
func join(ctx context.Context, tx *database.Tx, deliveries []message.Delivery) error {
	if len(deliveries) == 1 {
		return nil
	}
	args := []any{deliveries[0].ID}
	for _, d := range deliveries {
		args = append(args, d.ID)
	}
	err := tx.Defer(ctx, `UPDATE deliveries SET gathered_by = $1 WHERE id IN (`+database.Params(2, len(deliveries))+`)`, args...)
	return fault.Wrap(err, "join deliveries")
}
