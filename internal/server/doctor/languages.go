package doctor

import (
	"context"
	"strings"

	"github.com/touchline/touchline/internal/language"
)

// languages says in which languages no native speaker is recorded to have read the texts of a question, and warns of those
// whose question is asked in the fallback.
func (c *checkup) languages(context.Context) []Result {
	var results []Result
	var notRead []string
	for _, code := range language.Offered() {
		name := language.Of(code).InEnglish
		if language.NotRead()[code] > 0 {
			notRead = append(notRead, name)
		}
		if asked := language.Asked(code); asked != code {
			results = append(results, warning("A question to a person who reads %s is asked in %s: no second translator checked its texts. See Languages in docs/operating.md.", name, language.Of(asked).InEnglish))
		}
	}
	if len(notRead) == 0 {
		return append(results, ok("A native speaker read the question in each language that is offered."))
	}
	return append(results, ok("%d languages are offered. No native speaker is recorded to have read the question in %s.", len(language.Offered()), strings.Join(notRead, ", ")))
}
