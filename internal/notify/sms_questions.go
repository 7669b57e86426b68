package notify

import (
	"cmp"

	"github.com/touchline/touchline/internal/actor"
)

// questionsText returns the SMS for several questions of one coach to one number. It has
// one link for each role, to its first question: after sign-in the recipient sees the other
// open ones of that role, and a text with a link for each child would be long.
func questionsText(questions []Question, m Message) Text {
	var children, students []string
	var guardianLink, studentLink, guardianCode, studentCode string
	for _, q := range questions {
		if q.Party == actor.Guardian {
			children = append(children, q.StudentName)
			guardianLink, guardianCode = cmp.Or(guardianLink, q.Link), cmp.Or(guardianCode, q.ShortCode)
		} else {
			students = append(students, q.StudentName)
			studentLink, studentCode = cmp.Or(studentLink, q.Link), cmp.Or(studentCode, q.ShortCode)
		}
	}
	template := templateQuestionsBoth
	switch {
	case len(students) == 0:
		template = templateQuestionsGuardian
	case len(children) == 0:
		template = templateQuestionsStudent
	}
	return fillShort(template, m.Language, func(names int) map[string]string {
		w := wordsOf(m.Language)
		values := map[string]string{"brand": m.Brand, "coach": w.coach(shortName(Name(questions[0].CoachName, ""), names), false)}
		switch template {
		case templateQuestionsGuardian:
			values["students"], values["link"], values["short_code"] = w.list(shortNames(children, names)), guardianLink, guardianCode
		case templateQuestionsStudent:
			values["students"], values["link"], values["short_code"] = w.list(shortNames(students, names)), studentLink, studentCode
		default:
			values["students"], values["link"] = w.list(shortNames(children, names)), guardianLink
			values["others"], values["other_link"] = w.list(shortNames(students, names)), studentLink
		}
		return values
	})
}

// shortNames shortens each name; one that is not safe becomes "".
func shortNames(names []string, longest int) []string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = shortName(Name(name, ""), longest)
	}
	return short
}
