package message

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/language"
)

// CallPrompt is what a call says in one step, and the keys for which it then waits.
type CallPrompt struct {
	// Language is a code such as "en".
	Language string
	// Lines are spoken with a pause after each.
	Lines []string
	// Keys are the keys that count, such as "1239". If it is empty, the call ends after the lines.
	Keys string
	// State names the step. The transport returns it with the key.
	State string
}

// The keys of a call, and the state of the prompt with the question.
const (
	CallYes   = "1"
	CallNo    = "2"
	CallNotMe = "3"
	CallAgain = "9"
	CallAsks  = "ask"
)

// CallSure is the state of the prompt with the check question.
type CallSure struct {
	AskedAt time.Time
	// Token proves that the call asked it then.
	Token string
	// Version is the version of the request that the call named.
	Version int64
}

// sureState begins a CallSure.
const sureState = "sure:"

// String returns the state.
func (s CallSure) String() string {
	return sureState + strconv.FormatInt(s.AskedAt.Unix(), 10) + ":" + s.Token + versionSuffix(s.Version)
}

// ParseCallAsks parses the state of the prompt with the question, and returns the version of the request that it named.
func ParseCallAsks(state string) (version int64, ok bool) {
	state, version = cutVersion(state)
	return version, state == CallAsks
}

// ParseCallSure parses a CallSure. It accepts only what String returns.
func ParseCallSure(state string) (s CallSure, ok bool) {
	rest, version := cutVersion(state)
	digits, token, ok := strings.Cut(strings.TrimPrefix(rest, sureState), ":")
	n, err := strconv.ParseInt(digits, 10, 64)
	s = CallSure{time.Unix(n, 0).UTC(), token, version}
	return s, ok && err == nil && n > 0 && s.String() == state
}

// CallQuestion is a question that a call asks.
type CallQuestion struct {
	RequestDetails
	Language, Brand string
}

// CallQuestionOf returns the question of a message.
func CallQuestionOf(m Message) CallQuestion { return CallQuestion{m.Request, m.Language, m.Brand} }

func (q CallQuestion) text(key string) string {
	return textsIn(SpokenLanguage(q.Language)).byKey["call."+key]
}

func (q CallQuestion) chat() ChatQuestion {
	return ChatQuestion{StudentName: q.StudentName, CoachName: q.CoachName, Party: q.Party, Language: SpokenLanguage(q.Language)}
}

func (q CallQuestion) ending(lines ...string) CallPrompt {
	return CallPrompt{Language: SpokenLanguage(q.Language), Lines: lines}
}

// Ask asks the question. Its text is the message by WhatsApp without the part that names its buttons.
func (q CallQuestion) Ask() CallPrompt {
	details := q.RequestDetails
	details.Repeated = false
	text := requestText(Message{Kind: Request, Language: SpokenLanguage(q.Language), Brand: q.Brand, Request: details})
	question := textsIn(text.Language).byKey["whatsapp."+text.Template]
	if end := strings.IndexAny(question, "?؟"); end >= 0 {
		_, mark := utf8.DecodeRuneInString(question[end:])
		question = question[:end+mark]
	}
	p := q.ending(fillIn(question, text.Values), q.text("keys"))
	p.Keys, p.State = CallYes+CallNo+CallNotMe+CallAgain, CallAsks+versionSuffix(q.Version)
	return p
}

// Check asks once more, so that a slip of the finger is no consent.
func (q CallQuestion) Check(s CallSure) CallPrompt {
	c := q.chat()
	p := q.ending(c.text("check"), q.text("keys.check"))
	p.Keys, p.State = CallYes+CallNo+CallAgain, s.String()
	return p
}

// TooLate says that the check question is too old, and asks the question again.
func (q CallQuestion) TooLate() CallPrompt {
	p := q.Ask()
	p.Lines = append([]string{q.text("too_late")}, p.Lines...)
	return p
}

// Changed says that the question has changed since the call asked it, and asks it again.
func (q CallQuestion) Changed() CallPrompt {
	p := q.Ask()
	p.Lines = append([]string{q.chat().text("changed")}, p.Lines...)
	return p
}

// Done says that an answer counts.
func (q CallQuestion) Done(action ChatAction) CallPrompt {
	return q.ending(q.chat().text("done."+string(action)), q.text("change"))
}

// Stands is ChatQuestion.Stands in a call.
func (q CallQuestion) Stands(state string) CallPrompt {
	text, changes := q.chat().stands(state)
	if !changes {
		return q.ending(text)
	}
	return q.ending(text, q.text("change"))
}

// Prove ends a call in which a yes needs a proof of an adult first.
func (q CallQuestion) Prove() CallPrompt { return q.ending(q.text("prove")) }

// Silent ends a call in which no key was pressed, Over one that ended before, and Stopped one to a person who
// wants no messages of the coach. Nothing changes.
func (q CallQuestion) Silent() CallPrompt  { return q.ending(q.text("silent")) }
func (q CallQuestion) Over() CallPrompt    { return q.ending(q.text("over")) }
func (q CallQuestion) Stopped() CallPrompt { return q.ending(q.text("stopped")) }

// NotAsked ends a call to a number that the question is not for.
func NotAsked() CallPrompt {
	var q CallQuestion
	return q.ending(q.text("not_asked"))
}

// SpokenLanguage returns the language in which a call speaks to a person who chose a language: not all have a voice.
func SpokenLanguage(chosen string) string { return language.Spoken(chosen) }

// SpokenOTP returns what a call with the OTP of m says. A voice pauses after each line. The digits
// are words with full stops, so that every voice reads them one by one and slowly, and come twice.
func SpokenOTP(m Message) []string {
	w := textsIn(SpokenLanguage(m.Language))
	var words []string
	for _, digit := range m.Code {
		words = append(words, w.byKey["call.digit."+string(digit)])
	}
	digits := strings.Join(words, " ")
	hello := w.fill("call.otp.hello", map[string]string{"brand": m.Brand})
	return []string{hello, w.byKey["call.otp.code"], digits, w.byKey["call.otp.again"], digits, w.byKey["call.otp.secret"]}
}

// callNight are the hours in which no call with a question rings.
var callNight = QuietHours{Start: 20 * 60, End: 9 * 60}

// CallZone returns the time zone whose hours count for a call to the person: the chosen one, else the
// coach's if both have a number of the same country, else the zone of the number.
func (r Recipient) CallZone() *time.Location {
	p := r.Preferences
	if p.TimeZone == "" && r.CoachZone != "" && r.Number.Region() == r.CoachNumber.Region() {
		p.TimeZone = r.CoachZone
	}
	return p.Zone(r.Number)
}

// CallAt returns when a call with a question may ring: now, or after the night (20 to 9 o'clock) and the
// quiet hours of the person. until is when the next of them begin. ok is false if quiet hours cover the
// whole day.
func (r Recipient) CallAt(now time.Time) (at, until time.Time, ok bool) {
	at = now.In(r.CallZone())
	quiet := r.Preferences.QuietHours
	for range 4 {
		end := callNight.EndAfter(at)
		if end.IsZero() && quiet.Set() {
			end = quiet.EndAfter(at)
		}
		if end.IsZero() {
			until = callNight.Start.on(at)
			if start := quiet.Start.on(at); quiet.Set() && start.After(at) && start.Before(until) {
				until = start
			}
			return at.UTC(), until.UTC(), true
		}
		at = end
	}
	return time.Time{}, time.Time{}, false
}
