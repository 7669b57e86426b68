package message

import "strings"

// The states of a call with an OTP. The language follows, for a call whose code has ended.
const (
	otpAsksOnce  = "otp."
	otpAsksTwice = "otp2."
	// callHears is the key to hear the code.
	callHears = "1"
)

// AnswerOTPCall takes a step of a call with the OTP of m, as voice.Answerer. live is false if the code no
// longer works; m then has no code. The code is spoken after a key alone, so that no mailbox records it. The call
// asks for the key twice.
func AnswerOTPCall(m Message, live bool, state, key string) CallPrompt {
	_, spoken, asked := strings.Cut(state, ".")
	w := textsIn(SpokenLanguage(m.Language))
	switch {
	case !live:
		w = textsIn(SpokenLanguage(spoken))
		return CallPrompt{Language: w.language, Lines: []string{w.byKey["call.otp.old"]}}
	case asked && key == callHears:
		return CallPrompt{Language: w.language, Lines: SpokenOTP(m)[1:]} // without the greeting
	case strings.HasPrefix(state, otpAsksTwice):
		return CallPrompt{Language: w.language, Lines: []string{w.byKey["call.otp.silent"]}}
	}
	p := CallPrompt{Language: w.language, Lines: []string{w.byKey["call.otp.press"]}, Keys: callHears, State: otpAsksTwice + w.language}
	if !asked {
		p.Lines = []string{SpokenOTP(m)[0], p.Lines[0]}
		p.State = otpAsksOnce + w.language
	}
	return p
}
