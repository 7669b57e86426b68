package e2e_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestFees walks from a fee to its receipt, for the coach and for the family.
func TestFees(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, coachNumber), s.Coach(t, otherNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		zone, err := time.LoadLocation("Asia/Kolkata")
		if err != nil {
			t.Fatal(err)
		}
		today := s.Clock.Now().In(zone)
		day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }

		// One refused request names every fault, and nothing is added.
		refused := coach.Call(t, "POST", "/api/fees", object{"title": "\u200b", "amount": 0, "currency": "RS", "due_on": "2026-02-30", "repeat": object{"every": "day"}}).Want(t, 422, "validation_failed")
		for _, pointer := range []string{"/title", "/amount", "/currency", "/due_on", "/repeat/every", "/player_id"} {
			if !strings.Contains(string(refused.Body), `"`+pointer+`"`) {
				t.Errorf("no fault at %s in %s", pointer, refused.Body)
			}
		}
		fee := object{"player_id": id, "title": "Training in May", "amount": 150000, "due_on": day(3)}
		with := func(changes object) object {
			body := object{}
			for name, value := range fee {
				body[name] = value
			}
			for name, value := range changes {
				body[name] = value
			}
			return body
		}
		for name, changes := range map[string]object{
			"negative": {"amount": -1}, "too much": {"amount": 1_000_000_000_001}, "half": {"amount": 1.5}, "text": {"amount": "10"},
			"year": {"due_on": "2099-01-01"}, "until": {"repeat": object{"every": "month", "until": day(1)}},
			"currency": {"currency": "ABC"},
		} {
			if got := coach.Call(t, "POST", "/api/fees", with(changes)); got.Status != 422 {
				t.Errorf("%s: got %d %s, want 422", name, got.Status, got.Body)
			}
		}
		other.Call(t, "POST", "/api/fees", with(object{"amount": 0})).Want(t, 404, "not_found")
		if n := len(coach.Call(t, "GET", "/api/fees", nil).Want(t, 200).Items()); n != 0 {
			t.Fatalf("%d fees after refused requests", n)
		}

		key := "Idempotency-Key: one"
		added := coach.Call(t, "POST", "/api/fees", fee, key).Want(t, 201)
		if again := coach.Call(t, "POST", "/api/fees", fee, key).Want(t, 201); string(again.Body) != string(added.Body) {
			t.Errorf("repeated: got %s, want %s", again.Body, added.Body)
		}
		path := "/api/fees/" + added.String("fee_id")
		if added.String("currency") != "INR" || added.String("state") != "due" || added.String("balance") != "150000" {
			t.Errorf("added %s", added.Body)
		}
		coach.Call(t, "POST", "/api/fees", with(object{"amount": 1_000_000_000_000, "due_on": day(-1)})).Want(t, 201)
		if got := coach.Call(t, "GET", "/api/fees?state=overdue", nil).Want(t, 200).Items(); len(got) != 1 || got[0]["state"] != "overdue" {
			t.Errorf("overdue: %v", got)
		}
		page := coach.Call(t, "GET", "/api/fees?limit=1", nil).Want(t, 200)
		if next := coach.Call(t, "GET", "/api/fees?limit=1&cursor="+page.String("next_cursor"), nil).Want(t, 200).Items(); len(next) != 1 || next[0]["due_on"] != day(-1) {
			t.Errorf("second page: %v", next)
		}

		if got := coach.Call(t, "GET", "/api/coach/dashboard", nil).Want(t, 200); got.String("unpaid_fees.count") != "2" || got.String("unpaid_fees.overdue") != "1" ||
			!strings.Contains(string(got.Body), `"sums":[{"currency":"INR","balance":1000000150000,"overdue_balance":1000000000000}]`) {
			t.Errorf("dashboard: %s", got.Body)
		}

		// Payments in parts, up to the balance.
		for name, body := range map[string]object{
			"future": {"amount": 1, "method": "cash", "paid_on": day(1)}, "method": {"amount": 1, "method": "gold", "paid_on": day(0)},
			"zero": {"amount": 0, "method": "cash", "paid_on": day(0)}, "old": {"amount": 1, "method": "cash", "paid_on": "2000-01-01"},
		} {
			if got := coach.Call(t, "POST", path+"/payments", body); got.Status != 422 {
				t.Errorf("payment %s: got %d %s, want 422", name, got.Status, got.Body)
			}
		}
		payment := object{"amount": 50000, "method": "cash", "paid_on": day(0), "note": "=HYPERLINK"}
		first := coach.Call(t, "POST", path+"/payments", payment, "Idempotency-Key: two").Want(t, 201)
		coach.Call(t, "POST", path+"/payments", payment, "Idempotency-Key: two").Want(t, 201)
		exceeds := coach.Call(t, "POST", path+"/payments", object{"amount": 100001, "method": "upi", "paid_on": day(0)}).Want(t, 409, "payment_exceeds_balance")
		if exceeds.String("balance") != "100000" || !strings.Contains(exceeds.String("detail"), "1000.00 INR") {
			t.Errorf("above the balance: %s", exceeds.Body)
		}
		receipt := path + "/payments/" + first.String("payment_id") + "/receipt"
		if got := coach.Call(t, "GET", receipt, nil).Want(t, 200); got.String("receipt_number") != "1" || got.String("amount_text") != "500.00" {
			t.Errorf("receipt: %s", got.Body)
		}
		printed := coach.Call(t, "GET", receipt, nil, "Accept: text/html").Want(t, 200)
		if !strings.Contains(string(printed.Body), "Receipt 1") || !strings.Contains(string(printed.Body), "INR 500.00") || strings.Contains(string(printed.Body), "HYPERLINK") {
			t.Errorf("printed: %s", printed.Body)
		}
		other.Call(t, "GET", receipt, nil).Want(t, 404, "not_found")
		coach.Call(t, "POST", path+"/void", object{"reason": "Twice."}).Want(t, 409, "invalid_transition")

		// The family: nothing before the approval; then the fees and the UPI link.
		fees := "/api/me/players/" + id + "/fees"
		for _, p := range []string{fees, fees + "/" + added.String("fee_id"), fees + "/" + added.String("fee_id") + "/qr"} {
			guardian.Call(t, "GET", p, nil, "Accept: */*").Want(t, 403, "approval_pending")
		}
		other.AddPlayer(t, touchlinetest.Minor("+919812300131", ""))
		s.SignIn(t, "guardian", "+919812300131").Call(t, "GET", fees, nil).Want(t, 404, "not_found")
		left := coach.Call(t, "POST", path+"/remind", nil).Want(t, 202)
		if !strings.Contains(string(left.Body), `"reminded":[]`) || !strings.Contains(string(left.Body), `"reason":"approval_pending"`) {
			t.Errorf("reminded before the approval: %s", left.Body)
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		if got := guardian.Call(t, "GET", fees, nil).Want(t, 200).Items(); len(got) != 2 || got[0]["payment_link"] != nil {
			t.Errorf("fees without a UPI ID: %v", got)
		}
		coach.Call(t, "PATCH", "/api/coach/profile", object{"upi_id": "no"}).Want(t, 422)
		// Characters that show nothing are dropped.
		pasted := coach.Call(t, "PATCH", "/api/coach/profile", object{"upi_id": "\u2068meera\u200b@okbank\u2069\ufeff", "email": "\ufeffme\u200dera@example.org"}).Want(t, 200)
		if pasted.String("upi_id") != "meera@okbank" || pasted.String("email") != "meera@example.org" {
			t.Errorf("the UPI ID and the address are %s", pasted.Body)
		}
		notified := coach.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items()
		if len(notified) == 0 || notified[0]["type"] != "security_notice" {
			t.Errorf("no security_notice: %v", notified)
		}
		own := guardian.Call(t, "GET", fees+"/"+added.String("fee_id"), nil).Want(t, 200)
		link, err := url.Parse(own.String("payment_link.upi_link"))
		if err != nil {
			t.Fatal(err)
		}
		if q := link.Query(); q.Get("pa") != "meera@okbank" || q.Get("am") != "1000.00" || q.Get("cu") != "INR" || q.Get("tr") != strings.ReplaceAll(added.String("fee_id"), "-", "") ||
			own.String("payment_link.upi_id_new_until") == "" || strings.Contains(string(own.Body), "HYPERLINK") {
			t.Errorf("own fee: %s", own.Body)
		}
		if code := guardian.Call(t, "GET", own.String("payment_link.qr_path"), nil, "Accept: image/svg+xml").Want(t, 200); !strings.HasPrefix(string(code.Body), "<svg") {
			t.Errorf("QR code: %.60s", code.Body)
		}
		student.Call(t, "GET", fees, nil).Want(t, 403, "approval_pending")
		if got := coach.Call(t, "POST", path+"/remind", nil).Want(t, 202); !strings.Contains(string(got.Body), `"reminded":["guardian"]`) {
			t.Errorf("reminded: %s", got.Body)
		}
		reminded := guardian.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items()
		if len(reminded) == 0 || reminded[0]["type"] != "fee_reminder" {
			t.Errorf("no reminder: %v", reminded)
		}

		// Reversed, not edited; then waived. Every POST is done once for its key.
		reverse := path + "/payments/" + first.String("payment_id") + "/reverse"
		for range 2 {
			if got := coach.Call(t, "POST", reverse, object{"reason": "Another child."}, "Idempotency-Key: three").Want(t, 200); got.String("fee.balance") != "150000" {
				t.Errorf("reversed: %s", got.Body)
			}
		}
		coach.Call(t, "POST", reverse, object{"reason": "Again."}).Want(t, 409, "invalid_transition")
		coach.Call(t, "POST", reverse, object{}).Want(t, 422)
		if got := coach.Call(t, "GET", receipt, nil, "Accept: text/html").Want(t, 200); !strings.Contains(string(got.Body), "no longer valid") || strings.Contains(string(got.Body), "Another child") {
			t.Errorf("receipt of the reversed payment: %s", got.Body)
		}
		// The receipt has the day of the coach, also where that differs from the day in UTC.
		far := otherDayZone(t, s.Clock.Now())
		coach.Call(t, "PATCH", "/api/coach/profile", object{"time_zone": far.String()}).Want(t, 200)
		reversedOn := dayOf(t, coach.Call(t, "GET", receipt, nil).Want(t, 200).String("reversed_at"), far)
		if got := coach.Call(t, "GET", receipt, nil, "Accept: text/html").Want(t, 200); !strings.Contains(string(got.Body), "Reversed on "+reversedOn) {
			t.Errorf("reversed on %s for a coach in %s: %s", reversedOn, far, got.Body)
		}
		coach.Call(t, "PATCH", "/api/coach/profile", object{"time_zone": "Asia/Kolkata"}).Want(t, 200)
		coach.Call(t, "POST", path+"/waive", object{"reason": "A sibling pays."}, "Idempotency-Key: four").Want(t, 200)
		coach.Call(t, "POST", path+"/payments", payment).Want(t, 409, "invalid_transition")
		if own := guardian.Call(t, "GET", fees+"/"+added.String("fee_id"), nil).Want(t, 200); own.String("state") != "waived" || own.String("payment_link") != "" {
			t.Errorf("waived: %s", own.Body)
		}

		// A file, and a revocation that closes everything.
		file := string(coach.Call(t, "GET", "/api/fees?state=waived", nil, "Accept: text/csv").Want(t, 200).Body)
		if !strings.Contains(file, "Training in May,INR,1500.00,"+day(3)+",0.00,0.00,waived,A sibling pays.") || strings.Count(file, "\n") != 2 {
			t.Errorf("file: %q", file)
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "revoked"}).Want(t, 200)
		guardian.Call(t, "GET", fees, nil).Want(t, 403, "approval_required")
		for _, n := range guardian.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items() {
			if n["type"] == "fee_reminder" {
				t.Error("the reminder is in the tray after the revocation")
			}
		}

		// The day of the coach's time zone decides what is overdue. The two zones never have
		// the same day.
		west, err := time.LoadLocation("Pacific/Pago_Pago")
		if err != nil {
			t.Fatal(err)
		}
		path = "/api/fees/" + coach.Call(t, "POST", "/api/fees", with(object{"due_on": s.Clock.Now().In(west).Format(time.DateOnly)})).Want(t, 201).String("fee_id")
		for zone, want := range map[string]string{"Pacific/Pago_Pago": "due", "Pacific/Kiritimati": "overdue"} {
			coach.Call(t, "PATCH", "/api/coach/profile", object{"time_zone": zone}).Want(t, 200)
			if got := coach.Call(t, "GET", path, nil).Want(t, 200).String("state"); got != want {
				t.Errorf("in %s the fee is %s, want %s", zone, got, want)
			}
			list := coach.Call(t, "GET", "/api/fees?limit=1&state="+want, nil).Want(t, 200).Items()
			if len(list) != 1 || "/api/fees/"+list[0]["fee_id"].(string) != path {
				t.Errorf("in %s the newest fee that is %s is %v, want %s", zone, want, list, path)
			}
		}
	})
}

// TestRepeatedFeesOfBatch: a batch gets one fee for each player; the worker makes the months
// that follow; an old sign-in does not change the UPI ID.
func TestRepeatedFeesOfBatch(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		batch := addBatch(t, coach, "Juniors")
		today := s.Clock.Now().Format(time.DateOnly)
		body := object{"batch_id": batch, "title": "Training", "amount": 1000, "due_on": today, "repeat": object{"every": "month"}}
		coach.Call(t, "POST", "/api/fees", body).Want(t, 422)
		for _, name := range []string{"Asha Rao", "Bela Rao"} {
			coach.AddPlayer(t, named(name, guardianNumber, batch))
		}
		added := coach.Call(t, "POST", "/api/fees", body).Want(t, 201)
		if len(added.Items()) != 2 {
			t.Fatalf("added %s", added.Body)
		}
		repeats := coach.Call(t, "GET", "/api/fee-repeats", nil).Want(t, 200).Items()
		if len(repeats) != 1 || repeats[0]["batch_name"] != "Juniors" || repeats[0]["repeat_id"] != added.Items()[0]["series_id"] {
			t.Errorf("repeats: %v", repeats)
		}
		s.Clock.Advance(32 * 24 * time.Hour)
		coach = s.SignIn(t, "coach", coachNumber)
		eventually(t, "the fees of the second month", func() bool {
			return len(coach.Call(t, "GET", "/api/fees?batch_id="+batch, nil).Want(t, 200).Items()) == 4
		})
		repeat := "/api/fee-repeats/" + repeats[0]["repeat_id"].(string)
		coach.Call(t, "DELETE", repeat, nil).Want(t, 204)
		coach.Call(t, "DELETE", repeat, nil).Want(t, 404)
		coach.Call(t, "DELETE", "/api/batches/"+batch, nil).Want(t, 204)
		coach.Call(t, "POST", "/api/fees", body).Want(t, 409, "batch_archived")
		coach.Call(t, "PATCH", "/api/coach/profile", object{"upi_id": "meera@okbank"}).Want(t, 200)
		s.Clock.Advance(14 * time.Minute)
		coach.Call(t, "PATCH", "/api/coach/profile", object{"upi_id": "meera@ybl"}).Want(t, 200)
		s.Clock.Advance(2 * time.Minute)
		coach = renewTokens(t, coach)
		coach.Call(t, "PATCH", "/api/coach/profile", object{"upi_id": "thief@ybl"}).Want(t, 403, "fresh_otp_required")
		coach.Call(t, "PATCH", "/api/coach/profile", object{"upi_id": "meera@ybl", "bio": "New."}).Want(t, 200)
	})
}

// otherDayZone returns a time zone in which another day has begun than in UTC.
func otherDayZone(t *testing.T, now time.Time) *time.Location {
	t.Helper()
	name := "Pacific/Kiritimati"
	if now.UTC().Hour() < 10 {
		name = "Pacific/Pago_Pago"
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// dayOf returns the day of a timestamp in a zone.
func dayOf(t *testing.T, timestamp string, zone *time.Location) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		t.Fatal(err)
	}
	return at.In(zone).Format(time.DateOnly)
}
