package browser_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

var (
	faultSummary = regexp.MustCompile(`(?s)<div class="faults".*?</ul>`)
	faultItem    = regexp.MustCompile(`<li>(.*?)</li>`)
	faultLink    = regexp.MustCompile(`<a href="#([^"]+)">`)
	faultAtField = regexp.MustCompile(`<p class="fault"(>| id=)`)
)

// wantFaults fails the test unless the page has at least min faults, lists them in the order of their
// fields, and leads from each to its field.
func (a answer) wantFaults(name string, min int) {
	a.t.Helper()
	summary := faultSummary.FindString(a.raw)
	items := faultItem.FindAllString(summary, -1)
	if a.status != 422 || len(items) < min {
		a.t.Errorf("%s: got status %d and %d faults, want at least %d:\n%s", name, a.status, len(items), min, summary)
		return
	}
	var at []int
	for _, item := range items {
		link := faultLink.FindStringSubmatch(item)
		if link == nil {
			continue
		}
		i := strings.Index(a.raw, `id="`+link[1]+`"`)
		if i < 0 {
			a.t.Errorf("%s: no element is %s", name, link[1])
		}
		at = append(at, i)
	}
	if !slices.IsSorted(at) {
		a.t.Errorf("%s: the faults are not in the order of the fields: %s", name, summary)
	}
	if fields := len(faultAtField.FindAllString(a.raw, -1)); fields != len(at) {
		a.t.Errorf("%s: %d fields have a fault, and %d faults lead to a field: %s", name, fields, len(at), summary)
	}
}

// TestOrderOfFaults sends each form with several faults. The list above the form has them in the
// order of the fields.
func TestOrderOfFaults(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), enableKYC)
	coach, c := newFormClient(t, s, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	document := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(100, 1), "title", "Passport").Want(t, 201).String("document_id")
	batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
	fee := coach.Call(t, "POST", "/api/fees", map[string]any{"player_id": player, "title": "May", "amount": 1500, "due_on": "2026-12-01"}).Want(t, 201).String("fee_id")
	tooLong := strings.Repeat("x", 4100)
	player1 := []string{
		"guardian_language", "xx", "guardian_email", "x", "guardian_number", "1", "relationship", tooLong, "guardian_name", tooLong,
		"student_language", "xx", "medical", tooLong, "student_number", "1", "date_of_birth", "x", "student_name", "",
	}
	for _, form := range []struct {
		path   string
		faults int
		fields []string
	}{
		{"/coach/profile", 5, []string{"email", "x", "sports", "", "experience_years", "x", "bio", "", "name", ""}},
		{"/coach/players/add", 10, player1},
		{"/coach/players/add", 1, []string{"student_name", "Asha Rao", "date_of_birth", "2014-04-30", "guardian_name", "Ravi Rao"}},
		{"/coach/players/add", 4, []string{"student_name", ""}},
		{"/coach/players/" + player + "/edit", 10, player1},
		{"/coach/players/" + player + "/ask", 1, []string{"party", "student", "number", "1"}},
		{"/coach/players/" + player + "/progress", 4, []string{"on", "x", "unit", tooLong, "value", "x", "metric", ""}},
		{"/coach/players/" + player + "/reports", 4, []string{"text", "", "to", "x", "from", "x", "title", ""}},
		{"/coach/batches/add", 3, []string{"venue", tooLong, "sport", tooLong, "name", ""}},
		{"/coach/batches/add", 2, []string{"name", "", "days1", "monday", "start1", "25:00", "end1", ""}},
		{"/coach/batches/" + batch + "/edit", 3, []string{"venue", tooLong, "sport", tooLong, "name", ""}},
		{"/coach/fees/add", 4, []string{"repeat", "month", "until", "x", "due_on", "", "amount", "x", "title", "", "for", ""}},
		{"/coach/fees/" + fee + "/pay", 2, []string{"note", tooLong, "paid_on", "x", "method", "", "amount", "x"}},
		{"/coach/fees/upi", 1, []string{"upi_id", "x"}},
		{"/coach/messages/write", 4, []string{"text", "", "audience", "", "for", ""}},
		{"/coach/messages/templates", 2, []string{"text", "", "title", ""}},
		{"/coach/documents/" + document, 3, []string{"expires_on", "x", "issued_on", "x", "title", ""}},
		{"/coach/settings", 3, []string{"quiet_end", "99", "quiet_start", "99", "time_zone", "x", "language", "xx"}},
		{"/coach/verification", 2, []string{"legal_name", ""}},
		{"/a", 2, []string{"number", "x", "code", ""}},
	} {
		c.post(form.path, form.fields...).wantFaults(form.path, form.faults)
	}
}
