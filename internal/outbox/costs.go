package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// addCosts adds admitted messages to the costs of the day. Admissions run one after the other,
// so the rows have no other writer.
func addCosts(ctx context.Context, tx *database.Tx, fits []candidate) error {
	type key struct{ coachID, channel string }
	sums := map[key]*message.MessageCost{}
	var keys []key
	for _, c := range fits {
		k := key{c.counted.CoachID, string(c.Deliveries[0].Channel)}
		if sums[k] == nil {
			sums[k] = &message.MessageCost{}
			keys = append(keys, k)
		}
		sums[k].Messages++
		sums[k].Segments += c.counted.Segments
		sums[k].Cost += c.counted.Cost
	}
	if len(keys) == 0 {
		return nil
	}
	slices.SortFunc(keys, func(a, b key) int { return strings.Compare(a.coachID+"/"+a.channel, b.coachID+"/"+b.channel) })
	var args []any
	for _, k := range keys {
		args = append(args, database.Micros(startOfDay(tx.Now)), k.coachID, k.channel, sums[k].Messages, sums[k].Segments, sums[k].Cost)
	}
	err := tx.Defer(ctx, `
		INSERT INTO message_costs (day, coach_id, channel, messages, segments, cost) VALUES `+database.RowsOf(len(keys), 6)+`
		ON CONFLICT (day, coach_id, channel) DO UPDATE SET messages = message_costs.messages + excluded.messages,
			segments = message_costs.segments + excluded.segments, cost = message_costs.cost + excluded.cost`, args...)
	return fault.Wrap(err, "add costs")
}

func startOfDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

const costColumns = `SELECT day, coach_id, channel, messages, segments, cost FROM message_costs `

// MessageCosts returns the costs of messages, the newest day first, and audits the access.
func (st *Store) MessageCosts(ctx context.Context, by actor.Operator, s message.MessageCostSearch, limit int) ([]message.MessageCost, error) {
	after := s.After
	if after.Day.IsZero() {
		after.Day = startOfDay(s.To).AddDate(0, 0, 1) // the rows of the days before
	}
	from := database.SinceMicros(startOfDay(s.From))
	var found []message.MessageCost
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		var rs *database.Rows
		var err error
		detail := s.From.Format(time.DateOnly) + " to " + s.To.Format(time.DateOnly)
		if s.CoachID == "" {
			rs, err = tx.Query(ctx, costColumns+`
				WHERE day >= $1 AND (day, coach_id, channel) < ($2, $3, $4)
				ORDER BY day DESC, coach_id DESC, channel DESC LIMIT $5`, from, database.Micros(after.Day), after.CoachID, string(after.Channel), limit)
		} else {
			detail += " of coach " + s.CoachID
			rs, err = tx.Query(ctx, costColumns+`
				WHERE coach_id = $1 AND day >= $2 AND (day, channel) < ($3, $4)
				ORDER BY day DESC, channel DESC LIMIT $5`, s.CoachID, from, database.Micros(after.Day), string(after.Channel), limit)
		}
		found, err = database.Collect(rs, err, func(row database.Scanner) (c message.MessageCost, err error) {
			return c, row.Scan(database.IntoTime(&c.Day), &c.CoachID, &c.Channel, &c.Messages, &c.Segments, &c.Cost)
		})
		if err != nil {
			return fmt.Errorf("list costs of messages: %w", err)
		}
		return operator.AddEntry(ctx, tx, st.NewID(), by, operator.CostsListed, "message_cost", "", detail)
	})
	return found, err
}
