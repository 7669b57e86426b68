package sms_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/phone"
)

// receiptCalls records the calls of receipts.
func receiptCalls(t *testing.T) (address string, calls chan *http.Request) {
	t.Helper()
	calls = make(chan *http.Request, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- r
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

// TestKannel sends through a real Kannel and gets its receipts.
func TestKannel(t *testing.T) {
	t.Parallel()
	k := smstest.StartKannel(t)
	address, calls := receiptCalls(t)
	newProvider := func(password, sender string) sms.Provider {
		t.Helper()
		p, err := sms.New(sms.Config{Accounts: []sms.Account{{Kind: "kannel", URL: k.URL, User: k.User, Password: password, Sender: sender}}, ReceiptURL: func(ref message.MessageRef) string { return address + "/" + ref.String() }})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	provider := newProvider(k.Password, "")
	to := func(id, number, text string) sms.Message {
		return sms.Message{ID: id, TotalAttempts: 2, To: phone.Number(number), Text: text, Kind: sms.Text}
	}
	wantReceipt := func(id string, want message.Receipt) {
		t.Helper()
		select {
		case r := <-calls:
			got, final, _ := readKannel(r.URL.Query())
			if r.Method != "GET" || r.URL.Path != "/"+id+".2.kannel" || got.Receipt != want || !final {
				t.Errorf("receipt: got %s %s, %+v; want GET /%s.2.kannel, %s", r.Method, r.URL, got, id, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no receipt of message %s", id)
		}
	}

	// The network prints a message before its receipt, but the test may read that later.
	wantMessage := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !slices.Contains(k.Messages(), want); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("the network got %q, want %q", k.Messages(), want)
				return
			}
		}
	}

	const number = "+919876543210"
	long := strings.TrimSpace(strings.Repeat("long ", 60))
	for i, tt := range []struct{ text, want string }{
		{"123456 is your code. @ £ {x} € <&>%", "TLINE " + number + " text 123456 is your code. @ £ {x} € <&>%"},
		{"two\nlines", "TLINE " + number + " text two\nlines"},
		{"हिन्दी में संदेश 🏏", "TLINE " + number + " ucs-2 हिन्दी में संदेश 🏏"},
		{long, "TLINE " + number + " long " + long},
	} {
		id := fmt.Sprint("message-", i)
		if err := provider.Send(t.Context(), to(id, number, tt.text)); err != nil {
			t.Fatalf("send %q: %v", tt.text, err)
		}
		wantReceipt(id, message.ReceiptDelivered)
		wantMessage(tt.want)
	}
	if err := newProvider(k.Password, "ACADEMY").Send(t.Context(), to("sender", number, "hello")); err != nil {
		t.Fatal(err)
	}
	wantReceipt("sender", message.ReceiptDelivered)
	wantMessage("ACADEMY " + number + " text hello")

	// Kannel reports this failure in its response and by a receipt.
	err := provider.Send(t.Context(), to("unroutable", smstest.UnroutablePrefix+"00001", "hello"))
	if failed, ok := errors.AsType[*message.SendError](err); !ok || !failed.Permanent {
		t.Errorf("number without a route: err = %v, want a permanent failure", err)
	}
	wantReceipt("unroutable", message.ReceiptUndeliverable)

	err = newProvider("wrong", "").Send(t.Context(), to("unauthorized", number, secretText))
	if failed, ok := errors.AsType[*message.SendError](err); !ok || failed.Permanent || strings.Contains(err.Error(), "424242") {
		t.Errorf("wrong password: err = %v, want a temporary failure", err)
	}
}

// TestKannelRequest checks the request, and what each response of Kannel means.
func TestKannelRequest(t *testing.T) {
	for _, tt := range []struct {
		status              int
		body                string
		accepted, permanent bool
	}{
		{202, "0: Accepted for delivery", true, false},
		{202, "3: Queued for later delivery", true, false},
		{200, "OK", false, false}, // not Kannel
		{400, "Missing receiver(s) number(s), rejected", false, true},
		{403, "Not routable. Do not try again.", false, true},
		{403, "Authorization failed for sendsms", false, false},
		{404, "", false, false},
		{503, "Temporal failure, try again later.", false, false},
	} {
		var got *http.Request
		var text []byte
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			text, _ = io.ReadAll(r.Body)
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		p, err := sms.New(sms.Config{Accounts: []sms.Account{{Kind: "kannel", URL: s.URL + "/cgi-bin/sendsms", User: "me", Password: secretUser}}, ReceiptURL: func(ref message.MessageRef) string { return "https://t.example/receipts/" + ref.String() }})
		if err != nil {
			t.Fatal(err)
		}
		err = p.Send(t.Context(), newMessage(secretText))
		s.Close()
		failed, _ := errors.AsType[*message.SendError](err)
		if (err == nil) != tt.accepted || err != nil && (failed == nil || failed.Permanent != tt.permanent) {
			t.Errorf("%d %s: err = %v, want accepted = %t, permanent = %t", tt.status, tt.body, err, tt.accepted, tt.permanent)
		}
		if err != nil && (strings.Contains(err.Error(), secretUser) || strings.Contains(err.Error(), "9876543210")) {
			t.Errorf("the error contains a secret: %v", err)
		}
		if got.URL.RawQuery != "" || got.Header.Get("X-Kannel-Password") != secretUser || string(text) != secretText ||
			got.Header.Get("X-Kannel-DLR-Url") != "https://t.example/receipts/"+newMessage("").ID+".1.kannel?type=%d&answer=%A" {
			t.Errorf("request %s %v %q", got.URL, got.Header, text)
		}
	}
}

// readKannel reads the parameters of a receipt.
func readKannel(parameters url.Values) (r message.Report, final, ok bool) {
	return sms.ReceiptReaders(sms.Config{Accounts: []sms.Account{{Kind: "kannel"}}})["kannel"](message.ProviderCall{Query: parameters})
}

func TestKannelReceipt(t *testing.T) {
	const delivered, undeliverable, unreachable = message.ReceiptDelivered, message.ReceiptUndeliverable, message.ReceiptUnreachable
	for _, tt := range []struct {
		kind, answer string
		want         message.Receipt // "" if the call says nothing final
		cause        message.Cause
		says         string
	}{
		{"1", "id:1 sub:001 dlvrd:001 submit date:2611220810 done date:2611220811 stat:DELIVRD err:000 text:123456 is", delivered, "", ""},
		{"1", "", delivered, "", ""},
		{"2", "id:1 stat:UNDELIV err:001 text:123456 is", undeliverable, "unknown_number", "id:1 stat:UNDELIV err:001"},
		{"2", "id:1 stat:UNDELIV err:000 text:", undeliverable, "", "id:1 stat:UNDELIV err:000"},
		{"2", "id:1 stat:UNDELIV err:027 text:", unreachable, "phone_off", "id:1 stat:UNDELIV err:027"},
		{"2", "id:1 stat:UNDELIV err:6 text:", unreachable, "phone_off", ""},
		{"2", "id:1 stat:undeliv err:032 text:", unreachable, "memory_full", ""},
		{"2", "id:1 stat:UNDELIV err:034 text:", unreachable, "network", ""},
		{"2", "id:1 stat:UNDELIV err:013 text:", undeliverable, "blocked", ""},
		{"2", "id:1 stat:UNDELIV err:021 text:", undeliverable, "not_mobile", ""},
		{"2", "id:1 stat:UNDELIV err:0ZZ text:", undeliverable, "", ""},
		{"2", "id:1 stat:UNDELIV text: err:027", undeliverable, "", "id:1 stat:UNDELIV"},
		{"2", "id:1 stat:REJECTD err:004 Text:", undeliverable, "", "id:1 stat:REJECTD err:004"},
		{"2", "", undeliverable, "", ""},
		// The cause is past the 120 bytes that are logged.
		{
			"2", "id:0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21 sub:001 dlvrd:000 submit date:2607281200 done date:2607281205 stat:UNDELIV err:006 text:", unreachable, "phone_off",
			"id:0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21 sub:001 dlvrd:000 submit date:2607281200 done date:2607281205 stat:UNDELIV err:0",
		},
		{"2", "id:1 stat:EXPIRED err:000 text:", unreachable, "phone_off", "id:1 stat:EXPIRED err:000"},
		{"2", "id:1 stat:DELETED err:001 text:", unreachable, "network", ""},
		{"16", "NACK/11/Invalid Destination Address", undeliverable, "unknown_number", "NACK/11/Invalid Destination Address"},
		{"16", "NACK/no SMSC", undeliverable, "", "NACK/no SMSC"},
		{"16", "NACK/88/Throttling error", unreachable, "network", "NACK/88/Throttling error"},
		{"16", "NACK/Retries Exceeded", unreachable, "network", "NACK/Retries Exceeded"},
		{"16", "NACK/\x1b[2J\xff" + strings.Repeat("x", 300), undeliverable, "", ""},
		// Ⱥ has more bytes in lower case, İ fewer.
		{"2", strings.Repeat("Ⱥ", 8) + "text:123456 is", undeliverable, "", strings.Repeat("Ⱥ", 8)},
		{"2", strings.Repeat("Ⱥ", 40) + "Text:123456 is", undeliverable, "", strings.Repeat("Ⱥ", 40)},
		{"2", "id:İ stat:UNDELIV text:123456 is", undeliverable, "", "id:İ stat:UNDELIV"},
		{"4", "", "", "", ""},
		{"8", "ACK/", "", "", ""},
		{"", "", "", "", ""},
		{"17", "stat:UNDELIV", "", "", ""},
	} {
		got, final, ok := readKannel(url.Values{"type": {tt.kind}, "answer": {tt.answer}})
		if got.Receipt != tt.want || got.Cause != tt.cause || final != (tt.want != "") || !ok || got.NetworkSays != tt.says && tt.says != "" ||
			len(got.NetworkSays) > 120 || strings.ContainsRune(got.NetworkSays, '\x1b') {
			t.Errorf("type %s, %q: got %+v; want %q, %q, %q", tt.kind, tt.answer, got, tt.want, tt.cause, tt.says)
		}
	}
}
