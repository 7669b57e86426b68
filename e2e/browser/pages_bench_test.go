//go:build unix

package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

// pageData is how much the pages of benchmarkPages show.
type pageData struct {
	// players of the coach, family players of one guardian, batch players of a batch with sheets
	// of attendance.
	players, family, batch, sheets int
	// batchMessages is how many of twenty messages go to the batch. The others go to one player.
	batchMessages int
	// name formats the name of a player.
	name string
}

// BenchmarkPages requests each page one by one: of a coach with a thousand players, of a
// guardian whom a thousand players name, and of visitors. It reports the latency, and the
// CPU time of the process, which includes the client.
//
// On PostgreSQL the fill ends with VACUUM, ANALYZE and a checkpoint, as autovacuum leaves the
// tables of a running service. Without them it does the same work during the first pages.
//
//	go test ./e2e/browser -run '^$' -bench Pages -benchtime 1000x
func BenchmarkPages(b *testing.B) {
	for engine, create := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			url := create(b)
			s := newPagesService(b, url)
			data := pageData{players: 1000, family: 1000, batch: 200, sheets: 60, batchMessages: 20, name: "Player %d"}
			pages := benchmarkPages(b, s, data)
			if engine == "postgres" {
				vacuum(b, url)
			}
			for _, p := range pages {
				b.Run(p.name, func(b *testing.B) { benchmarkPage(b, s.URL+p.path, p.client) })
			}
		})
	}
}

// vacuum updates the statistics and the visibility maps of the database at url.
func vacuum(b *testing.B, url string) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := conn.Exec(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
}

// newPagesService starts a service without limits on messages, whose tier has every feature.
func newPagesService(tb testing.TB, url string) *touchlinetest.Service {
	tb.Helper()
	features, err := json.Marshal(append(slices.Clone(coach.StandardFeatures), coach.Import, coach.Export, coach.Templates))
	if err != nil {
		tb.Fatal(err)
	}
	everything := `{"tiers": [{"name": "free", "title": "Free", "self_service": true, "features": ` + string(features) + `}]}`
	return touchlinetest.New(tb, url, withTiers(tb, everything), func(c *config.Config) {
		c.MessagesPerCoach, c.MessagesNewCoach, c.MessagesPerNumber, c.MessagesPerNumberFromCoach, c.MessagesPerAddress, c.MessagesPerBlock = 0, 0, 0, 0, 0, 0
		c.MessagesTotalHour, c.MessagesTotalDay = 0, 0
	})
}

// pageOf is a page that a signed-in client requests.
type pageOf struct {
	name, path string
	client     *http.Client
}

// benchmarkPages fills the service and returns its pages.
func benchmarkPages(b testing.TB, s *touchlinetest.Service, data pageData) []pageOf {
	b.Helper()
	user, club := newFormClient(b, s, coachNumber)
	// Twenty guardians have fifty children each. Every fourth child has an answer of no,
	// every fourth a yes, and the others wait.
	var guardians []*touchlinetest.User
	var players []string
	for i := range data.players {
		guardian := fmt.Sprintf("+91981230%04d", i%20)
		body := named(fmt.Sprintf(data.name, i), guardian, fmt.Sprintf("+91981240%04d", i))
		if i%10 != 0 { // one child of ten has medical notes
			delete(body["student"].(map[string]any), "medical_information")
		}
		player := user.AddPlayer(b, body).String("player_id")
		if i < 20 {
			guardians = append(guardians, s.SignIn(b, "guardian", guardian))
		}
		if action := []string{"", "rejected", "approved", ""}[i/20%4]; action != "" {
			guardians[i%20].Call(b, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": action}).Want(b, 200)
		}
		players = append(players, player)
	}
	first := players[40] // the first one to whom its guardian says yes
	other, _ := newFormClient(b, s, "+919812345600")
	var child, question string
	for i := range data.family {
		child = other.AddPlayer(b, named(fmt.Sprintf("Child %d", i), guardianNumber, "")).String("player_id")
		if i == 0 {
			question = strings.TrimPrefix(linkTo(b, s, guardianNumber, 0), s.URL)
		}
	}
	day := benchmarkTeam(b, s, user, players, data)
	s.Clock.Skip(75 * time.Hour)
	club.signIn(s, "coach", coachNumber)
	parent := newVisitor(b, s.URL)
	parent.signIn(s, "guardian", guardianNumber)
	member := newVisitor(b, s.URL)
	member.signIn(s, "guardian", guardians[0].Number)
	roster := club.get("/coach/players?select=1").want(200)
	var selected []string
	for _, match := range regexp.MustCompile(`name="player" value="([^"]+)"`).FindAllStringSubmatch(roster.raw, -1) {
		selected = append(selected, "player="+match[1])
	}
	visitor := &http.Client{}
	one, family := "/coach/players/"+first, "/me/guardian/players/"+child
	pages := []pageOf{
		{"start", "/", visitor}, {"sign-in", "/sign-in/family", visitor}, {"question", question, visitor}, {"closed", "/a/none", visitor}, {"directory", "/coaches", visitor},
	}
	for name, path := range map[string]string{
		"today": "/coach", "players": "/coach/players", "search": "/coach/players?q=player+999", "number": "/coach/players?q=0999", "filter": "/coach/players?guardian=rejected&student=pending",
		"needs": "/coach/players?show=needs", "remind": "/coach/players/remind", "sheet": "/coach/players/sheet?" + strings.Join(selected, "&"), "qr": one + "/qr?party=student",
		"player": one, "edit": one + "/edit", "add": "/coach/players/add", "import": "/coach/players/import", "news": "/coach/notifications", "profile": "/coach/profile",
		"settings": "/coach/settings", "plans": "/coach/settings/plan", "visibility": "/coach/visibility",
		"batches": "/coach/batches", "batch": day.batch, "batch-players": day.batch + "/players", "sheet-of-batch": "/coach/players/sheet?batch=" + strings.TrimPrefix(day.batch, "/coach/batches/"), "attendance": day.sheet, "attended": one + "/attendance",
		"fees": "/coach/fees", "all-fees": "/coach/fees?state=all", "fee": day.fee, "add-fee": "/coach/fees/add", "receipt": day.fee + "/receipts/" + day.payment,
		"messages": "/coach/messages", "message": day.message, "write": "/coach/messages/write", "replies": "/coach/messages/replies", "templates": "/coach/messages/templates",
		"progress": one + "/progress", "reports": one + "/reports", "documents": "/coach/documents/add",
	} {
		pages = append(pages, pageOf{"coach/" + name, path, club.client})
	}
	for name, path := range map[string]string{
		"permissions": "/me/guardian", "child": family, "answer": family + "/answer", "not-me": family + "/not-me", "messages": "/me/guardian/messages",
		"devices": "/me/guardian/devices", "disputes": "/me/guardian/disputes",
	} {
		pages = append(pages, pageOf{"family/" + name, path, parent.client})
	}
	for _, page := range []string{"/schedule", "/attendance", "/fees", "/messages", "/progress", "/reports"} {
		pages = append(pages, pageOf{"member" + page, "/me/guardian/players/" + first + page, member.client})
	}
	slices.SortFunc(pages, func(a, b pageOf) int { return strings.Compare(a.name, b.name) })
	return pages
}

// teamPages are the addresses of one object of each kind.
type teamPages struct{ batch, sheet, fee, payment, message string }

// benchmarkTeam gives players a batch with a term of attendance, a thousand fees, messages,
// measurements and reports.
func benchmarkTeam(b testing.TB, s *touchlinetest.Service, user *touchlinetest.User, players []string, data pageData) teamPages {
	b.Helper()
	day := func(n int) string { return s.Clock.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	for i := range 20 {
		user.Call(b, "POST", "/api/batches", map[string]any{"name": fmt.Sprintf("Batch %d", i)}).Want(b, 201)
	}
	batch := user.Call(b, "POST", "/api/batches", map[string]any{"name": "Juniors", "schedule": []map[string]any{{"weekday": "monday", "start": "17:30", "end": "19:00"}}}).Want(b, 201).String("batch_id")
	var marks []map[string]any
	for _, player := range players[:data.batch] {
		user.Call(b, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(b, 204)
		marks = append(marks, map[string]any{"player_id": player, "mark": "present"})
	}
	for i := range data.sheets {
		user.Call(b, "PUT", "/api/batches/"+batch+"/attendance/"+day(-i), map[string]any{"marks": marks}).Want(b, 200)
	}
	for i := range data.players / data.batch {
		user.Call(b, "POST", "/api/fees", map[string]any{"batch_id": batch, "title": fmt.Sprintf("Fee %d", i), "amount": 150000, "due_on": day(i)}).Want(b, 201)
	}
	fee := user.Call(b, "GET", "/api/fees?limit=1", nil).Items()[0]["fee_id"].(string)
	payment := user.Call(b, "POST", "/api/fees/"+fee+"/payments", map[string]any{"amount": 100, "method": "cash", "paid_on": day(0)}).Want(b, 201).String("payment_id")
	var message string
	for i := range 20 {
		to := map[string]any{"batch_id": batch}
		if i < 20-data.batchMessages {
			to = map[string]any{"player_ids": players[40:41]}
		}
		message = user.Call(b, "POST", "/api/messages", map[string]any{"to": to, "audience": "guardian", "text": fmt.Sprintf("Message %d", i), "channels": []string{"in_app"}}).Want(b, 201).String("message_id")
	}
	for i := range 100 {
		user.Call(b, "POST", "/api/players/"+players[40]+"/progress", map[string]any{"metric": "Sprint", "value": 12 - float64(i)/100, "unit": "s", "on": day(-i)}).Want(b, 201)
		if i < 20 {
			user.Call(b, "POST", "/api/players/"+players[40]+"/reports", map[string]any{"title": fmt.Sprintf("Term %d", i), "text": strings.Repeat("She is quick. ", 50), "from": day(-9), "to": day(-1)}).Want(b, 201)
		}
	}
	return teamPages{"/coach/batches/" + batch, "/coach/batches/" + batch + "/attendance/" + day(0), "/coach/fees/" + fee, payment, "/coach/messages/" + message}
}

func benchmarkPage(b *testing.B, url string, client *http.Client) {
	var took []time.Duration
	bytes := 0
	before := cpuTime(b)
	for b.Loop() {
		req, err := http.NewRequest("GET", url, nil)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Accept", "text/html")
		began := time.Now()
		resp, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.Request.URL.String() != url {
			b.Fatalf("%s: %v at %s", url, err, resp.Request.URL)
		}
		took = append(took, time.Since(began))
		bytes = len(body)
	}
	cpu := cpuTime(b) - before
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	milliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
	b.ReportMetric(milliseconds(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(milliseconds(cpu)/float64(len(took)), "cpu-ms/page")
	b.ReportMetric(float64(bytes)/1024, "KiB")
}

// maxCoachPage is the most that a page of a coach may weigh, in bytes.
const maxCoachPage = 250_000

// TestCoachPagesAreSmall checks the size of the pages of a coach with the largest batch that
// there can be. The batch's players have long names in Devanagari.
func TestCoachPagesAreSmall(t *testing.T) {
	t.Parallel()
	s := newPagesService(t, storetest.SQLite(t))
	data := pageData{players: team.MaxBatchPlayers, family: 1, batch: team.MaxBatchPlayers, sheets: 1, batchMessages: 1, name: "वेंकटसुब्रमण्यम %d"}
	checked := 0
	for _, p := range benchmarkPages(t, s, data) {
		if !strings.HasPrefix(p.name, "coach/") {
			continue
		}
		checked++
		for _, language := range []string{"en", "hi"} {
			status, body := p.get(t, s.URL, language)
			for tries := 1; status == 503 && tries < 10; tries++ { // a busy machine
				status, body = p.get(t, s.URL, language)
			}
			if status != 200 || len(body) > maxCoachPage {
				t.Errorf("%s: %d bytes with status %d in %s; want at most %d", p.name, len(body), status, language, maxCoachPage)
			}
		}
	}
	if checked < 30 {
		t.Errorf("checked %d pages", checked)
	}
}

// get opens the page in a language.
func (p pageOf) get(t *testing.T, url, language string) (status int, body []byte) {
	t.Helper()
	req, err := http.NewRequest("GET", url+p.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Language", language)
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// cpuTime returns the CPU time of this process, user and system.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
