package browser_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

var (
	optionalField = regexp.MustCompile(`<label for="([a-z_]+)">[^<]*<span class="quiet">\(you may leave this empty\)`)
	labelledField = regexp.MustCompile(`<label for="([a-z_]+)">`)
)

// TestOptionalFields: a field whose label says that it may be empty may be. Another field that is empty
// is a fault, or its label says when it is needed.
func TestOptionalFields(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
	day := s.Clock.Now().Format(time.DateOnly)
	guardian := []string{"guardian_name", "Meena Rao", "relationship", "mother", "guardian_number", "+919812300050", "guardian_email", "meena@example.org"}
	for _, x := range []struct {
		path   string
		fields []string
		// needed are the fields that are not optional.
		needed []string
	}{
		{
			"/coach/players/add", append([]string{"student_name", "Asha", "date_of_birth", "2014-04-30", "student_number", "+919812300051", "medical", "none"}, guardian...),
			[]string{"student_name", "date_of_birth", "guardian_name", "guardian_number"},
		},
		{
			"/coach/players/" + player + "/edit", append([]string{"student_name", "Asha Rao", "date_of_birth", "2014-04-30", "student_number", "", "medical", "none"}, guardian...),
			[]string{"student_name", "date_of_birth", "guardian_name", "relationship", "guardian_number"},
		},
		{"/coach/profile", []string{"name", "Meera", "bio", "b", "experience_years", "3", "sports", "hockey", "email", "meera@example.org"}, []string{"name", "bio", "experience_years", "sports"}},
		{"/coach/settings", []string{"language", "en", "quiet_start", "22:00", "quiet_end", "06:00"}, []string{"language", "quiet_start", "quiet_end"}},
		{"/coach/batches/add", []string{"name", "U12", "sport", "hockey", "venue", "Ground"}, []string{"name"}},
		{"/coach/fees/add", []string{"for", "player:" + player, "title", "Kit", "amount", "10", "due_on", day, "repeat", "month", "until", day}, []string{"for", "title", "amount", "due_on"}},
		{"/coach/players/" + player + "/progress", []string{"metric", "Sprint", "value", "11.5", "unit", "s", "on", day}, []string{"metric", "value", "on"}},
	} {
		var optional []string
		page := c.get(x.path).want(200).raw
		for _, match := range optionalField.FindAllStringSubmatch(page, -1) {
			optional = append(optional, match[1])
		}
		for _, match := range labelledField.FindAllStringSubmatch(page, -1) {
			i := slices.Index(x.fields, match[1])
			if i < 0 || x.fields[i+1] == "" {
				continue
			}
			fields := slices.Clone(x.fields)
			fields[i+1] = ""
			if j := slices.Index(fields, "student_name"); j == 0 && i > 0 {
				fields[1] = fmt.Sprint("Asha ", match[1]) // not the player of the last form
			}
			got := c.post(x.path, fields...)
			if refused := got.status != 200; refused == slices.Contains(optional, match[1]) || slices.Contains(x.needed, match[1]) == slices.Contains(optional, match[1]) {
				t.Errorf("%s: without %s got status %d; the label says optional: %t", x.path, match[1], got.status, slices.Contains(optional, match[1]))
			}
		}
		if len(optional)+len(x.needed) < len(x.fields)/2-2 {
			t.Errorf("%s has the optional fields %v", x.path, optional)
		}
	}
}

// TestRequiredEmail: the profile does not call the e-mail address optional where PROFILE_REQUIRED has it.
func TestRequiredEmail(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.ProfileRequired = append(c.ProfileRequired, "email") })
	c := newVisitor(t, s.URL)
	c.signIn(s, "coach", coachNumber)
	if page := c.get("/coach/profile").want(200).raw; optionalField.MatchString(page) || !labelledField.MatchString(page) {
		t.Errorf("the form calls a field optional: %v", optionalField.FindAllString(page, -1))
	}
}

// TestGuardianNeeded: a child without a guardian gets a fault for each field that is missing.
func TestGuardianNeeded(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	_, c := newFormClient(t, s, coachNumber)
	c.post("/coach/players/add", "student_name", "Asha", "date_of_birth", "2014-04-30").
		want(422, `id="guardian_name-fault"`, `id="guardian_number-fault"`).without(`id="relationship-fault"`, `id="guardian_email-fault"`)
	c.post("/coach/players/add", "student_name", "Asha", "date_of_birth", "1990-04-30").want(200)
}
