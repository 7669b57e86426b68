package conversation

import (
	"encoding/json"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/wire"
)

// targetResponse is the MessageTarget of openapi.yaml.
type targetResponse struct {
	PlayerIDs []string `json:"player_ids,omitempty"`
	BatchID   string   `json:"batch_id,omitempty"`
	All       bool     `json:"all,omitempty"`
}

// messageResponse is the Message of openapi.yaml.
type messageResponse struct {
	MessageID      string         `json:"message_id"`
	To             targetResponse `json:"to"`
	Audience       Audience       `json:"audience"`
	Text           string         `json:"text"`
	Channels       []Channel      `json:"channels"`
	RecipientCount int            `json:"recipient_count"`
	LeftOutCount   int            `json:"left_out_count"`
	Segments       int            `json:"segments"`
	CreatedAt      string         `json:"created_at"`
	ExpandedAt     *string        `json:"expanded_at"`
}

func newMessageResponse(m Message) messageResponse {
	return messageResponse{
		MessageID: m.ID, To: targetResponse(m.To), Audience: m.Audience, Text: m.Text, Channels: m.Channels,
		RecipientCount: m.Recipients, LeftOutCount: m.LeftOut, Segments: m.Segments,
		CreatedAt: wire.Timestamp(m.CreatedAt), ExpandedAt: wire.TimestampOrNull(m.ExpandedAt),
	}
}

// MarshalJSON returns the message as the API shows it, for the dashboard.
func (m Message) MarshalJSON() ([]byte, error) { return json.Marshal(newMessageResponse(m)) }

// messageDetailResponse is the MessageDetail of openapi.yaml.
type messageDetailResponse struct {
	messageResponse
	Counts     countsResponse      `json:"counts"`
	Recipients []recipientResponse `json:"recipients"`
	NextCursor *string             `json:"next_cursor"`
}

type countsResponse struct {
	Queued    int `json:"queued"`
	Sent      int `json:"sent"`
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	LeftOut   int `json:"left_out"`
}

// recipientResponse is the MessageRecipient of openapi.yaml.
type recipientResponse struct {
	PlayerID    string         `json:"player_id"`
	StudentName string         `json:"student_name"`
	Party       actor.Role     `json:"party"`
	GuardianID  string         `json:"guardian_id,omitempty"`
	Name        *string        `json:"name"`
	Copy        bool           `json:"copy"`
	State       State          `json:"state"`
	Reason      *string        `json:"reason"`
	Channels    []sendResponse `json:"channels"`
}

type sendResponse struct {
	Channel Channel `json:"channel"`
	State   State   `json:"state"`
	Reason  *string `json:"reason"`
	At      string  `json:"at"`
	ReadAt  *string `json:"read_at"`
}

func newSendResponse(c SendState) sendResponse {
	return sendResponse{c.Channel, c.State, wire.OrNull(c.Reason), wire.Timestamp(c.At), wire.TimestampOrNull(c.ReadAt)}
}

func newRecipientResponse(r RecipientState) recipientResponse {
	best := r.Best()
	out := recipientResponse{
		PlayerID: r.PlayerID, StudentName: r.StudentName, Party: r.Party, GuardianID: r.GuardianID, Name: wire.OrNull(r.Name), Copy: r.Copy,
		State: best.State, Reason: wire.OrNull(best.Reason),
	}
	for _, c := range r.Channels {
		out.Channels = append(out.Channels, newSendResponse(c))
	}
	return out
}

// maxLeftOut limits the recipients that a preview names.
const maxLeftOut = 200

// previewResponse is the MessagePreview of openapi.yaml. Cost and Currency are null without
// prices, AllowedNow without a limit.
type previewResponse struct {
	RecipientCount int               `json:"recipient_count"`
	LeftOutCount   int               `json:"left_out_count"`
	Segments       int               `json:"segments"`
	Cost           *json.Number      `json:"cost"`
	Currency       *string           `json:"currency"`
	AllowedNow     *int              `json:"allowed_now"`
	Texts          []textResponse    `json:"texts"`
	LeftOut        []leftOutResponse `json:"left_out"`
	LongCharacters []longCharacter   `json:"long_characters"`
	Shorter        *shorterResponse  `json:"shorter"`
	OtherLanguages []otherLanguage   `json:"other_languages"`
}

type longCharacter struct {
	Character   string  `json:"character"`
	Replacement *string `json:"replacement"`
}

type otherLanguage struct {
	Language string `json:"language"`
	LeavesIn string `json:"leaves_in"`
	People   int    `json:"people"`
}

type shorterResponse struct {
	Text     string `json:"text"`
	Segments int    `json:"segments"`
}

type textResponse struct {
	Text       string `json:"text"`
	Restricted bool   `json:"restricted"`
	Segments   int    `json:"segments"`
	Messages   int    `json:"messages"`
}

type leftOutResponse struct {
	PlayerID    string     `json:"player_id"`
	StudentName string     `json:"student_name"`
	Party       actor.Role `json:"party"`
	Reason      Reason     `json:"reason"`
}

func newPreviewResponse(p *Plan, allowed int) previewResponse {
	t := p.Totals()
	out := previewResponse{RecipientCount: t.Recipients, LeftOutCount: t.LeftOut, Segments: t.Segments, Texts: []textResponse{}, LeftOut: []leftOutResponse{}, LongCharacters: []longCharacter{}, OtherLanguages: []otherLanguage{}}
	if t.Priced {
		cost := json.Number(t.Cost.String())
		out.Cost, out.Currency = &cost, &t.Currency
	}
	if allowed >= 0 {
		out.AllowedNow = &allowed
	}
	for _, v := range p.Variants() {
		out.Texts = append(out.Texts, textResponse{v.Text, v.Restricted, v.Segments, v.Messages})
	}
	long := p.Long()
	for _, c := range long.Characters {
		one := longCharacter{Character: c.Character}
		if c.Replaceable {
			one.Replacement = &c.Replacement
		}
		out.LongCharacters = append(out.LongCharacters, one)
	}
	if long.Text != "" {
		out.Shorter = &shorterResponse{long.Text, long.Segments}
	}
	for _, o := range p.OtherLanguages() {
		out.OtherLanguages = append(out.OtherLanguages, otherLanguage(o))
	}
	for _, r := range p.Recipients {
		if reason := r.LeftOut(); reason != "" && len(out.LeftOut) < maxLeftOut {
			out.LeftOut = append(out.LeftOut, leftOutResponse{r.PlayerID, r.StudentName, r.Party, reason})
		}
	}
	return out
}
