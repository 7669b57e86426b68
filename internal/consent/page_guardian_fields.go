package consent

import (
	"maps"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/web"
)

// guardianSuffixes end the names of the fields of the guardians of a new player.
var guardianSuffixes = []string{"", "_2", "_3", "_4"}

// guardianFieldset are the fields of one guardian of a new player, for the template "guardian-fields".
type guardianFieldset struct {
	// Suffix ends the names of the fields. Number is the place, from 2; 0 for the first.
	Suffix string
	Number int
	// Open unfolds the fields.
	Open bool
	// Next is the next guardian, or nil.
	Next *guardianFieldset
}

// guardianFieldsets returns the fields of the first guardian and of those after it. Those that the form has are open.
func guardianFieldsets(f *web.Form) *guardianFieldset {
	var next *guardianFieldset
	for i := len(guardianSuffixes) - 1; i >= 0; i-- {
		g := &guardianFieldset{Suffix: guardianSuffixes[i], Next: next}
		if i > 0 {
			g.Number = i + 1
			g.Open = next != nil && next.Open
			for _, field := range guardianFields {
				g.Open = g.Open || f.Value(field.Field+g.Suffix) != "" || f.Fault(field.Field+g.Suffix) != ""
			}
		}
		next = g
	}
	return next
}

// guardianIn returns the guardian of the fields with a suffix as a member of the body that the API takes, or nil.
func guardianIn(r *web.Request, suffix string) map[string]any {
	g := map[string]any{}
	for _, field := range guardianFields {
		if field.member != "language" || len(g) > 0 {
			web.SetGiven(g, field.member, r.Value(field.Field+suffix))
		}
	}
	if len(g) == 0 {
		return nil
	}
	return g
}

// addFields is playerFields for a form with the guardians of entered.
func addFields(entered []string) map[string]string {
	fields := maps.Clone(playerFields)
	fields["/guardians"] = "guardian_name"
	for i, suffix := range entered {
		pointers := []string{"/guardians/" + strconv.Itoa(i)}
		if i == 0 {
			pointers = append(pointers, "/guardian")
		}
		for _, pointer := range pointers {
			for at, name := range playerFields {
				if member, ok := strings.CutPrefix(at, "/guardian/"); ok {
					fields[pointer+"/"+member] = name + suffix
				}
			}
		}
	}
	return fields
}
