package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/actor"
)

// ChatButton is a button under a WhatsApp message. A press returns its ID as Reply.Button.
type ChatButton struct{ ID, Text string }

// ChatAnswer is what the service says to a person who wrote or pressed a button.
type ChatAnswer struct {
	Text    string
	Buttons []ChatButton
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
}

// String returns the ID of the button.
func (p ChatPress) String() string {
	s := string(p.Action) + ":" + p.ID
	if !p.AskedAt.IsZero() {
		s += ":" + strconv.FormatInt(p.AskedAt.Unix(), 10)
	}
	return s
}

// ParseChatPress parses the ID of a button. It accepts only what String returns.
func ParseChatPress(s string) (p ChatPress, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return p, false
	}
	p = ChatPress{Action: ChatAction(parts[0]), ID: parts[1]}
	if len(parts) == 3 {
		p.AskedAt = ParseSentAt(parts[2])
	}
	switch p.Action {
	case ChatYes, ChatNo, ChatNotMe, ChatCoach, ChatAsk:
		ok = p.AskedAt.IsZero()
	case ChatSure:
		ok = !p.AskedAt.IsZero()
	}
	return p, ok && p.ID != "" && p.String() == s
}

// chatWords are the texts of ChatAnswers in one language.
type chatWords struct {
	yes, no, notMe, choose, answer   string
	askGuardian, askStudent          string
	check, sure                      string
	tooLate, yesDone, noDone, undone string
	notMeDone                        string
	isYes, isNo, isNotMe, isClosed   string
	notYours                         string
	which, passedOn, tooMany, help   string
	noFile                           string
}

// maxButton is how many characters a button under a message has at most.
const maxButton = 20

var chatWordsByLanguage = map[string]chatWords{
	english: {
		yes: "Yes", no: "No", notMe: "Not me", choose: "Choose", answer: "Answer here",
		askGuardian: "May coach %[2]s send you news about %[1]s?", askStudent: "%s, may coach %s send you training news?",
		check: "You are about to say yes for %s to coach %s. Is that right?", sure: "Yes, for %s",
		tooLate:   "That was more than 10 minutes ago, so it does not count. Please press again.",
		yesDone:   "Thank you. You said yes for %s to coach %s.",
		noDone:    "You said no for %s to coach %s.",
		notMeDone: "Thank you for telling us. Coach %[2]s can not ask this number about %[1]s any more.",
		undone:    "You can change this here: %s",
		isYes:     "Nothing changed. You said yes for %s to coach %s before.",
		isNo:      "Nothing changed. You said no for %s to coach %s before.",
		isNotMe:   "Nothing changed. You said that this is not you.",
		isClosed:  "Nothing changed. This question about %s from coach %s is closed.",
		notYours:  "Nothing changed. This question is not for this number.",
		which:     "You know more than one coach here. Who shall read what you wrote?",
		passedOn:  "Coach %s has your message.",
		tooMany:   "You wrote a lot today. Coach %s gets no more messages from you until tomorrow.",
		noFile:    "Coach %s can read texts here, but can not open pictures, voice notes and files. Please write it in words.",
		help:      "This is %s. Coaches write to families here. Write back, and the coach reads it. Send STOP to get no more messages. Your answers: %s",
	},
	hindi: {
		yes: "हाँ", no: "ना", notMe: "मैं नहीं", choose: "चुनें", answer: "यहाँ जवाब दें",
		askGuardian: "क्या कोच %[2]s आपको %[1]s की खबरें भेजें?", askStudent: "%s, क्या कोच %s आपको अभ्यास की खबरें भेजें?",
		check: "आप %s के लिए कोच %s को हाँ कहने वाले हैं। क्या यह ठीक है?", sure: "हाँ, %s",
		tooLate:   "10 मिनट से ज़्यादा हो गए, इसलिए यह नहीं गिना गया। कृपया फिर से दबाएँ।",
		yesDone:   "धन्यवाद। आपने %s के लिए कोच %s को हाँ कहा।",
		noDone:    "आपने %s के लिए कोच %s को ना कहा।",
		notMeDone: "बताने के लिए धन्यवाद। कोच %[2]s अब इस नंबर से %[1]s के बारे में नहीं पूछ सकते।",
		undone:    "आप इसे यहाँ बदल सकते हैं: %s",
		isYes:     "कुछ नहीं बदला। आपने %s के लिए कोच %s को पहले ही हाँ कहा है।",
		isNo:      "कुछ नहीं बदला। आपने %s के लिए कोच %s को पहले ही ना कहा है।",
		isNotMe:   "कुछ नहीं बदला। आपने कहा है कि यह आप नहीं हैं।",
		isClosed:  "कुछ नहीं बदला। %s के बारे में कोच %s का यह सवाल बंद है।",
		notYours:  "कुछ नहीं बदला। यह सवाल इस नंबर के लिए नहीं है।",
		which:     "यहाँ आपके एक से ज़्यादा कोच हैं। आपका संदेश कौन पढ़े?",
		passedOn:  "आपका संदेश कोच %s को मिल गया।",
		tooMany:   "आपने आज बहुत लिखा है। कोच %s को कल तक आपके और संदेश नहीं मिलेंगे।",
		noFile:    "कोच %s यहाँ लिखा हुआ पढ़ सकते हैं, पर तस्वीर, आवाज़ या फ़ाइल नहीं खोल सकते। कृपया लिखकर भेजें।",
		help:      "यह %s है। यहाँ कोच परिवारों को लिखते हैं। जवाब लिखें, कोच उसे पढ़ेंगे। संदेश नहीं चाहिए तो STOP भेजें। आपके जवाब: %s",
	},
}

func chatWordsOf(language string) chatWords {
	if w, ok := chatWordsByLanguage[language]; ok {
		return w
	}
	return chatWordsByLanguage[Languages[0]]
}

// questionButtons are the buttons of the question of a delivery.
func questionButtons(language, deliveryID string) []ChatButton {
	w := chatWordsOf(language)
	return []ChatButton{
		{ChatPress{Action: ChatYes, ID: deliveryID}.String(), w.yes},
		{ChatPress{Action: ChatNo, ID: deliveryID}.String(), w.no},
		{ChatPress{Action: ChatNotMe, ID: deliveryID}.String(), w.notMe},
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
}

func (q ChatQuestion) fill(text string) string {
	words := wordsOf(q.Language)
	return fmt.Sprintf(text, Name(q.StudentName, words.theStudent), Name(q.CoachName, words.yourCoach))
}

// Check asks once more, so that a slip of the thumb is no consent.
func (q ChatQuestion) Check(now time.Time) ChatAnswer {
	w := chatWordsOf(q.Language)
	first, _, _ := strings.Cut(Name(q.StudentName, wordsOf(q.Language).theStudent), " ")
	sure := fmt.Sprintf(w.sure, first)
	if utf8.RuneCountInString(sure) > maxButton {
		sure = string([]rune(sure)[:maxButton-1]) + "…"
	}
	return ChatAnswer{Text: q.fill(w.check), Buttons: []ChatButton{
		{ChatPress{ChatSure, q.DeliveryID, now}.String(), sure},
		{ChatPress{Action: ChatNo, ID: q.DeliveryID}.String(), w.no},
	}}
}

// Ask asks the question.
func (q ChatQuestion) Ask() ChatAnswer {
	w := chatWordsOf(q.Language)
	text := w.askGuardian
	if q.Party == actor.Student {
		text = w.askStudent
	}
	return ChatAnswer{Text: q.fill(text), Buttons: questionButtons(q.Language, q.DeliveryID)}
}

// TooLate says that the check question is too old, and asks the question again.
func (q ChatQuestion) TooLate() ChatAnswer {
	a := q.Ask()
	a.Text = chatWordsOf(q.Language).tooLate + " " + a.Text
	return a
}

// Done says that an answer counts.
func (q ChatQuestion) Done(action ChatAction) ChatAnswer {
	return ChatAnswer{Text: q.done(action) + " " + fmt.Sprintf(chatWordsOf(q.Language).undone, q.URL)}
}

func (q ChatQuestion) done(action ChatAction) string {
	w := chatWordsOf(q.Language)
	return q.fill(map[ChatAction]string{ChatSure: w.yesDone, ChatNo: w.noDone, ChatNotMe: w.notMeDone}[action])
}

// Stands says how a question stands that can not be answered: state is that of its request.
func (q ChatQuestion) Stands(state string) ChatAnswer {
	text, changes := q.stands(state)
	if changes {
		text += " " + fmt.Sprintf(chatWordsOf(q.Language).undone, q.URL)
	}
	return ChatAnswer{Text: text}
}

// stands returns the text of Stands, and whether the person can change the answer.
func (q ChatQuestion) stands(state string) (text string, changes bool) {
	w := chatWordsOf(q.Language)
	switch state {
	case "approved":
		return q.fill(w.isYes), true
	case "rejected":
		return q.fill(w.isNo), true
	case "disputed":
		return w.isNotMe, true
	}
	return q.fill(w.isClosed), false
}

// NotYours answers a button of the question to another number.
func NotYours(language string) ChatAnswer { return ChatAnswer{Text: chatWordsOf(language).notYours} }

// WhichCoach asks which of several coaches is meant. coaches are the names by id, in the order of ids.
func WhichCoach(language string, ids []string, names map[string]string) ChatAnswer {
	w := chatWordsOf(language)
	a := ChatAnswer{Text: w.which, Choose: w.choose}
	for _, id := range ids {
		name := []rune(Name(names[id], wordsOf(language).yourCoach))
		a.Buttons = append(a.Buttons, ChatButton{ChatPress{Action: ChatCoach, ID: id}.String(), string(name[:min(len(name), maxButton)])})
	}
	return a
}

// PassedOn says that a coach has the message, and TooManyReplies that the coach gets no more today.
func PassedOn(language, coach string) ChatAnswer {
	return ChatAnswer{Text: fmt.Sprintf(chatWordsOf(language).passedOn, Name(coach, wordsOf(language).yourCoach))}
}

func TooManyReplies(language, coach string) ChatAnswer {
	return ChatAnswer{Text: fmt.Sprintf(chatWordsOf(language).tooMany, Name(coach, wordsOf(language).yourCoach))}
}

// FileNotOpened says that a coach can not open a file.
func FileNotOpened(language, coach string) ChatAnswer {
	return ChatAnswer{Text: fmt.Sprintf(chatWordsOf(language).noFile, Name(coach, wordsOf(language).yourCoach))}
}

// Help answers HELP. url is where a family finds its answers.
func Help(language, brand, url string) ChatAnswer {
	return ChatAnswer{Text: fmt.Sprintf(chatWordsOf(language).help, brand, url)}
}

// maxReplyText is how many characters of a reply are kept.
const maxReplyText = 4000

// VisibleText returns the text of a reply without control characters, bidirectional overrides and other
// invisible characters, at most maxReplyText of them. A picture or another file is named. It is empty if
// there is nothing to read.
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
	if runes := []rune(text); len(runes) > maxReplyText {
		text = string(runes[:maxReplyText-1]) + "…"
	}
	return text
}

// mediaNames are the names of files by the types of the Cloud API.
var mediaNames = map[string]string{
	"image": "picture", "audio": "voice note", "video": "video", "document": "document", "sticker": "sticker", "location": "location", "contacts": "contact",
}

// IsMedia reports whether a type of the Cloud API is named in the conversation.
func IsMedia(kind string) bool { return mediaNames[kind] != "" }
