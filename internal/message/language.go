package message

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// The languages of messages.
const (
	english = "en"
	hindi   = "hi"
)

// languageWords are the parts of texts in one language.
type languageWords struct {
	// coachTitle stands before the name of a coach, aCoach in place of it; lower are both
	// inside a sentence.
	coachTitle, aCoach, coachTitleLower, aCoachLower string
	// aStudent and theStudent stand in place of a student's name, you for the student who
	// reads the text.
	aStudent, theStudent, you string
	// youNamed is you with the name of the student.
	youNamed string
	and      string
	// aBatch stands in place of the name of a batch, moreBatches after a name.
	aBatch, moreBatches string
	// nStudents and nMore count students who are not named.
	nStudents, nMore string
	// yourCoach stands in place of the name of a coach who writes to a family, toStudent names
	// the coach and the student to whom a message goes, toStop stands before the page that
	// stops the coach's messages.
	yourCoach, toStudent, toStop string
	changes                      map[event.Change]string
}

var wordsByLanguage = map[string]languageWords{
	english: {
		coachTitle: "Coach", aCoach: "A coach", coachTitleLower: "coach", aCoachLower: "a coach",
		aStudent: "a student", theStudent: "the student", you: "you", youNamed: "you, %s,", aBatch: "a batch", moreBatches: "%s and %d more batches", and: " and ", nStudents: "%d students", nMore: "%d more",
		yourCoach: "Your coach", toStudent: "%s to %s", toStop: "To stop: ",
		changes: map[event.Change]string{
			event.NameChanged: "name", event.BirthDateChanged: "birth date",
			event.GuardianNumberChanged: "the guardian's number", event.StudentNumberChanged: "the student's number",
		},
	},
	hindi: {
		coachTitle: "कोच", aCoach: "एक कोच", coachTitleLower: "कोच", aCoachLower: "एक कोच",
		aStudent: "एक विद्यार्थी", theStudent: "विद्यार्थी", you: "आपको", youNamed: "आपको (%s)", aBatch: "एक बैच", moreBatches: "%s और %d और बैच", and: " और ", nStudents: "%d विद्यार्थी", nMore: "%d और",
		yourCoach: "आपके कोच", toStudent: "%s की ओर से %s को", toStop: "बंद करने के लिए: ",
		changes: map[event.Change]string{
			event.NameChanged: "नाम", event.BirthDateChanged: "जन्म तिथि",
			event.GuardianNumberChanged: "अभिभावक का नंबर", event.StudentNumberChanged: "विद्यार्थी का नंबर",
		},
	},
}

// wordsOf returns the words of a language, or of the default language.
func wordsOf(language string) languageWords {
	if w, ok := wordsByLanguage[language]; ok {
		return w
	}
	return wordsByLanguage[Languages[0]]
}

// coach names a coach whom the recipient may not know.
func (w languageWords) coach(name string, insideSentence bool) string {
	if insideSentence {
		return titled(w.coachTitleLower, name, w.aCoachLower)
	}
	return titled(w.coachTitle, name, w.aCoach)
}

// studentFor names the student in a request to a party.
func (w languageWords) studentFor(party actor.Role, name string) string {
	switch {
	case party == actor.Guardian:
		return cmp.Or(name, w.aStudent)
	case name == "":
		return w.you
	default:
		return fmt.Sprintf(w.youNamed, name)
	}
}

// maxStudents is how many students a text lists by name.
const maxStudents = 3

// list names students. Beyond maxStudents it names two and counts the rest: "Asha, Bela
// and 3 more". Students without a safe name are counted, too.
func (w languageWords) list(all []string) string {
	var names []string
	for _, name := range all {
		if name = Name(name, ""); name != "" {
			names = append(names, name)
		}
	}
	if len(all) > maxStudents {
		names = names[:min(len(names), maxStudents-1)]
	}
	switch more := len(all) - len(names); {
	case len(names) == 0 && more == 1:
		return w.theStudent
	case len(names) == 0:
		return fmt.Sprintf(w.nStudents, more)
	case more > 0:
		names = append(names, fmt.Sprintf(w.nMore, more))
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + w.and + names[last]
}

// batches names batches: "U12 Evening", "U12 and U14", "U12 and 2 more batches"; or "a batch"
// if there is none.
func (w languageWords) batches(names []string) string {
	var safe []string
	for _, name := range names {
		if name = Name(name, ""); name != "" {
			safe = append(safe, name)
		}
	}
	switch len(safe) {
	case 0:
		return w.aBatch
	case 1:
		return safe[0]
	case 2:
		return safe[0] + w.and + safe[1]
	}
	return fmt.Sprintf(w.moreBatches, safe[0], len(safe)-1)
}

// studentsOf returns the students of e.
func studentsOf(e event.Event) []string { return append([]string{e.StudentName}, e.OtherStudents...) }

// changeList names changes.
func changeList(language string, changes []event.Change) string {
	w := wordsOf(language)
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = w.changes[c]
	}
	return strings.Join(names, ", ")
}
