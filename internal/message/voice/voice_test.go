package voice_test

import (
	"errors"
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
