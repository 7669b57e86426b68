package message

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortening is one way to make the text of a request shorter: old is replaced by new in its
// template, or its names get at most names characters.
type shortening struct {
	old, new string
	names    int
}

// shortenings are applied to a text in this order while it then takes fewer SMS. The text still
// says who asks, for which student, what the app would do, what the app is, and that it may be
// the wrong person, and it keeps its link.
//
// The batch gives way before the short code. In English the shortest text with both takes 171 characters for "Asha Rao" in
// "U12 Evening", one SMS has 160: without the batch 156, without the code 141. In Hindi three SMS have 201: the second question
// takes 212 with both, 196 without the batch and 183 without the code. A phone that cannot open the link, or a person who opens
// no links, can answer with the code only, while the page names the batch before every yes. A long name of a coach or student
// is cut after both: it says who asks.
var shortenings = map[string][]shortening{
	english: {
		{old: " on the page of the app:", new: ":"},
		{old: "ay {brand}, a sports app, send you ", new: "ay sports app {brand} send "},
		{old: "May sports app {brand} send news", new: "News by sports app {brand}"},
		{old: "may sports app {brand} send news", new: "news by sports app {brand}"},
		{old: "May sports app {brand} send training news", new: "Training news by sports app {brand}"},
		{old: "enter {short_code} at {page} or open ", new: "code {short_code} at {page} or "},
		{old: " added {student} to {batch} and asks again:", new: " asks again for {student}:"},
		{old: "Tap to say yes, no or not my child", new: "Tap yes/no/not mine"},
		{old: "Tap to say yes, no or not me", new: "Tap yes/no/not me"},
		{old: "Tap to say yes or no", new: "Tap yes/no"},
		{old: "Training news", new: "News"},
		{old: " to {batch}"},
		{old: "code {short_code} at {page} or "},
		{names: 12},
		{old: "Reminder: ", new: "Again: "},
		{old: "Tap yes/no/not mine", new: "Yes/no/not my child"},
		{old: "Tap yes/no/not me", new: "Yes/no/not me"},
		{old: "Tap yes/no", new: "Yes/no"},
		{names: 8},
		{names: 5},
	},
	hindi: {
		{old: "जवाब ऐप के पेज पर दिया जाता है। ", new: ""},
		{old: " कहें: {page}", new: ": {page}"},
		{old: "{batch} में "},
		{old: "यहाँ जोड़ा: {batch}, और", new: "जोड़ा और"},
		{old: "यहाँ जोड़ा: {batch}", new: "जोड़ा"},
		{old: "{page} पर कोड {short_code} या "},
		{old: "दबाकर ", new: ""},
		{names: 12},
		{names: 8},
	},
}

// codeParts are the part of each text that names the short code and the page on which to enter it. It is removed from
// the text of a request without a short code, and from one that otherwise takes more than one SMS.
var codeParts = map[string][]string{
	english: {"enter {short_code} at {page} or open ", "code {short_code} at {page} or "},
	hindi:   {"{page} पर कोड {short_code} या "},
}

// codePage returns the page on which a short code is entered, as people type it: the address of a link without its
// token.
func codePage(link string) string {
	_, page, _ := strings.Cut(link, "://")
	return page[:max(0, strings.LastIndexByte(page, '/'))]
}

// withoutCode removes the short code from a template.
func withoutCode(template, language string) string {
	for _, part := range codeParts[language] {
		template = strings.Replace(template, part, "", 1)
	}
	return template
}

// fillShort returns the text of a request, shortened if it then takes fewer SMS. values returns
// the variables with names of at most that many characters, and the characters of the longest
// name that is left. Templates that a provider registers stay as they are, so Values has the
// whole names.
func fillShort(name, language string, values func(names int) (map[string]string, int)) Text {
	words := textsIn(language)
	language = words.language
	whole, names := values(maxNameInMessage)
	template := words.byKey["sms."+name]
	if whole["short_code"] == "" {
		template = withoutCode(template, language)
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
	for _, s := range shortenings[language] {
		for s.names > 0 && names > s.names && segments > 1 {
			current, names = values(names - 1)
			shorten()
		}
		if s.old != "" && segments > 1 {
			template = strings.Replace(template, s.old, s.new, 1)
			shorten()
		}
	}
	if short := fillRequest(withoutCode(template, language), current); segments > 1 && Segments(short) == 1 {
		body = short
	}
	return Text{Template: name, Language: language, Values: whole, Body: body}
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
