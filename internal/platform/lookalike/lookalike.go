// Package lookalike finds the plain text behind characters that look like others: full-width, circled and
// mathematical letters, digits of every script, and Cyrillic or Greek letters in a Latin word. Its results are
// compared, and never shown.
package lookalike

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s in lower case, with the plain text behind each character.
func Fold(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString(Plain(r))
	}
	return b.String()
}

// Plain returns the text that r looks like, in lower case: ASCII if there is one. It is "" for a character that
// shows nothing, and for a mark over a letter that is not a letter itself.
func Plain(r rune) string {
	switch {
	case r < unicode.MaxASCII:
		return string(unicode.ToLower(r))
	case showsNothing(r):
		return ""
	case unicode.IsNumber(r):
		if number := Number(r); number != "" {
			return number
		}
	}
	if plain, ok := letters[r]; ok {
		return plain
	}
	for _, sequence := range sequences {
		if sequence.first <= r && r <= sequence.last {
			return string('a' + r - sequence.first)
		}
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(string(r)) {
		lower := unicode.ToLower(r)
		plain, ok := letters[r]
		if !ok {
			plain, ok = letters[lower]
		}
		switch {
		case ok:
			b.WriteString(plain)
		case !showsNothing(r):
			b.WriteRune(lower)
		}
	}
	return b.String()
}

// showsNothing reports whether r shows nothing beside a plain letter or digit: format characters, variation
// selectors, and the accents and frames of Latin letters. Vowel signs of other scripts are letters there.
func showsNothing(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		0x300 <= r && r <= 0x36f || 0x1ab0 <= r && r <= 0x1aff || 0x1dc0 <= r && r <= 0x1dff || 0x20d0 <= r && r <= 0x20ff
}

// Number returns the digits of r, such as "9" for a nine of any script, "10" for a circled ten, or "" if r is no number.
func Number(r rune) string {
	if unicode.IsDigit(r) && r > unicode.MaxASCII {
		if plain := norm.NFKC.String(string(r)); plain[0] <= '9' {
			return plain
		}
		value := rune(0) // the digits of a script follow each other
		for unicode.IsDigit(r-value-1) && value < 9 {
			value++
		}
		return string('0' + value)
	}
	for _, circled := range numbers {
		if circled.first <= r && r <= circled.last {
			n := circled.value + r - circled.first
			if n >= 10 {
				return string('0'+n/10) + string('0'+n%10)
			}
			return string('0' + n)
		}
	}
	if !unicode.IsNumber(r) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, norm.NFKC.String(string(r)))
}

// numbers are circled numbers that Unicode does not decompose.
var numbers = []struct{ first, last, value rune }{
	{'\u2776', '\u277f', 1},
	{'\u2780', '\u2789', 1},
	{'\u278a', '\u2793', 1},
	{'\u24eb', '\u24f4', 11},
	{'\u24f5', '\u24fe', 1},
	{'\u24ff', '\u24ff', 0},
	{'\U0001f10b', '\U0001f10c', 0},
}

// sequences are alphabets that Unicode does not decompose.
var sequences = []struct{ first, last rune }{
	{'\U0001f150', '\U0001f169'}, {'\U0001f170', '\U0001f189'}, {'\U0001f1e6', '\U0001f1ff'},
}

// letters are letters of other scripts, and others that Unicode does not decompose, that look like Latin ones.
var letters = pairs(
	// Cyrillic
	"аaвbгrеeёeзeиuкkмmнhоoпnрpсcтtуyхxьbѕsіiїiјjһhԁdԛqԝwѵvӏlѡwқkғfөoүyұyһhєe",
	// Greek, capitals first: Η looks like H, its small letter like n
	"ΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧxαaβbγyεeηnιiκkμuνvοoρpσoτtυuχxωwϲcϳj",
	// Armenian
	"օoոnսuհhցgզqլlոnՕoՍuՏs",
	// Latin letters with strokes, without dots, and small capitals
	"ıiȷjłlŁløoØođdĐdħhĦhŧtŦtɑaɡgɩiɪiʟlꜱsᴀaʙbᴄcᴅdᴇeꜰfɢgʜhᴊjᴋkᴍmɴnᴏoᴘpǫqʀrᴛtᴜuᴠvᴡwʏyᴢzßsƒfʋvɯmɾræaœo",
	// Lisu
	"ꓐbꓑpꓒdꓓdꓔtꓖgꓗkꓙjꓚcꓜzꓝfꓟmꓠnꓡlꓢsꓣrꓦvꓧhꓪwꓫxꓬyꓮaꓰeꓲiꓳoꓴu",
	// Cherokee
	"ᎪaᏴbᏟcᎠdᎬeᏀgᎻhᎥiᎫjᏦkᏞlᎷmᏢpᎡrᏚsᎢtᏙvᎳwᏃz",
)

func pairs(tables ...string) map[rune]string {
	all := map[rune]string{}
	for _, table := range tables {
		runes := []rune(table)
		for i := 0; i+1 < len(runes); i += 2 {
			all[runes[i]] = string(runes[i+1])
		}
	}
	return all
}
