package message

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Keyword is what the words of a reply ask for.
type Keyword string

// The keywords.
const (
	KeywordStop  Keyword = "STOP"
	KeywordStart Keyword = "START"
	KeywordHelp  Keyword = "HELP"
)

// Stop words end the messages of a coach, start words allow what they ended, if they are all that a reply says.
// The English words are words that networks know, and the words of 47 CFR 64.1200(a)(10); the Hindi words are
// those that people type, also in Latin letters. After a plain word people name what shall stop.
var (
	stopWords = addLanguages(wordsOf(
		slices.Concat(noMore(), []string{
			"STOP ALL", "CANCEL", "END", "QUIT", "REVOKE", "REMOVE ME", "UNSUBSCRIBE ME", "STOP KARO", "STOP KAR DO", "STOP KARE", "STOP KAREN", "STOP KIJIYE",
			"रोको", "रोकें", "रोके", "रोकिए", "रोकिये", "रोक दो", "रोक दें", "रोक दे", "रोक दीजिए", "रोक दीजिये", "रुको", "रुकें", "रुकिए", "रुक जाओ", "मत भेजो", "मत भेजें",
		}),
		[]string{"STOP", "STOPALL", "UNSUBSCRIBE", "UN SUBSCRIBE", "UNSUB", "UN SUB", "OPTOUT", "OPT OUT", "स्टॉप", "स्टोप", "स्टाप", "अनसब्सक्राइब"},
		[]string{"बंद", "बन्द", "बँद"}, []string{"BAND"},
	), func(l languageWords) []string { return l.stop })
	startWords = addLanguages(wordsOf([]string{"शुरू करें", "शुरू करो", "शुरू करे", "शुरू कर दो", "शुरू कीजिए"}, []string{"START", "UNSTOP", "शुरू", "शुरु", "स्टार्ट"}, nil, nil), func(l languageWords) []string { return l.start })
	helpWords  = addLanguages(wordsOf([]string{"मदद", "सहायता", "हेल्प"}, []string{"HELP", "INFO"}, nil, nil), func(l languageWords) []string { return l.help })
)

var (
	// objects follow a plain word or come before a Hindi one.
	objects = []string{
		"SMS", "MSG", "MSGS", "MESSAGE", "MESSAGES", "MESSAGING", "TEXT", "TEXTS", "TEXTING", "WHATSAPP", "NOTIFICATION", "NOTIFICATIONS", "ALL MESSAGES", "SENDING", "SENDING MESSAGES", "SENDING ME MESSAGES", "SENDING SMS", "SENDING ME SMS", "SENDING TEXTS", "MESSAGING ME", "TEXTING ME",
	}
	hindiObjects = []string{"मैसेज", "मेसेज", "संदेश", "सन्देश", "एसएमएस", "SMS", "MSG", "MESSAGE", "MESSAGES"}
	// hindiVerbs follow a word for closed.
	hindiVerbs = []string{"करो", "करें", "करे", "करिए", "कर", "कर दो", "कर दें", "कर दे", "कर दीजिए", "कर दीजिये", "कीजिए", "कीजिये", "KARO", "KAREN", "KARE", "KAR DO", "KAR DE", "KAR DIJIYE", "KIJIYE"}
	// polite words say nothing at the beginning or the end, except with a word of alone: "please cancel" is about
	// a training.
	polite = setOf("PLEASE", "PLS", "PLZ", "KINDLY", "NOW", "THANKS", "SIR", "MAM", "MADAM", "JI", "जी", "कृपया", "प्लीज", "प्लीज़")
	alone  = setOf("CANCEL", "END", "QUIT", "REVOKE")
)

// setOf returns the words as foldWords writes them.
func setOf(words ...string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words {
		set[foldWords(w)] = true
	}
	return set
}

// wordsOf returns all texts of a keyword: the words alone, plain words also with an object, closed words also with a
// verb and an object, and latin words for closed with a verb only, because the word alone means something else.
func wordsOf(alone, plain, closed, latin []string) map[string]bool {
	all := map[string]bool{}
	add := func(text string) { all[foldWords(text)] = true }
	for _, w := range slices.Concat(alone, plain, closed) {
		add(w)
	}
	for _, w := range plain {
		for _, o := range slices.Concat(objects, hindiObjects) {
			add(w + " " + o)
		}
	}
	for _, w := range slices.Concat(closed, latin) {
		for _, v := range hindiVerbs {
			add(w + " " + v)
			for _, o := range hindiObjects {
				add(o + " " + w + " " + v)
			}
		}
	}
	return all
}

// Stops reports whether the reply asks for no more messages, Starts whether it allows them
// again, and Helps whether it asks for help.
func (r Reply) Stops() bool  { return r.keyword() == KeywordStop }
func (r Reply) Starts() bool { return r.keyword() == KeywordStart }
func (r Reply) Helps() bool  { return r.keyword() == KeywordHelp }

func (r Reply) keyword() Keyword {
	if r.Means == KeywordStop || r.Means == KeywordStart || r.Means == KeywordHelp {
		return r.Means
	}
	if r.Kind == ReplyReaction || r.Media != "" && r.Text == "" {
		return ""
	}
	words := r.words()
	for _, text := range []string{words, withoutPolite(words)} {
		switch {
		case text == "" && isStopSign(r.Text):
			return KeywordStop
		case text != "" && strings.ReplaceAll(text, "STOP", "") == "": // STOPSTOP
			return KeywordStop
		case text != words && alone[text]:
		case stopWords[text]:
			return KeywordStop
		case startWords[text]:
			return KeywordStart
		case helpWords[text]:
			return KeywordHelp
		}
	}
	return ""
}

// isStopSign reports whether a text is only the sign 🛑.
func isStopSign(text string) bool {
	return text != "" && strings.Trim(text, "🛑\ufe0f ") == "" && strings.Contains(text, "🛑")
}

// words returns the words of the text as foldWords does, without repetitions.
// Letters with signs between them are one word: S.T.O.P.
func (r Reply) words() string {
	words := strings.Fields(foldWords(r.Text))
	if len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return len([]rune(w)) > 1 }) {
		words = []string{strings.Join(words, "")}
	}
	return withoutRepetitions(words)
}

// withoutPolite returns words without the polite ones around the others.
func withoutPolite(text string) string {
	words := strings.Fields(text)
	for len(words) > 1 && polite[words[0]] {
		words = words[1:]
	}
	for len(words) > 1 && polite[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	return withoutRepetitions(words)
}

// withoutRepetitions joins words, those that are said again and again once: STOP STOP, बंद करो बंद करो.
func withoutRepetitions(words []string) string {
	for size := 1; size <= len(words)/2; size++ {
		if len(words)%size == 0 && repeats(words, size) {
			words = words[:size]
		}
	}
	return strings.Join(words, " ")
}

// repeats reports whether words are its first size words again and again.
func repeats(words []string, size int) bool {
	for i := size; i < len(words); i++ {
		if words[i] != words[i-size] {
			return false
		}
	}
	return true
}

// foldWords returns the words of a text in capitals, without digits, punctuation, emoji and characters that are not
// visible, such as the joiners of Hindi and the selector that makes a sign an emoji. Letters of full width and
// other forms become plain ones. A mark belongs to the letter before it, and without one to nothing.
func foldWords(text string) string {
	var b strings.Builder
	letter := false
	for _, c := range strings.ToUpper(norm.NFKC.String(withoutEmoji(text))) {
		switch {
		case unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Variation_Selector, c) || unicode.Is(unicode.Me, c):
			continue
		case unicode.IsLetter(c):
			letter = true
			b.WriteRune(c)
		case unicode.IsMark(c) && letter:
			b.WriteRune(c)
		default:
			letter = false
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// emojiSelector makes the sign before it an emoji.
const emojiSelector = '\ufe0f'

// withoutEmoji replaces each sign that is shown as an emoji: NFKC would make a letter of some, such as ℹ.
func withoutEmoji(text string) string {
	runes := []rune(text)
	for i := range len(runes) - 1 {
		if runes[i+1] == emojiSelector && runes[i] > unicode.MaxLatin1 {
			runes[i] = ' '
		}
	}
	return string(runes)
}

// typedAnswers are the words with which people answer a question in place of pressing a button.
var typedAnswers = setOf(
	"yes", "y", "yep", "yeah", "yes ok", "ok yes", "ok", "okay", "sure", "agree", "agreed", "I agree", "yes I agree", "I approve", "yes I approve", "yes approve", "I accept", "yes I accept", "I confirm", "yes I confirm", "approve", "approved", "accept", "accepted", "confirm", "confirmed", "allow", "allowed",
	"ya", "ha", "haa", "han", "haan", "ji", "ji haan", "haan ji", "theek hai", "thik hai",
	"no", "n", "nope", "nah", "not me", "no not me", "not my child", "wrong number", "wrong no", "galat number", "galat number hai", "not mine", "this isn't me", "this isnt me", "this is not me", "it's not me", "it is not me", "not my son", "not my daughter", "not my kid", "reject", "decline", "deny", "na", "nahi", "nahin",
	"हाँ", "हां", "हा", "जी", "जी हाँ", "जी हां", "ठीक है", "ना", "नहीं", "नही", "जी नहीं", "मैं नहीं", "मेरा बच्चा नहीं", "यह मैं नहीं", "यह मैं नहीं हूँ", "ये मैं नहीं हूँ", "गलत नंबर", "ग़लत नंबर",
	"yes coach", "no coach",
)

// thumbs are the emoji that people send for yes and no.
const thumbs = "👍👎👌✅❌🙏✔✖☑🆗"

// TypedAnswer reports whether the text is a yes or a no that was typed in place of pressing a button.
func (r Reply) TypedAnswer() bool {
	if words := r.words(); words != "" {
		return isAnswer(words) || isAnswer(withoutPolite(words))
	}
	return strings.ContainsAny(r.Text, thumbs)
}
