package outbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// FailRemovedChannels completes up to n queued deliveries of channels other than the given
// ones, after their lifetime: no worker of this configuration sends them. Before, another
// replica may still have the channel. n counts for each channel, and it returns the highest
// number that it completed for one, so that the caller repeats the call while that is n.
func (st *Store) FailRemovedChannels(ctx context.Context, channels []message.Channel, n int) (int, error) {
	removed, err := st.removedChannels(ctx, channels)
	if err != nil {
		return 0, fmt.Errorf("find channels of queued deliveries: %w", err)
	}
	failed := 0
	for _, channel := range removed {
		err := st.DB.Write(ctx, func(tx *database.Tx) error {
			completed, err := st.failOverdue(ctx, tx, channel, n)
			failed = max(failed, completed)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("fail deliveries of channel %s: %w", channel, err)
		}
	}
	return failed, nil
}

// removedChannels returns the channels of queued deliveries without the given ones. It
// reads one index entry for each channel.
func (st *Store) removedChannels(ctx context.Context, known []message.Channel) ([]message.Channel, error) {
	var removed []message.Channel
	for last := message.Channel(""); ; {
		err := st.DB.QueryRow(ctx, `
			SELECT channel FROM deliveries WHERE state = 'queued' AND channel > $1 ORDER BY channel LIMIT 1`, string(last)).Scan(&last)
		if database.IsNoRows(err) {
			return removed, nil
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(known, last) {
			removed = append(removed, last)
		}
	}
}

// failOverdue completes up to n deliveries of a channel whose lifetime is over and that no
// worker has claimed. It returns how many.
func (st *Store) failOverdue(ctx context.Context, tx *database.Tx, channel message.Channel, n int) (int, error) {
	rs, err := tx.Query(ctx, `
		UPDATE deliveries SET state = 'failed', reason = $4, held_by = NULL, lease = NULL, updated_at = $2
		WHERE id IN (
			SELECT id FROM deliveries
			WHERE state = 'queued' AND channel = $1 AND gives_up_at <= $2 AND (lease IS NULL OR lease_ends_at <= $2)
			LIMIT $3 `+st.DB.SkipLocked()+`)
		RETURNING `+DeliveryColumns, string(channel), database.Micros(tx.Now), n, message.ReasonChannelUnavailable)
	failed, err := database.Collect(rs, err, ScanDelivery)
	if err != nil {
		return 0, err
	}
	for _, d := range failed {
		if d.Kind == message.Request {
			if err := st.Requests.Failed(ctx, tx, d); err != nil {
				return 0, err
			}
		}
	}
	return len(failed), nil
}
