package conversation

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// askedQuestion is the question of a delivery.
type askedQuestion struct {
	message.ChatQuestion
	RequestID, PlayerID, State string
	By                         actor.Actor
	Suspended                  bool
	Delivery                   message.Delivery
}

// press handles a button. A button of another number's question, or of one that is not open, changes
// nothing and answers with how things stand. The proof of who answers is possession of the asked number.
// A press may be repeated: the same decision again changes nothing.
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

// askEach asks the open questions of a message to the number of a reply, each with its own buttons. Without an
// open one it answers with how the first one stands.
func (in *Inbox) askEach(ctx context.Context, r message.Reply, messageID string) error {
	ids, err := in.questionsOf(ctx, r, messageID)
	if err != nil {
		return err
	}
	answers := []message.ChatAnswer{message.NotYours(in.language(ctx, r.From))}
	for i, id := range ids {
		q, err := in.question(ctx, r, id)
		switch {
		case database.IsNoRows(err):
		case err != nil:
			return fmt.Errorf("read the question of a button: %w", err)
		case q.State == string(approval.RequestPending) && !q.Suspended && len(answers) <= maxAsked:
			answers = append(answers, q.Ask())
		case i == 0:
			answers[0] = q.Stands(q.State)
		}
	}
	if len(answers) > 1 {
		answers = answers[1:]
	}
	for _, a := range answers {
		if err := in.say(ctx, r, a); err != nil {
			return err
		}
	}
	return nil
}

// decide applies a press on a button of a question and returns the answer to the person.
func (in *Inbox) decide(ctx context.Context, r message.Reply, p message.ChatPress) (message.ChatAnswer, error) {
	q, err := in.question(ctx, r, p.ID)
	if database.IsNoRows(err) {
		return message.NotYours(in.language(ctx, r.From)), nil
	}
	if err != nil {
		return message.ChatAnswer{}, fmt.Errorf("read the question of a button: %w", err)
	}
	now := in.Now()
	switch {
	case q.State != string(approval.RequestPending) || q.Suspended:
		return q.Stands(q.State), nil
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
		if q.State == string(approval.RequestPending) && !q.Suspended { // the coach changed it meanwhile
			return q.Changed(), nil
		}
		return q.Stands(q.State), nil
	}
	if approval.NeedsProof(err) {
		return q.Prove(), nil
	}
	if err != nil {
		return message.ChatAnswer{}, err
	}
	return q.Done(p.Action), nil
}

// wording returns the text of the message with the buttons in the language in which it was shown, without its links.
func (in *Inbox) wording(ctx context.Context, q askedQuestion, language string) (approval.Wording, error) {
	details, _, open, err := in.Approvals.RequestDetails(ctx, q.Delivery)
	if err != nil || !open {
		return approval.Wording{}, err
	}
	m := message.Message{ID: q.DeliveryID, Kind: q.Delivery.Kind, Brand: in.Brand, Language: language, Request: details, Link: in.QuestionURL(q.DeliveryID)}
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
		SELECT q.id, q.version, q.player_id, CASE WHEN p.deleted_at IS NULL THEN q.state ELSE 'cancelled' END, a.id, a.role, a.mobile_number, a.suspended_at IS NOT NULL,
			p.student_name, c.name, d.kind, (SELECT language FROM preferences WHERE preferences.mobile_number = $2)
		FROM deliveries d
		JOIN requests q ON q.id = d.request_id
		JOIN accounts a ON a.id = q.approver_id AND a.mobile_number = $2
		JOIN players p ON p.id = q.player_id
		LEFT JOIN coaches c ON c.id = q.coach_id
		WHERE d.id = $1 AND d.recipient = $2`, deliveryID, string(r.From)).
		Scan(&q.RequestID, &q.Version, &q.PlayerID, &q.State, &q.By.AccountID, &q.By.Role, &q.By.Number, &q.Suspended, &q.StudentName, database.IntoText(&q.CoachName), &q.Delivery.Kind, database.IntoText(&q.Language))
	q.By.Via, q.Party, q.Delivery.RequestID = actor.ViaChat, q.By.Role, q.RequestID
	return q, err
}
