package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkPrivacy measures the export of a coach with 1,000 players, and the erasure of a player of average use: two answers, forty
// marks, twelve fees with payments, six measurements, and the messages of all these.
//
//	go test ./e2e -run '^$' -bench Privacy -benchtime 20x
func BenchmarkPrivacy(b *testing.B) {
	for engine, create := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(engine+"/export", func(b *testing.B) {
			s := touchlinetest.New(b, create(b))
			coach := s.Coach(b, coachNumber)
			execSQL(b, openTables(b, s), `UPDATE coaches SET tier = 'pro' WHERE id = $1`, coach.ID)
			for i := range 1000 {
				coach.AddPlayer(b, namedPlayer(98100000, i))
			}
			for b.Loop() {
				coach.Call(b, "GET", "/api/me/export", nil).Want(b, 200)
			}
		})
		b.Run(engine+"/erase", func(b *testing.B) {
			s := touchlinetest.New(b, create(b))
			coach := s.Coach(b, coachNumber)
			execSQL(b, openTables(b, s), `UPDATE coaches SET tier = 'pro' WHERE id = $1`, coach.ID)
			batch := coach.Call(b, "POST", "/api/batches", object{"name": "Sprinters"}).Want(b, 201).String("batch_id")
			today := s.Clock.Now().UTC()
			for i := range 200 {
				coach.AddPlayer(b, namedPlayer(98300000, i))
			}
			next := 0
			for b.Loop() {
				b.StopTimer()
				next++
				body := namedPlayer(98500000, next)
				player := coach.AddPlayer(b, body).String("player_id")
				s.SignIn(b, "guardian", body["guardian"].(object)["mobile_number"].(string)).Call(b, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(b, 200)
				coach.Call(b, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(b, 204)
				for day := range 40 {
					coach.Call(b, "PATCH", "/api/batches/"+batch+"/attendance/"+today.AddDate(0, 0, -day).Format("2006-01-02"),
						object{"marks": []object{{"player_id": player, "mark": "late", "note": "Bus"}}}).Want(b, 200)
				}
				for range 12 {
					fee := coach.Call(b, "POST", "/api/fees", object{"player_id": player, "title": "Training", "amount": 150000, "due_on": today.Format("2006-01-02")}).Want(b, 201).String("fee_id")
					coach.Call(b, "POST", "/api/fees/"+fee+"/payments", object{"amount": 150000, "method": "upi", "paid_on": today.AddDate(0, 0, -1).Format("2006-01-02"), "note": "Paid by the aunt."}).Want(b, 201)
				}
				for range 6 {
					coach.Call(b, "POST", "/api/players/"+player+"/progress", object{"metric": "Sprint", "value": 11.5, "on": today.AddDate(0, 0, -1).Format("2006-01-02")}).Want(b, 201)
				}
				s.CLI(b, func(ctx context.Context, by actor.Operator, ops *server.Operators) {
					people, err := ops.People(ctx)
					if err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					if err := people.ErasePlayerFor(ctx, by, player, "benchmark"); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
				})
				b.StartTimer()
			}
		})
	}
}

// namedPlayer returns the body of a player with a name and numbers that i makes different.
func namedPlayer(first, i int) object {
	body := touchlinetest.Minor(fmt.Sprintf("+91%d%02d", first+i, 1), fmt.Sprintf("+91%d%02d", first+i, 2))
	body["student"].(object)["full_name"] = fmt.Sprintf("Asha Rao %d", first+i)
	return body
}
