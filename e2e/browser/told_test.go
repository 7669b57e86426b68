package browser_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// told is a club in its first week: of five families one gets all, one stopped the coach outside of the app, one
// has not answered (two children), and one took the yes back.
type told struct {
	*touchlinetest.Service
	t       *testing.T
	b       *touchlinetest.Browser
	coach   *touchlinetest.User
	batch   string
	players map[string]string
}

func newTold(t *testing.T, s *touchlinetest.Service) told {
	t.Helper()
	c := told{Service: s, t: t, coach: s.Coach(t, coachNumber), b: s.Browser(t), players: map[string]string{}}
	c.batch = c.coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
	number := func(n int) string { return fmt.Sprintf("+9198123777%02d", n) }
	for i, name := range []string{"Asha", "Bela", "Chetan", "Dev", "Esha"} {
		n := number(i)
		if name == "Chetan" {
			n = number(1) // the guardian of Bela
		}
		body := touchlinetest.Minor(n, "")
		body["student"].(map[string]any)["full_name"] = name + " Rao"
		body["guardian"].(map[string]any)["name"] = "Guardian of " + name
		body["guardian"].(map[string]any)["email"] = strings.ToLower(name) + "@example.com"
		body["batch_ids"] = []string{c.batch}
		c.players[name] = c.coach.AddPlayer(t, body).String("player_id")
		if name == "Bela" || name == "Chetan" {
			continue
		}
		guardian := s.SignIn(t, "guardian", n)
		decide := func(action string) {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": c.players[name], "action": action}).Want(t, 200)
		}
		decide("approved")
		switch name {
		case "Dev":
			decide("revoked")
		case "Esha":
			guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"stopped_coaches": []string{c.coach.ID}}).Want(t, 200)
		}
	}
	signIn(t, s, c.b, "coach", coachNumber)
	return c
}

// queued counts the people for whom notifications of a type were saved, and copies queued by SMS and mail that nothing stopped.
func (c told) queued(kind string, since time.Time) (people, sms, mail int) {
	c.t.Helper()
	driver, address := "pgx", c.Config.DatabaseURL.Reveal()
	if path, sqlite := strings.CutPrefix(address, "sqlite:"); sqlite {
		driver, address = "sqlite", path
	} else if u, err := url.Parse(address); err == nil {
		query := u.Query()
		query.Del("pool_max_conns")
		u.RawQuery = query.Encode()
		address = u.String()
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	count := func(query string, args ...any) (n int) {
		if err := db.QueryRowContext(c.t.Context(), query, append([]any{kind, since.UnixMicro()}, args...)...).Scan(&n); err != nil {
			c.t.Fatal(err)
		}
		return n
	}
	copies := `SELECT count(DISTINCT d.recipient) FROM notifications n JOIN deliveries d ON d.notification_id = n.id
		WHERE n.type = $1 AND n.created_at >= $2 AND d.channel = $3 AND coalesce(d.reason, '') <> 'stopped'
		AND NOT EXISTS (SELECT 1 FROM stopped_coaches s WHERE s.mobile_number = d.recipient)
		AND NOT EXISTS (SELECT 1 FROM accounts a JOIN stopped_coaches s ON s.mobile_number = a.mobile_number WHERE a.id = n.account_id)`
	return count(`SELECT count(DISTINCT a.mobile_number) FROM notifications n JOIN accounts a ON a.id = n.account_id WHERE n.type = $1 AND n.created_at >= $2`),
		count(copies, "sms"), count(copies, "email")
}

// want fails unless the page says of how many people the database has a message, and offers to write to the rest.
func (c told) want(kind string, since time.Time, rest int, text ...string) {
	c.t.Helper()
	people, sms, mail := c.queued(kind, since)
	said := "No one was told."
	if people > 0 {
		verb := "people were"
		if people == 1 {
			verb = "person was"
		}
		ways := []string{fmt.Sprintf("%d in the app", people)}
		for _, way := range []struct {
			n  int
			by string
		}{{sms, "by SMS"}, {mail, "by mail"}} {
			if way.n > 0 {
				ways = append(ways, fmt.Sprint(way.n, " ", way.by))
			}
		}
		said = fmt.Sprintf("%d %s told: %s.", people, verb, strings.Join(ways, ", "))
	}
	if c.b.Page.Status != 200 {
		c.t.Fatalf("%s: %d %s %s", c.b.Page.Path, c.b.Page.Status, c.b.Page.Body, c.Log.String())
	}
	wantText(c.t, c.b, append(text, said)...)
	path := c.b.Page.Path
	if rest == 0 {
		if strings.Contains(c.b.Page.Text(), "not told") {
			c.t.Errorf("%s: someone was not told", path)
		}
		return
	}
	label := fmt.Sprintf("Write to the other %d by SMS", rest)
	if rest == 1 {
		label = "Write to the other person by SMS"
	}
	c.b.Press(label)
	wantHeading(c.t, c.b, "Write a message")
	if c.b.Page.Value("text") == "" {
		c.t.Errorf("%s: the message has no text", path)
	}
	c.b.Open(path)
}

// TestToldAsQueued: each page that says who was told says what the transaction queued, and names the rest.
func TestToldAsQueued(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := newTold(t, s)
		day := s.Clock.Now().AddDate(0, 0, 3).Format(time.DateOnly)
		since := s.Clock.Now()
		c.b.Open("/coach/batches/" + c.batch + "/trainings/add")
		c.b.Press("Add a match or training", "date", day, "start", "09:00", "end", "10:00", "kind", "match", "opponent", "Tigers")
		c.want("training_added", since, 2, "The training is added.", "Guardian of Bela, guardian of Bela Rao", "Guardian of Dev, guardian of Dev Rao")
		training, _, _ := strings.Cut(c.b.Page.Path, "?")
		since = s.Clock.Now()
		c.b.Open(training)
		c.b.Press("Ask those without an answer")
		c.want("training_asked", since, 2)
		c.b.Open(training + "/edit")
		c.b.Press("Save", "start", "11:00", "end", "12:00", "kind", "match")
		c.want("training_changed", since, 2, "Saved.")
		c.b.Open(training + "/cancel")
		for range 2 { // the same form again tells no one again
			c.b.Send("POST", training+"/cancel", url.Values{"account": {c.coach.ID}, "reason": {"The ground is under water."}})
			c.want("training_cancelled", since, 2, "The training is cancelled.")
		}
		c.b.Press("Write to the other 2 by SMS")
		for _, part := range []string{"U12: Match against Tigers", "is cancelled", "under water"} {
			if text := c.b.Page.Value("text"); !strings.Contains(text, part) {
				t.Errorf("the message %q has no %q", text, part)
			}
		}
		wantText(t, c.b, "2 players: Bela Rao, Dev Rao")
		c.b.Press("See how it arrives", "for", "players:"+c.players["Bela"]+","+c.players["Dev"], "audience", "guardian", "channels", "sms")
		wantText(t, c.b, "2 people get it.")
		a := c.coach.Call(t, "GET", strings.Replace(training, "/coach", "/api", 1), nil).Want(t, 200)
		people, sms, mail := c.queued("training_cancelled", since)
		if got, want := a.String("told.people")+a.String("told.sms")+a.String("told.email")+a.String("told.event"), fmt.Sprint(people)+fmt.Sprint(sms)+fmt.Sprint(mail)+"training_cancelled"; got != want || people != 2 || sms != 1 {
			t.Errorf("the API says %s, the database %s", got, want)
		}
		c.b.Open(training)
		c.b.Press("It takes place after all")
		c.want("training_restored", since, 2, "The training takes place.")
		c.b.Language = "hi"
		c.b.Open(c.b.Page.Path)
		wantText(t, c.b, "2 लोगों को बताया गया", "बाकी 2 को SMS से लिखें")
		c.b.Language = "en"

		for name, rest := range map[string]int{"Asha": 0, "Bela": 1, "Dev": 1} {
			player := "/coach/players/" + c.players[name]
			since = s.Clock.Now()
			today := since.Format(time.DateOnly)
			c.b.Open(player + "/reports")
			c.b.Press("Save", "title", "March", "text", "Good", "from", today, "to", today)
			c.want("performance_report", since, rest, "The report is saved.")
			c.b.Open(player + "/progress")
			c.b.Press("Save", "metric", "80 m", "value", "12.4", "unit", "s", "on", today)
			c.want("progress_update", since, rest, "The result is saved.")
			fee := c.coach.Call(t, "POST", "/api/fees", map[string]any{"player_id": c.players[name], "title": "Kit", "amount": 50000, "due_on": s.Clock.Now().AddDate(0, 0, 20).Format(time.DateOnly)}).Want(t, 201).String("fee_id")
			c.b.Open("/coach/fees/" + fee)
			c.b.Press("Remind the family in the app")
			c.want("fee_reminder", since, rest)
			s.Clock.Advance(time.Second)
		}
	})
}

// TestWriteToReachable: a page offers to write only to people whom a message reaches, and says why it does not reach the others.
func TestWriteToReachable(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := newTold(t, s)
		guardians := map[string]*touchlinetest.User{}
		for i, name := range []string{"Farah", "Gita"} {
			number := fmt.Sprintf("+9198123888%02d", i)
			body := touchlinetest.Minor(number, "")
			body["student"].(map[string]any)["full_name"] = name + " Rao"
			body["guardian"].(map[string]any)["name"] = "Guardian of " + name
			body["batch_ids"] = []string{c.batch}
			player := c.coach.AddPlayer(t, body)
			c.players[name] = player.String("player_id")
			guardians[name] = s.SignIn(t, "guardian", number)
			if name == "Gita" {
				guardians[name].Call(t, "POST", "/api/approval/requests/"+player.String("guardian_request_id")+"/dispute", nil).Want(t, 200)
			}
		}
		stop := func(guardian *touchlinetest.User) {
			guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"stopped_coaches": []string{c.coach.ID}}).Want(t, 200)
		}
		stop(guardians["Farah"])
		day := s.Clock.Now().AddDate(0, 0, 3).Format(time.DateOnly)
		c.b.Open("/coach/batches/" + c.batch + "/trainings/add")
		c.b.Press("Add a match or training", "date", day, "start", "09:00", "end", "10:00", "kind", "match", "opponent", "Tigers")
		training, _, _ := strings.Cut(c.b.Page.Path, "?")
		c.b.Open(training + "/cancel")
		wantText(t, c.b, "Next you see who was told, and to whom of the others you can write.")
		c.b.Send("POST", training+"/cancel", url.Values{"account": {c.coach.ID}, "reason": {"The ground is under water."}})
		told := c.b.Page.Path
		wantText(t, c.b, "4 people were not told:",
			"Guardian of Farah, guardian of Farah Rao: this person wants no messages from you",
			"Guardian of Gita, guardian of Gita Rao: this person said that the number is the wrong one")
		c.b.Press("Write to the other 2 by SMS")
		wantText(t, c.b, "2 players: Bela Rao, Dev Rao")
		if hint := c.b.Page.Text(); strings.Contains(hint, "every number") {
			t.Error("the form says that a channel reaches every number")
		}

		stop(s.SignIn(t, "guardian", "+919812377701"))
		c.b.Open(told)
		c.b.Press("Write to the other person by SMS")
		stop(s.SignIn(t, "guardian", "+919812377703"))
		c.b.Open(told)
		wantText(t, c.b, "4 people were not told:")
		if strings.Contains(c.b.Page.Text(), "Write to the other") {
			t.Error("the page offers to write though no message reaches anyone")
		}
	})
}
