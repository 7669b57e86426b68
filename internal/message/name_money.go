package message

import (
	"strings"
	"unicode"
)

// moneyWords are the names of currencies and of large numbers. A number beside one is an
// amount of money.
var moneyWords = map[string]bool{
	"rs": true, "re": true, "inr": true, "rupee": true, "rupees": true, "रु": true, "रू": true, "रुपये": true, "रुपए": true,
	"usd": true, "dollar": true, "dollars": true, "eur": true, "euro": true, "euros": true, "gbp": true, "pound": true, "pounds": true,
	"aed": true, "dirham": true, "dirhams": true, "pkr": true, "bdt": true, "taka": true, "npr": true, "lkr": true, "sgd": true, "usdt": true, "btc": true,
	"k": true, "lac": true, "lacs": true, "lakh": true, "lakhs": true, "लाख": true, "crore": true, "crores": true, "cr": true,
}

// offerWords are words of an offer, beside an amount. In a name without an amount they
// stay: Win is a name.
var offerWords = map[string]bool{
	"win": true, "won": true, "winner": true, "free": true, "get": true, "earn": true, "claim": true, "cash": true, "cashback": true, "bonus": true,
	"prize": true, "reward": true, "offer": true, "gift": true, "loan": true, "off": true, "only": true, "just": true, "pay": true, "मुफ्त": true,
}

// removeMoney removes amounts of money from the words of a name, such as "₹5000",
// "Rs. 5 000" or "1000 INR", and the words of an offer. It removes every currency sign.
func removeMoney(words []string) []string {
	var kept []string
	found := false
	for i := 0; i < len(words); {
		// An amount is a run of numbers and money words that has both.
		end, number, money := i, false, false
		for end < len(words) && (isNumber(words[end]) || isMoney(words[end])) {
			number, money = number || digits(words[end]) > 0, money || isMoney(words[end])
			end++
		}
		switch {
		case number && money:
			found = true
		case end == i:
			end++
			fallthrough
		default:
			kept = append(kept, words[i:end]...)
		}
		i = end
	}
	var clean []string
	for _, word := range kept {
		word = strings.Map(withoutCurrency, word)
		if word != "" && !(found && offerWords[lettersOf(word)]) {
			clean = append(clean, word)
		}
	}
	return clean
}

// isMoney reports whether a word has a currency sign, or is a money word with or without
// digits, such as "Rs" or "500INR". A single letter alone is an initial: "K".
func isMoney(word string) bool {
	letters := lettersOf(word)
	return strings.ContainsFunc(word, isCurrency) || moneyWords[letters] && (digits(word) > 0 || len([]rune(letters)) > 1)
}

// isNumber reports whether a word has digits and beside them at most a money word.
func isNumber(word string) bool {
	letters := lettersOf(word)
	return digits(word) > 0 && (letters == "" || moneyWords[letters])
}

func isCurrency(r rune) bool { return unicode.Is(unicode.Sc, r) }

func withoutCurrency(r rune) rune {
	if isCurrency(r) {
		return -1
	}
	return r
}

// lettersOf returns the letters of a word in lower case, with their marks.
func lettersOf(word string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, word))
}
