package conversation

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
)

// Inbox receives what families write by WhatsApp and SMS, and the buttons that they press.
type Inbox struct {
	*Service
	Approvals *player.Service
	Outbox    *outbox.Store
	// Say sends an answer by WhatsApp; nil without a transport.
	Say func(ctx context.Context, to phone.Number, a message.ChatAnswer) error
	// OpenCode returns the code of the open challenge of a number; nil if the service has no number at WhatsApp.
	OpenCode func(ctx context.Context, n phone.Number, writtenBy time.Time) (auth.OpenCode, bool, error)
	// SendCode sends the code of the open challenge of a number by SMS; nil if no provider receives SMS.
	SendCode func(ctx context.Context, n phone.Number, writtenBy time.Time) (found bool, err error)
	Brand    string
	// PublicURL is the address of the service. URL is where a family finds its answers, and QuestionURL the page of the question of a delivery.
	PublicURL   string
	URL         string
	QuestionURL func(deliveryID string) string
	Log         *slog.Logger
}

// chosenFor is how long later messages go to the coach whom a person chose.
const chosenFor = message.ChatWindow

// sender is a party of a player whose number wrote.
type sender struct {
	PlayerID, CoachID, CoachName, StudentName string
	Party                                     actor.Role
	GuardianID                                string
	AccountID, Name                           string
	Language                                  string
}

// Receive handles one inbound message, as message.Replies.Chat. It may be repeated. After an error the
// provider calls again: an answer was not sent.
func (in *Inbox) Receive(ctx context.Context, r message.Reply) error {
	switch {
	case r.Button != "":
		return in.press(ctx, r)
	case r.Stops() || r.Starts():
		known, err := in.noted(ctx, r)
		if err != nil {
			return err
		}
		return in.answerStop(ctx, r, known)
	case r.Helps():
		known, err := in.noted(ctx, r)
		if err != nil || !known {
			return err
		}
		return in.sayOnce(ctx, r, message.Help(in.language(ctx, r.From), in.Brand, in.URL))
	}
	return in.text(ctx, r)
}

// noted saves when a number wrote, if it belongs to a family. Others leave no trace.
func (in *Inbox) noted(ctx context.Context, r message.Reply) (known bool, err error) {
	all, err := senders(ctx, in.DB, r.From)
	if err != nil || len(all) == 0 || r.Channel != message.Chat {
		return len(all) > 0, err
	}
	return true, in.DB.Write(ctx, func(tx *store.Tx) error { return noteWriter(ctx, tx, r) })
}

func (in *Inbox) language(ctx context.Context, n phone.Number) string {
	var language string
	_ = in.DB.QueryRow(ctx, `SELECT language FROM preferences WHERE mobile_number = $1`, string(n)).Scan(database.IntoText(&language))
	return language
}

// text puts a text into the conversation of one coach: the coach whose message it answers, else the only
// coach of the number. A number of several coaches is asked once which coach is meant; the text waits.
func (in *Inbox) text(ctx context.Context, r message.Reply) error {
	if r.VisibleText() == "" {
		return nil
	}
	all, err := senders(ctx, in.DB, r.From)
	if err != nil {
		return err
	}
	if in.OpenCode != nil && r.IsNewText() && (len(all) == 0 || r.AsksSignIn(in.Brand)) {
		return in.answerSignIn(ctx, r, len(all) > 0)
	}
	if in.SendCode != nil && r.Channel == message.SMS && r.AsksSignIn(in.Brand) {
		if answered, err := in.answerBySMS(ctx, r); err != nil || answered {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	questions, err := in.unanswered(ctx, r)
	if err != nil {
		return err
	}
	if len(questions) > 0 && r.Kind == "" {
		r.Kind = message.ReplyNoAnswer
	}
	text := r.VisibleText()
	newest := ""
	if coachesOf(all) > 1 && r.Channel != message.Chat {
		if newest, err = in.Outbox.NewestSender(ctx, r.From, r.Channel, r.SentAt); err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(s sender) bool { return s.CoachID == newest }) { // none has left, or that coach removed the player
			newest = all[0].CoachID
		}
	}
	var answer *message.ChatAnswer
	ask := false
	err = in.DB.Write(ctx, func(tx *store.Tx) error {
		answer, ask = nil, false
		isNew, err := outbox.IsNewReply(ctx, tx.Tx, r)
		if err != nil {
			return err
		}
		if err := noteWriter(ctx, tx, r); err != nil {
			return err
		}
		to, found, err := in.addressee(ctx, tx, r, all, newest)
		switch {
		case err != nil:
			return err
		case !isNew && found:
			return nil
		case found:
			answer, err = in.saveText(ctx, tx, to, r, text)
			return err
		case isNew:
			if err := in.hold(ctx, tx, r, text); err != nil {
				return err
			}
		}
		ask, err = mustAsk(ctx, tx, r.From)
		return err
	})
	if err != nil {
		return fmt.Errorf("save a reply: %w", err)
	}
	switch {
	case len(questions) > 0:
		return in.hint(ctx, r, questions)
	case answer != nil:
		return in.say(ctx, r, *answer)
	case ask:
		return in.askWhich(ctx, r, all)
	}
	return nil
}

func coachesOf(all []sender) int {
	ids := map[string]bool{}
	for _, s := range all {
		ids[s.CoachID] = true
	}
	return len(ids)
}

// addressee returns the party and the coach of a reply. found is false if it is not clear which coach is
// meant.
func (in *Inbox) addressee(ctx context.Context, tx *store.Tx, r message.Reply, all []sender, newest string) (to sender, found bool, err error) {
	if r.Context != "" {
		var playerID, role string
		err := tx.QueryRow(ctx, `
			SELECT coalesce(t.player_id, q.player_id, ''), coalesce(t.party, q.approver_type, '')
			FROM deliveries d
			LEFT JOIN team_recipients t ON t.message_id = d.team_message_id AND t.position = d.team_position
			LEFT JOIN requests q ON q.id = d.request_id
			WHERE d.provider_id = $1 AND d.recipient = $2`, r.Context, string(r.From)).Scan(&playerID, &role)
		if err != nil && !database.IsNoRows(err) {
			return to, false, err
		}
		for _, s := range all {
			if s.PlayerID == playerID && string(s.Party) == role {
				return s, true, nil
			}
		}
	}
	coachID := newest
	if coachesOf(all) == 1 {
		coachID = all[0].CoachID
	}
	if coachID == "" && r.Channel == message.Chat {
		err := tx.QueryRow(ctx, `SELECT coach_id FROM chat_numbers WHERE mobile_number = $1 AND chosen_at > $2`, string(r.From), database.Micros(tx.Now.Add(-chosenFor))).
			Scan(database.IntoText(&coachID))
		if err != nil && !database.IsNoRows(err) {
			return to, false, err
		}
	}
	return in.senderFor(ctx, tx, r.From, all, coachID)
}

// senderFor returns the party of the coach's newest message to a number, else of the newest player.
func (in *Inbox) senderFor(ctx context.Context, tx *store.Tx, n phone.Number, all []sender, coachID string) (to sender, found bool, err error) {
	ofCoach := slices.DeleteFunc(slices.Clone(all), func(s sender) bool { return s.CoachID != coachID })
	if len(ofCoach) == 0 {
		return to, false, nil
	}
	var playerID, party string
	err = tx.QueryRow(ctx, `
		SELECT t.player_id, t.party FROM deliveries d
		JOIN team_recipients t ON t.message_id = d.team_message_id AND t.position = d.team_position
		WHERE d.coach_id = $1 AND d.recipient = $2 AND d.recipient <> '' AND d.kind = 'team' AND d.state <> 'left_out'
		ORDER BY d.id DESC LIMIT 1`, coachID, string(n)).Scan(&playerID, &party)
	if err != nil && !database.IsNoRows(err) {
		return to, false, err
	}
	for _, s := range ofCoach {
		if s.PlayerID == playerID && string(s.Party) == party {
			return s, true, nil
		}
	}
	return ofCoach[0], true, nil
}

// saveText saves a reply. answer says, once a day, that the coach gets no more today, or that the coach can not
// open a file; nil otherwise.
func (in *Inbox) saveText(ctx context.Context, tx *store.Tx, from sender, r message.Reply, text string) (answer *message.ChatAnswer, err error) {
	reply := Reply{
		ID: in.NewID(), CoachID: from.CoachID, PlayerID: from.PlayerID, StudentName: from.StudentName, Party: from.Party, GuardianID: from.GuardianID,
		AccountID: from.AccountID, Name: from.Name, Text: text, Channel: r.Channel,
	}
	if err := tx.Defer(ctx, `UPDATE players SET version = version WHERE id = $1`, from.PlayerID); err != nil {
		return nil, err
	}
	count, _, err := countReplies(ctx, tx, from.AccountID, from.PlayerID)
	if err != nil {
		return nil, err
	}
	if count >= MaxRepliesPerDay {
		told, err := tx.Exec(ctx, `UPDATE chat_numbers SET limited_at = $2 WHERE mobile_number = $1 AND (limited_at IS NULL OR limited_at < $3)`,
			string(r.From), database.Micros(tx.Now), database.Micros(tx.Now.Add(-day)))
		if told == 1 {
			answer = new(message.TooManyReplies(from.Language, from.CoachName))
		}
		return answer, err
	}
	if err := saveReply(ctx, tx, &reply); err != nil || r.Media == "" && r.Kind != message.ReplyUnsupported {
		return nil, err
	}
	told, err := tx.Exec(ctx, `UPDATE chat_numbers SET file_at = $2 WHERE mobile_number = $1 AND (file_at IS NULL OR file_at < $3)`,
		string(r.From), database.Micros(tx.Now), database.Micros(tx.Now.Add(-day)))
	if told == 1 {
		answer = new(message.FileNotOpened(from.Language, from.CoachName))
	}
	return answer, err
}

// maxHeld is how many texts of a number wait for the choice of a coach.
const maxHeld = 20

// hold keeps a text until the person says which coach is meant.
func (in *Inbox) hold(ctx context.Context, tx *store.Tx, r message.Reply, text string) error {
	return tx.Defer(ctx, `
		INSERT INTO chat_held (id, mobile_number, channel, body, created_at)
		SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM chat_held WHERE mobile_number = $2) < $6`,
		in.NewID(), string(r.From), string(r.Channel), text, database.Micros(tx.Now), maxHeld)
}

// mustAsk reports whether texts of a number wait and the person was not asked yet.
func mustAsk(ctx context.Context, tx *store.Tx, n phone.Number) (ask bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM chat_held WHERE mobile_number = $1)
			AND NOT EXISTS (SELECT 1 FROM chat_numbers WHERE mobile_number = $1 AND asked_at > $2)`, string(n), database.Micros(tx.Now.Add(-chosenFor))).Scan(&ask)
	return ask, err
}

// askWhich asks which coach is meant.
func (in *Inbox) askWhich(ctx context.Context, r message.Reply, all []sender) error {
	var ids []string
	names := map[string]string{}
	for _, s := range all {
		if !slices.Contains(ids, s.CoachID) {
			ids = append(ids, s.CoachID)
			names[s.CoachID] = s.CoachName
		}
	}
	if err := in.say(ctx, r, message.WhichCoach(all[0].Language, ids, names)); err != nil {
		return err
	}
	_, err := in.DB.Exec(ctx, `UPDATE chat_numbers SET asked_at = $2 WHERE mobile_number = $1`, string(r.From), database.Micros(in.Now()))
	return err
}

// chooseCoach gives the texts that wait to the chosen coach.
func (in *Inbox) chooseCoach(ctx context.Context, r message.Reply, coachID string) error {
	all, err := senders(ctx, in.DB, r.From)
	if err != nil {
		return err
	}
	var to sender
	found := false
	err = in.DB.Write(ctx, func(tx *store.Tx) error {
		var err error
		if to, found, err = in.senderFor(ctx, tx, r.From, all, coachID); err != nil || !found {
			return err
		}
		if err := noteWriter(ctx, tx, r); err != nil {
			return err
		}
		err = tx.Defer(ctx, `UPDATE chat_numbers SET coach_id = $2, chosen_at = $3, asked_at = NULL WHERE mobile_number = $1`, string(r.From), coachID, database.Micros(tx.Now))
		if err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `DELETE FROM chat_held WHERE mobile_number = $1 RETURNING id, channel, body`, string(r.From))
		type held struct {
			id string
			r  message.Reply
		}
		list, err := database.Collect(rs, err, func(s database.Scanner) (h held, err error) {
			h.r.From = r.From
			return h, s.Scan(&h.id, &h.r.Channel, &h.r.Text)
		})
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b held) int { return strings.Compare(a.id, b.id) })
		for _, h := range list {
			if _, err := in.saveText(ctx, tx, to, h.r, h.r.Text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !found {
		return err
	}
	return in.say(ctx, r, message.PassedOn(to.Language, to.CoachName))
}

// senders lists the live players that name a number, newest first, without those that the number disputed.
func senders(ctx context.Context, q database.Querier, n phone.Number) ([]sender, error) {
	rs, err := q.Query(ctx, `
		SELECT p.id, p.coach_id, c.name, p.student_name, a.role, o.guardian_id, a.id,
			CASE WHEN a.role = 'student' THEN p.student_name ELSE o.name END,
			(SELECT language FROM preferences WHERE preferences.mobile_number = $1)
		FROM accounts a
		JOIN parties o ON o.account_id = a.id AND o.deleted_at IS NULL
		JOIN players p ON p.id = o.player_id
		LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE a.mobile_number = $1 AND a.role <> 'coach' AND a.suspended_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.approver_id = a.id AND d.player_id = p.id)`, string(n))
	all, err := database.Collect(rs, err, func(row database.Scanner) (s sender, err error) {
		return s, row.Scan(&s.PlayerID, &s.CoachID, database.IntoText(&s.CoachName), &s.StudentName, &s.Party, &s.GuardianID, &s.AccountID, database.IntoText(&s.Name), database.IntoText(&s.Language))
	})
	if err != nil {
		return nil, fmt.Errorf("find the players of a number: %w", err)
	}
	slices.SortStableFunc(all, func(a, b sender) int {
		return cmp.Or(strings.Compare(b.PlayerID, a.PlayerID), strings.Compare(string(a.Party), string(b.Party)))
	})
	return all, nil
}

// noteWriter saves that a number wrote by WhatsApp: for message.ChatWindow it takes messages without a
// template. A late call never moves the time back.
func noteWriter(ctx context.Context, tx *store.Tx, r message.Reply) error {
	if r.Channel != message.Chat {
		return nil
	}
	at := tx.Now
	if !r.SentAt.IsZero() && r.SentAt.Before(at) {
		at = r.SentAt
	}
	return tx.Defer(ctx, `
		INSERT INTO chat_numbers (mobile_number, wrote_at) VALUES ($1, $2)
		ON CONFLICT (mobile_number) DO UPDATE SET wrote_at = CASE WHEN chat_numbers.wrote_at < excluded.wrote_at THEN excluded.wrote_at ELSE chat_numbers.wrote_at END`,
		string(r.From), database.Micros(at))
}

// countReplies counts the replies of a party about a player in 24 h, at most MaxRepliesPerDay, the first of them at oldest.
func countReplies(ctx context.Context, tx *store.Tx, accountID, playerID string) (count int, oldest time.Time, err error) {
	err = tx.QueryRow(ctx, `
		SELECT count(*), min(created_at) FROM (
			SELECT created_at FROM team_replies WHERE account_id = $1 AND player_id = $2 AND created_at > $3 ORDER BY id DESC LIMIT $4) newest`,
		accountID, playerID, database.Micros(tx.Now.Add(-day)), MaxRepliesPerDay).Scan(&count, database.IntoTime(&oldest))
	if err != nil {
		return 0, oldest, fmt.Errorf("count replies: %w", err)
	}
	return count, oldest, nil
}
