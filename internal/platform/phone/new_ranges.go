package phone

import (
	"maps"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/nyaruka/phonenumbers"
)

// mobileRange is what the mobile numbers of a country have in common.
type mobileRange struct {
	lengths []int32
	// digits are the first digits after which several second ones are known: not the 1 of India, of which 160 is the only range.
	digits string
}

// mobileRanges are the ranges by country code. They are read when the first number needs them: 5 ms.
var mobileRanges = sync.OnceValue(func() map[int32][]mobileRange {
	ranges := map[int32][]mobileRange{}
	all, err := phonenumbers.MetadataCollection()
	if err != nil {
		return nil // the library has read the same data at the start
	}
	for _, country := range all.GetMetadata() {
		mobile := country.GetMobile()
		pattern, err := syntax.Parse(mobile.GetNationalNumberPattern(), syntax.Perl)
		if err != nil || mobile.GetNationalNumberPattern() == "" {
			continue
		}
		lengths := mobile.GetPossibleLength()
		if len(lengths) == 0 { // those of all numbers
			lengths = country.GetGeneralDesc().GetPossibleLength()
		}
		count := map[byte]int{}
		for prefix := range prefixes(pattern.Simplify()) {
			if len(prefix) == prefixLength {
				count[prefix[0]]++
			}
		}
		r := mobileRange{lengths: slices.Clone(lengths)}
		for digit, n := range count {
			if n > 1 {
				r.digits += string(digit)
			}
		}
		ranges[country.GetCountryCode()] = append(ranges[country.GetCountryCode()], r)
	}
	return ranges
})

// mayBeNew reports whether a number of no known type may be in a range that its country has opened since the data of the
// library: it is as long as a mobile number of the country, and begins with a digit with which they begin.
func mayBeNew(n *phonenumbers.PhoneNumber) bool {
	national := phonenumbers.GetNationalSignificantNumber(n)
	return national != "" && slices.ContainsFunc(mobileRanges()[n.GetCountryCode()], func(r mobileRange) bool {
		return slices.Contains(r.lengths, int32(len(national))) && strings.Contains(r.digits, national[:1])
	})
}

// prefixLength is the number of digits in the result of prefixes.
const prefixLength = 2

// prefixes returns the first two digits of the texts that match re; a text that is shorter is whole.
func prefixes(re *syntax.Regexp) map[string]bool {
	found := map[string]bool{}
	switch re.Op {
	case syntax.OpLiteral:
		found[string(re.Rune[:min(prefixLength, len(re.Rune))])] = true
	case syntax.OpCharClass:
		for d := '0'; d <= '9'; d++ {
			for i := 0; i < len(re.Rune); i += 2 {
				if re.Rune[i] <= d && d <= re.Rune[i+1] {
					found[string(d)] = true
				}
			}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return prefixes(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		found = prefixes(re.Sub[0])
		found[""] = true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			maps.Copy(found, prefixes(sub))
		}
	case syntax.OpConcat:
		found[""] = true
		for _, sub := range re.Sub {
			found = joined(found, sub)
		}
	default:
		found[""] = true
	}
	return found
}

// joined adds what may follow to the prefixes that are not long enough.
func joined(before map[string]bool, next *syntax.Regexp) map[string]bool {
	short := func(prefix string) bool { return len(prefix) < prefixLength }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(before)), short) {
		return before
	}
	after, found := prefixes(next), map[string]bool{}
	for prefix := range before {
		if !short(prefix) {
			found[prefix] = true
			continue
		}
		for end := range after {
			both := prefix + end
			found[both[:min(prefixLength, len(both))]] = true
		}
	}
	return found
}
