package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestSeveralPlayers chooses players in the roster, gives each a fee, and adds them to a batch. A player of another coach is in neither.
func TestSeveralPlayers(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	var ids []string
	for i, name := range []string{"Asha Rao", "Bela Das", "Chand Khan"} {
		ids = append(ids, coach.AddPlayer(t, named(name, "+91981234569"+string(rune('0'+i)), "")).String("player_id"))
	}
	foreign := s.Coach(t, "+919812300077").AddPlayer(t, named("Other Child", guardianNumber, "")).String("player_id")
	batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12 Evening"}).Want(t, 201).String("batch_id")
	c.get("/coach/players?select=1").want(200, "Select all", "Add to a batch").without(" checked")
	c.get("/coach/players?select=1&all=1").want(200, " checked")

	two := "player=" + ids[0] + "&player=" + ids[2]
	form := c.get("/coach/fees/add?"+two).want(200, "2 players: Asha Rao, Chand Khan").without("Every month")
	if !strings.Contains(form.raw, "players:"+ids[0]+","+ids[2]) {
		t.Errorf("the form does not name both players:\n%s", form.raw)
	}
	due := s.Clock.Now().AddDate(0, 0, 9).Format(time.DateOnly)
	fee := []string{"title", "Kit", "amount", "500", "due_on", due, "request", ids[1]}
	c.post("/coach/fees/add", append(fee, "for", "players:"+ids[0]+","+foreign)...).want(404)
	for range 2 { // the same form again adds no other fees
		c.post("/coach/fees/add", append(fee, "for", "players:"+ids[0]+","+ids[2])...).want(200, "The fee is added.", "₹1,000")
	}
	if fees := coach.Call(t, "GET", "/api/fees", nil).Want(t, 200).Items(); len(fees) != 2 {
		t.Errorf("%d fees, want 2", len(fees))
	}

	c.get("/coach/batches/join?"+two+"&player="+foreign).want(200, "Which batch do 2 players join?", "Asha Rao, Chand Khan", "U12 Evening").without("Other Child")
	c.post("/coach/batches/"+batch+"/players", "player", ids[2], "player", ids[0]).want(200, "The players are in the batch.", "Asha Rao", "Chand Khan").without("Bela Das")
	c.get("/coach/batches/"+batch+"/players").want(200, "In the batch", "Bela Das", "Add to the batch")
	c.post("/coach/batches/"+batch+"/players", "player", ids[1]).want(200)
	c.get("/coach/batches/"+batch+"/players").want(200, "Add a new player").without("Add to the batch")
}
