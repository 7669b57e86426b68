package browser_test

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// file writes a file for an upload and returns its path.
func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// picture returns a PNG.
func picture(t *testing.T) []byte {
	t.Helper()
	return pictureOf(t, 400, 300)
}

// pictureOf returns a PNG of a size.
func pictureOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewNRGBA(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// send chooses a file, presses the button of its form and waits for the new content: a new
// page, or with scripts perhaps only a new <main>.
func (p *phone) send(form, path string) {
	p.t.Helper()
	p.chooseFile(form+` [type=file]`, path)
	p.script(`document.querySelector('main').dataset.old = 'yes'`, nil)
	p.tap(form + ` button`)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var fresh bool
		err := chromedp.Run(p.ctx, chromedp.Evaluate(`document.readyState === "complete" && !!document.querySelector("footer") && !document.querySelector("main[data-old]")`, &fresh))
		if err == nil && fresh {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("the form %s had no answer: %v\n%s", form, err, p.text())
		}
	}
}

// TestCoachUploads adds a picture and certificates, with faults first, replaces a file and
// deletes it, with and without scripts.
func TestCoachUploads(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]setting{"with scripts": nil, "without scripts": {withoutScripts()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
				user := s.Coach(t, coachNumber)
				p := newPhone(t, s.URL, settings...)
				p.signIn(s, "coach", coachNumber)
				p.open("/coach/profile")
				pictureForm := `[aria-labelledby=picture-heading]`
				p.send(pictureForm, file(t, "me.png", touchlinetest.PDF(2000, 1)))
				p.waitForText("This must be a picture")
				p.send(pictureForm, file(t, "me.png", picture(t)))
				p.waitForText("Your picture is saved")
				first := user.Call(t, "GET", "/api/coach/profile", nil).String("profile_picture.document_id")
				p.send(pictureForm, file(t, "me.png", picture(t)))
				p.waitForText("Replace the picture")
				if got := user.Call(t, "GET", "/api/coach/profile", nil).String("profile_picture.document_id"); got != first {
					t.Errorf("got the picture %s after replacing, want %s", got, first)
				}
				// The service takes no side above 20,000 pixels. The script sends at most 4,096.
				p.send(pictureForm, file(t, "wide.png", pictureOf(t, 20_400, 64)))
				if refused := p.count("#faults") > 0; refused != (name == "without scripts") {
					t.Errorf("a very wide picture was refused: %t\n%s", refused, p.text())
				}
				if name == "with scripts" {
					var button string
					p.chooseFile(pictureForm+` [type=file]`, file(t, "me.png", picture(t)))
					p.script(`XMLHttpRequest.prototype.send = () => {}`, nil)
					p.tap(pictureForm + ` button`)
					p.script(`document.querySelector('[aria-labelledby=picture-heading] button').textContent`, &button)
					if button != "Replace the picture" {
						t.Errorf("while the picture is sent its button reads %q", button)
					}
					p.open("/coach/profile")
				}

				p.press("Add a certificate")
				p.screenshot("document-add")
				p.fill("title", "Hockey licence")
				p.fill("issuer", "Hockey India")
				soon := s.Clock.Now().AddDate(0, 0, 20).Format(time.DateOnly)
				p.set("issued_on", "2030-01-01", "expires_on", soon)
				addForm := `form[action="/coach/documents/add"]`
				p.send(addForm, file(t, "licence.pdf", touchlinetest.PDF(3000, 2)))
				p.waitForText("This day is before")
				p.screenshot("document-faults")
				p.set("issued_on", "2020-01-01")
				p.send(addForm, file(t, "licence.pdf", touchlinetest.PDF(3000, 2)))
				p.waitForText("The certificate is saved")
				p.waitForText("Ends soon")
				p.open("/coach")
				p.wantText("Ends soon · " + s.Clock.Now().AddDate(0, 0, 20).Format("2 January"))
				p.open("/coach/profile")
				p.screenshot("profile-uploads")
				if name == "with scripts" {
					p.checkAccessibility()
				}
				p.press("Hockey licence")
				p.send(`[aria-labelledby=replace]`, file(t, "new.pdf", touchlinetest.PDF(4000, 3)))
				p.waitForText("The new file is saved")
				p.screenshot("document")
				p.tap(`summary`)
				p.press("Yes, delete it")
				p.waitForText("It is deleted")
				if items := user.Call(t, "GET", "/api/coach/documents?kind=certification", nil).Want(t, 200).Items(); len(items) != 0 {
					t.Errorf("got %d certificates after deleting, want 0", len(items))
				}
			})
		})
	}
}

// TestCoachVerification submits an identity document, reads the reason of a rejection and
// submits again.
func TestCoachVerification(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		user := s.Coach(t, coachNumber)
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		p.open("/coach/settings")
		p.press("See the check")
		p.screenshot("verification")
		p.press("Add an identity document")
		p.fill("title", "Passport")
		p.send(`form[action="/coach/documents/add"]`, file(t, "passport.pdf", touchlinetest.PDF(3000, 4)))
		p.waitForText("Passport")
		p.press("Submit")
		p.waitForText("Fill this in")
		p.fill("legal_name", "Meera Nair")
		p.checkAccessibility()
		p.screenshot("verification-form")
		p.press("Submit")
		p.waitForText("We check your documents")
		operator := s.Operator(t, "kyc")
		submission := operator.Call(t, "GET", "/api/admin/kyc/"+user.ID, nil).Want(t, 200).String("submission_id")
		operator.Call(t, "POST", "/api/admin/kyc/"+user.ID+"/reject", map[string]any{"submission_id": submission, "reason": "The picture is dark."}).Want(t, 200)
		p.get("/coach").want(200, "Needs you", "Identity check", "Not accepted", "“The picture is dark.”", "Its players")
		if got := p.count("#needs-you .count, .needs .status.no"); got != 2 {
			t.Errorf("the needs do not count the refused check:\n%s", p.html())
		}
		p.checkLayout("/coach")
		p.screenshot("verification-needs")
		p.press("Correct and send again")
		p.waitForText("The picture is dark.")
		p.open("/coach/notifications")
		p.click(`.news-list a[href="/coach/verification"]`)
		p.waitForText("The picture is dark.")
		p.screenshot("verification-rejected")
		p.press("Submit")
		if state := user.Call(t, "GET", "/api/coach/kyc", nil).String("state"); state != "submitted" {
			t.Errorf("got the state %s after submitting again, want submitted", state)
		}
		p.get("/coach").want(200).without("Needs you")
	}, func(c *config.Config) { c.KYC = true })
}

var hiddenField = regexp.MustCompile(`name="(account|request)" value="([^"]*)"`)

// TestUploadFormWorksOnce sends the same form with a file twice, and for another account.
func TestUploadFormWorksOnce(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		user := s.Coach(t, coachNumber)
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		client := p.client()
		resp, err := client.Get(s.URL + "/coach/documents/add")
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]string{"kind": "certification", "title": "Licence"}
		for _, match := range hiddenField.FindAllStringSubmatch(string(page), -1) {
			fields[match[1]] = match[2]
		}
		send := func(fields map[string]string) (status int, address string) {
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			for name, value := range fields {
				_ = form.WriteField(name, value)
			}
			part, _ := form.CreateFormFile("file", "licence.pdf")
			_, _ = part.Write(touchlinetest.PDF(2000, 5))
			_ = form.Close()
			resp, err := client.Post(s.URL+"/coach/documents/add", form.FormDataContentType(), &body)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode, resp.Request.URL.Path
		}
		count := func() int {
			return len(user.Call(t, "GET", "/api/coach/documents", nil).Want(t, 200).Items())
		}
		for range 2 {
			if status, address := send(fields); status != http.StatusOK || address != "/coach/profile" {
				t.Fatalf("got %d at %s, want the profile", status, address)
			}
		}
		if n := count(); n != 1 {
			t.Errorf("got %d documents after the same form was sent twice, want 1", n)
		}
		other := map[string]string{"kind": "certification", "account": "01900000-0000-7000-8000-000000000000"}
		if status, _ := send(other); status != http.StatusConflict || count() != 1 {
			t.Errorf("a form of another account got %d and left %d documents, want 409 and 1", status, count())
		}
	})
}

// TestNoFileChosen checks that a form without a file asks for one, and that only a file without
// content is called empty. Browsers send an empty file without a name if none was chosen.
func TestNoFileChosen(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		_, c := newFormClient(t, s, coachNumber)
		for _, tt := range []struct{ page, fileName, want, not string }{
			{"/coach/documents/add", "", "Choose a file.", "This file is empty."},
			{"/coach/documents/add", "passport.pdf", "This file is empty. Choose another one.", "Choose a file."},
			{"/coach/profile/picture", "", "Choose a file.", "This file is empty."},
			{"/coach/profile/picture", "me.png", "This file is empty. Choose another one.", "Choose a file."},
			{"/coach/players/import", "", "Choose a file, or paste the cells.", "This file is empty."},
			{"/coach/players/import", "players.csv", "This file is empty. Write the titles", "Choose a file"},
		} {
			fields := map[string]string{"account": c.account}
			switch tt.page {
			case "/coach/documents/add":
				fields["kind"], fields["title"] = "certification", "Licence"
			case "/coach/players/import":
				fields["text"] = ""
			}
			body, header := touchlinetest.Form(fields, tt.fileName, []byte{})
			out := c.do("POST", tt.page, strings.TrimPrefix(header, "Content-Type: "), strings.NewReader(body)).want(422, tt.want)
			if strings.Contains(out.body, tt.not) {
				t.Errorf("%s with the file %q says %q", tt.page, tt.fileName, tt.not)
			}
		}
	}, withTiers(t, `{"tiers": [{"name": "big", "title": "Big", "features": ["roster", "documents", "import"]}]}`))
}
