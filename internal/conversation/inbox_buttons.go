package conversation

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
)

// askedQuestion is the question of a delivery.
type askedQuestion struct {
	message.ChatQuestion
	player.Asked
	Delivery message.Delivery
	// newest is the delivery of the newest question to the party and the number, or "".
	newest string
}

// press handles a button. A button of another number's question, or of one that can not be answered, changes
// nothing and answers with how things stand; without a name, if the number is not asked any more. The proof of who
// answers is possession of the asked number. A press may be repeated: the same decision again changes nothing.
func (in *Inbox) press(ctx context.Context, r message.Reply) error {
	p, ok := message.ParseChatPress(r.Button)
	if !ok {
		return nil
	}
	handled, err := outbox.Handled(ctx, in.DB, r)
	if err != nil || handled {
		return err
	}
	switch p.Action {
	case message.ChatCoach:
		err = in.chooseCoach(ctx, r, p.ID)
	case message.ChatAsk:
		err = in.askEach(ctx, r, p.ID)
	default:
		var a message.ChatAnswer
		if a, err = in.decide(ctx, r, p); err == nil {
			err = in.say(ctx, r, a)
		}
	}
	if err != nil {
		return err
	}
	return in.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := outbox.IsNewReply(ctx, tx.Tx, r); err != nil {
			return err
		}
		return noteWriter(ctx, tx, r)
	})
}

// maxAsked is how many questions of one message are asked by WhatsApp; the page of its link has all.
const maxAsked = 10

// askEach asks the open questions of a message to the number of a reply, each with its own buttons, or those that
// replaced them. Without an open one it answers with how the first one stands that asks the number.
func (in *Inbox) askEach(ctx context.Context, r message.Reply, messageID string) error {
	ids, err := in.questionsOf(ctx, r, messageID)
	if err != nil {
		return err
	}
	questions, open, err := in.openOf(ctx, r, ids, maxAsked)
	if err != nil {
		return err
	}
	if len(open) == 0 {
		answer := message.NotYours(in.language(ctx, r.From))
		if i := slices.IndexFunc(questions, func(q askedQuestion) bool { return q.Standing() != player.StandsNotAsked }); i >= 0 {
			if answer, err = in.stands(ctx, r, questions[i]); err != nil {
				return err
			}
		}
		return in.say(ctx, r, answer)
	}
	for _, q := range open {
		if err := in.say(ctx, r, q.Ask()); err != nil {
			return err
		}
	}
	return nil
}

// openOf reads the questions of deliveries to the number of a reply. open are at most limit that it can answer, each once: of a question
// that was replaced, the newest one.
func (in *Inbox) openOf(ctx context.Context, r message.Reply, deliveries []string, limit int) (questions, open []askedQuestion, err error) {
	for _, id := range deliveries {
		q, err := in.question(ctx, r, id)
		if database.IsNoRows(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		questions = append(questions, q)
		q, found, err := in.newest(ctx, r, q)
		if err != nil {
			return nil, nil, err
		}
		if found && len(open) < limit && !slices.ContainsFunc(open, func(o askedQuestion) bool { return o.RequestID == q.RequestID }) {
			open = append(open, q)
		}
	}
	return questions, open, nil
}

// newest returns q, or the question that replaced it, and whether the person can answer it.
func (in *Inbox) newest(ctx context.Context, r message.Reply, q askedQuestion) (newest askedQuestion, found bool, err error) {
	if q.Standing() != player.StandsReplaced {
		return q, q.CanAnswer(), nil
	}
	newest, err = in.question(ctx, r, q.newest)
	if database.IsNoRows(err) { // it did not leave to this number
		return q, false, nil
	}
	return newest, err == nil && newest.CanAnswer(), err
}

// stands answers a button of a question that it can not answer with how things stand.
func (in *Inbox) stands(ctx context.Context, r message.Reply, q askedQuestion) (message.ChatAnswer, error) {
	switch q.Standing() {
	case player.StandsNotAsked:
		return message.NotYours(in.language(ctx, r.From)), nil
	case player.StandsReplaced:
		newest, found, err := in.newest(ctx, r, q)
		if err != nil || found {
			return q.Replaced(newest.ChatQuestion), err
		}
	case player.StandsApproved, player.StandsRejected:
		if err := in.Approvals.AnsweredNames(ctx, q.Asked, &q.CoachName, &q.StudentName); err != nil {
			return message.ChatAnswer{}, err
		}
	}
	return q.Stands(string(q.Standing())), nil
}

// decide applies a press on a button of a question and returns the answer to the person.
func (in *Inbox) decide(ctx context.Context, r message.Reply, p message.ChatPress) (message.ChatAnswer, error) {
	q, err := in.question(ctx, r, p.ID)
	if database.IsNoRows(err) {
		return message.NotYours(in.language(ctx, r.From)), nil
	}
	if err != nil {
		return message.ChatAnswer{}, err
	}
	now := in.Now()
	switch {
	case !q.CanAnswer():
		return in.stands(ctx, r, q)
	case p.Action == message.ChatNotMe && q.Approved:
		return q.PressButton(), nil
	case (p.Action == message.ChatYes || p.Action == message.ChatSure) && p.Version != q.Version:
		return q.Changed(), nil
	case p.Action == message.ChatYes:
		return q.Check(now), nil
	case p.Action == message.ChatSure && !now.Before(p.AskedAt.Add(message.ChatCheckFor)):
		return q.TooLate(), nil
	}
	w, err := in.wording(ctx, q, p.Language)
	if err != nil {
		return message.ChatAnswer{}, err
	}
	w.Version = p.Version
	switch p.Action {
	case message.ChatSure:
		err = in.Approvals.DecideOnly(ctx, q.By, q.PlayerID, approval.Decision{Action: approval.Approve, RequestID: q.RequestID, Wording: w})
	case message.ChatNo:
		err = in.Approvals.DecideOnly(ctx, q.By, q.PlayerID, approval.Decision{Action: approval.Reject, RequestID: q.RequestID, Wording: w})
	case message.ChatNotMe:
		_, err = in.Approvals.Dispute(ctx, q.By, q.RequestID, w)
	}
	switch fault.KindOf(err) {
	case fault.Conflict, fault.NotFound: // the question was closed meanwhile
		if q, err = in.question(ctx, r, p.ID); err != nil {
			return message.NotYours(in.language(ctx, r.From)), nil
		}
		if q.CanAnswer() { // the coach changed it meanwhile
			return q.Changed(), nil
		}
		return in.stands(ctx, r, q)
	}
	if approval.NeedsProof(err) {
		return q.Prove(), nil
	}
	if err != nil {
		return message.ChatAnswer{}, err
	}
	return q.Done(p.Action), nil
}

// wording returns the text of the message with the buttons in the language in which it was shown, without its links. The message of a
// request that is closed is not rendered again: the text of its question is in place of it.
func (in *Inbox) wording(ctx context.Context, q askedQuestion, shownIn string) (approval.Wording, error) {
	details, _, open, err := in.Approvals.RequestDetails(ctx, q.Delivery)
	if err != nil {
		return approval.Wording{}, err
	}
	if !open {
		q.Language = language.Asked(shownIn)
		return in.Approvals.WordingOf(q.Language, q.Ask().Text), nil
	}
	m := message.Message{ID: q.DeliveryID, Kind: q.Delivery.Kind, Brand: in.Brand, Language: shownIn, Request: details, Link: in.QuestionURL(q.DeliveryID)}
	sent := message.WhatsAppOf(m)
	if len(sent) == 0 {
		return approval.Wording{}, nil
	}
	sent[0].Links = nil
	return in.Approvals.WordingOf(sent[0].Template.Language, sent[0].String()), nil
}

// question returns the question of a delivery to the number of a reply.
func (in *Inbox) question(ctx context.Context, r message.Reply, deliveryID string) (q askedQuestion, err error) {
	q.DeliveryID, q.URL = deliveryID, in.URL
	q.Delivery = message.Delivery{ID: deliveryID, To: string(r.From)}
	err = in.DB.QueryRow(ctx, `
		SELECT `+player.AskedColumns+`, r.version, p.student_name, c.name, d.kind, (SELECT language FROM preferences WHERE preferences.mobile_number = $2),
			(SELECT max(s.id) FROM deliveries s WHERE s.request_id = n.id AND s.recipient = $2)
		FROM deliveries d
		JOIN requests r ON r.id = d.request_id`+player.AskedJoins+`
		LEFT JOIN coaches c ON c.id = r.coach_id
		WHERE d.id = $1 AND d.recipient = $2`, deliveryID, string(r.From)).
		Scan(append(q.Dest(), &q.Version, &q.StudentName, database.IntoText(&q.CoachName), &q.Delivery.Kind, database.IntoText(&q.Language), database.IntoText(&q.newest))...)
	if err != nil && !database.IsNoRows(err) {
		return q, fmt.Errorf("read the question of a button: %w", err)
	}
	q.By.Via, q.Party, q.Delivery.RequestID = actor.ViaChat, q.By.Role, q.RequestID
	q.Approved = q.Standing() == player.StandsProofEnded
	return q, err
}
