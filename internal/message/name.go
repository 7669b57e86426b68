package message

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/lookalike"
)

// maxNameInMessage is the length of the longest name in a message, in characters.
const maxNameInMessage = 40

// maxDigits bounds the digits of a whole name. It is below the length of a phone
// number, which could be written as several words.
const maxDigits = 6

// Name makes a name that a user typed safe for a message: it removes control and
// invisible characters, links and texts that look like links, offers of money, and the characters with which
// WhatsApp emphasises text. It cuts long names, and returns fallback if no letter or digit is left.
func Name(name, fallback string) string {
	words := strings.FieldsFunc(strings.Map(plainName, name), unicode.IsSpace)
	words = slices.DeleteFunc(words, encodedWord)
	var kept []string
	for _, word := range removeMoney(words) {
		kept = append(kept, unlink(word)...)
	}
	kept = removeMoney(kept) // a link may have stood between the currency and the number
	separateInitials(kept)
	if digits(strings.Join(kept, "")) > maxDigits {
		kept = slices.DeleteFunc(kept, func(word string) bool { return digits(word) > 0 })
	}
	clean := []rune(strings.Join(kept, " "))
	if len(clean) > maxNameInMessage {
		clean = append(clean[:maxNameInMessage-1], '…')
	}
	if !slices.ContainsFunc(clean, isLetterOrDigit) {
		return fallback
	}
	return string(clean)
}

// FirstName returns the name by which a person is called, safe for a message: "Ali" of "Md. Ali Khan", "Rahul" of "K L Rahul",
// "Maria" of "De la Cruz, Maria". It is "" if the name has no letter or digit.
func FirstName(name string) string {
	if _, given, found := strings.Cut(name, ","); found && strings.TrimSpace(given) != "" {
		name = given
	}
	var words []string
	for word := range strings.FieldsSeq(name) {
		if !isAbbreviation(word) {
			words = append(words, splitPair(word)...)
		}
	}
	for first := range strings.FieldsSeq(Name(strings.Join(words, " "), "")) {
		first = strings.TrimRight(first, ",;")
		if strings.ContainsFunc(first, isLetterOrDigit) && !isAbbreviation(first) {
			return first
		}
	}
	return strings.TrimRight(Name(name, ""), ",")
}

// splitPair returns both names of "Ravi/Asha", which is no link.
func splitPair(word string) []string {
	other := func(r rune) bool { return r != '/' && !unicode.IsLetter(r) && !unicode.IsMark(r) }
	if strings.ContainsFunc(word, other) {
		return []string{word}
	}
	return strings.Split(word, "/")
}

// titlesOfNames are words before a name, without dots.
var titlesOfNames = []string{"md", "mohd", "mhd", "muhd", "dr", "mr", "mrs", "ms", "prof", "capt", "master", "shri", "smt", "मो", "मोहद", "डॉ", "श्री", "श्रीमती", "सुश्री"}

// isAbbreviation reports whether a word is a title or stands for a name: "Md", "S.", "A.P.J.", "K".
func isAbbreviation(word string) bool {
	const longest = 4 // letters before a dot
	parts := strings.FieldsFunc(word, isDot)
	bare := strings.ToLower(strings.Join(parts, ""))
	switch {
	case slices.Contains(titlesOfNames, bare):
		return true
	case !slices.ContainsFunc(parts, func(part string) bool { return !isInitial(part) }):
		return true
	}
	last := []rune(word)[utf8.RuneCountInString(word)-1]
	return isDot(last) && utf8.RuneCountInString(bare) <= longest
}

// visible returns a space for a control character and drops invisible ones, except the
// joiners that several scripts need.
func visible(r rune) rune {
	switch {
	case unicode.IsControl(r):
		return ' '
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs) && r != '\u200c' && r != '\u200d':
		return -1
	}
	return r
}

// plainName is visible, and returns a space for a character that emphasises text in WhatsApp: *Asha*, _Asha_.
func plainName(r rune) rune {
	if strings.ContainsRune("*_~`＊＿～｀", r) {
		return ' '
	}
	return visible(r)
}

// encodedWord reports whether a word is, or begins, an encoded word of mail (RFC 2047), which mail clients decode.
func encodedWord(word string) bool {
	return strings.Contains(word, "=?") || strings.Contains(word, "?=")
}

// isDot reports whether r is a full stop or looks like one.
func isDot(r rune) bool {
	return strings.ContainsRune(".\u00b7\u0387\u2022\u2027\u2219\u22c5\u30fb\uff65\u06d4\u0701\u0702\u2024\u3002\ua4f8\ua60e\ufe12\ufe52\uff0e\uff61\U00010a50\U0001d16d", r)
}

// unlink splits a word at its dots, so that a phone makes no link from a domain. It drops an
// email address, a URL and a phone number. Initials such as "A.P.J." stay one word.
func unlink(word string) []string {
	if strings.ContainsAny(word, `/\@:<>／＼＠：＜＞`) || digits(word) > 4 {
		return nil
	}
	parts := strings.FieldsFunc(word, isDot)
	if len(parts) == 0 || !strings.Contains(word, ".") || slices.ContainsFunc(parts, func(part string) bool { return !isInitial(part) }) {
		return parts
	}
	initials := strings.Join(parts, ".")
	if strings.HasSuffix(word, ".") {
		initials += "."
	}
	return []string{initials}
}

// topLevelDomains are frequent top-level domains. separateInitials treats every word in lower
// case as one.
var topLevelDomains = []string{"com", "net", "org", "info", "biz", "app", "xyz", "shop", "site", "in", "co", "io"}

// separateInitials removes the dots of initials before a word that could be the end of a
// domain: one in lower case, or a frequent one, as in "X. COM".
func separateInitials(words []string) {
	for i := range len(words) - 1 {
		next := words[i+1]
		letter := strings.IndexFunc(next, unicode.IsLetter)
		if letter >= 0 && unicode.IsLower([]rune(next[letter:])[0]) || slices.Contains(topLevelDomains, lettersOf(next)) {
			words[i] = strings.Join(strings.FieldsFunc(words[i], isDot), " ")
		}
	}
}

// isInitial reports whether s is one letter, perhaps with a mark.
func isInitial(s string) bool {
	letters := 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsMark(r):
			return false
		}
	}
	return letters == 1
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// digits counts the digits of any script, also circled ones.
func digits(s string) int {
	n := 0
	for _, r := range s {
		n += len(lookalike.Number(r))
	}
	return n
}
