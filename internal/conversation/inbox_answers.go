package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// say answers on the channel of a reply, if it is WhatsApp: an SMS would cost. An answer that WhatsApp refuses for
// good is logged. After another error the provider shall call again.
func (in *Inbox) say(ctx context.Context, r message.Reply, a message.ChatAnswer) error {
	if in.Say == nil || r.Channel != message.Chat {
		return nil
	}
	err := in.Say(ctx, r.From, a)
	if failed, ok := errors.AsType[*message.SendError](err); ok && failed.Permanent {
		in.Log.Warn("WhatsApp refused an answer to a person who wrote; what the person asked for was done", "to", r.From, "reason", failed.Reason)
		return nil
	}
	return fault.Wrap(err, "answer by WhatsApp")
}

// sayOnce says answers to a reply, unless an earlier call with the same reply was answered.
func (in *Inbox) sayOnce(ctx context.Context, r message.Reply, answers ...message.ChatAnswer) error {
	if r.ID != "" {
		r.ID += " answer"
	}
	handled, err := outbox.Handled(ctx, in.DB, r)
	if err != nil || handled || r.Channel != message.Chat {
		return err
	}
	for _, a := range answers {
		if err := in.say(ctx, r, a); err != nil {
			return err
		}
	}
	return in.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := outbox.IsNewReply(ctx, tx.Tx, r)
		return err
	})
}

// answerStop answers STOP, once for each stop of a coach, and START. known is true for a number of a family.
func (in *Inbox) answerStop(ctx context.Context, r message.Reply, known bool) error {
	language := in.language(ctx, r.From)
	switch {
	case r.Channel != message.Chat:
		return nil // networks and providers answer a STOP by SMS themselves
	case r.Stops() && r.CoachID != "":
		return in.answerStopped(ctx, r, language)
	case r.Stops():
		return in.sayHint(ctx, r, known, message.NotStopped(language, in.URL))
	case r.Allowed > 0:
		return in.sayOnce(ctx, r, message.Allowed(language))
	}
	return in.sayHint(ctx, r, known, message.Allowed(language))
}

// answerStopped names the coach to a number that a player of the coach names.
func (in *Inbox) answerStopped(ctx context.Context, r message.Reply, language string) error {
	told, err := in.DB.Exec(ctx, `UPDATE stopped_coaches SET told = TRUE WHERE mobile_number = $1 AND coach_id = $2 AND told = FALSE`, string(r.From), r.CoachID)
	if err != nil || told == 0 {
		return err
	}
	var name string
	err = in.DB.QueryRow(ctx, `
		SELECT name FROM coaches WHERE id = $1 AND EXISTS (SELECT 1 FROM accounts a
			JOIN parties o ON o.account_id = a.id AND o.coach_id = coaches.id AND o.deleted_at IS NULL WHERE a.mobile_number = $2)`, r.CoachID, string(r.From)).
		Scan(database.IntoText(&name))
	if err != nil && !database.IsNoRows(err) {
		return fmt.Errorf("read the name of coach %s: %w", r.CoachID, err)
	}
	if err := in.say(ctx, r, message.Stopped(language, name)); err != nil {
		_, undone := in.DB.Exec(ctx, `UPDATE stopped_coaches SET told = FALSE WHERE mobile_number = $1 AND coach_id = $2`, string(r.From), r.CoachID)
		return errors.Join(err, undone)
	}
	return nil
}

const (
	// maxHints is how many messages the service sends to a number in 24 h to say that nothing was answered: a
	// program that answers each message must not make a loop.
	maxHints = 10
	// maxHinted is how many questions are asked again after one reply; the page of each question has all.
	maxHinted = 3
	// maxQuestions is how many open questions of a number are looked at.
	maxQuestions = 50
)

// sayHint says answers, if the number has not got maxHints in 24 h. Only numbers of families get hints.
func (in *Inbox) sayHint(ctx context.Context, r message.Reply, known bool, answers ...message.ChatAnswer) error {
	if !known || len(answers) == 0 {
		return nil
	}
	n, err := in.DB.Exec(ctx, `
		UPDATE chat_numbers SET hints = CASE WHEN hint_at > $2 THEN hints + $3 ELSE $3 END, hint_at = CASE WHEN hint_at > $2 THEN hint_at ELSE $4 END
		WHERE mobile_number = $1 AND (hint_at IS NULL OR hint_at <= $2 OR hints + $3 <= $5)`,
		string(r.From), database.Micros(in.Now().Add(-day)), len(answers), database.Micros(in.Now()), maxHints)
	if err != nil || n == 0 {
		return err
	}
	return in.sayOnce(ctx, r, answers...)
}

// hint says that a reply answers no question, and asks the questions again with their buttons.
func (in *Inbox) hint(ctx context.Context, r message.Reply, questions []askedQuestion) error {
	var answers []message.ChatAnswer
	for i, q := range questions[:min(len(questions), maxHinted)] {
		if i == 0 {
			answers = append(answers, q.PressButton())
		} else {
			answers = append(answers, q.Ask())
		}
	}
	return in.sayHint(ctx, r, true, answers...)
}

// unanswered returns the open questions that the person may believe to have answered by a reply: the question that
// it quotes, or all of the number after a typed yes or no, a reaction, an edit or a message without content. In place of
// a question that was replaced it is the newest one.
func (in *Inbox) unanswered(ctx context.Context, r message.Reply) (open []askedQuestion, err error) {
	wordless := r.Kind == message.ReplyReaction || r.Kind == message.ReplyEdit || r.Kind == message.ReplyUnsupported
	ids, quotes, err := in.quotedQuestions(ctx, r)
	if err != nil || quotes && len(ids) == 0 || r.Media != "" {
		return nil, err // about another message
	}
	if !quotes {
		if !wordless && !r.TypedAnswer() {
			return nil, nil
		}
		rs, err := in.DB.Query(ctx, `
			SELECT coalesce((SELECT max(d.id) FROM deliveries d WHERE d.request_id = q.id AND d.recipient = $1), '')
			FROM accounts a JOIN requests q ON q.approver_id = a.id AND q.state = 'pending'
			WHERE a.mobile_number = $1 LIMIT $2`, string(r.From), maxQuestions)
		if ids, err = database.CollectTexts(rs, err); err != nil {
			return nil, fmt.Errorf("find the open questions of a number: %w", err)
		}
		slices.Sort(ids)
		slices.Reverse(ids) // the newest first
	}
	_, open, err = in.openOf(ctx, r, ids, maxHinted)
	return open, err
}

// quotedQuestions returns the deliveries of the questions in the message that a reply quotes. quotes is true if it is
// a message of the service to the person.
func (in *Inbox) quotedQuestions(ctx context.Context, r message.Reply) (ids []string, quotes bool, err error) {
	if r.Context == "" {
		return nil, false, nil
	}
	var first string
	asks := false
	err = in.DB.QueryRow(ctx, `SELECT id, request_id IS NOT NULL FROM deliveries WHERE provider_id = $1 AND recipient = $2`, r.Context, string(r.From)).Scan(&first, &asks)
	if database.IsNoRows(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("find the message that a reply quotes: %w", err)
	}
	if asks {
		ids, err = in.questionsOf(ctx, r, first)
	}
	return ids, true, err
}

// questionsOf returns the deliveries of the questions to the number of a reply in the message with the delivery first.
func (in *Inbox) questionsOf(ctx context.Context, r message.Reply, first string) ([]string, error) {
	rs, err := in.DB.Query(ctx, `
		SELECT id FROM deliveries WHERE id = $1 AND recipient = $2
		UNION ALL SELECT id FROM deliveries WHERE gathered_by = $1 AND id <> $1 AND recipient = $2`, first, string(r.From))
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return nil, fmt.Errorf("read the questions of message %s: %w", first, err)
	}
	slices.Sort(ids)
	return ids, nil
}
