package message

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/lookalike"
)

// WithoutLinks removes from a text what a phone turns into a link, and phone numbers, also if they are disguised:
// "evil (dot) com", "t . me / x", "98123x45678", digits of other scripts. Times, days, results, amounts and small
// numbers stay.
func WithoutLinks(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = withoutWrittenDots(line)
		var kept []string
		for _, word := range strings.Fields(line) {
			kept = append(kept, splitLink(word)...)
		}
		lines[i] = strings.Join(kept, " ")
	}
	lines = strings.Split(withoutNumbers(strings.Join(lines, "\n")), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// emphasis matches the pairs of characters by which WhatsApp shows text as bold, italic, struck or code. A star
// before a line is a list and stays.
var emphasis = regexp.MustCompile("(^|[^\\pL\\pM\\pN*_~`])(?:\\*+([^*\\n]*[^*\\s])\\*+|_+([^_\\n]*[^_\\s])_+|~+([^~\\n]*[^~\\s])~+|`+([^`]*)`+)")

func withoutEmphasis(text string) string {
	for range 3 { // *_~x~_*
		text = emphasis.ReplaceAllString(text, "$1$2$3$4$5")
	}
	return text
}

// folded is a text in which links and numbers are found, with the place of each byte in the original.
type folded struct {
	text string
	at   []int // one more than bytes
}

func fold(original string) folded {
	var b strings.Builder
	var at []int
	for i, r := range original {
		plain := lookalike.Plain(r)
		if isDot(r) {
			plain = "."
		}
		b.WriteString(plain)
		for range len(plain) {
			at = append(at, i)
		}
	}
	return folded{b.String(), append(at, len(original))}
}

// replace returns the original with a space in the place of each span of the folded text. Spans may touch, and are
// in order.
func (f folded) replace(original string, spans [][2]int) string {
	var b strings.Builder
	end := 0
	for _, span := range spans {
		start := max(end, f.at[span[0]])
		b.WriteString(original[end:start])
		b.WriteByte(' ')
		end = max(end, f.at[span[1]])
	}
	return b.String() + original[end:]
}

// topLevel are top-level domains that are no English words, and topLevelWords those that are.
const (
	topLevel      = `com|net|org|info|biz|xyz|co|io|gg|ly|tk|ru|cn`
	topLevelWords = `in|me|to|app|site|shop|store|online|club|link|page|live|top|vip|icu|pro|us|tv|cc|gov|edu`
)

var (
	// dotWord matches a domain with its dot as a word: "evil dot com", "evil (dot) in / x", "evil_DOT_com".
	dotWord = regexp.MustCompile(`([\pL\pN][\pL\pN\pM-]*)([^\pL\pN\n]{1,4})(?:dot|punkt|डॉट|डाट)([^\pL\pN\n]{1,4})(` + topLevel + `|` + topLevelWords + `)(?:[^\pL\pN\pM]|$)(\s*(?:/|slash\s)\s*\S*)?`)
	// dotInWord matches the same without separators: "evildotcom".
	dotInWord = regexp.MustCompile(`[\pL\pN-]+dot(?:com|net|org)(?:[^\pL\pN\pM]|$)`)
	// spacedDot matches a dot between spaces, or in brackets, before a top-level domain: "t . me / x", "evil .com", "evil. com", "evil[.]com".
	spacedDot = regexp.MustCompile(`[\pL\pN][\pL\pN\pM-]*((\s+)\.\s*|\.\s+|\s*[\[({<]\s*\.\s*[\])}>]\s*)(` + topLevel + `|` + topLevelWords + `)(?:[^\pL\pN\pM]|$)`)
	// path matches what follows a domain with a space before or after the slash.
	path = regexp.MustCompile(`^\s*/\s*\S*`)
	// otherDot matches another mark in the place of the dot: "evil,com", "evil_com".
	otherDot = regexp.MustCompile(`[\pL\pN][\pL\pN\pM]([^\pL\pN\pM\s]{1,4})(?:com|net|org|xyz)(?:[^\pL\pN\pM-]|$)`)
)

// notBeforeDot are words before "dot in" that speak of a dot.
var notBeforeDot = []string{"a", "the", "this", "that", "each", "every", "one", "red", "white", "black", "blue", "green", "yellow", "big", "small", "first", "last", "next"}

// withoutWrittenDots removes domains whose dot is a word or stands between spaces.
func withoutWrittenDots(line string) string {
	f := fold(line)
	var spans [][2]int
	for _, m := range dotWord.FindAllStringSubmatchIndex(f.text, -1) {
		before, around := f.text[m[2]:m[3]], f.text[m[4]:m[5]]+f.text[m[6]:m[7]]
		if strings.TrimSpace(around) == "" && slices.Contains(notBeforeDot, before) {
			continue
		}
		end := m[9] // of the domain
		if m[10] >= 0 {
			end = m[11]
		} else if p := path.FindString(f.text[end:]); p != "" {
			end += len(p)
		}
		spans = append(spans, [2]int{m[2], end})
	}
	for _, m := range dotInWord.FindAllStringIndex(f.text, -1) {
		spans = append(spans, [2]int{m[0], m[1]})
	}
	for _, m := range spacedDot.FindAllStringSubmatchIndex(f.text, -1) {
		dot, domain := f.text[m[2]:m[3]], f.text[m[6]:m[7]]
		if rest := path.FindString(f.text[m[7]:]); rest != "" {
			spans = append(spans, [2]int{m[0], m[7] + len(rest)})
			continue
		}
		if m[4] < 0 && !strings.ContainsAny(dot, "[({<") && !slices.Contains([]string{"com", "net", "org", "xyz"}, domain) {
			continue // the end of a sentence
		}
		spans = append(spans, [2]int{m[2], m[3]})
	}
	for _, m := range otherDot.FindAllStringSubmatchIndex(f.text, -1) {
		if !strings.ContainsAny(f.text[m[2]:m[3]], `./@:-'’`) {
			spans = append(spans, [2]int{m[2], m[3]})
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	return f.replace(line, spans)
}

// halfOfDay matches a.m. and p.m.
var halfOfDay = regexp.MustCompile(`^\d*[ap]\.m\.?[,;)]?$`)

// ipAddress matches an IPv4 address.
var ipAddress = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)

// splitLink drops a URL, an IP address and an e-mail address, and splits a domain at its dots.
// Other words stay as they are.
func splitLink(word string) []string {
	plain := fold(word).text
	dotted := false
	runes := []rune(word)
	for i, r := range runes {
		// A part of a domain can also end with a mark, a joiner or a symbol.
		if isDot(r) && i > 0 && i+1 < len(runes) && !isDot(runes[i-1]) && unicode.IsLetter(runes[i+1]) {
			dotted = true
		}
	}
	switch {
	case strings.Contains(plain, "://"), strings.HasPrefix(plain, "www."), hasAddress(plain), ipAddress.MatchString(plain):
		return nil
	case !dotted, halfOfDay.MatchString(plain):
		return []string{word}
	case strings.ContainsAny(plain, `/\:?#`):
		return nil
	}
	return strings.FieldsFunc(word, isDot)
}

// hasAddress reports whether a word is an e-mail address or a name of a person at a service: an @ beside a letter. "@" and
// "@5" stand for "at".
func hasAddress(word string) bool {
	for i := strings.IndexByte(word, '@'); i >= 0; {
		before, _ := utf8.DecodeLastRuneInString(word[:i])
		after, _ := utf8.DecodeRuneInString(word[i+1:])
		if i > 0 && isLetterOrDigit(before) || isLetterOrDigit(after) && !unicode.IsDigit(after) {
			return true
		}
		next := strings.IndexByte(word[i+1:], '@')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// phoneDigits is the least number of digits that count as a phone number.
const phoneDigits = 7

// A part of a text, as withoutNumbers reads it.
type numberPart struct {
	start, end int    // in the folded text
	digits     string // "" if it is no number
	spaced     bool   // a space stands before it
	breaks     bool   // a comma or a line break stands before it
	letters    bool   // one or two letters stand before it, as in 98123x45678
}

var (
	// numberChunk matches digits and the marks between them.
	numberChunk = regexp.MustCompile(`^[0-9](?:[^\pL\pN\s]{0,3}[0-9])*`)
	wordChunk   = regexp.MustCompile(`^[\pL\pM]+`)
	// A time or a range of times; a day or a range of days; an amount with commas.
	timesOfDay = regexp.MustCompile(`^(?:[01]?\d|2[0-4])[:.][0-5]\d(?:[-–—/](?:[01]?\d|2[0-4])[:.][0-5]\d)?$`)
	days       = regexp.MustCompile(`^` + calendarDay + `(?:[-–—]` + calendarDay + `)?$`)
	grouped    = regexp.MustCompile(`^\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d{1,2})?$`)
	result     = regexp.MustCompile(`^(\d{1,2})[-–:/](\d{1,2})$`)
	// mobileNumber matches the digits of a mobile number of India.
	mobileNumber = regexp.MustCompile(`^(?:0|00)?(?:91)?[6-9]\d{9}$`)
)

// calendarDay matches a day, whose digits are not a phone number: 12.05.2026, 5/25/26, 2026-05-12.
const (
	dayOfMonth, month = `(?:0?[1-9]|[12]\d|3[01])`, `(?:0?[1-9]|1[0-2])`
	calendarDay       = `(?:(?:` + dayOfMonth + `[./-]` + month + `|` + month + `[./-]` + dayOfMonth + `)[./-](?:19|20)?\d\d|(?:19|20)\d\d[./-]` + month + `[./-]` + dayOfMonth + `)`
)

// digitWords are digits as words.
var digitWords = map[string]string{
	"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"शून्य": "0", "एक": "1", "दो": "2", "तीन": "3", "चार": "4", "पांच": "5", "पाँच": "5", "छह": "6", "छः": "6", "छे": "6", "सात": "7", "आठ": "8", "नौ": "9",
	"shunya": "0", "ek": "1", "do": "2", "teen": "3", "char": "4", "chaar": "4", "paanch": "5", "panch": "5", "chhe": "6", "che": "6", "saat": "7", "sat": "7", "aath": "8", "nau": "9",
}

// withoutNumbers removes phone numbers from a text.
func withoutNumbers(text string) string {
	f := fold(text)
	var spans [][2]int
	remove := func(parts []numberPart) {
		start, end := parts[0].start, parts[len(parts)-1].end
		for start > 0 && strings.IndexByte("+(", f.text[start-1]) >= 0 {
			start--
		}
		spans = append(spans, [2]int{start, end})
	}
	for _, run := range numberRuns(f.text) {
		removed := false
		for _, piece := range splitParts(run, func(p numberPart) bool { return p.breaks || p.letters && p.spaced }) {
			for _, token := range splitParts(piece, func(p numberPart) bool {
				return p.spaced && slices.ContainsFunc(piece, func(p numberPart) bool { return p.letters })
			}) {
				if len(joined(token)) >= phoneDigits && !listOfSmall(token) {
					remove(token)
					removed = true
				}
			}
		}
		if all := joined(run); !removed && mobileNumber.MatchString(all) && !ascending(run) {
			remove(run)
		}
	}
	return f.replace(text, spans)
}

// numberRuns returns the runs of numbers with nothing between them but marks, spaces, and one or two letters. A time, a day
// or an amount is in no run.
func numberRuns(text string) (runs [][]numberPart) {
	var run []numberPart
	var next numberPart // what stands before the next number
	currency := false
	end := func() {
		if len(run) > 0 {
			runs = append(runs, run)
		}
		run, next = nil, numberPart{}
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		if chunk := numberChunk.FindString(rest); chunk != "" {
			next.start, next.end, next.digits = i, i+len(chunk), onlyDigits(chunk)
			if isPlain(chunk, currency) {
				end()
			} else {
				run, next = append(run, next), numberPart{}
			}
			i, currency = i+len(chunk), false
			continue
		}
		if word := wordChunk.FindString(rest); word != "" {
			after := i + len(word)
			digit := digitWords[word]
			letters := utf8.RuneCountInString(word)
			attached := i > 0 && isASCIIDigit(text[i-1]) && after < len(text) && isASCIIDigit(text[after])
			switch {
			case digit != "":
				next.start, next.end, next.digits = i, after, digit
				run, next = append(run, next), numberPart{}
			case letters <= 2 && attached, word == "x" || word == "o":
				next.letters = true
			default:
				end()
			}
			i, currency = after, word == "rs" || word == "inr" || word == "रु" || word == "rupees"
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n', r == ',', r == ';', r == '&':
			next.breaks = true
		case unicode.IsSpace(r):
			next.spaced = true
		case isCurrency(r):
			currency = true
		}
		i += size
	}
	end()
	return runs
}

func isASCIIDigit(b byte) bool { return '0' <= b && b <= '9' }

// isPlain reports whether a number with its marks is a time, a day, a result or an amount.
func isPlain(chunk string, currency bool) bool {
	if timesOfDay.MatchString(chunk) || days.MatchString(chunk) || grouped.MatchString(chunk) && (currency || len(onlyDigits(chunk)) < phoneDigits) {
		return true
	}
	m := result.FindStringSubmatch(chunk)
	return m != nil && small(m[1]) && small(m[2])
}

// small reports whether a number can be a day of a month. The first two digits of a mobile number are more.
func small(number string) bool {
	n, err := strconv.Atoi(number)
	return err == nil && n <= 31
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

func joined(parts []numberPart) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.digits)
	}
	return b.String()
}

// listOfSmall reports whether the parts are a list of days or ages: of two digits most of them, and none above 31.
func listOfSmall(parts []numberPart) bool {
	two := 0
	for _, p := range parts {
		if len(p.digits) > 2 || !small(p.digits) {
			return false
		}
		if len(p.digits) == 2 {
			two++
		}
	}
	return 2*two >= len(parts)
}

// ascending reports whether each number is above the one before.
func ascending(parts []numberPart) bool {
	last := -1
	for _, p := range parts {
		n, err := strconv.Atoi(p.digits)
		if err != nil || n <= last {
			return false
		}
		last = n
	}
	return len(parts) > 1
}

// splitParts splits parts before each one for which start returns true.
func splitParts(parts []numberPart, start func(numberPart) bool) (pieces [][]numberPart) {
	for i, p := range parts {
		if i == 0 || start(p) {
			pieces = append(pieces, nil)
		}
		pieces[len(pieces)-1] = append(pieces[len(pieces)-1], p)
	}
	return pieces
}
