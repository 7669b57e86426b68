package message_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

func TestParseSentAt(t *testing.T) {
	for seconds, want := range map[string]time.Time{
		"1767225600": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "": {}, "0": {}, "-1": {}, "2026-01-01": {}, "99999999999999999999": {},
	} {
		if got := message.ParseSentAt(seconds); !got.Equal(want) {
			t.Errorf("%q: %v, want %v", seconds, got, want)
		}
	}
}

// replyStore records what replies change.
type replyStore struct {
	sender  string
	quoted  string // the sender of the message "quoted-id"
	placed  phone.Number
	until   time.Time
	changes []string
}

func (s *replyStore) PlaceReply(_ context.Context, r message.Reply) (phone.Number, error) {
	return s.placed, nil
}

func (s *replyStore) QuotedSender(_ context.Context, _ phone.Number, providerID string) (string, error) {
	if providerID == "quoted-id" {
		return s.quoted, nil
	}
	return "", nil
}

func (s *replyStore) NewestSender(_ context.Context, _ phone.Number, _ message.Channel, until time.Time) (string, error) {
	s.until = until
	return s.sender, nil
}

func (s *replyStore) StopCoachByReply(_ context.Context, r message.Reply, coachID string) (bool, error) {
	s.changes = append(s.changes, "stop "+string(r.From)+" "+coachID)
	return true, nil
}

func (s *replyStore) AllowCoachesByReply(_ context.Context, r message.Reply, coachID string) (int, error) {
	s.changes = append(s.changes, "allow "+string(r.From)+" "+coachID)
	return 1, nil
}

func TestReplies(t *testing.T) {
	store := &replyStore{sender: "coach-id"}
	r := message.Replies{Store: store, Log: slog.New(slog.DiscardHandler), Readers: map[string]func(message.ProviderCall, string) (message.Reply, bool){
		"p": func(call message.ProviderCall, secret string) (message.Reply, bool) {
			return message.Reply{From: phone.Number(call.Query.Get("from")), Text: call.Query.Get("text")}, secret == "right"
		},
	}}
	send := func(provider, secret, from, text, code, want string) {
		t.Helper()
		store.changes = nil
		err := r.Receive(t.Context(), provider, secret, message.ProviderCall{Query: map[string][]string{"from": {from}, "text": {text}}})
		got := ""
		if len(store.changes) > 0 {
			got = store.changes[0]
		}
		if fault.CodeOf(err) != code || got != want {
			t.Errorf("%s %s %s %q: changed %q, %v; want %q, %q", provider, secret, from, text, got, err, want, code)
		}
	}
	send("p", "right", "+919876543210", "STOP", "", "stop +919876543210 coach-id")
	send("p", "right", "+919876543210", "START", "", "allow +919876543210 coach-id")
	send("p", "right", "+919876543210", "hello", "", "")
	send("p", "right", "", "STOP", "", "")
	send("p", "wrong", "+919876543210", "STOP", "token_invalid", "")
	send("q", "right", "+919876543210", "STOP", "not_found", "")
	store.sender = ""
	send("p", "right", "+919876543210", "STOP", "", "")
	send("p", "right", "+919876543210", "START", "", "allow +919876543210 ")
}

// TestLateReply: a reply is about the messages that had left when the person sent it, plus a minute
// for the clock of the provider.
func TestLateReply(t *testing.T) {
	store := &replyStore{sender: "coach-id"}
	r := message.Replies{Store: store, Log: slog.New(slog.DiscardHandler)}
	sent := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]time.Time{sent: sent.Add(time.Minute), {}: {}} {
		for _, text := range []string{"STOP", "START"} {
			err := r.Apply(t.Context(), message.Reply{From: "+919876543210", Text: text, SentAt: at})
			if err != nil || !store.until.Equal(want) {
				t.Errorf("%s sent at %v: newest sender until %v, %v; want %v", text, at, store.until, err, want)
			}
		}
	}
}

// TestQuotingReply: a reply that quotes a message is about its coach, not about the coach of the newest message.
func TestQuotingReply(t *testing.T) {
	store := &replyStore{sender: "newest", quoted: "quoted"}
	r := message.Replies{Store: store, Log: slog.New(slog.DiscardHandler)}
	for _, context := range []string{"quoted-id", "other-id", ""} {
		for _, text := range []string{"STOP", "START"} {
			if err := r.Apply(t.Context(), message.Reply{From: "+919876543210", Text: text, Context: context}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{
		"stop +919876543210 quoted", "allow +919876543210 quoted", "stop +919876543210 newest", "allow +919876543210 newest",
		"stop +919876543210 newest", "allow +919876543210 newest",
	}
	if !slices.Equal(store.changes, want) {
		t.Errorf("got %q, want %q", store.changes, want)
	}
}
