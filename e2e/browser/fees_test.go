package browser_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestFeePages walks through fees without JavaScript: the coach adds one, notes and reverses
// payments and prints a receipt; the guardian sees what a yes shows, then pays.
func TestFeePages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		zone, err := time.LoadLocation("Asia/Kolkata")
		if err != nil {
			t.Fatal(err)
		}
		today := s.Clock.Now().In(zone)
		day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
		c := s.Browser(t)
		signIn(t, s, c, "coach", coachNumber)
		c.Open("/coach/fees?player=" + f.player)
		wantText(t, c, "No fee fits")
		c.Press("Add a fee")
		wantHeading(t, c, "Add a fee")
		who := "player:" + f.player
		c.Press("Add a fee", "for", who, "title", "", "amount", "1e3", "due_on", "2026-02-30", "repeat", "month", "until", day(-9))
		if c.Page.Status != 422 {
			t.Fatalf("a form with faults: got %d, want 422", c.Page.Status)
		}
		wantText(t, c, "What is it for? – Fill this in.", "Amount in INR – Write an amount", "Pay until – Enter a day that exists")
		if got := c.Page.Value("amount"); got != "1e3" {
			t.Errorf("the form lost the amount: %q", got)
		}
		c.Press("Add a fee", "for", who, "title", "Training in May", "amount", "1,500", "due_on", day(-1))
		wantText(t, c, "The fee is added.", "Asha Rao", "₹1,500", "Overdue")
		c.Open("/coach")
		wantText(t, c, "Fees still to pay", "₹1,500 still to pay, from 1 fee", "₹1,500 is overdue")
		c.Press("See the fees")
		c.Press("Asha Rao")
		wantHeading(t, c, "Training in May")
		fee := c.Page.Path
		request := c.Page.Value("request")
		c.Press("Note the payment", "amount", "1500.01", "method", "cash", "paid_on", day(0))
		wantText(t, c, "Only ₹1,500 is still to pay.")
		c.Press("Note the payment", "amount", "500", "method", "cash", "paid_on", day(1))
		wantText(t, c, "This day has not come yet.")
		payment := []string{"request", request, "amount", "500", "method", "cash", "paid_on", day(0), "note", "From the aunt"}
		for range 2 { // a second tap has no effect
			c.Open(fee)
			c.Press("Note the payment", payment...)
			wantText(t, c, "The payment is noted.", "Still to pay₹1,000", "Overdue. Part paid, ₹1,000 left", "From the aunt")
		}
		c.Open("/coach/fees")
		wantText(t, c, "₹1,000 of ₹1,500", "Overdue, part paid")
		c.Open(fee)
		c.Press("Note the payment", append(payment, "amount", "1")...)
		wantText(t, c, "This form was saved already.")
		c.Press("Receipt 1")
		if !strings.Contains(c.Page.Body, "https://wa.me/?text=Receipt%201%3A%20%E2%82%B9500%20for%20Asha%20Rao") {
			t.Errorf("the receipt has no text for WhatsApp: %s", c.Page.Body)
		}
		wantText(t, c, "Receipt 1", "Asha Rao", "₹500")
		if strings.Contains(c.Page.Body, "aunt") {
			t.Errorf("the receipt shows the note of the coach: %s", c.Page.Text())
		}
		receipt := c.Page.Path

		// A fee that is due later and paid in part, with amounts as people write them.
		c.Open("/coach/fees/add")
		c.Press("Add a fee", "for", who, "title", "Shoes", "amount", "12,50", "due_on", day(9))
		wantText(t, c, "This can be read in two ways.")
		c.Press("Add a fee", "for", who, "title", "Shoes", "amount", "₹1,500.00", "due_on", day(9))
		wantText(t, c, "The fee is added.", "Not paid yet")
		c.Open("/coach/fees?state=due")
		c.Press("Asha Rao")
		c.Press("Note the payment", "amount", "Rs. 400/-", "method", "cash", "paid_on", day(0))
		wantText(t, c, "Part paid, ₹1,100 left")
		if strings.Contains(c.Page.Body, "Not paid yet") {
			t.Errorf("a fee that is paid in part: %s", c.Page.Text())
		}
		c.Press("Waive it", "waive_reason", "Too small")
		wantText(t, c, "The fee is waived.", "Part paid, the rest waived")

		// The guardian: what a yes would show, then the fee and the code.
		g := f.browser
		signIn(t, s, g, "guardian", guardianNumber)
		g.Open("/me/guardian/players/" + f.player)
		g.Press("See the fees")
		wantText(t, g, "You can see the fees here after you have said yes.", "Payment by phone.")
		if strings.Contains(g.Page.Body, "Training") || strings.Contains(g.Page.Body, "500.00") {
			t.Errorf("the page shows the fee before the answer:\n%s", g.Page.Text())
		}
		own := "/me/guardian/players/" + f.player + "/fees" + strings.TrimPrefix(fee, "/coach/fees")
		if got := g.Open(own); got.Path != "/me/guardian/players/"+f.player+"/fees" {
			t.Errorf("the fee before the answer leads to %s", got.Path)
		}
		// No one can be reminded yet, also if the form is sent twice.
		for range 2 {
			got := c.Send("POST", fee+"/remind", url.Values{"account": {f.coach.ID}, "request": {"0190a000-0000-7000-8000-000000000001"}})
			if got.Status != 200 || !strings.Contains(got.Text(), "No one was told.") {
				t.Errorf("a reminder that reached no one gets %d: %s", got.Status, got.Text())
			}
		}
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": f.player, "action": "approved"}).Want(t, 200)
		c.Open(fee)
		c.Press("Remind the family in the app", "amount", "250", "method", "upi", "note", "From the uncle")
		wantText(t, c, "1 person was told: 1 in the app.", "it is not saved yet")
		if c.Page.Value("amount") != "250" || c.Page.Value("note") != "From the uncle" || !strings.Contains(c.Page.Body, `value="upi" selected`) {
			t.Errorf("a reminder loses the payment that the coach writes: %s", c.Page.Body)
		}
		c.Open(fee + "?stored")
		c.Press("Remind the family in the app", "method", "cash")
		wantText(t, c, "1 person was told: 1 in the app.")
		if strings.Contains(c.Page.Text(), "not saved yet") {
			t.Errorf("a reminder without a payment: %s", c.Page.Text())
		}
		c.Open("/coach/fees/upi")
		c.Press("Save", "upi_id", "meera")
		wantText(t, c, "This is not a UPI ID.")
		c.Press("Save", "upi_id", "meera@okbank")
		wantText(t, c, "Saved.", "meera@okbank")
		g.Open("/me/guardian/players/" + f.player + "/fees")
		wantText(t, g, "Overdue. Part paid, ₹1,000 left")
		g.Open(own)
		wantText(t, g, "Overdue. Part paid, ₹1,000 left", "Still to pay₹1,000", "Receipt 1", "The coach changed this UPI ID in the last 7 days.", "Pay ₹1,000 in your UPI app")
		if !strings.Contains(g.Page.Body, `href="upi://pay?pa=meera@okbank&amp;pn=`) || !strings.Contains(g.Page.Body, `data-copy="meera@okbank"`) || !strings.Contains(g.Page.Body, "<svg") || strings.Contains(g.Page.Body, "aunt") {
			t.Errorf("the page of the fee: %s", g.Page.Body)
		}
		g.Press("Receipt 1")
		wantText(t, g, "Receipt 1", "₹500")

		c.Open(fee)
		c.Press("Reverse", "reverse_reason", "")
		wantText(t, c, "Fill this in.")
		page := c.Page
		c.Press("Reverse", "reverse_reason", "Another child")
		wantText(t, c, "The payment is reversed.", "Another child", "Still to pay₹1,500")
		c.Open(receipt)
		wantText(t, c, "The receipt is no longer valid.")
		if strings.Contains(c.Page.Body, "Another child") {
			t.Errorf("the receipt shows the reason of the coach: %s", c.Page.Text())
		}
		c.Page = page // the button "back" of the browser: the other forms of the page still work
		c.Press("Waive it", "waive_reason", "A sibling pays")
		wantText(t, c, "The fee is waived.", "A sibling pays", "Waived")
		if g.Open(own); strings.Contains(g.Page.Body, "upi:") {
			t.Error("a waived fee can be paid")
		}

		// A fee for a batch that repeats, and its end. Another coach finds none of this.
		batch := f.coach.Call(t, "POST", "/api/batches", map[string]any{"name": "Juniors", "schedule": []any{}}).Want(t, 201).String("batch_id")
		c.Open("/coach/fees/add?batch=" + batch)
		c.Press("Add a fee", "for", "batch:"+batch, "title", "Kit", "amount", "10", "due_on", day(9))
		wantText(t, c, "This batch has no players.")
		f.coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+f.player, nil).Want(t, 204)
		c.Press("Add a fee", "for", "batch:"+batch, "title", "Kit", "amount", "10", "due_on", day(9), "repeat", "month")
		wantText(t, c, "Fees that repeat", "Juniors", "₹10")
		c.Press("End Kit")
		wantText(t, c, "No more fees are made.")
		if file := c.Open("/coach/fees/export?state=all").Body; !strings.Contains(file, "Training in May,INR,1500.00") || !strings.Contains(file, "Kit,INR,10.00") {
			t.Errorf("export: %s", file)
		}
		other := s.Browser(t)
		s.Coach(t, "+919812300077")
		signIn(t, s, other, "coach", "+919812300077")
		for _, path := range []string{fee, receipt} {
			if got := other.Open(path).Status; got != 404 {
				t.Errorf("%s of another coach: got %d, want 404", path, got)
			}
		}

		// Revoked: closed at once. A change of the UPI ID after 15 minutes asks for a code.
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": f.player, "action": "revoked"}).Want(t, 200)
		if got := g.Open(own); got.Path != "/me/guardian/players/"+f.player+"/fees" || strings.Contains(got.Body, "Training") {
			t.Errorf("after the revocation: %s", got.Path)
		}
		s.Clock.Advance(16 * time.Minute)
		c.Open("/coach/fees/upi")
		c.Press("Save", "upi_id", "thief@okbank")
		if !strings.HasPrefix(c.Page.Path, "/sign-in/coach") {
			t.Errorf("an old sign-in changed the UPI ID: %s\n%s", c.Page.Path, c.Page.Text())
		}
	})
}

// addOverdueFee adds a fee with a payment and a UPI ID for it, and returns its id.
func addOverdueFee(t *testing.T, coach *touchlinetest.User, player string) string {
	t.Helper()
	today := coach.Service.Clock.Now().UTC()
	fee := coach.Call(t, "POST", "/api/fees", map[string]any{
		"player_id": player, "title": "Training in May", "amount": 150000, "due_on": today.AddDate(0, 0, -9).Format(time.DateOnly),
	}).Want(t, 201).String("fee_id")
	payment := map[string]any{"amount": 50000, "method": "cash", "paid_on": today.AddDate(0, 0, -2).Format(time.DateOnly), "note": "Paid by the aunt."}
	coach.Call(t, "POST", "/api/fees/"+fee+"/payments", payment).Want(t, 201)
	coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"upi_id": "meera@okbank"}).Want(t, 200)
	return fee
}
