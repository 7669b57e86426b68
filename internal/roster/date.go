package roster

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
)

// dateKind says how a date was written.
type dateKind int

const (
	invalidDate dateKind = iota
	twoDigitYear
	serialDate // the day number of a spreadsheet, such as 41759
	clearDate  // in one order only
	dayFirst   // both numbers may be the month: read with the day first
	monthFirst // only the second number can be the day
)

var (
	yearFirstForm = regexp.MustCompile(`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$`)
	yearLastForm  = regexp.MustCompile(`^(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})$`)
	dayNameForm   = regexp.MustCompile(`^(\d{1,2})[-/., ]*([A-Za-z]{3,9})[-/., ]*(\d{4})$`)
	monthNameForm = regexp.MustCompile(`^([A-Za-z]{3,9})[-/., ]*(\d{1,2})[-/., ]+(\d{4})$`)
	shortYearForm = regexp.MustCompile(`^\d{1,2}[-/. ](\d{1,2}|[A-Za-z]{3,9})[-/. ]'?\d{2}$`)
	serialForm    = regexp.MustCompile(`^\d{4,5}$`)
	midnight      = regexp.MustCompile(`[T ]+0{1,2}:00(:00)?(\.0+)?Z?$`)
)

// parseDate returns a date as YYYY-MM-DD, and how it was written. The date is "" if text is
// no date or a date that does not exist.
func parseDate(text string) (string, dateKind) {
	text = strings.Map(phone.ASCIIDigit, midnight.ReplaceAllString(strings.TrimSpace(text), ""))
	switch {
	case yearFirstForm.MatchString(text):
		m := yearFirstForm.FindStringSubmatch(text)
		return newDate(number(m[1]), number(m[2]), number(m[3]), clearDate)
	case yearLastForm.MatchString(text):
		m := yearLastForm.FindStringSubmatch(text)
		day, month, year := number(m[1]), number(m[2]), number(m[3])
		switch {
		case day <= 12 && month > 12:
			return newDate(year, day, month, monthFirst)
		case day > 12 || day == month:
			return newDate(year, month, day, clearDate)
		}
		return newDate(year, month, day, dayFirst)
	case dayNameForm.MatchString(text):
		m := dayNameForm.FindStringSubmatch(text)
		return newDate(number(m[3]), monthNamed(m[2]), number(m[1]), clearDate)
	case monthNameForm.MatchString(text):
		m := monthNameForm.FindStringSubmatch(text)
		return newDate(number(m[3]), monthNamed(m[1]), number(m[2]), clearDate)
	case shortYearForm.MatchString(text):
		return "", twoDigitYear
	case serialForm.MatchString(text):
		return "", serialDate
	}
	return "", invalidDate
}

// newDate returns a date as YYYY-MM-DD, or invalidDate if it does not exist.
func newDate(year, month, day int, kind dateKind) (string, dateKind) {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year < 1 || t.Year() != year || int(t.Month()) != month || t.Day() != day {
		return "", invalidDate
	}
	return t.Format(time.DateOnly), kind
}

// number returns the value of up to four digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the patterns match only digits
	return n
}

// monthNamed returns the month of an English name or of its first letters, or 0.
func monthNamed(name string) int {
	for month := time.January; month <= time.December; month++ {
		full := month.String()
		if len(name) <= len(full) && strings.EqualFold(name, full[:len(name)]) {
			return int(month)
		}
	}
	if strings.EqualFold(name, "sept") {
		return int(time.September)
	}
	return 0
}
