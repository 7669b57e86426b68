package whatsapp_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/platform/phone"
)

// signedCall returns a call with a body and its signature.
func signedCall(body, secret string) message.ProviderCall {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return message.ProviderCall{Body: []byte(body), Header: func(name string) string {
		return map[string]string{"X-Hub-Signature-256": signature}[name]
	}}
}

func statuses(list string) string {
	return `{"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [{"field": "messages", "value": {"messaging_product": "whatsapp", "statuses": [` + list + `]}}]}]}`
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	c := whatsapp.Callbacks{AppSecret: "secret", VerifyToken: "token"}
	body := statuses(`
		{"id": "wamid.1", "status": "sent", "biz_opaque_callback_data": "a.1.whatsapp"},
		{"id": "wamid.2", "status": "read", "biz_opaque_callback_data": "b.2.whatsapp"},
		{"id": "wamid.3", "status": "failed", "biz_opaque_callback_data": "c.1.whatsapp", "errors": [{"code": 131026, "title": "Message undeliverable"}]},
		{"id": "wamid.4", "status": "failed", "biz_opaque_callback_data": "of another system"},
		{"id": "wamid.5", "status": "failed"},
		{"id": "wamid.6", "status": "played", "biz_opaque_callback_data": "d.1.whatsapp"}`)
	ref := func(id string, attempt int) message.MessageRef {
		return message.MessageRef{MessageID: id, Attempt: attempt, Provider: "whatsapp"}
	}
	want := []message.AccountReport{
		{Ref: ref("a", 1), Report: message.Report{Receipt: message.ReceiptSent}, Final: true},
		{Ref: ref("b", 2), Report: message.Report{Receipt: message.ReceiptRead}, Final: true},
		{Ref: ref("c", 1), Report: message.Report{Receipt: message.ReceiptUndeliverable, Cause: message.CauseNoWhatsApp, NetworkSays: "failed 131026"}, Final: true},
		{Ref: ref("", message.NewestAttempt), Report: message.Report{Receipt: message.ReceiptUndeliverable, Cause: message.CauseNetwork, NetworkSays: "failed", ProviderID: "wamid.5"}, Final: true},
		{Ref: ref("d", 1)},
	}
	got, signed := c.Read(signedCall(body, "secret"))
	if diff := cmp.Diff(want, got); diff != "" || !signed {
		t.Errorf("signed = %t (-want +got):\n%s", signed, diff)
	}
	for _, body := range []string{"", "garbage", "[]", `{"entry": [{"changes": [{"field": "messages", "value": {"messages": [{"from": "1"}]}}]}]}`} {
		if got, signed := c.Read(signedCall(body, "secret")); len(got) != 0 || !signed {
			t.Errorf("%q: %+v, signed = %t; want nothing, signed", body, got, signed)
		}
	}
	forged := signedCall(body, "secret")
	forged.Body = []byte(statuses(`{"status": "failed", "biz_opaque_callback_data": "a.1.whatsapp"}`))
	for name, call := range map[string]message.ProviderCall{
		"another secret": signedCall(body, "other"), "another body": forged, "no signature": {Body: []byte(body), Header: func(string) string { return "" }},
		"no hexadecimal digits": {Body: []byte(body), Header: func(string) string { return "sha256=zz" }},
	} {
		if got, signed := c.Read(call); signed || len(got) != 0 {
			t.Errorf("%s: %+v, signed = %t; want nothing, not signed", name, got, signed)
		}
	}
	if _, signed := (whatsapp.Callbacks{}).Read(signedCall(body, "")); signed {
		t.Error("a call is signed with an empty secret")
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	c := whatsapp.Callbacks{AppSecret: "secret"}
	body := `{"object": "whatsapp_business_account", "entry": [{"changes": [{"field": "messages", "value": {"messages": [
		{"from": "919876543210", "id": "wamid.1", "timestamp": "1767225600", "type": "text", "text": {"body": "Stop"}},
		{"from": "919876543211", "id": "wamid.2", "type": "image", "image": {"id": "1"}},
		{"from": "919876543212", "id": "wamid.4", "timestamp": 1767225600, "type": "text", "text": {"body": "Stop"}},
		{"from": "not a number", "id": "wamid.3", "type": "text", "text": {"body": "STOP"}}]}}]}]}`
	parse := phone.Parser{DefaultRegion: "IN"}.Parse
	want := []message.Reply{
		{Channel: message.Chat, From: "+919876543210", Text: "Stop", ID: "wamid.1", SentAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Channel: message.Chat, From: "+919876543211", ID: "wamid.2", Media: "image"},
		{Channel: message.Chat, From: "+919876543212", Text: "Stop", ID: "wamid.4", SentAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Channel: message.Chat, Text: "STOP", ID: "wamid.3"},
	}
	if diff := cmp.Diff(want, c.Replies(signedCall(body, "secret"), parse)); diff != "" {
		t.Error(diff)
	}
	if got := c.Replies(signedCall(body, "other"), parse); len(got) != 0 {
		t.Errorf("a forged call has the replies %+v", got)
	}
}

// TestValueOfWrongType: a value of another type than documented loses neither the STOP of another
// person nor a status in the same call.
func TestValueOfWrongType(t *testing.T) {
	t.Parallel()
	c := whatsapp.Callbacks{AppSecret: "secret"}
	parse := phone.Parser{DefaultRegion: "IN"}.Parse
	for _, wrong := range []string{`"messages": [{"from": 919876543211, "text": "Stop"}]`, `"messages": {}`, `"statuses": [{"status": "failed", "errors": [{"code": "131026"}]}]`} {
		call := signedCall(`{"entry": [{"changes": [{"field": "messages", "value": {`+wrong+`}}, {"field": "messages", "value": {
			"statuses": [{"status": "sent", "biz_opaque_callback_data": "`+message.MessageRef{MessageID: "m", Attempt: 1}.String()+`"}],
			"messages": [{"from": "919876543210", "id": "wamid.1", "text": {"body": "Stop"}}]}}]}]}`, "secret")
		if got := c.Replies(call, parse); !slices.ContainsFunc(got, func(r message.Reply) bool { return r.From == "+919876543210" && r.Stops() }) {
			t.Errorf("%s: the STOP is lost: %+v", wrong, got)
		}
		if got, _ := c.Read(call); len(got) != 1 {
			t.Errorf("%s: %d statuses, want 1", wrong, len(got))
		}
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	c := whatsapp.Callbacks{VerifyToken: "token"}
	call := func(mode, token string) message.ProviderCall {
		return message.ProviderCall{Query: url.Values{"hub.mode": {mode}, "hub.verify_token": {token}, "hub.challenge": {"1158201444"}}}
	}
	if got, ok := c.Challenge(call("subscribe", "token")); !ok || got != "1158201444" {
		t.Errorf("got %q, %t; want the challenge", got, ok)
	}
	for _, wrong := range []message.ProviderCall{call("subscribe", "other"), call("subscribe", ""), call("", "token")} {
		if _, ok := c.Challenge(wrong); ok {
			t.Errorf("%v is accepted", wrong.Query)
		}
	}
	if _, ok := (whatsapp.Callbacks{}).Challenge(call("subscribe", "")); ok {
		t.Error("a call is accepted without a token")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(statuses(`{"status": "failed", "biz_opaque_callback_data": "a.1.whatsapp", "errors": [{"code": 1}]}`))
	f.Fuzz(func(t *testing.T, body string) {
		reports, signed := whatsapp.Callbacks{AppSecret: "s"}.Read(signedCall(body, "s"))
		for _, r := range reports {
			if !signed || r.Ref.MessageID == "" && r.Ref.String() == "" {
				t.Errorf("%q: %+v", body, r)
			}
		}
	})
}

// TestSenders: the number comes from the message or from its contact, in either form of its country. A message without a
// number has the user id, and never the number of another message of the call.
func TestSenders(t *testing.T) {
	t.Parallel()
	c := whatsapp.Callbacks{AppSecret: "secret"}
	parse := phone.Parser{DefaultRegion: "IN"}.Parse
	for value, want := range map[string][]string{
		`"messages": [{"from": "919876543210", "from_user_id": "IN.1"}]`: {"+919876543210 IN.1"},
		`"messages": [{"from": "+919876543210"}]`:                        {"+919876543210 "},
		`"messages": [{"from_user_id": "IN.1"}]`:                         {" IN.1"},
		`"messages": [{"from": "IN.1"}]`:                                 {" IN.1"},
		`"messages": [{"from": "IN.ENT.1a"}]`:                            {" IN.ENT.1a"},
		`"messages": [{}]`:                                               {" "},
		`"messages": [{"from_user_id": "a b"}]`:                          {" "},
		`"contacts": [{"user_id": "IN.1", "wa_id": "919876543210"}], "messages": [{"from_user_id": "IN.1"}]`:                                                {"+919876543210 IN.1"},
		`"contacts": [{"wa_id": "919876543210"}], "messages": [{"from_user_id": "IN.1"}]`:                                                                   {"+919876543210 IN.1"},
		`"contacts": [{"user_id": "IN.1"}], "messages": [{"id": "x"}]`:                                                                                      {" IN.1"},
		`"contacts": [{"user_id": "IN.2", "wa_id": "919876543210"}], "messages": [{"from_user_id": "IN.1"}]`:                                                {" IN.1"},
		`"contacts": [{"user_id": "IN.2", "wa_id": "919876543210"}], "messages": [{"from": "919876543210"}]`:                                                {"+919876543210 IN.2"},
		`"contacts": [{"wa_id": "919876543210"}], "messages": [{"from_user_id": "IN.1"}, {"from": "919876543210"}]`:                                         {" IN.1", "+919876543210 "},
		`"contacts": [{"user_id": "IN.1", "wa_id": "919876543210"}, {"user_id": "IN.2"}], "messages": [{"from_user_id": "IN.2"}, {"from_user_id": "IN.1"}]`: {" IN.2", "+919876543210 IN.1"},
		`"messages": [{"from": "5215512345678"}, {"from": "551187654321"}, {"from": "541123456789"}]`:                                                       {"+525512345678 ", "+5511987654321 ", "+5491123456789 "},
		`"messages": [{"from": "551134567890"}, {"from": "98765"}]`:                                                                                         {" ", " "},
	} {
		var got []string
		for _, r := range c.Replies(signedCall(`{"entry": [{"changes": [{"field": "messages", "value": {`+value+`}}]}]}`, "secret"), parse) {
			got = append(got, string(r.From)+" "+r.UserID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	reports, _ := c.Read(signedCall(statuses(`{"status": "sent", "recipient_user_id": "IN.7", "biz_opaque_callback_data": "a.1.whatsapp"}`), "secret"))
	if len(reports) != 1 || reports[0].Report.UserID != "IN.7" {
		t.Errorf("the user id of a status: %+v", reports)
	}
}

// TestKinds: what a message is, as the conversation names it.
func TestKinds(t *testing.T) {
	t.Parallel()
	c := whatsapp.Callbacks{AppSecret: "secret"}
	for m, want := range map[string]message.Reply{
		`"type": "reaction", "reaction": {"message_id": "q", "emoji": "👍"}`:                                                                   {Kind: message.ReplyReaction, Text: "👍", Context: "q"},
		`"type": "reaction", "reaction": {"message_id": "q"}`:                                                                                 {Kind: message.ReplyReaction, Context: "q"},
		`"type": "edit", "edit": {"original_message_id": "o", "message": {"type": "text", "text": {"body": "STOP"}, "context": {"id": "q"}}}`: {Kind: message.ReplyEdit, Text: "STOP", Context: "q"},
		`"type": "edit", "edit": {"original_message_id": "o", "text": {"body": "STOP"}}`:                                                      {Kind: message.ReplyEdit, Text: "STOP"},
		`"type": "edit", "edit": {"message": {"type": "image", "image": {"caption": "New"}}}`:                                                 {Kind: message.ReplyEdit, Media: "image", Text: "New"},
		`"type": "revoke", "revoke": {"original_message_id": "o"}`:                                                                            {Kind: message.ReplyDeleted},
		`"type": "unsupported", "errors": [{"code": 131051}]`:                                                                                 {Kind: message.ReplyUnsupported},
		`"type": "poll_creation"`: {Kind: message.ReplyUnsupported},
		`"type": "order"`:         {Kind: message.ReplyUnsupported},
		`"type": "interactive", "interactive": {"type": "nfm_reply"}`:                             {Kind: message.ReplyUnsupported},
		`"type": "interactive", "interactive": {"type": "list_reply", "list_reply": {"id": "b"}}`: {Button: "b"},
		`"type": "text", "text": {"body": "Hi"}`:                                                  {Text: "Hi"},
		`"type": "sticker"`:                                                                       {Media: "sticker"},
	} {
		got := c.Replies(signedCall(`{"entry": [{"changes": [{"field": "messages", "value": {"messages": [{"from": "919876543210", `+m+`}]}}]}]}`, "secret"), phone.Parser{}.Parse)
		want.Channel, want.From = message.Chat, "+919876543210"
		if diff := cmp.Diff([]message.Reply{want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m, diff)
		}
	}
	if got := c.Replies(signedCall(`{"entry": [{"changes": [{"field": "messages", "value": {"messages": [{"type": "system", "system": {"body": "A changed the number"}}]}}]}]}`, "secret"), phone.Parser{}.Parse); len(got) != 0 {
		t.Errorf("a message of WhatsApp is a reply: %+v", got)
	}
}
