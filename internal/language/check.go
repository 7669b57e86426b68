package language

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Fault is what is wrong with a text.
type Fault struct {
	File, Key, Text string
}

func (f Fault) Error() string {
	if f.Key == "" {
		return f.File + ": " + f.Text
	}
	return f.File + ": " + f.Key + ": " + f.Text
}

var (
	placeholder = regexp.MustCompile(`\{\{\.(\w+)\}\}|\{(\w+)\}`)
	element     = regexp.MustCompile(`</?[a-zA-Z][^>]*>`)
	// placeOfName ends the name of a value that differs only by its place in the sentence.
	placeOfName = regexp.MustCompile(`_(inside|start|name)$`)
	// bidi are the characters that change the direction of a text.
	bidi = regexp.MustCompile(`[\x{061C}\x{200E}\x{200F}\x{202A}-\x{202E}\x{2066}-\x{2069}]`)
	// latinAllowed are names and abbreviations that every language writes in Latin letters.
	latinAllowed = regexp.MustCompile(`(?i)\b(SMS|WhatsApp|OTP|UPI|PDF|CSV|QR|STOP|START|HELP|ID|JPEG|PNG|HEIC|WebP|[KM]B|URL|Excel|Google|Apple|Android|iPhone|iPad|Chrome|Safari|Firefox|Wi-Fi|Windows|LibreOffice|Sheets|UTF-8|SHA-256|UTC|ICS|https?|localhost|touchline verify|tlog-proof|(Guardian|Student) number|[\w.@/:-]+[.@/:][\w.@/:-]+)\b`)
)

// maxGrowth is how much longer than English a text may be: pages are drawn for it.
const (
	maxGrowth = 2
	freeRunes = 30
)

// Check returns what is wrong with the texts of a language, by key. english has the texts that they translate.
func Check(file, code string, texts, english Texts) (faults []Fault) {
	add := func(key, text string, values ...any) {
		faults = append(faults, Fault{file, key, fmt.Sprintf(text, values...)})
	}
	l := Of(code)
	for _, key := range slices.Sorted(keysOf(texts)) {
		base := strings.TrimSuffix(key, shortEnd)
		source, ok := english[key]
		short := !ok
		if short {
			source, ok = english[base]
		}
		if !ok {
			add(key, "there is no such text in English")
			continue
		}
		forms, faultsOfForms := formsOf(texts[key], l)
		_, plural := source.(map[string]any)
		if _, object := texts[key].(map[string]any); plural != object || forms == nil {
			add(key, "must be %s, as in English", map[bool]string{true: "an object with plural forms", false: "a text"}[plural])
			continue
		}
		for _, text := range faultsOfForms {
			add(key, "%s", text)
		}
		sources, _ := formsOf(source, Of(English))
		for _, form := range slices.Sorted(keysOf(forms)) {
			for _, text := range checkText(l, key, form, forms[form], sources, short) {
				add(key, "%s", text)
			}
		}
	}
	return faults
}

// formsOf returns the texts of a value by plural category; a value without categories has "".
func formsOf(value any, l *Language) (forms map[string]string, faults []string) {
	switch v := value.(type) {
	case string:
		return map[string]string{"": v}, nil
	case map[string]any:
		forms = map[string]string{}
		for name, text := range v {
			forms[name], _ = text.(string)
			if !slices.Contains(l.Plurals, name) {
				faults = append(faults, "has the plural form "+name+", which the language does not have")
			}
		}
		for _, name := range l.Plurals {
			if forms[name] == "" {
				faults = append(faults, "needs the plural form "+name)
			}
		}
	}
	return forms, faults
}

func checkText(l *Language, key, form, text string, sources map[string]string, short bool) (faults []string) {
	source, ok := sources[form]
	if !ok {
		source = sources["other"]
	}
	if strings.TrimSpace(text) == "" && strings.TrimSpace(source) != "" {
		return []string{"is empty"}
	}
	got, want := placeholdersOf(text), placeholdersOf(source)
	if other := placeholdersOf(sources["other"]); form != "" && slices.Equal(got, other) {
		want = other // a singular may say the number or not
	}
	if short {
		want = slices.DeleteFunc(slices.Clone(want), func(name string) bool { return !slices.Contains([]string{"brand", "coach", "link", "student"}, name) })
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			faults = append(faults, "lacks the value {"+name+"}")
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			faults = append(faults, "has the value {"+name+"}, which English has not")
		}
	}
	if !slices.Equal(element.FindAllString(text, -1), element.FindAllString(source, -1)) {
		faults = append(faults, "must have the elements of English, and no others")
	}
	if strings.HasPrefix(key, "whatsapp.") && (strings.HasPrefix(text, "{") || strings.HasSuffix(strings.TrimRight(text, ".!?।۔ "), "}")) {
		faults = append(faults, "begins or ends with a value, which WhatsApp refuses")
	}
	if bidi.MatchString(text) {
		faults = append(faults, "has a character that changes the direction of the text")
	}
	n, most := len([]rune(text)), maxLength(source)
	if short {
		n, most = len([]rune(placeholder.ReplaceAllString(text, ""))), maxShort
	}
	if n > most {
		faults = append(faults, fmt.Sprintf("has %d characters, at most %d fit", n, most))
	}
	if strings.HasPrefix(key, "sheet.") || strings.HasPrefix(key, "operator.") {
		return faults // a sheet also says it in English, and operators read commands
	}
	for _, word := range l.Foreign(text, source) {
		faults = append(faults, fmt.Sprintf("has %q, which is not in the script of the language", word))
	}
	return faults
}

// maxLength returns how many characters a translation of an English text may have.
func maxLength(source string) int { return freeRunes + maxGrowth*len([]rune(source)) }

// placeholdersOf returns the names of the values in a text, sorted.
func placeholdersOf(text string) (names []string) {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		names = append(names, placeOfName.ReplaceAllString(m[1]+m[2], ""))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// scripts are the names of the Unicode tables of the scripts of the table.
var scripts = map[string]string{
	"Arab": "Arabic", "Beng": "Bengali", "Deva": "Devanagari", "Gujr": "Gujarati", "Guru": "Gurmukhi", "Knda": "Kannada", "Latn": "Latin", "Mlym": "Malayalam",
	"Olck": "Ol_Chiki", "Orya": "Oriya", "Taml": "Tamil", "Telu": "Telugu",
}

var latinWord = regexp.MustCompile(`[A-Za-z]{2,}`)

// Foreign returns the words and letters of a text in another script than that of the language. Abbreviations and commands stay in
// Latin letters, and so do the capitalized words of source.
func (l *Language) Foreign(text, source string) (words []string) {
	if l.Script == "Latn" {
		return nil
	}
	plain := func(s string) string {
		return latinAllowed.ReplaceAllString(element.ReplaceAllString(placeholder.ReplaceAllString(s, ""), ""), "")
	}
	rest := plain(text)
	if latin := latinWord.FindAllString(rest, -1); len(latin) > 0 {
		known := plain(source)
		words = slices.DeleteFunc(latin, func(word string) bool { return word[0] < 'a' && strings.Contains(known, word) })
	}
	for _, r := range rest {
		if unicode.IsLetter(r) && !unicode.In(r, unicode.Scripts[scripts[l.Script]], unicode.Latin) {
			return append(words, string(r))
		}
	}
	return words
}
