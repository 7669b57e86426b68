package roster

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/phone"
)

// DateOrder is the order of the numbers in dates such as 03/04/2012.
type DateOrder string

// The orders of dates. A file without such a date has none, "".
const (
	DayFirst   DateOrder = "day_first"
	MonthFirst DateOrder = "month_first"
	// OpenOrder: some dates may be read both ways, and nothing in the file decides.
	OpenOrder DateOrder = "open"
)

// dateKind says how a date was written.
type dateKind int

const (
	invalidDate    dateKind = iota
	twoDigitYear            // it may be a day or a year
	serialDate              // the day number of a spreadsheet, such as 41759
	dateWithTime            // with another time than midnight
	clearDate               // in one order only
	dayFirstDate            // only the first number can be the day
	monthFirstDate          // only the second number can be the day
	openDate                // both numbers may be the month
)

// writtenDate is a date as a cell has it.
type writtenDate struct {
	kind dateKind
	// date is YYYY-MM-DD, and monthFirst the reading of an openDate with the month first. Date is "" for a date
	// that cannot be read.
	date, monthFirst string
	// shortYear is true for three numbers with a year of two digits, and yearFirst if the year seems to come first.
	shortYear, yearFirst bool
}

// in returns the date in an order; "" if the order is open.
func (d writtenDate) in(order DateOrder) string {
	switch {
	case d.kind != openDate:
		return d.date
	case order == DayFirst:
		return d.date
	case order == MonthFirst:
		return d.monthFirst
	}
	return ""
}

// oldest is the age from which a year of two digits is not guessed: 27 to 31 may be a day instead.
const oldest = 90

const (
	between   = `[-/., ]+`
	monthName = `([\p{L}\p{M}]{2,})`
)

var (
	yearFirstForm = regexp.MustCompile(`^(\d{4})` + between + `(\d{1,2})` + between + `(\d{1,2})$`)
	yearLastForm  = regexp.MustCompile(`^(\d{1,2})` + between + `(\d{1,2})` + between + `'?(\d{4}|\d{2})$`)
	packedForm    = regexp.MustCompile(`^(\d{2})(\d{2})(\d{2})(\d{2})$`)
	dayNameForm   = regexp.MustCompile(`^(\d{1,2})[-/., ]*` + monthName + `[-/., ]*'?(\d{4}|\d{2})$`)
	monthNameForm = regexp.MustCompile(`^` + monthName + `[-/., ]*(\d{1,2})` + between + `'?(\d{4}|\d{2})$`)
	yearNameForm  = regexp.MustCompile(`^(\d{4})[-/., ]*` + monthName + `[-/., ]*(\d{1,2})$`)
	serialForm    = regexp.MustCompile(`^\d{4,5}(\.\d+)?$`)
	midnightForm  = regexp.MustCompile(`(?i)[T, ]+(0{1,2}:00(:00)?([.,]0+)?|12:00(:00)? ?a\.?m\.?)( ?(Z|UTC|GMT|[-+]\d\d:?\d\d))?$`)
	timeForm      = regexp.MustCompile(`(?i)[T, ]+\d{1,2}:\d\d(:\d\d)?([.,]\d+)?( ?[ap]\.?m\.?)?( ?(Z|UTC|GMT|[-+]\d\d:?\d\d))?$`)
	ordinalForm   = regexp.MustCompile(`(?i)\b(\d{1,2})(st|nd|rd|th)\b( of\b)?`)
	weekdayForm   = regexp.MustCompile(`(?i)^(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?\b[., ]*`)
)

// parseDate reads a birth date. A year of two digits is the last one that is not after now.
func parseDate(text string, now time.Time) writtenDate {
	text = midnightForm.ReplaceAllString(strings.Join(strings.Fields(strings.Map(plainSeparator, phone.Plain(text))), " "), "")
	text = strings.TrimPrefix(text, "'") // it makes a text of the cell
	if timeForm.MatchString(text) {
		return writtenDate{kind: dateWithTime}
	}
	text = weekdayForm.ReplaceAllString(ordinalForm.ReplaceAllString(text, "$1"), "")
	if m := packedForm.FindStringSubmatch(text); m != nil {
		if first := number(m[1] + m[2]); first >= 1900 && first < 2100 {
			return clear(first, number(m[3]), number(m[4]))
		}
		return numbers(number(m[1]), number(m[2]), number(m[3]+m[4]))
	}
	if m := yearFirstForm.FindStringSubmatch(text); m != nil {
		return clear(number(m[1]), number(m[2]), number(m[3]))
	}
	if m := yearLastForm.FindStringSubmatch(text); m != nil {
		if len(m[3]) == 2 {
			return shortYear(number(m[1]), number(m[2]), number(m[3]), now)
		}
		return numbers(number(m[1]), number(m[2]), number(m[3]))
	}
	if m := dayNameForm.FindStringSubmatch(text); m != nil {
		return named(m[1], m[2], m[3], now)
	}
	if m := monthNameForm.FindStringSubmatch(text); m != nil {
		return named(m[2], m[1], m[3], now)
	}
	if m := yearNameForm.FindStringSubmatch(text); m != nil {
		return clear(number(m[1]), monthNamed(m[2]), number(m[3]))
	}
	if serialForm.MatchString(text) {
		return writtenDate{kind: serialDate}
	}
	return writtenDate{}
}

// plainSeparator returns - and / for the characters that look like them.
func plainSeparator(r rune) rune {
	switch {
	case unicode.Is(unicode.Pd, r), r == '\u2212':
		return '-'
	case r == '\u2044', r == '\u2215', r == '\uff0f':
		return '/'
	case r == '’', r == '‘':
		return '\''
	}
	return r
}

// numbers reads a date of which the year comes last.
func numbers(first, second, year int) writtenDate {
	switch {
	case first > 12 && second <= 12:
		return checked(newDate(year, second, first), dayFirstDate)
	case first <= 12 && second > 12:
		return checked(newDate(year, first, second), monthFirstDate)
	case first == second:
		return checked(newDate(year, first, second), clearDate)
	}
	d := checked(newDate(year, second, first), openDate)
	d.monthFirst = newDate(year, first, second)
	return d
}

// shortYear reads a date of three numbers of two digits: the year comes last, unless the first number is no day.
func shortYear(first, second, third int, now time.Time) writtenDate {
	if first > 31 {
		d := clear(pastYear(first, second, third, now), second, third)
		d.shortYear, d.yearFirst = true, true
		return d
	}
	d := numbers(first, second, pastYear(third, second, first, now))
	d.shortYear = true
	if third <= 31 && d.date != "" && d.date < newDate(now.Year()-oldest, 1, 1) {
		d = writtenDate{kind: twoDigitYear, shortYear: true, yearFirst: true}
	}
	return d
}

// named reads a date with the name of its month.
func named(day, month, year string, now time.Time) writtenDate {
	d, m, y := number(day), monthNamed(month), number(year)
	if len(year) == 4 {
		return clear(y, m, d)
	}
	past := clear(pastYear(y, m, d, now), m, d)
	if y <= 31 && past.date != "" && past.date < newDate(now.Year()-oldest, 1, 1) {
		return writtenDate{kind: twoDigitYear}
	}
	return past
}

// pastYear returns the last year that ends with two digits and has the date before or on the day of now.
func pastYear(digits, month, day int, now time.Time) int {
	year := now.Year() - now.Year()%100 + digits
	if time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).After(now) {
		year -= 100
	}
	return year
}

func clear(year, month, day int) writtenDate { return checked(newDate(year, month, day), clearDate) }

func checked(date string, kind dateKind) writtenDate {
	if date == "" {
		return writtenDate{}
	}
	return writtenDate{kind: kind, date: date}
}

// newDate returns a date as YYYY-MM-DD, or "" if it does not exist.
func newDate(year, month, day int) string {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year < 1 || t.Year() != year || int(t.Month()) != month || t.Day() != day {
		return ""
	}
	return t.Format(time.DateOnly)
}

// number returns the value of up to four digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the patterns match only digits
	return n
}

// monthNamed returns the month of an English name or of its first letters, or of a name in another language; or 0.
func monthNamed(name string) int {
	if len(name) < 3 {
		return 0
	}
	for month := time.January; month <= time.December; month++ {
		full := month.String()
		if len(name) <= len(full) && strings.EqualFold(name, full[:len(name)]) {
			return int(month)
		}
	}
	if month := monthsByName()[foldTitle(name)]; month != 0 {
		return month
	}
	if strings.EqualFold(name, "sept") {
		return int(time.September)
	}
	return 0
}

// monthsByName are the names of months in all languages, as foldTitle writes them.
var monthsByName = sync.OnceValue(func() map[string]int {
	months := map[string]int{}
	for _, l := range language.All() {
		for i, name := range l.Months {
			months[foldTitle(name)] = i + 1
		}
		for i, names := range l.MonthSpellings {
			for _, name := range names {
				months[foldTitle(name)] = i + 1
			}
		}
	}
	return months
})

// dateColumn collects how the birth dates of a file are written. One date that can be read in one order only decides
// for the others.
type dateColumn struct {
	dayFirst, monthFirst bool // a date is certain
	yearFirst            bool // a year of two digits comes first, or seems to
	open                 openRow
	// title is the order that the title says, as in "Date of birth (MM/DD/YYYY)".
	title DateOrder
}

// openRow is the first row with a date that may be read both ways; its number is 0 if there is none.
type openRow struct {
	Row                  int
	Text                 string
	DayFirst, MonthFirst string
}

// add counts the date of a row whose cells are in their columns.
func (c *dateColumn) add(row int, text string, d writtenDate) {
	c.dayFirst = c.dayFirst || d.kind == dayFirstDate
	c.monthFirst = c.monthFirst || d.kind == monthFirstDate
	c.yearFirst = c.yearFirst || d.yearFirst
	if d.kind == openDate && c.open.Row == 0 {
		c.open = openRow{row, shorten(text), d.date, d.monthFirst}
	}
}

// order returns the order of the column: OpenOrder if nothing decides, or if some dates have one order and some the
// other.
func (c *dateColumn) order() DateOrder {
	switch {
	case c.dayFirst && !c.monthFirst:
		return DayFirst
	case c.monthFirst && !c.dayFirst:
		return MonthFirst
	case c.open.Row == 0:
		return ""
	case c.monthFirst || c.title == "":
		return OpenOrder
	}
	return c.title
}

// datePattern is the order of dates at the end of a title without brackets, as in "DOB MM/DD/YYYY".
var datePattern = regexp.MustCompile(`(?i)[^\p{L}\p{N}]+((?:dd?[-/. ]?m{1,3}|m{1,3}[-/. ]?dd?)[-/. ]?(?:yyyy|yy)|yyyy[-/. ]?m{1,3}[-/. ]?dd?)\W*$`)

// cutDatePattern returns a title without the order of dates at its end, and that order.
func cutDatePattern(title string) (rest, pattern string) {
	m := datePattern.FindStringSubmatchIndex(title)
	if m == nil {
		return title, ""
	}
	return title[:m[0]], title[m[2]:m[3]]
}

// titleOrder returns the order that a title of dates says in brackets or at its end.
func titleOrder(title string) DateOrder {
	_, inside, found := strings.Cut(strings.ReplaceAll(title, "[", "("), "(")
	if !found {
		_, inside = cutDatePattern(title)
	}
	switch letters := foldTitle(inside); {
	case strings.HasPrefix(letters, "ddmm"), strings.HasPrefix(letters, "dm"):
		return DayFirst
	case strings.HasPrefix(letters, "mmdd"), strings.HasPrefix(letters, "md"):
		return MonthFirst
	}
	return ""
}

// warning tells the coach how open dates were read; ok is false if there is none, or the caller said the order.
func (c *dateColumn) warning(order DateOrder) (w Warning, ok bool) {
	first, date := "day", c.open.DayFirst
	switch {
	case c.open.Row == 0 || order != DayFirst && order != MonthFirst:
		return w, false
	case order == MonthFirst:
		first, date = "month", c.open.MonthFirst
	}
	return Warning{
		Code: string(order), Row: c.open.Row, Text: date,
		Detail: fmt.Sprintf("We read dates with the %s first. Please check one: the birth date in row %d is %s.", first, c.open.Row, date),
	}, true
}

// readBirthDate replaces the birth date by YYYY-MM-DD, or adds a fault. column says what the file's other dates show.
func (r *Row) readBirthDate(d writtenDate, order DateOrder, column *dateColumn) {
	if r.Entry.BirthDate == "" {
		r.add(BirthDate, "required", "Write the birth date, such as 2012-04-30.")
		return
	}
	date := d.in(order)
	switch {
	case d.kind == twoDigitYear, d.shortYear && column.yearFirst && !d.yearFirst:
		r.add(BirthDate, "two_digit_year", "We cannot tell the year from the day. Write the year with four digits, such as 2012.")
	case d.kind == serialDate:
		r.add(BirthDate, "serial_date", "This is a number, not a date. Write the date as 2012-04-30.")
	case d.kind == dateWithTime:
		r.add(BirthDate, "date_with_time", "This has a time. Write the date alone, as 2012-04-30.")
	case d.kind == monthFirstDate && order == DayFirst:
		r.add(BirthDate, "month_first", "The list has the day first, and this date the month. Write it as 2012-04-30: year, month, day.")
	case d.kind == dayFirstDate && order == MonthFirst:
		r.add(BirthDate, "day_first", "The list has the month first, and this date the day. Write it as 2012-04-30: year, month, day.")
	case d.kind == openDate && date == "" && (column.dayFirst || column.monthFirst):
		r.add(BirthDate, "ambiguous_date", "We cannot tell the day from the month, because some rows have the month first and some the day. Write the date as 2012-04-30: year, month, day.")
	case d.kind == openDate && date == "":
		r.add(BirthDate, "ambiguous_date", "We cannot tell the day from the month. Send date_order, or write the date as 2012-04-30: year, month, day.")
	case date == "":
		r.add(BirthDate, "invalid_date", "This date does not exist, or we cannot read it. Write it as 2012-04-30.")
	default:
		r.Entry.BirthDate = date
	}
}
