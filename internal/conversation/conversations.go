package conversation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
)

// Summary is a conversation of a coach with one party of a player, over all channels.
type Summary struct {
	PlayerID, StudentName string
	Party                 actor.Role
	GuardianID            string
	// Name is the name of the party as the coach entered it.
	Name   string
	LastAt time.Time
	// Unread counts the unread replies, at most notice.MaxUnread.
	Unread int
}

// Conversations lists the conversations of the calling coach after a key, newest first.
func (s *Service) Conversations(ctx context.Context, by actor.Actor, after api.Keyset, limit int) ([]Summary, error) {
	if after == (api.Keyset{}) {
		after.At = math.MaxInt64
	}
	rs, err := s.DB.Query(ctx, `
		SELECT c.player_id, p.student_name, c.party, c.guardian_id, CASE WHEN c.party = 'student' THEN p.student_name ELSE a.name END, c.last_at,
			(SELECT count(*) FROM (SELECT 1 FROM team_replies r
				WHERE r.player_id = c.player_id AND r.party = c.party AND r.guardian_id = c.guardian_id AND r.read_at IS NULL LIMIT $5) unread)
		FROM conversations c JOIN players p ON p.id = c.player_id
		JOIN parties a ON a.player_id = c.player_id AND a.role = c.party AND a.guardian_id = c.guardian_id
		WHERE c.coach_id = $1 AND c.ended = FALSE AND (c.last_at, c.player_id, c.party, c.guardian_id) < ($2, $3, CAST($4 AS TEXT), CAST($7 AS TEXT))
		ORDER BY c.last_at DESC, c.player_id DESC, c.party DESC, c.guardian_id DESC LIMIT $6`,
		by.AccountID, after.At, after.ID, string(after.Party), notice.MaxUnread, limit, after.GuardianID)
	return database.Collect(rs, err, func(row database.Scanner) (c Summary, err error) {
		return c, row.Scan(&c.PlayerID, &c.StudentName, &c.Party, &c.GuardianID, database.IntoText(&c.Name), database.IntoTime(&c.LastAt), &c.Unread)
	})
}

// noteConversations saves that the coach and parties of players wrote. lineID is the id of a reply or a message to one player, or ""
// for a broadcast.
func noteConversations(ctx context.Context, tx *store.Tx, coachID string, recipients []Recipient, lineID string) error {
	var rows []any
	seen := map[[3]string]bool{}
	for _, r := range recipients {
		if key := [3]string{r.PlayerID, string(r.Party), r.GuardianID}; !seen[key] && r.AccountID != "" {
			seen[key] = true
			rows = append(rows, r.PlayerID, string(r.Party), r.GuardianID, coachID, database.Micros(tx.Now))
			if lineID != "" {
				rows = append(rows, database.Micros(tx.Now), lineID)
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	var err error
	if lineID == "" {
		err = tx.InsertRows(ctx, `INSERT INTO conversations (player_id, party, guardian_id, coach_id, last_at)`, `
		ON CONFLICT (player_id, party, guardian_id) DO UPDATE SET last_at = excluded.last_at`, 5, rows)
	} else {
		err = tx.InsertRows(ctx, `INSERT INTO conversations (player_id, party, guardian_id, coach_id, last_at, line_at, line_id)`, `
		ON CONFLICT (player_id, party, guardian_id) DO UPDATE SET last_at = excluded.last_at, line_at = excluded.line_at, line_id = excluded.line_id`, 7, rows)
	}
	return fault.Wrap(err, "save conversations")
}

// Item is a message of a conversation as the coach reads it.
type Item struct {
	Entry
	// Former is true for a reply of an account that is no longer the party of the player.
	Former bool
	// Channels has the state on each channel. A reply has the channel on which it came, and is read when
	// the coach has read it.
	Channels []SendState
}

// CoachConversation lists what the calling coach and a party of a player wrote before an item with an id,
// newest first. Another coach's player is not_found.
func (s *Service) CoachConversation(ctx context.Context, by actor.Actor, playerID string, party actor.Role, guardianID, before string, limit int) (list []Item, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list = nil
		guardianID, err := ownParty(ctx, tx, by, playerID, party, guardianID)
		if err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT x.id, x.is_copy, x.body, x.created_at, d.channel, d.state, d.reason, d.updated_at, d.read_at
			FROM (SELECT m.id, r.position, r.is_copy, m.body, m.created_at
				FROM team_recipients r JOIN team_messages m ON m.id = r.message_id
				WHERE r.player_id = $1 AND r.party = $2 AND r.guardian_id = $5 AND r.message_id < $3
				ORDER BY r.message_id DESC LIMIT $4) x
			JOIN deliveries d ON d.team_message_id = x.id AND d.team_position = x.position`, playerID, string(party), database.Before(before), limit, guardianID)
		_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
			i := Item{Entry: Entry{FromCoach: true, Parties: []actor.Role{party}}}
			var c SendState
			var channel string
			err := row.Scan(&i.ID, &i.Copy, &i.Text, database.IntoTime(&i.CreatedAt), &channel, &c.State, database.IntoText(&c.Reason), database.IntoTime(&c.At), database.IntoTime(&c.ReadAt))
			c.Channel = Channel(channel)
			at := slices.IndexFunc(list, func(other Item) bool { return other.ID == i.ID })
			if at < 0 {
				at = len(list)
				list = append(list, i)
			}
			list[at].Channels = append(list[at].Channels, c)
			return struct{}{}, err
		})
		if err != nil {
			return fmt.Errorf("read a conversation: %w", err)
		}
		rs, err = tx.Query(ctx, `
			SELECT r.id, r.body, r.created_at, r.channel, r.read_at,
				r.account_id IS DISTINCT FROM a.account_id
			FROM team_replies r JOIN parties a ON a.player_id = r.player_id AND a.role = r.party AND a.guardian_id = r.guardian_id
			WHERE r.player_id = $1 AND r.party = $2 AND r.guardian_id = $5 AND r.id < $3 ORDER BY r.id DESC LIMIT $4`, playerID, string(party), database.Before(before), limit, guardianID)
		replies, err := database.Collect(rs, err, func(row database.Scanner) (i Item, err error) {
			c := SendState{State: Delivered}
			err = row.Scan(&i.ID, &i.Text, database.IntoTime(&i.CreatedAt), &c.Channel, database.IntoTime(&c.ReadAt), &i.Former)
			c.At = i.CreatedAt
			i.Parties, i.Channels = []actor.Role{party}, []SendState{c}
			return i, err
		})
		if err != nil {
			return fmt.Errorf("read a conversation: %w", err)
		}
		list = append(list, replies...)
		slices.SortFunc(list, func(a, b Item) int { return strings.Compare(b.ID, a.ID) })
		list = list[:min(len(list), limit)]
		for _, i := range list {
			slices.SortFunc(i.Channels, func(a, b SendState) int { return slices.Index(Channels, a.Channel) - slices.Index(Channels, b.Channel) })
		}
		return nil
	})
	return list, err
}

// partyCondition finds the party a with a role $3 and a guardian id $4, of which an empty one is the first guardian, of a
// player p with the id $1 of the coach $2.
const partyCondition = `p.id = $1 AND p.coach_id = $2 AND p.deleted_at IS NULL AND a.role = $3
		AND CASE WHEN CAST($4 AS TEXT) = '' THEN a.position = 1 ELSE a.guardian_id = $4 AND a.name IS NOT NULL END`

// ownParty returns the id of a guardian of a player of the calling coach, or "" for the student. It returns not_found for others.
func ownParty(ctx context.Context, tx *store.Tx, by actor.Actor, playerID string, party actor.Role, guardianID string) (id string, err error) {
	err = tx.QueryRow(ctx, `SELECT a.guardian_id FROM players p JOIN parties a ON a.player_id = p.id WHERE `+partyCondition,
		playerID, by.AccountID, string(party), guardianID).Scan(&id)
	return id, database.OrMissing(err, "read player "+playerID)
}

// With returns the conversation of the calling coach with a party, without LastAt and Unread, and the channel of
// a message for which the coach chose none: that of the party's newest reply, else the chat, or SMS without one.
func (s *Service) With(ctx context.Context, by actor.Actor, playerID string, party actor.Role, guardianID string) (c Summary, answerBy Channel, err error) {
	c = Summary{PlayerID: playerID, Party: party}
	var newest string
	err = s.DB.QueryRow(ctx, `
		SELECT p.student_name, CASE WHEN a.role = 'student' THEN p.student_name ELSE a.name END,
			(SELECT channel FROM team_replies r WHERE r.player_id = p.id AND r.party = a.role AND r.guardian_id = a.guardian_id ORDER BY r.id DESC LIMIT 1), a.guardian_id
		FROM players p JOIN parties a ON a.player_id = p.id WHERE `+partyCondition, playerID, by.AccountID, string(party), guardianID).
		Scan(&c.StudentName, database.IntoText(&c.Name), database.IntoText(&newest), &c.GuardianID)
	switch answerBy = Channel(newest); {
	case answerBy != "" && (answerBy != Chat || s.HasChat):
	case s.HasChat:
		answerBy = Chat
	default:
		answerBy = SMS
	}
	return c, answerBy, database.OrMissing(err, "read player "+playerID)
}

// partyOf returns the player and the party in a path, or not_found.
func partyOf(m api.Meta) (playerID string, party actor.Role, guardianID string, err error) {
	if playerID, err = m.PathID("player_id"); err != nil {
		return "", "", "", err
	}
	party, guardianID, err = namedParty(m.PathPart("party"))
	return playerID, party, guardianID, err
}

// namedParty returns the party that a part of a path names: guardian (the first), student, or the id of a guardian.
func namedParty(part string) (party actor.Role, guardianID string, err error) {
	switch {
	case slices.Contains(approval.Parties, actor.Role(part)):
		return actor.Role(part), "", nil
	case endpoint.IsID(part):
		return actor.Guardian, part, nil
	}
	return "", "", fault.Missing()
}

// summaryResponse is the CoachConversation of openapi.yaml.
type summaryResponse struct {
	PlayerID    string     `json:"player_id"`
	StudentName string     `json:"student_name"`
	Party       actor.Role `json:"party"`
	GuardianID  string     `json:"guardian_id,omitempty"`
	Name        *string    `json:"name"`
	LastAt      string     `json:"last_at"`
	Unread      int        `json:"unread"`
}

// listConversations serves GET /api/conversations.
func (h handlers) listConversations(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	page := h.api.Page(r.Meta, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	list, err := h.Conversations(ctx, r.Caller.Actor, page.After, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, func(c Summary) summaryResponse {
		return summaryResponse{c.PlayerID, c.StudentName, c.Party, c.GuardianID, wire.OrNull(c.Name), wire.Timestamp(c.LastAt), c.Unread}
	}, func(c Summary) api.Keyset {
		return api.Keyset{At: c.LastAt.UnixMicro(), ID: c.PlayerID, Party: c.Party, GuardianID: c.GuardianID}
	}), nil
}

// itemResponse is the ConversationItem of openapi.yaml.
type itemResponse struct {
	entryResponse
	Channels []sendResponse `json:"channels"`
}

// readConversation serves GET /api/conversations/{player_id}/{party}.
func (h handlers) readConversation(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	playerID, party, guardianID, err := partyOf(r.Meta)
	if err != nil {
		return api.Response{}, err
	}
	page := h.api.Page(r.Meta, &r.Faults)
	list, err := h.CoachConversation(ctx, r.Caller.Actor, playerID, party, guardianID, page.After.ID, page.ReadLimit())
	if err == nil { // report a fault of the query only if the player is the coach's
		err = r.Faults.Err()
	}
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, func(i Item) itemResponse {
		out := itemResponse{entryResponse: newEntryResponse(i.Entry), Channels: []sendResponse{}}
		for _, c := range i.Channels {
			out.Channels = append(out.Channels, newSendResponse(c))
		}
		return out
	}, func(i Item) api.Keyset { return api.Keyset{ID: i.ID} }), nil
}

// answerRequest is the AnswerRequest of openapi.yaml.
type answerRequest struct {
	Text     string   `json:"text" rule:"required,lines"`
	Channels []string `json:"channels" rule:"min=1,max=3"`
}

// answer serves POST /api/conversations/{player_id}/{party}.
func (h handlers) answer(ctx context.Context, r api.Request[answerRequest]) (api.Response, error) {
	playerID, party, guardianID, err := partyOf(r.Meta)
	if err != nil {
		return api.Response{}, err
	}
	with, answerBy, err := h.With(ctx, r.Caller.Actor, playerID, party, guardianID)
	if err != nil {
		return api.Response{}, err
	}
	in := messageRequest{To: targetRequest{PlayerIDs: []string{playerID}}, Audience: string(party), Text: r.Body.Text, Channels: r.Body.Channels}
	if len(in.Channels) == 0 && !slices.ContainsFunc(r.Faults, func(f fault.Field) bool { return strings.HasPrefix(f.Pointer, "/channels") }) {
		in.Channels = []string{string(answerBy)}
	}
	draft := in.read(&r.Faults)
	draft.GuardianID = with.GuardianID
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	return sent(h.Send(ctx, r.Caller.Actor, draft))
}
