package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/push/pushtest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestNoPushAfterRevoke: while the coach notes progress, the guardian revokes at a random moment, on
// the other replica if there is one. No push about progress arrives after the answer to the revoke.
func TestNoPushAfterRevoke(t *testing.T) {
	t.Parallel()
	const rounds, measurements = 12, 6
	network := func(c *config.Config) {
		c.Endpoints.PushNetworks, c.AccessTokenLifetime = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 24*time.Hour
	}
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		replica := s
		if strings.HasSuffix(t.Name(), "postgres") {
			replica = s.Replica(network)
		}
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, child(0, guardianNumber)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber).On(replica)
		service := pushtest.New(t, guardian.Call(t, "GET", pushPath, nil).Want(t, 200).String("public_key"))
		guardian.Call(t, "POST", pushPath, pushBody(service, false)).Want(t, 201)
		progress := func() (n int) {
			for _, m := range service.Received() {
				if pushText(t, m).Title == "New progress" {
					n++
				}
			}
			return n
		}
		arrived := 0
		for round := range rounds {
			if round > 0 {
				coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": player}).Want(t, 201)
			}
			decide := func(action string) {
				guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": action}).Want(t, 200)
			}
			decide("approved")
			calls := make([]func() (*touchlinetest.Response, error), measurements)
			for i := range calls {
				calls[i] = callLater(s, "POST", "/api/players/"+player+"/progress", coach.Access,
					object{"metric": fmt.Sprintf("%d m", i), "value": 12.4, "unit": "s", "on": s.Clock.Now().Format(time.DateOnly)})
			}
			done, before, limit := make(chan int), progress(), rand.N(400*time.Millisecond)
			if round == rounds-1 && arrived == 0 {
				limit = 20 * time.Second // the machine is so busy that no message arrived in time yet
			}
			go func() {
				// At the first message, when the others are on their way.
				for end := time.Now().Add(limit); progress() == before && time.Now().Before(end); {
					time.Sleep(200 * time.Microsecond)
				}
				decide("revoked")
				done <- progress()
			}()
			concurrently(t, calls...)
			atAnswer := <-done
			time.Sleep(60 * time.Millisecond) // in which no message may arrive
			if late := progress() - atAnswer; late > 0 {
				t.Errorf("round %d: %d messages about progress arrived after the answer to the revoke", round, late)
			}
			arrived = progress()
		}
		if arrived == 0 {
			t.Error("no message about progress arrived at all: the test proves nothing")
		}
		t.Logf("%d of %d messages arrived before the answer", arrived, rounds*measurements)
	}, network)
}
