package message

import (
	"cmp"
	"embed"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// Texts has the texts of everything that leaves the service, in English and Hindi.
//
//go:embed texts.*.json
var Texts embed.FS

// texts are the texts of one language by key, with variables in braces.
type texts struct {
	language string
	byKey    map[string]string
}

var textsByLanguage = language.Each(func(code string) texts {
	all, err := language.Read(code, Texts)
	if err != nil {
		panic("message: texts in " + code + ": " + err.Error()) // a test reads each file
	}
	t := texts{language: code, byKey: make(map[string]string, len(all))}
	for key := range all {
		t.byKey[key] = all.Text(key)
	}
	return t
})

// textsIn returns the texts for a person who chose a language.
func textsIn(chosen string) texts { return textsByLanguage(language.Effective(chosen)) }

// TextLanguage returns the language of the texts for a person with a chosen language.
func TextLanguage(chosen string) string { return textsIn(chosen).language }

// fill returns a text with the values of its variables.
func (t texts) fill(key string, values map[string]string) string { return fillIn(t.byKey[key], values) }

// TextOf returns a text of a feature that leaves the service in another form, such as a calendar.
func TextOf(language, key string, values map[string]string) string {
	return textsIn(language).fill(key, values)
}

// keys returns the rest of the keys that begin with prefix, sorted.
func (t texts) keys(prefix string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(t.byKey)) {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			all = append(all, rest)
		}
	}
	return all
}

// named returns the text of key with a safe name, as in "Coach Meera", or the text of fallback if
// nothing is left of the name.
func (t texts) named(key, name, fallback string) string {
	name = Name(name, "")
	if name != "" {
		return t.fill(key, map[string]string{"name": name})
	}
	return t.byKey[fallback]
}

// coach names a coach whom the recipient may not know, inside a sentence or at its start.
func (t texts) coach(name string, insideSentence bool) string {
	if insideSentence {
		return t.named("name.coach.inside", name, "name.coach.some.inside")
	}
	return t.named("name.coach", name, "name.coach.some")
}

// student returns a safe name of a student, yourCoach one of the recipient's coach.
func (t texts) student(name string) string   { return Name(name, t.byKey["name.student"]) }
func (t texts) yourCoach(name string) string { return Name(name, t.byKey["name.coach.yours"]) }

// studentFor names the student in a request to a party.
func (t texts) studentFor(party actor.Role, name string) string {
	switch {
	case party == actor.Guardian:
		return cmp.Or(name, t.byKey["name.student.some"])
	case name == "":
		return t.byKey["name.you"]
	default:
		return t.fill("name.you.named", map[string]string{"name": name})
	}
}

// maxStudents is how many students a text lists by name.
const maxStudents = 3

// list names students. Beyond maxStudents it names two and counts the rest: "Asha, Bela
// and 3 more". Students without a safe name are counted, too.
func (t texts) list(all []string) string {
	names := safeNames(all)
	if len(all) > maxStudents {
		names = names[:min(len(names), maxStudents-1)]
	}
	switch more := len(all) - len(names); {
	case len(names) == 0 && more == 1:
		return t.byKey["name.student"]
	case len(names) == 0:
		return t.fill("name.students", map[string]string{"count": strconv.Itoa(more)})
	case more > 0:
		names = append(names, t.fill("name.more", map[string]string{"count": strconv.Itoa(more)}))
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], language.Of(t.language).Comma) + t.byKey["name.and"] + names[last]
}

// guardians names guardians: "Ravi", "Ravi and Meena".
func (t texts) guardians(all []string) string {
	if len(safeNames(all)) == 0 {
		return t.byKey["name.guardian.none.inside"]
	}
	return t.list(all)
}

// batches names batches: "U12 Evening", "U12 and U14", "U12 and 2 more batches"; or "a batch"
// if there is none.
func (t texts) batches(all []string) string {
	names := safeNames(all)
	switch len(names) {
	case 0:
		return t.byKey["name.batch"]
	case 1:
		return names[0]
	case 2:
		return names[0] + t.byKey["name.and"] + names[1]
	}
	return t.fill("name.batches.more", map[string]string{"batch": names[0], "count": strconv.Itoa(len(names) - 1)})
}

func safeNames(all []string) (names []string) {
	for _, name := range all {
		name = Name(name, "")
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// studentsOf returns the students of e.
func studentsOf(e event.Event) []string { return append([]string{e.StudentName}, e.OtherStudents...) }

// changes names changes.
func (t texts) changes(all []event.Change) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = t.byKey["notification.change."+string(c)]
	}
	return strings.Join(names, language.Of(t.language).Comma)
}

// span formats d in the largest unit of which it is a whole number: "3 days", "36 hours".
func (t texts) span(d time.Duration) string {
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		switch n := d / unit.length; {
		case d <= 0 || d%unit.length != 0:
		case n == 1:
			return t.byKey["span."+unit.name]
		default:
			return t.fill("span."+unit.name+"s", map[string]string{"count": strconv.FormatInt(int64(n), 10)})
		}
	}
	return d.String()
}

// minutes formats how long a code works, in whole minutes.
func (t texts) minutes(d time.Duration) string {
	n := max(1, int(d.Round(time.Minute)/time.Minute))
	if n == 1 {
		return t.byKey["span.minute"]
	}
	return t.fill("span.minutes", map[string]string{"count": strconv.Itoa(n)})
}

// day formats YYYY-MM-DD as "2 January 2006".
func (t texts) day(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return language.Of(t.language).Date(day, true)
}
