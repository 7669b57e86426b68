package sms_test

import (
	"net/url"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/platform/phone"
)

func TestReplyReaders(t *testing.T) {
	t.Parallel()
	readers := sms.ReplyReaders(sms.Config{
		Accounts: []sms.Account{
			{Kind: "twilio", Password: "token"},
			{Kind: "kannel", ReplySecret: "0123456789abcdef"},
			{Kind: "kannel"},
			{Kind: "kannel", ReplySecret: "fedcba9876543210"},
			{Kind: "http"},
		},
	}, phone.Parser{DefaultRegion: "IN"}.Parse)
	if len(readers) != 2 {
		t.Errorf("%d readers, want the readers of Twilio and Kannel", len(readers))
	}
	for from, want := range map[string]phone.Number{
		"+919876543210": "+919876543210", "919876543210": "+919876543210", "9876543210": "+919876543210", "TLINES": "", "": "", "56161": "",
	} {
		got, ok := readers["kannel"](message.ProviderCall{Query: url.Values{"from": {from}, "text": {"STOP"}}}, "0123456789abcdef")
		if !ok || got.From != want || want != "" && !got.Stops() {
			t.Errorf("from %s: got %+v, %t; want %s", from, got, ok, want)
		}
	}
	call := message.ProviderCall{Query: url.Values{"from": {"9876543210"}, "text": {"STOP"}, "id": {"a-b"}, "sent_at": {"1767225600"}}}
	if got, _ := readers["kannel"](call, "0123456789abcdef"); got.ID != "a-b" || got.SentAt.Unix() != 1767225600 {
		t.Errorf("Kannel: got %+v, want the id and the time", got)
	}
	if _, ok := readers["kannel"](message.ProviderCall{}, "fedcba9876543210"); !ok {
		t.Error("the secret of the second Kannel is refused")
	}
	for _, secret := range []string{"", "0123456789abcde", "0123456789abcdefg"} {
		if _, ok := readers["kannel"](message.ProviderCall{}, secret); ok {
			t.Errorf("secret %q is accepted", secret)
		}
	}
	const address = "https://t.example/replies/twilio"
	form := url.Values{"From": {"+919876543210"}, "Body": {"Stop"}, "MessageSid": {"SM1"}, "To": {"+15005550006"}}
	if got, ok := readers["twilio"](twilioCall(address, address, "token", form), ""); !ok || got.From != "+919876543210" || !got.Stops() || got.ID != "SM1" {
		t.Errorf("Twilio: got %+v, %t", got, ok)
	}
	form.Set("Body", "PARA")
	form.Set("OptOutType", "STOP")
	if got, _ := readers["twilio"](twilioCall(address, address, "token", form), ""); !got.Stops() {
		t.Errorf("Twilio's Advanced Opt-Out: got %+v", got)
	}
	form.Set("OptOutType", "stop")
	if got, _ := readers["twilio"](twilioCall(address, address, "token", form), ""); !got.Stops() {
		t.Errorf("Twilio's Advanced Opt-Out in small letters: got %+v", got)
	}
	for _, tt := range []struct{ files, mediaType, want string }{
		{"0", "", ""},
		{"", "", ""},
		{"x", "", ""},
		{"1", "image/jpeg", "image"},
		{"2", "video/3gpp", "video"},
		{"1", "audio/amr", "audio"},
		{"1", "application/pdf", "document"},
		{"1", "text/x-vcard", "contacts"},
		{"1", "text/vcard; charset=utf-8", "contacts"},
		{"1", "", "document"},
		{"1", "IMAGE/PNG", "image"},
		{"1", "\x00/", "document"},
	} {
		mms := url.Values{"From": {"+919876543210"}, "Body": {""}, "MessageSid": {"MM1"}, "NumMedia": {tt.files}, "MediaContentType0": {tt.mediaType}}
		if got, ok := readers["twilio"](twilioCall(address, address, "token", mms), ""); !ok || got.Media != tt.want || tt.want != "" && !message.IsMedia(got.Media) {
			t.Errorf("%s files of %q: media %q, %t; want %q", tt.files, tt.mediaType, got.Media, ok, tt.want)
		}
	}
	if _, ok := readers["twilio"](twilioCall(address, address, "other", form), ""); ok {
		t.Error("a forged call of Twilio is accepted")
	}
	if without := sms.ReplyReaders(sms.Config{Accounts: []sms.Account{{Kind: "kannel"}}}, phone.Parser{}.Parse); len(without) != 0 {
		t.Error("Kannel has a reader without a secret")
	}
}
