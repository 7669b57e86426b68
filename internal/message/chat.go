package message

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/actor"
)

// maxButton is how many characters a button under a message has at most.
const maxButton = 20

// ChatButton is a button under a WhatsApp message. A press returns its ID as Reply.Button.
type ChatButton struct{ ID, Text string }

// ChatAnswer is what the service says to a person who wrote or pressed a button.
type ChatAnswer struct {
	Text    string
	Buttons []ChatButton
	// Code is the OTP in the text, or empty.
	Code string
	// Choose opens the list in place of more buttons than WhatsApp shows.
	Choose string
}

// ChatAction is what a button of a question says.
type ChatAction string

// The actions. Yes asks again, and Sure is the answer to that.
const (
	ChatYes   ChatAction = "yes"
	ChatSure  ChatAction = "sure"
	ChatNo    ChatAction = "no"
	ChatNotMe ChatAction = "not_me"
	ChatCoach ChatAction = "coach"
	// ChatAsk asks for each question of a message of several, which has no buttons for the answers: a
	// button must name one question.
	ChatAsk ChatAction = "ask"
)

// ChatCheckFor is how long the check question can be answered.
const ChatCheckFor = 10 * time.Minute

// ChatPress is a press on a button.
type ChatPress struct {
	Action ChatAction
	// ID is the delivery of the question, for ChatAsk the first one of the message, or the coach for ChatCoach.
	ID string
	// AskedAt is when the check question was asked, for ChatSure.
	AskedAt time.Time
	// Version is the version of the request that the message showed, for the answers to a question. Language is the language in
	// which it showed it, or empty for the default one.
	Version  int64
	Language string
}

// String returns the ID of the button.
func (p ChatPress) String() string {
	s := string(p.Action) + ":" + p.ID
	if !p.AskedAt.IsZero() {
		s += ":" + strconv.FormatInt(p.AskedAt.Unix(), 10)
	}
	if p.Language != "" && p.Language != language.English {
		s += languageMark + p.Language
	}
	return s + versionSuffix(p.Version)
}

// languageMark begins the language in the name of a button.
const languageMark = ":l"

// cutLanguage cuts a languageMark and its language off.
func cutLanguage(s string) (rest, code string) {
	for _, l := range language.All() {
		if rest, ok := strings.CutSuffix(s, languageMark+l.Code); ok && l.Code != language.English {
			return rest, l.Code
		}
	}
	return s, ""
}

// versionSuffix ends the name of a button or of a step of a call that shows a version of a request. Version 1 has none.
func versionSuffix(version int64) string {
	if version <= 1 {
		return ""
	}
	return ":v" + strconv.FormatInt(version, 10)
}

// cutVersion cuts a versionSuffix off.
func cutVersion(s string) (rest string, version int64) {
	if i := strings.LastIndex(s, ":v"); i >= 0 {
		if n, err := strconv.ParseInt(s[i+2:], 10, 64); err == nil && versionSuffix(n) == s[i:] {
			return s[:i], n
		}
	}
	return s, 1
}

// ParseChatPress parses the ID of a button. It accepts only what String returns.
func ParseChatPress(s string) (p ChatPress, ok bool) {
	rest, version := cutVersion(s)
	rest, language := cutLanguage(rest)
	parts := strings.Split(rest, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return p, false
	}
	p = ChatPress{Action: ChatAction(parts[0]), ID: parts[1], Version: version, Language: language}
	if len(parts) == 3 {
		p.AskedAt = ParseSentAt(parts[2])
	}
	switch p.Action {
	case ChatCoach, ChatAsk:
		ok = p.AskedAt.IsZero() && version == 1 && language == ""
		p.Version = 0
	case ChatYes, ChatNo, ChatNotMe:
		ok = p.AskedAt.IsZero()
	case ChatSure:
		ok = !p.AskedAt.IsZero()
	}
	return p, ok && p.ID != "" && p.String() == s
}

// questionButtons are the buttons of the question of a delivery, which shows a version of its request.
func questionButtons(chosen, deliveryID string, version int64) []ChatButton {
	w := textsIn(language.Asked(chosen))
	return []ChatButton{
		{ChatPress{Action: ChatYes, ID: deliveryID, Version: version, Language: w.language}.String(), w.byKey["chat.yes"]},
		{ChatPress{Action: ChatNo, ID: deliveryID, Version: version, Language: w.language}.String(), w.byKey["chat.no"]},
		{ChatPress{Action: ChatNotMe, ID: deliveryID, Version: version, Language: w.language}.String(), w.byKey["chat.not_me"]},
	}
}

// ChatQuestion has the words about a question.
type ChatQuestion struct {
	DeliveryID             string
	StudentName, CoachName string
	Party                  actor.Role
	Language               string
	// URL is where the party can change its answer.
	URL string
	// Version is the version of the request, whose names the question has.
	Version int64
	// Approved: the party said yes to it before, so it is the right person and has no button "not me".
	Approved bool
}

func (q ChatQuestion) text(key string) string {
	w := textsIn(language.Asked(q.Language))
	return w.fill("chat."+key, map[string]string{"student": w.student(q.StudentName), "coach": w.yourCoach(q.CoachName), "link": q.URL})
}

// Check asks once more, so that a slip of the thumb is no consent.
func (q ChatQuestion) Check(now time.Time) ChatAnswer {
	w := textsIn(language.Asked(q.Language))
	sure := w.fill("chat.sure", map[string]string{"name": cmp.Or(FirstName(q.StudentName), w.student(""))})
	if utf8.RuneCountInString(sure) > maxButton {
		sure = string([]rune(sure)[:maxButton-1]) + "…"
	}
	return ChatAnswer{Text: q.text("check"), Buttons: []ChatButton{
		{ChatPress{ChatSure, q.DeliveryID, now, q.Version, w.language}.String(), sure},
		{ChatPress{Action: ChatNo, ID: q.DeliveryID, Version: q.Version, Language: w.language}.String(), w.byKey["chat.no"]},
	}}
}

// Ask asks the question.
func (q ChatQuestion) Ask() ChatAnswer {
	buttons := questionButtons(q.Language, q.DeliveryID, q.Version)
	if q.Approved {
		buttons = buttons[:2]
	}
	return ChatAnswer{Text: q.text("ask." + string(q.Party)), Buttons: buttons}
}

// TooLate says that the check question is too old, and asks the question again.
func (q ChatQuestion) TooLate() ChatAnswer {
	a := q.Ask()
	a.Text = q.text("too_late") + " " + a.Text
	return a
}

// Changed says that the question has changed since the message whose button was pressed, and asks it again.
func (q ChatQuestion) Changed() ChatAnswer {
	a := q.Ask()
	a.Text = q.text("changed") + " " + a.Text
	return a
}

// Prove says that a yes needs a proof of an adult first.
func (q ChatQuestion) Prove() ChatAnswer { return ChatAnswer{Text: q.text("prove")} }

// Done says that an answer counts.
func (q ChatQuestion) Done(action ChatAction) ChatAnswer {
	return ChatAnswer{Text: q.text("done."+string(action)) + " " + q.text("change")}
}

// Replaced says that a question is closed, and asks a newer one.
func (q ChatQuestion) Replaced(by ChatQuestion) ChatAnswer {
	a := by.Ask()
	a.Text = q.text("stands.closed") + " " + a.Text
	return a
}

// Stands says how a question stands that can not be answered: state is the answer in force, disputed or any other text.
func (q ChatQuestion) Stands(state string) ChatAnswer {
	text, changes := q.stands(state)
	if changes {
		text += " " + q.text("change")
	}
	return ChatAnswer{Text: text}
}

// stands returns the text of Stands, and whether the person can change the answer.
func (q ChatQuestion) stands(state string) (text string, changes bool) {
	switch state {
	case "approved", "rejected", "disputed":
		return q.text("stands." + state), true
	}
	return q.text("stands.closed"), false
}

// NotYours answers a button of a question that does not ask the number, or does not any more. It names no person.
func NotYours(language string) ChatAnswer {
	return ChatAnswer{Text: textsIn(language).byKey["chat.not_yours"]}
}

// WhichCoach asks which of several coaches is meant. coaches are the names by id, in the order of ids.
func WhichCoach(language string, ids []string, names map[string]string) ChatAnswer {
	w := textsIn(language)
	a := ChatAnswer{Text: w.byKey["chat.which_coach"], Choose: w.byKey["chat.choose"]}
	for _, id := range ids {
		name := []rune(w.yourCoach(names[id]))
		a.Buttons = append(a.Buttons, ChatButton{ChatPress{Action: ChatCoach, ID: id}.String(), string(name[:min(len(name), maxButton)])})
	}
	return a
}

// PassedOn says that a coach has the message, and TooManyReplies that the coach gets no more today.
func PassedOn(language, coach string) ChatAnswer {
	return ChatAnswer{Text: ChatQuestion{Language: language, CoachName: coach}.text("passed_on")}
}

func TooManyReplies(language, coach string) ChatAnswer {
	return ChatAnswer{Text: ChatQuestion{Language: language, CoachName: coach}.text("too_many")}
}

// FileNotOpened says that a coach can not open a file.
func FileNotOpened(language, coach string) ChatAnswer {
	return ChatAnswer{Text: ChatQuestion{Language: language, CoachName: coach}.text("no_file")}
}

// PressButton asks a question again with its buttons after a person wrote in place of pressing one.
func (q ChatQuestion) PressButton() ChatAnswer {
	a := q.Ask()
	a.Text = q.text("press_button") + " " + a.Text
	return a
}

// Stopped answers a STOP that ended the messages of a coach, NotStopped one that ended none because several coaches
// may write and no message came before it, and Allowed a START.
func Stopped(language, coach string) ChatAnswer {
	return ChatAnswer{Text: ChatQuestion{Language: language, CoachName: coach}.text("stopped")}
}

func NotStopped(language, url string) ChatAnswer {
	return ChatAnswer{Text: textsIn(language).fill("chat.not_stopped", map[string]string{"link": url})}
}

func Allowed(language string) ChatAnswer {
	return ChatAnswer{Text: textsIn(language).byKey["chat.allowed"]}
}

// Help answers HELP. url is where a family finds its answers.
func Help(language, brand, url string) ChatAnswer {
	return ChatAnswer{Text: textsIn(language).fill("chat.help", map[string]string{"brand": brand, "link": url})}
}

// maxReplyText is how many characters of a reply are kept.
const maxReplyText = 4000

// VisibleText returns the text of a reply without control characters, bidirectional overrides and other
// invisible characters, at most maxReplyText of them. A picture or another file is named, and so is a reply
// that is no new text. It is empty if there is nothing to read.
func (r Reply) VisibleText() string {
	text := strings.TrimSpace(strings.Map(visibleLine, strings.ToValidUTF8(r.Text, "")))
	if !strings.ContainsFunc(text, func(c rune) bool {
		return unicode.IsGraphic(c) && !unicode.IsSpace(c) && c != '\u2800' && c != '\u3164' && c != '\uffa0' && c != '\u115f' && c != '\u1160'
	}) {
		text = ""
	}
	if r.Media != "" {
		text = strings.TrimSpace("(" + mediaNames[r.Media] + ") " + text)
	}
	if name := kindNames[r.Kind]; name != "" {
		if r.Kind == ReplyReaction && text == "" {
			name = "reaction removed"
		}
		text = strings.TrimSpace("(" + name + ") " + text)
	}
	if runes := []rune(text); len(runes) > maxReplyText {
		text = string(runes[:maxReplyText-1]) + "…"
	}
	return text
}

// kindNames say in the conversation what a reply is that is no new text.
var kindNames = map[ReplyKind]string{
	ReplyReaction: "reaction", ReplyEdit: "edited", ReplyDeleted: "deleted a message", ReplyUnsupported: "a message that can not be shown",
	ReplyNoAnswer: "typed, no answer to your question",
}

// mediaNames are the names of files by the types of the Cloud API.
var mediaNames = map[string]string{
	"image": "picture", "audio": "voice note", "video": "video", "document": "document", "sticker": "sticker", "location": "location", "contacts": "contact",
}

// IsMedia reports whether a type of the Cloud API is named in the conversation.
func IsMedia(kind string) bool { return mediaNames[kind] != "" }
