package proof_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/witness"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestServeCosigned: the worker of a service asks the witnesses of its settings, /log/checkpoint and receipts have the cosignature,
// and the metric says which witness fails.
func TestServeCosigned(t *testing.T) {
	t.Parallel()
	f := newFixture(t, storetest.SQLite(t))
	w, down := newWitness(f, "one.example/w"), newWitness(f, "down.example/w")
	down.broken = http.StatusBadGateway
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) {
		c.LogWitnesses = []witness.Witness{w.Witness, down.Witness}
	})
	page := string(s.Call(t, "GET", "/verify", "", nil).Body)
	key, err := note.NewVerifier(strings.ReplaceAll(regexp.MustCompile(`>([^<>]*/log(&#43;|\+)[^<]+)</textarea>`).FindStringSubmatch(page)[1], "&#43;", "+"))
	ok(t, err)
	w.set(func() { w.verifier = func(string) note.Verifier { return key } })
	h := newFamily(t, s)
	h.decide(h.guardian, "guardian", "approved")
	token := s.Operator(t, operator.Audit)
	id := h.guardian.Call(t, "GET", "/api/me/receipts", nil).Items()[0]["record_id"].(string)
	// A checkpoint that was cosigned before the newest record is no proof of it, so the receipt then has another one.
	var served, receipt string
	if err := waitFor(func() bool {
		s.Clock.Advance(time.Second)
		if r := token.Call(t, "GET", "/log/checkpoint", nil); r.Status == http.StatusOK {
			served = string(r.Body)
		}
		if r := h.guardian.Call(t, "GET", "/api/me/receipts/"+id, nil); r.Status == http.StatusOK {
			receipt = string(r.Body)
		}
		return strings.Contains(served, "\n— one.example/w ") && strings.HasSuffix(receipt, served)
	}); err != nil {
		t.Fatalf("%v: served\n%s\nreceipt\n%s", err, served, receipt)
	}
	// A job sets the metric before its attempt, so a failure is in it from the next job on.
	scraper := s.Operator(t, operator.Metrics)
	var failing [][]string
	if err := waitFor(func() bool {
		s.Clock.Advance(time.Second)
		failing = failingWitness.FindAllStringSubmatch(string(scraper.Call(t, "GET", "/metrics", nil).Body), -1)
		return len(failing) == 2 && failing[0][2] != "0" && failing[1][2] == "0"
	}); err != nil {
		t.Errorf("%v: failing %q", err, failing)
	}
}

// failingWitness matches the metric of a witness: the name, and for how many seconds it has failed.
var failingWitness = regexp.MustCompile(`touchline_log_destination_failing_seconds\{destination="(\w+.example/w)"\} (\S+)`)
