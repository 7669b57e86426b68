package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestCertificateExpiryNotifications: a coach is notified 30 and 7 days before a
// certificate expires, once each, by one of several replicas. A new expiry date
// is notified again.
func TestCertificateExpiryNotifications(t *testing.T) {
	t.Parallel() // waits for several runs of the worker
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Replica()
		c := s.Coach(t, "+919812300001")
		ends := func(days int) string { return s.Clock.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
		d := c.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1), "title", "First aid", "expires_on", ends(40)).Want(t, 201)
		c.Upload(t, "qualification", "late.pdf", touchlinetest.PDF(100, 2), "title", "Late", "expires_on", ends(20)).Want(t, 201)
		c.Upload(t, "identity", "pass.pdf", touchlinetest.PDF(100, 3), "expires_on", ends(40)).Want(t, 201)
		c.Upload(t, "certification", "over.pdf", touchlinetest.PDF(100, 4), "expires_on", ends(3)).Want(t, 201)
		expect := func(what string, n int) {
			t.Helper()
			eventually(t, what, func() bool { return countNotifications(t, c, "certificate_expiring") >= n })
			if got := countNotifications(t, c, "certificate_expiring"); got != n {
				t.Fatalf("%s: got %d notifications in total, want %d", what, got, n)
			}
		}
		move := func(days int) {
			s.Clock.Advance(time.Duration(days) * day)
			c = renewTokens(t, c)
		}
		move(11) // the first expires in 29 days
		expect("30 days before", 1)
		notification := c.Call(t, "GET", "/api/notifications?limit=1", nil).Want(t, 200).Items()[0]
		if data, _ := notification["data"].(map[string]any); data["document_id"] != d.String("document_id") {
			t.Errorf("notification: got %v", notification)
		}
		move(3) // the late one expires in 6 days
		expect("7 days before the end of the late one", 2)
		move(20) // the first expires in 6 days
		expect("7 days before", 3)
		c.Call(t, "PATCH", d.Header.Get("Location"), map[string]any{"title": "Renamed"}).Want(t, 200)
		c.Call(t, "PATCH", d.Header.Get("Location"), map[string]any{"expires_on": ends(31)}).Want(t, 200)
		move(2)
		expect("30 days before the new end", 4)
		c.Call(t, "DELETE", d.Header.Get("Location"), nil).Want(t, 200)
		move(25)
		never(t, s, "notified about a deleted certificate or a new title", 6*time.Second, func() bool { return countNotifications(t, c, "certificate_expiring") > 4 })
	})
}
