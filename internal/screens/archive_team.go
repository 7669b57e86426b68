package screens

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/training"
)

// eachPage calls read with the last object of the previous page, at first the zero value, and
// fn with each object, until read returns less than a page.
func eachPage[T any](read func(after T) ([]T, error), fn func(T) error) error {
	var after T
	for {
		list, err := read(after)
		if err != nil {
			return err
		}
		for _, item := range list {
			if err := fn(item); err != nil {
				return err
			}
			after = item
		}
		if len(list) < archivePage {
			return nil
		}
	}
}

// eachBatch calls fn with the open batches, then with the archived ones.
func (a archive) eachBatch(ctx context.Context, by actor.Actor, fn func(*team.Batch) error) error {
	for _, archived := range []bool{false, true} {
		if err := a.Batches.Each(ctx, by, archived, fn); err != nil {
			return err
		}
	}
	return nil
}

func (a archive) batches(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.eachBatch(ctx, by, func(b *team.Batch) error { return row(append([]string{b.ID}, b.Cells()...)...) })
}

func (a archive) batchPlayers(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.eachBatch(ctx, by, func(b *team.Batch) error {
		players, err := a.Batches.Players(ctx, by, b.ID)
		if err != nil {
			return err
		}
		for _, p := range players {
			if err := row(b.ID, b.Name, p.PlayerID, p.StudentName, moment(p.JoinedAt)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a archive) attendance(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.Attended.Each(ctx, by, func(m attendance.Attended) error {
		return row(m.BatchID, m.BatchName, string(m.Date), m.PlayerID, m.StudentName, string(m.Mark), m.Note, moment(m.MarkedAt), moment(m.RecordedAt))
	})
}

func (a archive) trainingRows(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.Trainings.EachChanged(ctx, by, func(t *training.Training) error {
		return row(t.ID, t.Batch.ID, t.Batch.Name, string(t.Date), t.Start.String(), t.End.String(), string(t.Kind), t.Title, t.Venue, t.Opponent, string(t.State()), t.Reason, moment(t.UpdatedAt))
	})
}

func (a archive) trainingAnswers(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return eachPage(
		func(after training.ExportedAnswer) ([]training.ExportedAnswer, error) {
			return a.Trainings.AllAnswers(ctx, by, after, archivePage)
		},
		func(e training.ExportedAnswer) error {
			return row(e.TrainingID, e.BatchID, string(e.Date), e.PlayerID, e.StudentName, strconv.FormatBool(e.Attending), e.Reason, string(e.Party), moment(e.AnsweredAt))
		})
}

func (a archive) feeRows(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.Fees.Each(ctx, by, fee.Filter{}, row)
}

func (a archive) payments(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return eachPage(
		func(after fee.Payment) ([]fee.Payment, error) {
			return a.Fees.Payments(ctx, by, after.Receipt, archivePage)
		},
		func(p fee.Payment) error {
			return row(p.ID, p.FeeID, fmt.Sprint(p.Receipt), fmt.Sprint(p.Amount), string(p.Method), string(p.PaidOn), p.Note, moment(p.CreatedAt), moment(p.ReversedAt), p.Reason)
		})
}

func (a archive) feeRepeats(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return eachPage(
		func(after *fee.Repeat) ([]*fee.Repeat, error) {
			before := ""
			if after != nil {
				before = after.ID
			}
			return a.Fees.Repeats(ctx, by, before, archivePage)
		},
		func(r *fee.Repeat) error {
			return row(r.ID, r.StudentName, r.BatchName, r.Title, r.Currency, team.FormatAmount(r.Amount, r.Currency), string(r.DueOn), string(r.Until), strconv.Itoa(r.Made))
		})
}

// eachMessage calls fn with the messages, newest first.
func (a archive) eachMessage(ctx context.Context, by actor.Actor, fn func(conversation.Message) error) error {
	return eachPage(func(after conversation.Message) ([]conversation.Message, error) {
		return a.Conversations.Messages(ctx, by, after.ID, archivePage)
	}, fn)
}

func (a archive) messages(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.eachMessage(ctx, by, func(m conversation.Message) error {
		to := "all"
		switch {
		case m.To.BatchID != "":
			to = "batch " + m.To.BatchID
		case !m.To.All:
			to = "players" // message_recipients has them; a cell of a spreadsheet has at most 32,767 characters
		}
		var channels []string
		for _, c := range m.Channels {
			channels = append(channels, string(c))
		}
		return row(m.ID, to, string(m.Audience), strings.Join(channels, "; "), m.Text, strconv.Itoa(m.Recipients), strconv.Itoa(m.LeftOut), strconv.Itoa(m.Segments), moment(m.CreatedAt))
	})
}

func (a archive) recipients(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.eachMessage(ctx, by, func(m conversation.Message) error {
		return eachPage(
			func(after conversation.RecipientState) ([]conversation.RecipientState, error) {
				return a.Conversations.Recipients(ctx, by, m.ID, after.Position, archivePage)
			},
			func(r conversation.RecipientState) error {
				for _, c := range r.Channels {
					if err := row(m.ID, r.PlayerID, r.StudentName, string(r.Party), r.Name, strconv.FormatBool(r.Copy), string(c.Channel), string(c.State), c.Reason, moment(c.At)); err != nil {
						return err
					}
				}
				return nil
			})
	})
}

func (a archive) replies(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return eachPage(
		func(after conversation.Reply) ([]conversation.Reply, error) {
			return a.Conversations.Replies(ctx, by, false, after.ID, archivePage)
		},
		func(r conversation.Reply) error {
			return row(r.ID, r.PlayerID, r.StudentName, string(r.Party), r.Name, r.Text, moment(r.CreatedAt), moment(r.ReadAt))
		})
}

func (a archive) templates(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return eachPage(
		func(after conversation.Template) ([]conversation.Template, error) {
			return a.Conversations.Templates(ctx, by, after.ID, archivePage)
		},
		func(t conversation.Template) error { return row(t.ID, t.Title, t.Text, moment(t.CreatedAt)) })
}

func (a archive) progress(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return eachPage(
		func(after progress.Measurement) ([]progress.Measurement, error) {
			return a.Records.AllMeasurements(ctx, by, after, archivePage)
		},
		func(m progress.Measurement) error {
			return row(m.ID, m.PlayerID, m.Metric, strconv.FormatFloat(m.Value, 'f', -1, 64), m.Unit, string(m.On), moment(m.CreatedAt), moment(m.UpdatedAt))
		})
}

func (a archive) reports(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return eachPage(
		func(after progress.Report) ([]progress.Report, error) {
			return a.Records.AllReports(ctx, by, after, archivePage)
		},
		func(r progress.Report) error {
			return row(r.ID, r.PlayerID, r.Title, r.Text, string(r.From), string(r.To), moment(r.CreatedAt), moment(r.UpdatedAt))
		})
}
