package message

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortening is one way to make the text of a request shorter: Old is replaced by New in its template, its names get at
// most Names characters, or the shorter text takes its place, whose key ends in ".short".
type shortening struct {
	Old, New string
	Names    int
	Short    bool
}

// shortEnd ends the key of a shorter text.
const shortEnd = ".short"

// shortenings has the ways of a language, and of all others under "". Steps are applied to a text in this order while it then
// takes fewer SMS. The text still says who asks, for which student, what the app would do, what the app is, and that it may be
// the wrong person, and it keeps its link. Code are the parts of each text that name the short code and the page on which to
// enter it: they are removed from a text without a short code, and from one that otherwise takes more than one SMS.
//
// The batch gives way before the short code. In English the shortest text with both takes 171 characters for "Asha Rao" in
// "U12 Evening", one SMS has 160: without the batch 156, without the code 141. In Hindi three SMS have 201: the second question
// takes 212 with both, 196 without the batch and 183 without the code. A phone that cannot open the link, or a person who opens
// no links, can answer with the code only, while the page names the batch before every yes. A long name of a coach or student
// is cut after both: it says who asks. Only the shorter texts fit two SMS in scripts other than Latin.
var shortenings = readShortenings()

type languageShortenings struct {
	Code  []string
	Steps []shortening
}

//go:embed shortenings.json
var shorteningsFile []byte

func readShortenings() (all map[string]languageShortenings) {
	if err := json.Unmarshal(shorteningsFile, &all); err != nil {
		panic("message: shortenings.json: " + err.Error())
	}
	return all
}

func shorteningsIn(code string) languageShortenings {
	if own, ok := shortenings[code]; ok {
		return own
	}
	return shortenings[""]
}

// questionsOf names the request whose shorter text also asks several questions.
var questionsOf = map[string]string{templateQuestionsGuardian: templateRequestGuardian, templateQuestionsStudent: templateRequestStudent}

// short returns the shorter text of a template, or "".
func (t texts) short(name string) string {
	return cmp.Or(t.byKey["sms."+name+shortEnd], strings.Replace(t.byKey["sms."+questionsOf[name]+shortEnd], "{student}", "{students}", 1))
}

// codePage returns the page on which a short code is entered, as people type it: the address of a link without its
// token.
func codePage(link string) string {
	_, page, _ := strings.Cut(link, "://")
	return page[:max(0, strings.LastIndexByte(page, '/'))]
}

// withoutCode removes the short code from a template.
func withoutCode(template, code string) string {
	for _, part := range shorteningsIn(code).Code {
		template = strings.Replace(template, part, "", 1)
	}
	return template
}

// fillShort returns the text of a request, shortened if it then takes fewer SMS. values returns
// the variables with names of at most that many characters, and the characters of the longest
// name that is left. Templates that a provider registers stay as they are, so Values has the
// whole names.
func fillShort(name, chosen string, values func(names int) (map[string]string, int)) Text {
	words := textsIn(chosen)
	code := words.language
	whole, names := values(maxNameInMessage)
	template := words.byKey["sms."+name]
	if whole["short_code"] == "" {
		template = withoutCode(template, code)
		if strings.Contains(template, "{short_code}") {
			template = cmp.Or(words.short(name), template)
		}
	}
	current := whole
	body := fillRequest(template, whole)
	segments := Segments(body)
	shorten := func() {
		short := fillRequest(template, current)
		if n := Segments(short); n < segments {
			body, segments = short, n
		}
	}
	for _, s := range shorteningsIn(code).Steps {
		for s.Names > 0 && names > s.Names && segments > 1 {
			current, names = values(names - 1)
			shorten()
		}
		if short := words.short(name); s.Short && short != "" && segments > 1 {
			template = short
			shorten()
		}
		if s.Old != "" && segments > 1 {
			template = strings.Replace(template, s.Old, s.New, 1)
			shorten()
		}
	}
	if short := fillRequest(withoutCode(template, code), current); segments > 1 && Segments(short) == 1 {
		body = short
	}
	return Text{Template: name, Language: code, Values: whole, Body: body}
}

// endOfName removes the comma after "you, Asha," where another sign follows.
var endOfName = strings.NewReplacer(",.", ".", ",:", ":")

func fillRequest(template string, values map[string]string) string {
	return endOfName.Replace(fillIn(template, values))
}

// straight replaces the punctuation that phones put into names. It is not in the GSM alphabet,
// and one such character makes a text of 160 characters one of three SMS.
var straight = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u02bc", "'", "\u2010", "-", "\u2011", "-", "\u2013", "-")

// nameInRequest is Name for the SMS of a request.
func nameInRequest(name string) string { return straight.Replace(Name(name, "")) }

// longestOf returns the number of characters of the longest name.
func longestOf(names ...string) (longest int) {
	for _, name := range names {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return longest
}

// shortName shortens a name to at most longest characters: to its first words without the
// initials before them, or else to the beginning of the first word.
func shortName(name string, longest int) string {
	if utf8.RuneCountInString(name) <= longest {
		return name
	}
	words := strings.Fields(strings.TrimSuffix(name, "…"))
	for len(words) > 1 && areInitials(words[0]) {
		words = words[1:]
	}
	for ; len(words) > 1; words = words[:len(words)-1] {
		if short := strings.Join(words, " "); utf8.RuneCountInString(short) <= longest {
			return short
		}
	}
	first := []rune(words[0])
	cut := min(longest, len(first))
	for cut > 1 && cut < len(first) && unicode.IsMark(first[cut]) {
		cut--
	}
	return string(first[:cut])
}

// areInitials reports whether a word of a name is initials, such as "K", "KL" or "Kh.", and not a
// first name of two letters, such as "Om".
func areInitials(word string) bool {
	n := lettersIn(word)
	capitals := word == strings.ToUpper(word) && word != strings.ToLower(word)
	return n < 2 || n == 2 && (capitals || strings.HasSuffix(word, "."))
}

// lettersIn counts the letters of a word.
func lettersIn(word string) (n int) {
	for _, r := range word {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
