package voice_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/voice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

func otp(language string) message.Message {
	return message.Message{ID: "1", Kind: message.OTP, To: "+919876543210", Role: actor.Guardian, Language: language, Brand: "Sunrise", Code: "0481"}
}

func noTestNumber(phone.Number) bool { return false }

// TestSpokenOTP: a call says each digit twice, in the language of the person.
func TestSpokenOTP(t *testing.T) {
	for language, want := range map[string]string{"": "zero. four. eight. one.", "en": "zero. four. eight. one.", "hi": "शून्य। चार। आठ। एक।"} {
		if text := strings.Join(message.SpokenOTP(otp(language)), "\n"); strings.Count(text, want) != 2 {
			t.Errorf("%q: %q does not say %q twice", language, text, want)
		}
	}
}

// TestGateway: a gateway gets the number, the text and its language. Its status decides as for SMS.
func TestGateway(t *testing.T) {
	status := http.StatusAccepted
	var got map[string]string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(gateway.Close)
	transport, err := voice.NewHTTP(gateway.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := voice.NewSender(transport, noTestNumber)
	if err := s.Send(t.Context(), otp("hi")); err != nil {
		t.Fatal(err)
	}
	if got["id"] != "1" || got["to"] != "+919876543210" || got["kind"] != "otp" || got["language"] != "hi" || !strings.Contains(got["text"], "चार।") {
		t.Errorf("the gateway got %v", got)
	}
	for code, permanent := range map[int]bool{422: true, 503: false} {
		status = code
		failed, ok := errors.AsType[*message.SendError](s.Send(t.Context(), otp("en")))
		if !ok || failed.Permanent != permanent || strings.Contains(failed.Error(), "987") {
			t.Errorf("%d: %+v, want permanent %t", code, failed, permanent)
		}
	}
}

// TestOnlyOTPs: a message of another kind is no call.
func TestOnlyOTPs(t *testing.T) {
	shown := 0
	s := voice.NewSender(&voice.Log{Show: func(voice.Call) { shown++ }}, noTestNumber)
	m := otp("en")
	m.Kind = message.Team
	failed, ok := errors.AsType[*message.SendError](s.Send(t.Context(), m))
	if !ok || !failed.Permanent || shown != 0 {
		t.Errorf("%+v and %d calls, want a permanent failure", failed, shown)
	}
}
