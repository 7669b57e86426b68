// Package claims knows the names under which somebody claims to be another: this service, a messenger, a bank, an
// office. A name opens each message to a family, so it must not be one of them.
package claims

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/lookalike"
)

// Limits of a file of names.
const (
	maxNames = 10_000
	maxName  = 100
)

// inside is the least number of letters of a name that is also found inside a longer word.
const inside = 7

// brands are services that families know. They are refused in every name.
var brands = entries(`
	touchline
	whatsapp
	watsapp
	whats up support
	facebook
	instagram
	telegram
	google
	truecaller
	paytm
	phonepe
	phone pe
	google pay
	gpay
	bhim upi
	amazon
	flipkart
	aadhaar
	aadhar
	uidai
	npci
	digilocker
	state bank
	sbi
	hdfc
	icici
	rbi
	reserve bank
	identity checked
	verified
	verified coach
	verified account
	verifed
	authenticated
	satyapit
	pramanit
	सत्यापित
	प्रमाणित
	अधिकृत
	वेरिफाइड
	レ
	ओळख तपासली
	পরিচয় যাচাই
	পৰিচয় যাচাই
	ਪਛਾਣ ਦੀ ਜਾਂਚ
	ઓળખ તપાસેલી
	ପରିଚୟ ଯାଞ୍ଚ
	அடையாளம் சரிபார்க்கப்பட்டது
	గుర్తింపు సరిచూశారు
	ಗುರುತು ಪರಿಶೀಲಿಸಲಾಗಿದೆ
	ആൾ ആരെന്ന് ഉറപ്പാക്കി
	پہچان جانچی
	customer care
	customer service
	customer support
	help desk
	helpdesk
	help line
	helpline
	tech support
	no reply
	noreply
	otp
	kyc
	व्हाट्सएप
	व्हाट्सऐप
	टचलाइन
`)

// offices are refused in the names of persons. A batch may be named after a place or a school: Police Ground U12.
var offices = entries(`
	support
	official
	admin
	administrator
	moderator
	operator
	operators
	bank
	police
	government
	govt
	sarkar
	income tax
	tax department
	ministry
	court
	cyber cell
	customs
	lottery
	पुलिस
	बैंक
	सरकार
	सरकारी
	सहायता केंद्र
	आधिकारिक
	एडमिन
`)

// identities and checks are words that together say that somebody checked who it is.
var (
	identities = entries("id\nidentity\nident\nbackground\npehchan\npehchaan\npahchan\npahchaan\nपहचान")
	checks     = entries("checked\nconfirmed\nproved\nproven\napproved\ncertified\nvalidated\njanch\njaanch\njanchi\njaanchi\npakki\nजाँच\nजाँची\nपक्की\nसही")
)

// statements are refused in the names of persons only: a fee may be approved by a league.
var statements = entries("certified by\napproved by\nchecked by\nconfirmed by")

// places are words of names of places, schools and teams.
var places = []string{
	"ground", "grounds", "maidan", "colony", "lines", "line", "quarters", "quarter", "nagar", "road", "street", "chowk", "gate", "park", "stadium", "hall", "camp",
	"school", "college", "university", "academy", "vidyalaya", "boys", "girls", "juniors", "seniors", "kids", "batch", "training", "league",
	"मैदान", "कॉलोनी", "लाइन", "लाइंस", "नगर", "रोड", "स्कूल", "विद्यालय", "कॉलेज",
}

// List is a list of names that are refused. The zero List has the built-in names only.
type List struct{ more [][]string }

// Parse reads a file with a name on each line. Lines that begin with # are comments.
func Parse(file string) (List, error) {
	var l List
	lines := bufio.NewScanner(strings.NewReader(file))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !utf8.ValidString(line) || utf8.RuneCountInString(line) > maxName {
			return l, fmt.Errorf("line %d is no name: it has more than %d characters, or is not UTF-8", n, maxName)
		}
		words := skeletons(line)
		if len(strings.Join(words, "")) < 2 {
			return l, fmt.Errorf("line %d is too short: a name needs two letters", n)
		}
		l.more = append(l.more, words)
	}
	if err := lines.Err(); err != nil {
		return l, err
	}
	if len(l.more) > maxNames {
		return l, fmt.Errorf("there are %d names, at most %d are possible", len(l.more), maxNames)
	}
	return l, nil
}

// Person reports whether the name of a person claims to be another.
func (l List) Person(name string) bool {
	in := found(name)
	return l.always(name) || slices.ContainsFunc(offices, in) || slices.ContainsFunc(statements, in)
}

// Group reports whether the name of a batch claims to be another.
func (l List) Group(name string) bool {
	return l.always(name) || slices.ContainsFunc(offices, found(name)) && !namesPlace(name)
}

// always reports whether a name is refused for persons and batches.
func (l List) always(name string) bool {
	in := found(name)
	return strings.ContainsFunc(name, isCheckMark) || slices.ContainsFunc(brands, in) || slices.ContainsFunc(l.more, in) ||
		slices.ContainsFunc(identities, in) && slices.ContainsFunc(checks, in)
}

// isCheckMark reports whether r looks like the mark of a verified identity: a check mark, a root sign, or a letter that is used as one.
func isCheckMark(r rune) bool {
	return strings.ContainsRune("✓✔☑✅🗸🗹⍻🮱√∛∜⎷𐄂ꪛꪜ", r)
}

// namesPlace reports whether a name has the word of a place, or an age as in "U12".
func namesPlace(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool {
		age, under := strings.CutPrefix(word, "u")
		return slices.Contains(places, word) || under && age != "" && strings.Trim(age, "0123456789") == ""
	})
}

// Fault is the fault of a field with such a name.
func Fault(pointer string) fault.Field {
	return fault.Field{Pointer: pointer, Code: "name_not_allowed", Detail: "This name belongs to a service, a bank or an office, or looks like it. Use your own name, or another one."}
}

// found returns a function that reports whether a name has an entry: its words beside each other, or, if it is
// long, its letters inside a word. Spaces and marks between single letters do not count: W h a t s A p p.
func found(name string) func(entry []string) bool {
	parts := skeletons(name)
	joined := strings.Join(parts, "")
	spelled := joinSingles(parts)
	return func(entry []string) bool {
		whole := strings.Join(entry, "")
		if utf8.RuneCountInString(whole) >= inside && strings.Contains(joined, whole) {
			return true
		}
		return hasWords(parts, entry) || hasWords(spelled, entry) || hasWords(spelled, []string{whole}) || hasWords(parts, []string{whole})
	}
}

func hasWords(parts, entry []string) bool {
	for i := 0; i+len(entry) <= len(parts); i++ {
		if slices.Equal(parts[i:i+len(entry)], entry) {
			return true
		}
	}
	return false
}

// joinSingles joins words of a single letter that follow each other.
func joinSingles(parts []string) []string {
	var joined []string
	single := false
	for _, part := range parts {
		one := utf8.RuneCountInString(part) == 1
		if one && single {
			joined[len(joined)-1] += part
		} else {
			joined = append(joined, part)
		}
		single = one
	}
	for i, part := range joined {
		joined[i] = once(part)
	}
	return joined
}

// words returns the folded words of a name.
func words(name string) []string {
	return strings.FieldsFunc(lookalike.Fold(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("@$!|€", r)
	})
}

// skeletons returns the words of a name as shapes: digits and signs that stand for letters are letters, and a letter
// that is repeated counts once.
func skeletons(name string) []string {
	all := words(name)
	for i, word := range all {
		if strings.Trim(word, "0123456789!|$@") != "" { // not a number
			word = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "9", "g", "@", "a", "$", "s", "!", "i", "|", "i", "€", "e").Replace(word)
		}
		word = strings.NewReplacer("vv", "w", "l", "i").Replace(word) // l, I and 1 look alike
		all[i] = once(hindi.Replace(word))
	}
	return slices.DeleteFunc(all, func(word string) bool { return word == "" })
}

// hindi makes spellings of a Hindi word equal: with and without a nukta, with either nasal sign, with a long or short i and u.
var hindi = strings.NewReplacer("\u093c", "", "ँ", "ं", "ी", "ि", "ू", "ु", "ई", "इ", "ऊ", "उ")

// once removes repetitions of a letter.
func once(word string) string {
	var b strings.Builder
	last := rune(-1)
	for _, r := range word {
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

func entries(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		if words := skeletons(line); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}
