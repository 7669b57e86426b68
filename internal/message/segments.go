package message

import (
	"strings"
	"unicode/utf16"
)

// The characters of the GSM 7-bit alphabet (3GPP TS 23.038); characters of the extension
// table take two septets.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtended = "\f^{}\\[~]|€"
)

// Segments returns how many SMS segments text takes: 160 characters of the GSM alphabet
// or 70 UTF-16 units in one, 153 or 67 in each of several.
func Segments(text string) int {
	septets := 0
	for _, r := range text {
		switch {
		case strings.ContainsRune(gsmBasic, r):
			septets++
		case strings.ContainsRune(gsmExtended, r):
			septets += 2
		default:
			return segments(len(utf16.Encode([]rune(text))), 70, 67)
		}
	}
	return segments(septets, 160, 153)
}

// IsGSM reports whether text has only characters of the GSM alphabet.
func IsGSM(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !isGSM(r) })
}

func isGSM(r rune) bool {
	return strings.ContainsRune(gsmBasic, r) || strings.ContainsRune(gsmExtended, r)
}

func segments(units, single, each int) int {
	if units <= single {
		return 1
	}
	return (units + each - 1) / each
}
