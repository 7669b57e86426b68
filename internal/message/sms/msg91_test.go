package sms_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
)

// A message is sent as a registered template, with its variables cut to the length that the
// registry allows.
func TestMSG91Request(t *testing.T) {
	t.Parallel()
	api := smstest.NewMSG91(t)
	c := msg91Config(api)
	api.Templates["english"] = "##coach## added ##student## to ##batch##. May X send you news? Yes, no or not my child: code ##short_code## or ##link##"
	c.MSG91Templates["request_guardian.en"] = sms.MSG91Template{ID: "english", RegistryID: "1207160000000000002"}
	p, err := sms.New(c)
	if err != nil {
		t.Fatal(err)
	}
	text := message.SMSOf(message.Message{
		Kind: message.Request, Language: "hi", Brand: "X", Link: "https://touchline.example/a/AbCdEfGhIjKlMnOpQrStUv",
		Request: message.RequestDetails{Party: "guardian", CoachName: "Venkataraman Subramanian Iyengar", StudentName: "Asha", ShortCode: "KQTWXY"},
	})
	m := newMessage(text.Body)
	m.Template = text
	if err := p.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := api.Messages()[0]
	want := "कोच Venkataraman Subramanian Iyengar added Asha to एक बैच. May X send you news? Yes, no or not my child: code KQTWXY or https://touchline.example/a/AbCdEfGhIjKlMnOpQrStUv"
	if got.Text != want || got.To != "+919876543210" || got.RegistryID != "1207160000000000002" || got.CRQID != m.ID+".1.0000000000000000000001" {
		t.Errorf("sent %+v, want %q", got, want)
	}

	m.Template.Template = "unregistered"
	if failed := sendError(t, p, m); failed.Permanent || !strings.Contains(failed.Reason, "unregistered.hi") {
		t.Errorf("without a template: got %+v, want a temporary failure that names it", failed)
	}
	api.Refuse("+919876543210", "202")
	if failed := sendError(t, p, newMessage(secretText)); !failed.Permanent || failed.Cause != message.CauseUnknownNumber {
		t.Errorf("no mobile number: got %+v, want a permanent failure", failed)
	}
	api.Refuse("+919876543210", "301") // the balance is used up
	if failed := sendError(t, p, newMessage(secretText)); failed.Permanent || !failed.Outage || !strings.Contains(failed.Reason, "301") {
		t.Errorf("no balance: got %+v, want an outage", failed)
	}
}

// TestMSG91Reports reads reports of each version of the webhook.
func TestMSG91Reports(t *testing.T) {
	t.Parallel()
	readCall := sms.AccountReaders(sms.Config{Accounts: []sms.Account{{Kind: "msg91"}}})["msg91"]
	read := func(call message.ProviderCall) []message.AccountReport {
		reports, signed := readCall(call)
		if signed {
			t.Error("a call of MSG91 counts as signed")
		}
		return reports
	}
	const crqid = "0198c0de-0000-7000-8000-000000000001.3.c2VjcmV0LXNlY3JldC0xMg"
	ref := message.MessageRef{MessageID: "0198c0de-0000-7000-8000-000000000001", Attempt: 3, Provider: "msg91"}
	report := func(status, desc string) map[string]any {
		return map[string]any{"CRQID": crqid, "status": status, "desc": desc, "number": "919876543210", "failedReason": ""}
	}
	version2 := func(reports ...any) message.ProviderCall {
		data, _ := json.Marshal([]any{map[string]any{"senderId": "TLINES", "requestId": "1", "report": reports}})
		return message.ProviderCall{Form: url.Values{"data": {string(data)}}}
	}
	version3 := func(body any) message.ProviderCall {
		data, _ := json.Marshal(body)
		return message.ProviderCall{Body: data}
	}
	for _, tt := range []struct {
		status, desc string
		want         message.Receipt
		cause        message.Cause
	}{
		{"1", "DELIVERED", message.ReceiptDelivered, ""},
		{"2", "FAILED", message.ReceiptUnreachable, "network"},
		{"2", "ABSENT-SUB", message.ReceiptUnreachable, "phone_off"},
		{"2", "INVALID-SUB", message.ReceiptUndeliverable, "unknown_number"},
		{"2", "TEMPLATE-NOT-MATCHED", message.ReceiptUnreachable, "filtered"},
		{"2", "MESSAGE INBOX FULL", message.ReceiptUnreachable, "memory_full"},
		{"9", "NDNC", message.ReceiptUndeliverable, "blocked"},
		{"16", "REJECTED", message.ReceiptUnreachable, "filtered"},
		{"17", "Blocked number", message.ReceiptUndeliverable, "blocked"},
		{"8", "SUBMITTED", "", ""},
		{"", "", "", ""},
	} {
		for version, call := range map[string]message.ProviderCall{"2": version2(report(tt.status, tt.desc)), "3": version3(report(tt.status, tt.desc)), "list": version3([]any{report(tt.status, tt.desc)})} {
			got := read(call)
			if len(got) != 1 || got[0].Ref != ref || got[0].Secret != "c2VjcmV0LXNlY3JldC0xMg" || got[0].Report.Receipt != tt.want || got[0].Report.Cause != tt.cause || got[0].Final != (tt.want != "") {
				t.Errorf("version %s, %s %s: got %+v; want %q, %q", version, tt.status, tt.desc, got, tt.want, tt.cause)
			}
		}
	}
	for _, tt := range []struct {
		status, reason string
		want           message.Receipt
		cause          message.Cause
	}{
		{"1", "", message.ReceiptDelivered, ""},
		{"Delivered", "", message.ReceiptDelivered, ""},
		{"2", "Invalid Subscriber", message.ReceiptUndeliverable, "unknown_number"},
		{"Failed", "Absent Subscriber", message.ReceiptUnreachable, "phone_off"},
		{"Rejected", "", message.ReceiptUnreachable, "filtered"},
		{"Blocked number", "", message.ReceiptUndeliverable, "blocked"},
		{"NDNC", "", message.ReceiptUndeliverable, "blocked"},
		{"Submitted", "", "", ""},
	} {
		for _, id := range []string{crqid, `["` + crqid + `"]`} {
			got := read(version3(map[string]any{"requestId": "346", "telNum": "919876543210", "CRQID": id, "status": tt.status, "failureReason": tt.reason}))
			if len(got) != 1 || got[0].Ref != ref || got[0].Secret != "c2VjcmV0LXNlY3JldC0xMg" || got[0].Report.Receipt != tt.want || got[0].Report.Cause != tt.cause || got[0].Final != (tt.want != "") {
				t.Errorf("the new webhook, %s %s, CRQID %s: got %+v; want %q, %q", tt.status, tt.reason, id, got, tt.want, tt.cause)
			}
		}
	}
	for name, call := range map[string]message.ProviderCall{
		"nothing":                     {},
		"another system's message":    version3(map[string]any{"CRQID": "0", "status": "1"}),
		"a number":                    version3(map[string]any{"CRQID": 0, "status": 1}),
		"no CRQID":                    version3(map[string]any{"status": "1"}),
		"no JSON":                     {Body: []byte("status=1")},
		"a list of something else":    version3([]any{1, "x"}),
		"a form with something else":  {Form: url.Values{"data": {"x"}}},
		"another form":                {Form: url.Values{"status": {"1"}}},
		"CRQID with another attempt":  version3(map[string]any{"CRQID": "id.x.secret", "status": "1"}),
		"CRQID with too few parts":    version3(map[string]any{"CRQID": "id.secret", "status": "1"}),
		"CRQID that is no string":     version3(map[string]any{"CRQID": map[string]any{"a": 1}, "status": "1"}),
		"version 2 without a request": version2(),
	} {
		if got := read(call); len(got) != 0 {
			t.Errorf("%s: got %+v, want no report", name, got)
		}
	}
}
