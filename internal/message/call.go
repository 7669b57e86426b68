package message

import (
	"strconv"
	"strings"
	"time"
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
}

// sureState begins a CallSure.
const sureState = "sure:"

// String returns the state.
func (s CallSure) String() string {
	return sureState + strconv.FormatInt(s.AskedAt.Unix(), 10) + ":" + s.Token
}

// ParseCallSure parses a CallSure. It accepts only what String returns.
func ParseCallSure(state string) (s CallSure, ok bool) {
	digits, token, ok := strings.Cut(strings.TrimPrefix(state, sureState), ":")
	n, err := strconv.ParseInt(digits, 10, 64)
	s = CallSure{time.Unix(n, 0).UTC(), token}
	return s, ok && err == nil && n > 0 && s.String() == state
}

// callWords are the texts of calls in one language.
type callWords struct {
	keys, checkKeys                    string
	tooLate, undone                    string
	silent, over, stopped, unavailable string
}

var callWordsByLanguage = map[string]callWords{
	english: {
		keys:        "Press 1 for yes, 2 for no, 3 if this is not you, 9 to hear it again.",
		checkKeys:   "Press 1 again to say yes, 2 for no, 9 to hear it again.",
		tooLate:     "That was more than 10 minutes ago, so it does not count.",
		undone:      "You can change this with the link in our message, or with a new code on our page. Goodbye.",
		silent:      "We heard no key, so nothing changed. You can still answer with the link in our message. Goodbye.",
		over:        "Nothing changed. This call is over. You can still answer with the link in our message. Goodbye.",
		stopped:     "Nothing changed. You want no messages from this coach. You can still answer with a new code on our page. Goodbye.",
		unavailable: "Nothing changed. This question is not for this number. Goodbye.",
	},
	hindi: {
		keys:        "हाँ के लिए 1 दबाएँ, ना के लिए 2, अगर यह आप नहीं हैं तो 3, फिर से सुनने के लिए 9।",
		checkKeys:   "हाँ कहने के लिए फिर से 1 दबाएँ, ना के लिए 2, फिर से सुनने के लिए 9।",
		tooLate:     "10 मिनट से ज़्यादा हो गए, इसलिए यह नहीं गिना गया।",
		undone:      "आप इसे हमारे संदेश के लिंक से, या हमारे पेज पर नए कोड से बदल सकते हैं। नमस्ते।",
		silent:      "कोई बटन नहीं दबा, इसलिए कुछ नहीं बदला। आप हमारे संदेश के लिंक से अब भी जवाब दे सकते हैं। नमस्ते।",
		over:        "कुछ नहीं बदला। यह कॉल खत्म हो गई है। आप हमारे संदेश के लिंक से अब भी जवाब दे सकते हैं। नमस्ते।",
		stopped:     "कुछ नहीं बदला। आप इस कोच के संदेश नहीं चाहते। आप हमारे पेज पर नए कोड से अब भी जवाब दे सकते हैं। नमस्ते।",
		unavailable: "कुछ नहीं बदला। यह सवाल इस नंबर के लिए नहीं है। नमस्ते।",
	},
}

// CallQuestion is a question that a call asks.
type CallQuestion struct {
	RequestDetails
	Language, Brand string
}

// CallQuestionOf returns the question of a message.
func CallQuestionOf(m Message) CallQuestion { return CallQuestion{m.Request, m.Language, m.Brand} }

func (q CallQuestion) words() callWords { return callWordsByLanguage[SpokenLanguage(q.Language)] }

func (q CallQuestion) chat() ChatQuestion {
	return ChatQuestion{StudentName: q.StudentName, CoachName: q.CoachName, Party: q.Party, Language: SpokenLanguage(q.Language)}
}

func (q CallQuestion) ending(lines ...string) CallPrompt {
	return CallPrompt{Language: SpokenLanguage(q.Language), Lines: lines}
}

// Ask asks the question. Its text is that of the message by WhatsApp, without the part that names its buttons.
func (q CallQuestion) Ask() CallPrompt {
	details := q.RequestDetails
	details.Repeated = false
	text := requestText(Message{Kind: Request, Language: SpokenLanguage(q.Language), Brand: q.Brand, Request: details})
	question, _, _ := strings.Cut(whatsAppTemplates[text.Language][text.Template], "?")
	p := q.ending(fillIn(question, text.Values)+"?", q.words().keys)
	p.Keys, p.State = CallYes+CallNo+CallNotMe+CallAgain, CallAsks
	return p
}

// Check asks once more, so that a slip of the finger is no consent.
func (q CallQuestion) Check(s CallSure) CallPrompt {
	c := q.chat()
	p := q.ending(c.fill(chatWordsOf(c.Language).check), q.words().checkKeys)
	p.Keys, p.State = CallYes+CallNo+CallAgain, s.String()
	return p
}

// TooLate says that the check question is too old, and asks the question again.
func (q CallQuestion) TooLate() CallPrompt {
	p := q.Ask()
	p.Lines = append([]string{q.words().tooLate}, p.Lines...)
	return p
}

// Done says that an answer counts.
func (q CallQuestion) Done(action ChatAction) CallPrompt {
	return q.ending(q.chat().done(action), q.words().undone)
}

// Stands says how a question stands that can not be answered: state is the state of its request.
func (q CallQuestion) Stands(state string) CallPrompt {
	text, changes := q.chat().stands(state)
	if !changes {
		return q.ending(text)
	}
	return q.ending(text, q.words().undone)
}

// Silent ends a call in which no key was pressed, Over one that ended before, and Stopped one to a person who
// wants no messages of the coach. Nothing changes.
func (q CallQuestion) Silent() CallPrompt  { return q.ending(q.words().silent) }
func (q CallQuestion) Over() CallPrompt    { return q.ending(q.words().over) }
func (q CallQuestion) Stopped() CallPrompt { return q.ending(q.words().stopped) }

// NotAsked ends a call to a number that the question is not for.
func NotAsked() CallPrompt {
	var q CallQuestion
	return q.ending(q.words().unavailable)
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
