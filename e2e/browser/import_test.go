package browser_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// importTiers: a small tier without import and export, and two larger ones with both.
const importTiers = `{"tiers": [
	{"name": "small", "title": "Small", "self_service": true},
	{"name": "club", "title": "Club", "self_service": true, "features": ["roster", "import", "export"], "limits": {"players": 2}},
	{"name": "big", "title": "Big", "self_service": true, "features": ["roster", "import", "export"]}
]}`

// withTiers reads the tiers from a file.
func withTiers(t testing.TB, tiers string) touchlinetest.Option {
	path := filepath.Join(t.TempDir(), "tiers.json")
	if err := os.WriteFile(path, []byte(tiers), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *config.Config) { c.Tiers = path }
}

// csvOf returns a file of n adults without guardians, the rows after them as they are.
func csvOf(n int, rows ...string) []byte {
	var file strings.Builder
	file.WriteString("Student name,Date of birth,Student number,Guardian name,Relationship,Guardian number\r\n")
	for i := range n {
		fmt.Fprintf(&file, "Player %d,2001-04-30,,,,\r\n", i)
	}
	return []byte(file.String() + strings.Join(rows, "\r\n"))
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

func TestImportPages(t *testing.T) {
	t.Parallel()
	tiers := withTiers(t, importTiers)
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		take := func(tier string) {
			coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": tier}).Want(t, 200)
		}
		const page = "/coach/players/import"
		c.get(page).want(403, "Your plan has no import", "The plan Club has it.", "/coach/settings/plan")
		for _, export := range []string{"/coach/players/export", "/coach/settings/export"} {
			c.get(export).want(403, "Your plan has no export")
		}
		if settings := c.get("/coach/settings").want(200, "Your plan has no export."); strings.Contains(settings.body, "/coach/settings/export") {
			t.Error("the settings link to an export that the plan lacks")
		}
		c.upload(page, csvOf(1), "account", c.account).want(403, "Your plan has no import")
		take("club")

		form := c.get(page).want(200, "Download an example file", "At most 4 MB.")
		if example := c.get(page+"/example.csv").want(200, "Student name"); !strings.HasPrefix(example.body, "\ufeff") {
			t.Error("the example has no byte order mark")
		}
		token := tokenField.FindStringSubmatch(form.body)[1]
		file := csvOf(3, "Bela,30/04/14,,Ravi,father,12", "Chand,2015-01-01,,,,", "=SUM(A1),2000-01-01,,,,")
		first := c.upload(page, file, "account", c.account, "token", token).
			want(200, "4 rows can be added.", "2 rows need a correction.", "Number of the guardian", "This is not a mobile number.", "A student under 18 needs a guardian.")
		if second := c.upload(page, file, "account", c.account, "token", token); second.path != first.path {
			t.Errorf("the same form led to %s, then to %s", first.path, second.path)
		}
		c.upload(page, file, "account", "another").want(409)
		if players := coach.Call(t, "GET", "/api/players", nil).Items(); len(players) != 0 {
			t.Errorf("the preview added %d players", len(players))
		}

		none := c.upload(page, []byte("Student name,Date of birth,Guardian language\nAsha Rao,2001-04-30,French\n"), "account", c.account).
			want(200, "No row can be imported yet", "1 row needs a correction.", "Language of the guardian", "Write a language of this app, such as English or Hindi")
		if strings.Contains(none.body, "Finished") || strings.Contains(none.body, "rows are done") {
			t.Errorf("an import without a row that can be added: %s", none.body)
		}

		path := strings.TrimSuffix(first.path, "?running=yes")
		c.post(path+"/run").want(200, "The import has stopped", "2 of 4 rows are done.", "Your plan has no room for more players.")
		c.get(path+"?state=waiting").want(200, "Your plan has no room for more players.")
		take("big")
		c.post(path+"/run").want(200, "The import is finished", "4 of 4 rows are done.")
		c.post(path+"/run").want(200, "The import is finished")
		c.get(page).want(200, "Recent imports", "Finished")
		if export := c.get("/coach/players/export?q=sum").want(200, "'=SUM(A1)"); strings.Contains(export.body, "Player 1") {
			t.Error("the export ignores the search")
		}

		c.get("/coach/settings").want(200, `href="/coach/settings/export">Download everything`)
		if archive := c.get("/coach/settings/export").want(200); !strings.HasPrefix(archive.body, "PK") || !strings.Contains(archive.body, "players.csv") {
			t.Errorf("the archive begins with %.20q", archive.body)
		}

		_, other := newFormClient(t, s, "+919812345699")
		other.get(path).want(404)
		other.post(path + "/run").want(404)
		coach.Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		if out := c.post(path + "/run"); !strings.HasPrefix(out.path, "/sign-in/coach?next=") {
			t.Errorf("after the session ended the form led to %s", out.path)
		}
	}, tiers)
}

// importFile chooses a file, or pastes cells, and asks for the preview.
func (p *phone) importFile(content []byte, text string) answer {
	p.t.Helper()
	p.open("/coach/players/import")
	if content != nil {
		path := filepath.Join(p.t.TempDir(), "players.csv")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			p.t.Fatal(err)
		}
		p.chooseFile(`[name=file]`, path)
	}
	p.press("Check the list", "text", text)
	p.waitForList()
	return p.answered()
}

// TestImportFiles uploads a file in each encoding that spreadsheet programs write. The page
// shows the names as they are, warns where it had to guess, and refuses what it cannot read. The
// export puts a mark before a formula.
func TestImportFiles(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), withTiers(t, importTiers))
	coach := s.Coach(t, coachNumber)
	coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "big"}).Want(t, 200)
	const guessed = "If names look wrong, save the file as CSV UTF-8 and import it again."
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	encoded := func(e encoding.Encoding, text string) []byte {
		t.Helper()
		file, err := e.NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	const latin, hindi = "Name,Born\r\nJosé Núñez,2000-01-02\r\n", "Name,Born\r\nआशा राव,2000-01-02\r\n"
	for name, tt := range map[string]struct {
		file    []byte
		student string
		guessed bool
	}{
		"UTF-8 with a mark": {[]byte("\ufeff" + hindi), "आशा राव", false},
		"UTF-16, little":    {encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), hindi), "आशा राव", false},
		"UTF-16, big":       {encoded(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), latin), "José Núñez", false},
		"Windows-1252":      {encoded(charmap.Windows1252, latin), "José Núñez", true},
	} {
		got := p.importFile(tt.file, "").want(200, "1 row can be added.", tt.student)
		if strings.Contains(got.body, guessed) != tt.guessed {
			t.Errorf("%s: warning %t, want %t", name, !tt.guessed, tt.guessed)
		}
	}
	imports := len(coach.Call(t, "GET", "/api/players/imports", nil).Items())
	const pasted = "Name\tBorn\nKept Person\t2000-01-02"
	for name, file := range map[string][]byte{
		"UTF-16 without a mark": encoded(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), hindi),
		"UTF-32":                encoded(utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), hindi),
	} {
		if got := p.importFile(file, pasted).want(422, "We cannot read this file.", "save it as CSV UTF-8"); p.value("text") != pasted || got.status != 422 {
			t.Errorf("%s: the pasted cells are lost", name)
		}
	}
	for _, wrong := range []struct {
		file []byte
		text string
	}{
		{nil, "Choose a file, or paste the cells."},
		{[]byte("PK\x03\x04 a spreadsheet"), "We cannot read this file."},
		{[]byte("Name\r\nAsha"), "The first row has no title “Date of birth”."},
		{csvOf(10_001), "This file has more than 10,000 students."},
		{make([]byte, 5<<20), "A file may have at most 4 MB."},
	} {
		p.importFile(wrong.file, "").want(422, wrong.text)
	}
	p.screenshot("import-fault")
	// A long list with an open question is chosen again.
	long := bytes.ReplaceAll(csvOf(2000), []byte("2001-04-30,,,,"), []byte("01/02/2001,,,,"+strings.Repeat("x", 150)))
	p.importFile(long, "").want(200, "What is in each column?", "Choose the file again", "1 February 2001")
	p.screenshot("import-columns")
	if got := len(coach.Call(t, "GET", "/api/players/imports", nil).Items()); got != imports || len(coach.Call(t, "GET", "/api/players", nil).Items()) != 0 {
		t.Errorf("refused files made %d imports, or players", got-imports)
	}
	p.importFile(nil, "Name\tBorn\nPasted Person\t2000-01-02\n<b>\t1\n").
		want(200, "1 row can be added.", "<b>").without("<td><b>")
	coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201)
	p.importFile(nil, "Name\tBorn\tBatch\nA\t2000-01-02\tu12\nB\t2000-01-02\tU14\n").
		want(200, "1 row can be added.", "Batches", "You have no batch of this name.", "2000-01-02 · U14")
	p.importFile(csvOf(1, "=SUM(A1),2000-01-01,,,,"), "").want(200, "2 rows can be added.", "=SUM(A1)")
	p.press("Add 2 players and ask")
	p.waitForText("The import is finished")
	var export string
	p.do(chromedp.Evaluate(`fetch('/coach/players/export?q=sum').then((response) => response.text())`, &export, awaitPromise))
	if !strings.Contains(export, "'=SUM(A1)") || strings.Contains(export, "Player 0") {
		t.Errorf("the export is %s", export)
	}
}

// TestImportInSteps runs an import of 502 rows in steps, with scripts by itself and without
// them by a button.
func TestImportInSteps(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), withTiers(t, importTiers))
	coach := s.Coach(t, coachNumber)
	coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "big"}).Want(t, 200)
	file := filepath.Join(t.TempDir(), "players.csv")
	content := csvOf(500, "Bela,30/04/14,,Ravi,father,12", "Zoya,2012-01-01,,Ravi,father,98123 00001")
	for i, settings := range [][]setting{nil, {withoutScripts()}} {
		s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
		p := newPhone(t, s.URL, settings...)
		p.open("/sign-in/coach?next=/coach/players/import")
		p.fill("number", "98123 45678")
		p.press("Send me a code")
		p.enterCode(s, coachNumber, i+1)
		p.screenshot("import")
		// The second phone brings other students; the students of the first would all be there already.
		if err := os.WriteFile(file, bytes.ReplaceAll(content, []byte("2001-04-30"), fmt.Appendf(nil, "2001-04-%02d", 10+i)), 0o600); err != nil {
			t.Fatal(err)
		}
		p.chooseFile(`[name=file]`, file)
		p.press("Check the list")
		p.waitForList()
		p.screenshot("import-ready")
		p.press(fmt.Sprintf("Add %d players and ask", 501-i)) // Zoya is there already
		p.screenshot("import-running")
		for range 500 { // a busy service adds a few players in each step
			if settings == nil {
				p.waitForText("The import is finished")
			}
			if p.heading() == "The import is finished" {
				break
			}
			p.press("Continue")
		}
		if got := p.heading(); got != "The import is finished" {
			t.Fatalf("got the page %q", got)
		}
		p.screenshot("import-done")
		p.do(chromedp.EmulateViewport(1280, 800))
		p.width = 1280
		p.screenshot("import-done")
		p.open("/coach/players/import")
		p.screenshot("import")
	}
}

// waitForList waits until the service has read a list. A busy one shows first how far it is.
func (p *phone) waitForList() {
	p.t.Helper()
	for end := time.Now().Add(loadTimeout); p.heading() == "We are reading the list"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("the list is not read:\n%s", p.text())
		}
		p.open(p.path())
	}
}

// TestListInSixTaps brings lists of 30 children, as LibreOffice saves them in the United States and in India, into a batch at 360 px:
// at most six taps from the roster, no way back to the spreadsheet. A row with a fault is corrected in the page.
func TestListInSixTaps(t *testing.T) {
	t.Parallel()
	for locale, day := range map[string]string{"en-US": "%02[2]d/%02[3]d/%[1]d", "hi-IN": "%02[3]d/%02[2]d/%[1]d"} {
		t.Run(locale, func(t *testing.T) {
			t.Parallel()
			s := touchlinetest.New(t, storetest.SQLite(t))
			coach := s.Coach(t, coachNumber)
			batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
			var file strings.Builder
			file.WriteString("Name of student,DOB,Parent name,Parent mobile\n")
			for i := range 30 {
				number := fmt.Sprintf("98123 2%04d", i)
				if i == 7 {
					number = "12345"
				}
				fmt.Fprintf(&file, "Child %c%d,%s,Parent %d,%s\n", 'A'+i%26, i, fmt.Sprintf(day, 2009+i%7, 1+i%12, 1+i*5%28), i, number)
			}
			path := filepath.Join(t.TempDir(), "players.csv")
			if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			p := newPhone(t, s.URL)
			p.signIn(s, "coach", coachNumber)
			p.open("/coach/players")
			p.press("Add players from a list") // 1
			p.chooseFile(`[name=file]`, path)  // 2
			p.checkLayout("/coach/players/import")
			p.press("Check the list") // 3
			p.waitForList()
			p.wantText("29 rows can be added.", "1 row needs a correction.", "This is not a mobile number")
			p.checkLayout("/coach/imports/one")
			p.press("Save the corrections", "row_9_guardian_number", "98123 29999") // 4
			p.wantText("30 rows can be added.")
			p.press("Add 30 players and ask") // 5
			p.waitForText("The import is finished")
			if got := len(coach.Call(t, "GET", "/api/players?limit=50&batch_id="+batch, nil).Want(t, 200).Items()); got != 30 {
				t.Errorf("the batch has %d players, want 30", got)
			}
		})
	}
}
