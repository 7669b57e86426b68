package team

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Day is the window of the tier's limit of messages.
const Day = 24 * time.Hour

// Sending has the facts on which a coach's messages depend, read by one transaction.
type Sending struct {
	CoachName string
	// Tier is the stored name of the coach's tier.
	Tier string
	// Sent is how many segments the coach sent in the last 24 h, the first of them at Oldest.
	Sent   int
	Oldest time.Time
}

// Page selects a part of a list: the items after an id, at most Limit.
type Page struct {
	After string
	Limit int
}

// MessageStore stores messages; package store implements it. Objects of other accounts are
// not_found.
type MessageStore interface {
	// PlanMessage reads the recipients of a draft and returns their plan.
	PlanMessage(ctx context.Context, coachID string, d Draft) (*Plan, Sending, error)
	// AcceptMessage plans the draft of m, lets check refuse it, and saves m as one row. It
	// counts the segments in the same transaction. check may run more than once. If the coach
	// already has a message with this id, AcceptMessage sets m to it.
	AcceptMessage(ctx context.Context, m *Message, network string, check func(*Plan, Sending) error) error
	Messages(ctx context.Context, coachID string, page Page) ([]Message, error)
	Message(ctx context.Context, coachID, id string) (Message, error)
	// UnreadReplies counts the unread replies, at most 100.
	UnreadReplies(ctx context.Context, coachID string) (int, error)
	// Recipients lists the recipients of a message that have a row, in their order.
	Recipients(ctx context.Context, coachID, id string, after, limit int) ([]RecipientState, error)
	// CountStates counts the recipients of a message by state.
	CountStates(ctx context.Context, coachID, id string) (map[State]int, error)

	// CheckReply returns not_found unless by is linked to the player, and else the error of
	// Access unless it has team communications.
	CheckReply(ctx context.Context, by actor.Actor, playerID string) error
	// ReplyBy returns a reply of the account that is about the player.
	ReplyBy(ctx context.Context, by actor.Actor, playerID, id string) (*Reply, error)
	// AddReply saves a reply if the party has team communications now, and notifies the
	// coach. It sets the coach and the names. If the party has a reply with the id, it
	// sets the text of r to that of this reply and saves nothing.
	AddReply(ctx context.Context, by actor.Actor, r *Reply) error
	Replies(ctx context.Context, coachID string, unreadOnly bool, page Page) ([]Reply, error)
	// ReadReplies marks the coach's replies among ids as read, or all if ids is nil. It
	// returns how many are unread.
	ReadReplies(ctx context.Context, coachID string, ids []string) (int, error)
	// Conversation lists what the party may read of the conversation about a player, newest
	// first.
	Conversation(ctx context.Context, by actor.Actor, playerID string, page Page) ([]Entry, error)

	// AddTemplate saves t unless check refuses it. check gets the stored name of the coach's
	// tier and the number n of the coach's templates.
	AddTemplate(ctx context.Context, t *Template, check func(tier string, n int) error) error
	Templates(ctx context.Context, coachID string, page Page) ([]Template, error)
	Template(ctx context.Context, coachID, id string) (Template, error)
	DeleteTemplate(ctx context.Context, coachID, id string) error
}

// Messages carries out the operations on messages, replies and templates.
type Messages struct {
	Store MessageStore
	// PerDay returns how many segments a coach with a stored tier may send in 24 h; 0 means
	// no limit.
	PerDay       func(tier string) int
	CheckFeature CheckFeature
	// HasChat is true if the service has a transport for the chat.
	HasChat bool
	// Expand gives the first recipients of an accepted message their deliveries, so that the
	// coach can read them at once; expanded is zero if recipients remain for the worker. nil
	// leaves all to the worker.
	Expand func(ctx context.Context, coachID, id string) (expanded time.Time, err error)
	Now    func() time.Time
	NewID  func() string
}

// Preview returns the plan of Send for a draft, and how many segments the coach may send now;
// -1 means no limit.
func (s *Messages) Preview(ctx context.Context, by actor.Actor, d Draft) (*Plan, int, error) {
	if err := d.To.CheckTarget(); err != nil {
		return nil, 0, err
	}
	plan, sending, err := s.Store.PlanMessage(ctx, by.AccountID, d)
	if err == nil {
		err = s.checkChannels(sending, d)
	}
	if err != nil {
		return nil, 0, err
	}
	return plan, s.allowed(sending), nil
}

// Send accepts a message of the calling coach. Each recipient gets a delivery.
func (s *Messages) Send(ctx context.Context, by actor.Actor, d Draft) (*Message, error) {
	return s.SendOnce(ctx, by, s.NewID(), d)
}

// SendOnce is Send for a message with this id. It returns the coach's message with the id if
// there is one already, so that a form that is sent twice sends one message.
func (s *Messages) SendOnce(ctx context.Context, by actor.Actor, id string, d Draft) (*Message, error) {
	if err := d.To.CheckTarget(); err != nil {
		return nil, err
	}
	m := &Message{ID: id, CoachID: by.AccountID, Draft: d}
	err := s.Store.AcceptMessage(ctx, m, by.Network, func(p *Plan, sending Sending) error {
		t := p.Totals()
		m.Recipients, m.LeftOut, m.Segments = t.Recipients, t.LeftOut, t.Segments
		m.People, m.PeopleLeftOut = t.People, t.PeopleLeftOut
		if err := s.checkChannels(sending, d); err != nil {
			return err
		}
		return s.checkLimit(sending, t.Segments)
	})
	if err != nil {
		return nil, err
	}
	if s.Expand != nil && m.ExpandedAt.IsZero() {
		// The message is accepted. After an error the worker expands it.
		if expanded, err := s.Expand(ctx, by.AccountID, m.ID); err == nil {
			m.ExpandedAt = expanded
		}
	}
	return m, nil
}

// TemplatesFeature is the feature of a tier that new templates need.
const TemplatesFeature = "templates"

// checkChannels returns a tier_limit unless the coach's tier has the channels that leave the
// service. The plan checks messages in the app for each party.
func (s *Messages) checkChannels(sending Sending, d Draft) error {
	for _, c := range d.Channels {
		if c == InApp {
			continue
		}
		if err := s.CheckFeature(sending.Tier, string(c)); err != nil {
			return err
		}
	}
	return nil
}

// allowed returns how many segments the coach may send now, or -1 without a limit.
func (s *Messages) allowed(sending Sending) int {
	limit := s.PerDay(sending.Tier)
	if limit == 0 {
		return -1
	}
	return max(0, limit-sending.Sent)
}

// checkLimit returns message_limit if the tier does not allow so many segments now.
func (s *Messages) checkLimit(sending Sending, segments int) error {
	allowed := s.allowed(sending)
	if allowed < 0 || segments <= allowed {
		return nil
	}
	limit := s.PerDay(sending.Tier)
	f := fault.New(fault.TooMany, "message_limit",
		"This message takes %d SMS. Your tier allows %d in 24 hours, and %d are left now. Write to fewer people, or write less.", segments, limit, allowed).
		With("limit", "messages_per_day").With("limit_value", limit).With("allowed_now", allowed).With("needed", segments)
	if sending.Sent == 0 || segments > limit {
		return f.After(Day) // waiting does not help; the shortest Retry-After would make clients try each second
	}
	ends := sending.Oldest.Add(Day)
	return f.With("ends_at", ends).After(max(ends.Sub(s.Now()), time.Second))
}

// List lists the messages of the calling coach, newest first.
func (s *Messages) List(ctx context.Context, by actor.Actor, page Page) ([]Message, error) {
	return s.Store.Messages(ctx, by.AccountID, page)
}

// recentMessages is how many messages an overview shows.
const recentMessages = 5

// Recent returns the newest messages of the calling coach, and how many replies are unread.
func (s *Messages) Recent(ctx context.Context, by actor.Actor) ([]Message, int, error) {
	list, err := s.Store.Messages(ctx, by.AccountID, Page{Limit: recentMessages})
	if err != nil {
		return nil, 0, err
	}
	unread, err := s.Store.UnreadReplies(ctx, by.AccountID)
	return list, unread, err
}

// Message returns a message of the calling coach.
func (s *Messages) Message(ctx context.Context, by actor.Actor, id string) (Message, error) {
	return s.Store.Message(ctx, by.AccountID, id)
}

// Recipients lists the recipients of a message after a position, in the order of the players.
func (s *Messages) Recipients(ctx context.Context, by actor.Actor, id string, after, limit int) ([]RecipientState, error) {
	return s.Store.Recipients(ctx, by.AccountID, id, after, limit)
}

// CountStates counts the recipients of a message by state. Those that have no delivery yet
// count as queued, and as failed if they get none.
func (s *Messages) CountStates(ctx context.Context, by actor.Actor, m Message) (map[State]int, error) {
	counts, err := s.Store.CountStates(ctx, by.AccountID, m.ID)
	if err != nil || !m.ExpandedAt.IsZero() {
		return counts, err
	}
	missing := m.Recipients
	for _, n := range counts {
		missing -= n
	}
	state := Queued
	if m.GivenUp {
		state = Failed
	}
	counts[state] += max(0, missing)
	return counts, nil
}

// Reply saves a reply of the calling guardian or student.
func (s *Messages) Reply(ctx context.Context, by actor.Actor, playerID, text string) (*Reply, error) {
	return s.ReplyOnce(ctx, by, s.NewID(), playerID, text)
}

// ReplyOnce is Reply for a reply with this id, so that a form that is sent twice saves one. It
// returns idempotency_key_reused if the reply with the id has another text.
func (s *Messages) ReplyOnce(ctx context.Context, by actor.Actor, id, playerID, text string) (*Reply, error) {
	r := &Reply{ID: id, PlayerID: playerID, Party: by.Role, AccountID: by.AccountID, Text: text}
	if err := s.Store.AddReply(ctx, by, r); err != nil {
		return nil, err
	}
	return r, checkSame(r.Text == text)
}

// CheckReply returns why the caller may not reply, or nil.
func (s *Messages) CheckReply(ctx context.Context, by actor.Actor, playerID string) error {
	return s.Store.CheckReply(ctx, by, playerID)
}

// ReplyBy returns a reply of the calling guardian or student, if it may reply now.
func (s *Messages) ReplyBy(ctx context.Context, by actor.Actor, playerID, id string) (*Reply, error) {
	return s.Store.ReplyBy(ctx, by, playerID, id)
}

// Replies lists the replies to the calling coach, newest first.
func (s *Messages) Replies(ctx context.Context, by actor.Actor, unreadOnly bool, page Page) ([]Reply, error) {
	return s.Store.Replies(ctx, by.AccountID, unreadOnly, page)
}

// ReadReplies marks replies as read, all if ids is nil, and returns how many are unread.
func (s *Messages) ReadReplies(ctx context.Context, by actor.Actor, ids []string) (int, error) {
	return s.Store.ReadReplies(ctx, by.AccountID, ids)
}

// Conversation lists what the calling guardian or student may read, newest first.
func (s *Messages) Conversation(ctx context.Context, by actor.Actor, playerID string, page Page) ([]Entry, error) {
	return s.Store.Conversation(ctx, by, playerID, page)
}

// AddTemplate saves a template of the calling coach.
func (s *Messages) AddTemplate(ctx context.Context, by actor.Actor, title, text string) (*Template, error) {
	t := &Template{ID: s.NewID(), CoachID: by.AccountID, Title: title, Text: text}
	err := s.Store.AddTemplate(ctx, t, func(tier string, n int) error {
		if err := s.CheckFeature(tier, TemplatesFeature); err != nil {
			return err
		}
		return checkTemplates(n)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Templates lists the templates of the calling coach, newest first.
func (s *Messages) Templates(ctx context.Context, by actor.Actor, page Page) ([]Template, error) {
	return s.Store.Templates(ctx, by.AccountID, page)
}

// Template returns a template of the calling coach.
func (s *Messages) Template(ctx context.Context, by actor.Actor, id string) (Template, error) {
	return s.Store.Template(ctx, by.AccountID, id)
}

// DeleteTemplate deletes a template of the calling coach.
func (s *Messages) DeleteTemplate(ctx context.Context, by actor.Actor, id string) error {
	return s.Store.DeleteTemplate(ctx, by.AccountID, id)
}
