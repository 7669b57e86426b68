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
	w := wordsOf(m.Language)
	values := map[string]string{"brand": m.Brand, "coach": w.coach(questions[0].CoachName, false)}
	switch {
	case len(students) == 0:
		values["students"], values["link"], values["short_code"] = w.list(children), guardianLink, guardianCode
		return fill(templateQuestionsGuardian, m.Language, values)
	case len(children) == 0:
		values["students"], values["link"], values["short_code"] = w.list(students), studentLink, studentCode
		return fill(templateQuestionsStudent, m.Language, values)
	}
	values["students"], values["link"] = w.list(children), guardianLink
	values["others"], values["other_link"] = w.list(students), studentLink
	return fill(templateQuestionsBoth, m.Language, values)
}
