package browser_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// withoutCheck are patterns that GET serves and that are not pages: files, streams and redirects.
var withoutCheck = []string{
	"/robots.txt", "/.well-known/apple-app-site-association", "/.well-known/assetlinks.json", "/proof/start/{state}", "/proof/start/{state}/provider", "/static/{name}", "/service-worker.js", "/manifest.webmanifest", "/dev/phones/events", "/coach/events", "/me/guardian/events",
	"/coach/players/export", "/coach/players/import/example.csv", "/coach/fees/export", "/coach/settings/export", "/coach/documents/{document_id}/content",
	"/coach/conversations", "/coach/messages/replies", "/me", "/me/guardian/export/data.zip", "/a/{token}/answer", "/me/guardian/players/{player_id}/decide", "/me/guardian/players/{player_id}/proof/{provider}", "/me/guardian/proof/{proof_id}", "/coach/batches/{batch_id}/attendance",
	"/kyc/{coach_id}/documents/{document_id}", "/names/{coach_id}/pictures/{document_id}", "/deliveries/search", "/me/guardian/receipts/{record_id}", "/me/student/receipts/{record_id}",
}

// trainingLink finds the link of an SMS about a training.
var trainingLink = regexp.MustCompile(`https?://\S+/t/[A-Za-z0-9_-]+`)

// TestAccessibility runs axe-core on every page, and fails if GET serves a page that it does
// not open. It includes forms with faults, previews and failures. Names are long, and no page may
// scroll sideways in a narrow or a wide window.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	needFonts(t)
	mails := mailtest.New(t, mailtest.Plain)
	s := touchlinetest.New(t, storetest.SQLite(t), enableKYC, func(c *config.Config) {
		c.Mail = config.SecretURL(mails.Setting("hello@touchline.example"))
		c.MessagesPerNumberFromCoach = 0
	})
	coach := s.Coach(t, coachNumber)
	coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"name": "Meera Venkatanarasimharajuvaripeta Subrahmanyam"}).Want(t, 200)
	day := func(n int) string { return s.Clock.Now().AddDate(0, 0, n).Format(time.DateOnly) }
	// Asha's guardian says yes, Bela's does not answer, and Chand's is not the guardian.
	const other = "+919812345690"
	minor := named("Lakshminarasimhacharyulu Asha Venkatasubramanian", guardianNumber, studentNumber)
	minor["guardian"].(map[string]any)["email"] = "meera@families.example"
	asha := coach.AddPlayer(t, minor).String("player_id")
	unsubscribe := strings.Trim(mails.Wait(t, "meera@families.example", 0).Header.Get("List-Unsubscribe"), "<>")
	bela := coach.AddPlayer(t, named("Lakshminarasimhacharyulu Venkatasubramanian", other, "")).String("player_id")
	chand := coach.AddPlayer(t, named("Chand Khan", guardianNumber, "")).String("guardian_request_id")
	link := linkTo(t, s, other, 0)
	second := coach.Call(t, "POST", "/api/players/"+asha+"/guardians", map[string]any{
		"name": "Annapurna Venkatasubramanian Lakshminarasimha", "relationship": strings.Repeat("grandmother", 4), "mobile_number": "+919812345692",
	}).Want(t, 201).String("guardian_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": asha, "action": "approved"}).Want(t, 200)
	guardian.Call(t, "POST", "/api/approval/requests/"+chand+"/dispute", nil).Want(t, 200)

	batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12", "schedule": []map[string]any{{"weekday": "monday", "start": "17:30", "end": "19:00"}}}).Want(t, 201).String("batch_id")
	coach.Call(t, "POST", "/api/batches", map[string]any{"name": strings.Repeat("Juniors", 14)}).Want(t, 201)
	weekdays := []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	slot := batch + "." + day(5)
	coach.Call(t, "PATCH", "/api/batches/"+batch, map[string]any{"schedule": []map[string]any{
		{"weekday": weekdays[s.Clock.Now().AddDate(0, 0, 5).Weekday()], "start": "17:30", "end": "19:00"},
	}}).Want(t, 200)
	game := coach.Call(t, "POST", "/api/batches/"+batch+"/trainings", map[string]any{
		"date": day(6), "start": "09:00", "end": "10:30", "kind": "match", "opponent": strings.Repeat("Tiger", 20), "venue": strings.Repeat("Stadium", 20),
	}).Want(t, 201).String("training_id")
	marks := []map[string]any{}
	for _, player := range []string{asha, bela} {
		coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
		marks = append(marks, map[string]any{"player_id": player, "mark": "late", "note": "The bus was late."})
	}
	coach.Call(t, "PUT", "/api/batches/"+batch+"/attendance/"+day(-1), map[string]any{"marks": marks}).Want(t, 200)
	feeID := addOverdueFee(t, coach, asha)
	coach.Call(t, "POST", "/api/fees", map[string]any{
		"player_id": bela, "title": strings.Repeat("Summercamp ", 9), "amount": 1_000_000_000_000, "due_on": day(-30), "repeat": map[string]any{"every": "month"},
	}).Want(t, 201)
	payment := coach.Call(t, "GET", "/api/fees/"+feeID, nil).Want(t, 200).JSON["payments"].([]any)[0].(map[string]any)["payment_id"].(string)
	receipt := "/" + feeID + "/receipts/" + payment
	message := coach.Call(t, "POST", "/api/messages", map[string]any{"to": map[string]any{"all": true}, "audience": "guardian", "text": "Training is at six.", "channels": []string{"sms", "in_app"}}).
		Want(t, 201).String("message_id")
	result := ""
	for i, value := range []float64{12.1, 11.5} {
		result = coach.Call(t, "POST", "/api/players/"+asha+"/progress", map[string]any{"metric": "Sprint", "value": value, "unit": "s", "on": day(i - 9)}).Want(t, 201).String("measurement_id")
	}
	report := coach.Call(t, "POST", "/api/players/"+asha+"/reports", map[string]any{"title": "Spring term", "text": "She is quick.", "from": day(-9), "to": day(-1)}).Want(t, 201).String("report_id")
	guardian.Call(t, "PUT", "/api/me/players/"+asha+"/trainings/"+slot+"/attending", map[string]any{"attending": false, "reason": strings.Repeat("Trip", 100)}).Want(t, 200)
	coach.Call(t, "DELETE", "/api/trainings/"+game, map[string]any{"reason": strings.Repeat("Rain", 100)}).Want(t, 200)
	coach.Call(t, "PATCH", "/api/trainings/"+slot, map[string]any{"venue": "Hall"}).Want(t, 200)
	answerLink := ""
	for skip := 1; answerLink == ""; skip++ { // before it are the questions and the match
		answerLink = trainingLink.FindString(s.SMS(guardianNumber, "message", skip).Text)
	}
	guardian.Call(t, "POST", "/api/me/players/"+asha+"/messages", map[string]any{"text": "We come."}).Want(t, 201)
	document := coach.Upload(t, "certification", "licence.pdf", touchlinetest.PDF(2000, 1), "title", "Hockey licence").Want(t, 201).String("document_id")
	identity := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
	coach.Call(t, "POST", "/api/coach/kyc", map[string]any{"legal_name": "Meera K. Nair", "document_ids": []string{identity}}).Want(t, 201)
	op := s.Operator(t, operator.KYC, operator.Coaches, operator.Deliveries, operator.Webhooks, operator.Audit)
	tier := func(t *testing.T, name string) {
		op.Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", map[string]any{"tier": name}).Want(t, 200)
	}
	tier(t, "academy")
	webhook := op.Call(t, "POST", "/api/admin/webhooks", map[string]any{"url": "https://app.example/hooks", "enabled": false}).Want(t, 201).String("webhook_id")
	imported := coach.Call(t, "POST", "/api/players/import", string(csvOf(3, "Bela,30/04/14,,Ravi,father,12")), "Content-Type: text/csv").Want(t, 201).String("import_id")
	coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"name": "Thirumalaiswamivenkatachalapathy Ramanathan"}).Want(t, 202)
	s.Clock.Advance(75 * time.Hour) // the answer is overdue

	development := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.SMS = "log" })

	// What people typed stays in their language.
	typed := []string{
		"Lakshminarasimhacharyulu", "Asha", "Bela", "Chand Khan", "Venkatasubramanian", "Lakshminarasimha", "Annapurna", "Meera Venkatanarasimharajuvaripeta Subrahmanyam",
		"Thirumalaiswamivenkatachalapathy Ramanathan", "Ravi Rao", "father", strings.Repeat("grandmother", 4), "U12", strings.Repeat("Tiger", 20), strings.Repeat("Stadium", 20),
		strings.TrimSpace(strings.Repeat("Summercamp ", 9)), strings.Repeat("Trip", 100), strings.Repeat("Rain", 100), "The bus was late.", "Training is at six.", "Sprint",
		"Spring term", "She is quick.", "We come.", "Hall", "Training in May", "test phone", "Chrome", "Linux", "Kolkata (Asia)",
	}
	var families, coaches, operators, phones *phone
	t.Run("pages", func(t *testing.T) {
		var wait sync.WaitGroup // parallel subtests would begin after all other tests of the package
		defer wait.Wait()
		wait.Go(func() {
			t.Run("families", func(t *testing.T) {
				p := newPhone(t, s.URL)
				families = p
				p.typed = typed
				p.checkPages("", "/", "/offline", "/coaches", "/a", "/a/closed", "/a/not-me", "/account-closed", "/account-deleted", "/sign-in/family", "/sign-in/coach", "/me/dispute-ended", "/notice", "/verify", "/receipts", "/proof/callback?state=old", "/coaches/"+asha)
				p.checkPages(link, "", "/later", "/not-me")
				p.checkPages(answerLink, "")
				p.click("main button[value=no]")
				p.checkPages(answerLink, "")
				p.checkPages("/t/none", "")
				p.checkPages(unsubscribe, "")
				p.open(unsubscribe)
				p.submit()
				p.checkPages(unsubscribe, "")
				p.checkStep("/sign-in/family", p.submit) // without a number
				p.open("/sign-in/guardian")
				p.fill("number", guardianNumber)
				sent := s.Sent(guardianNumber, "otp")
				p.submit()
				p.checkPages("", "/sign-in/code")
				p.fill("code", s.OTP(guardianNumber, sent))
				p.submit()
				p.checkPages("/me/guardian", "", "/messages", "/settings", "/settings/email", "/devices", "/passkeys", "/passkeys/offer", "/number", "/disputes", "/disputes/"+chand, "/export", "/receipts", "/proof", "/delete", "/players/none")
				p.open("/me/guardian/settings/email")
				p.fill("email", "meera@families.example")
				p.click("main form[novalidate] button")
				p.checkPages("/me/guardian/settings/email/code", "")
				p.checkPages("/me/guardian/players/"+asha, "", "/check?action=revoked", "/done", "/schedule", "/calendar", "/attendance", "/fees", "/fees/"+feeID, "/fees"+receipt, "/messages", "/progress", "/reports", "/medical")
				p.checkStep("/me/guardian/players/"+asha+"/medical", func() { p.click("main form button") })
				p.open(link) // another number
				sent = s.Sent(other, "otp")
				p.submit()
				p.fill("code", s.OTP(other, sent))
				p.submit()
				p.checkPages("/me/guardian/players/"+bela, "", "/check?action=approved", "/check?action=rejected", "/not-me", "/no-proof", "/fees", "/schedule", "/progress")
				p.checkStep("/me/guardian/players/"+bela+"/answer", p.wantEqualAnswers)
				p.checkStep("/me/guardian/players/"+bela+"/answer", func() { p.answer(strings.Repeat("z", 501)) })
			})
		})
		wait.Go(func() {
			t.Run("coaches", func(t *testing.T) {
				p := newPhone(t, s.URL)
				coaches = p
				p.signIn(s, "coach", coachNumber)
				p.checkPages("/coach", "", "/more", "/family-view", "/profile", "/visibility", "/verification", "/documents/add", "/documents/"+document, "/notifications",
					"/settings", "/settings/email", "/settings/passkeys", "/settings/passkeys/offer", "/settings/number", "/settings/close", "/settings/close/code", "/settings/plan", "/settings/plan/pro",
					"/fees", "/fees/add", "/fees/upi", "/fees/"+feeID, "/fees"+receipt, "/imports/"+imported)
				p.checkPages("/coach/players", "", "?select=1", "?select=1&all=1", "?show=needs", "/add", "/remind", "/import", "/sheet", "/sheet?player="+bela, "/none")
				p.checkPages("/coach/players/"+asha, "", "?tab=history", "?tab=details", "/attendance", "/progress", "/reports", "/reports/"+report, "/reports/"+report+"/delete", "/progress/"+result+"/delete")
				p.checkPages("/coach/players/"+bela, "", "/edit", "/remove", "/qr?party=guardian", "/medical", "/guardians/add")
				p.checkPages("/coach/players/"+asha+"/guardians/"+second, "", "/remove")
				p.checkPages("/coach/players/"+asha, "/edit")
				p.checkStep("/coach/players/"+bela+"/medical", func() { p.click("main form button") })
				p.checkPages("/coach/batches", "", "/add", "/join?player="+bela, "/"+batch, "/"+batch+"/edit", "/"+batch+"/archive", "/"+batch+"/players", "/"+batch+"/players/"+bela+"/remove", "/"+batch+"/attendance/"+day(-1))
				p.checkPages("/coach/trainings/"+slot, "", "/edit", "/cancel")
				p.checkPages("/coach/trainings/"+game, "", "?done=cancelled")
				p.checkPages("/coach/batches/"+batch+"/trainings/add", "")
				p.checkPages("/coach/trainings/add", "")
				p.checkPages("/coach/calendar", "")
				p.click("main form button")
				p.checkPages("/coach/calendar", "")
				p.checkStep("/coach/batches/"+batch+"/trainings/add", func() { p.click("main form[novalidate] button:not(.link)") })
				p.checkPages("/coach/messages", "", "/write", "/write?player="+asha+"&player="+bela, "/templates", "/"+message)
				p.checkPages("/coach/conversations", "/"+bela+"/student", "/"+asha+"/guardian")
				p.checkStep("/coach/conversations/"+asha+"/guardian", func() { p.click("main form[novalidate] button") })
				p.open("/coach/settings/email")
				p.fill("email", "meera@club.example")
				p.click("main form[novalidate] button")
				p.checkPages("/coach/settings/email/code", "")
				p.open("/coach/settings/number")
				p.fill("number", "+919812345691")
				p.click("main form button:not(.link)")
				p.checkPages("/coach/settings/number/codes", "")
				p.checkStep("/coach/players/import", func() {
					p.fill("text", "Name,DOB,Phone,Father's name,"+strings.Repeat("Title", 12)+"\nAsha,12/01/2012,98123 00100,"+strings.Repeat("Ravi", 12)+",x\n")
					p.click("main form[novalidate] button:not(.link)")
				})
				tier(t, "free")
				p.checkPages("/coach", "/players/import", "/messages/templates") // not in the tier
				save := func() { p.click("main form[novalidate] button:not(.link)") }
				p.checkStep("/coach/players/add", save)
				p.checkStep("/coach/fees/add", save)
				p.checkStep("/coach/messages/write?player="+asha, func() { p.fill("text", "Training is at six.") }, save)
				p.checkStep("/coach/players/"+bela+"/edit", func() { p.fill("student_name", "x") }, save)
				p.checkStep("/coach/profile", func() { p.setValue("account", asha) }, save) // rendered for another account
				if err := os.RemoveAll(strings.TrimPrefix(string(s.Config.Files), "file:")); err != nil {
					t.Fatal(err)
				}
				p.checkStep("/coach/documents/" + document + "/content")
				p.open("/coach")
				p.click(".bottom form button")
				p.checkStep("/sign-in/coach?next=%2Fcoach%2Fprofile")
			})
		})
		wait.Go(func() {
			t.Run("phones", func(t *testing.T) {
				p := newPhone(t, development.URL)
				phones = p
				p.checkPages("/dev/phones", "", "?number=%2B919812345678")
				development.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
				p.checkPages("/dev/identity?state=any", "")
				p.open("/dev/phones")
				p.waitUntil(`document.querySelector("[data-copy]:not([hidden])") !== null`) // live
				p.checkPages("/dev/phones", "", "?number=%2B919812345678")
			})
		})
		wait.Go(func() {
			t.Run("operators", func(t *testing.T) {
				p := newPhone(t, s.AdminURL)
				operators = p
				p.checkPages("", "/")
				p.checkStep("/", p.submit) // without a token
				p.open("/")
				p.fill("token", op.Token)
				p.press("Sign in")
				p.checkPages("", "/", "/kyc", "/kyc/"+coach.ID, "/names", "/names/"+coach.ID, "/guardian-proofs", "/coaches", "/coaches?q=venkata", "/coaches/"+coach.ID, "/coaches/none", "/deliveries", "/tier-requests", "/webhooks", "/webhooks/"+webhook, "/audit")
			})
		})
	})
	if families == nil || coaches == nil || operators == nil || phones == nil {
		return // -run chose some of them
	}
	pages, console := server.PagePatterns()
	wantChecked(t, pages, families, coaches, phones)
	wantChecked(t, console, operators)
}

// roleInPath is the role in the path of a page of families. Both roles have the same pages.
var roleInPath = regexp.MustCompile(`^/me/student\b`)

// wantChecked fails the test for each pattern without a page that one of the phones checked.
func wantChecked(t *testing.T, patterns []string, phones ...*phone) {
	t.Helper()
	mux := http.NewServeMux()
	missing := map[string]bool{}
	for _, pattern := range patterns {
		if missing[pattern] {
			continue
		}
		mux.Handle(pattern, http.NotFoundHandler())
		missing[roleInPath.ReplaceAllString(pattern, "/me/guardian")] = true
	}
	for _, pattern := range withoutCheck {
		delete(missing, pattern)
	}
	for _, p := range phones {
		for _, path := range p.checked {
			request, err := http.NewRequest("GET", path, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, pattern := mux.Handler(request)
			delete(missing, pattern)
		}
	}
	var list []string
	for pattern := range missing {
		list = append(list, pattern)
	}
	if slices.Sort(list); len(list) > 0 {
		t.Errorf("TestAccessibility opens no page of %s", strings.Join(list, ", "))
	}
}
