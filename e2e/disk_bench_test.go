package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkDisk measures the bytes that a player adds to the database in a year of usual use: two answers, 90 trainings, twelve
// fees with payments, six measurements, two reports, and 24 messages to guardian and student. docs/capacity.md rests on it.
//
//	go test ./e2e -run '^$' -bench Disk -benchtime 1x -v
func BenchmarkDisk(b *testing.B) {
	for engine, create := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			const players = 40
			s := touchlinetest.New(b, create(b))
			db := openTables(b, s)
			coach := s.Coach(b, coachNumber)
			execSQL(b, db, `UPDATE coaches SET tier = 'academy' WHERE id = $1`, coach.ID)
			size := func() int {
				if engine == "sqlite" {
					return queryOne[int](b, db, `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`)
				}
				execSQL(b, db, `CHECKPOINT`)
				return queryOne[int](b, db, `SELECT CAST(sum(pg_total_relation_size(c.oid)) AS BIGINT) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r'`)
			}
			before, first := size(), 98400000
			for b.Loop() {
				batch := coach.Call(b, "POST", "/api/batches", object{"name": "Sprinters"}).Want(b, 201).String("batch_id")
				today := s.Clock.Now().UTC()
				var ids []string
				var marks []object
				for i := range players {
					body := namedPlayer(first, i)
					player := coach.AddPlayer(b, body).String("player_id")
					guardian, student := body["guardian"].(object)["mobile_number"].(string), body["student"].(object)["contact_number"].(string)
					s.SignIn(b, "guardian", guardian).Call(b, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(b, 200)
					s.SignIn(b, "student", student).Call(b, "PUT", "/api/approval/student-response", object{"player_id": player, "action": "approved"}).Want(b, 200)
					coach.Call(b, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(b, 204)
					ids, marks = append(ids, player), append(marks, object{"player_id": player, "mark": "present"})
				}
				for day := range 90 {
					coach.Call(b, "PUT", "/api/batches/"+batch+"/attendance/"+today.AddDate(0, 0, -day).Format("2006-01-02"), object{"marks": marks}).Want(b, 200)
				}
				day, yesterday := today.Format("2006-01-02"), today.AddDate(0, 0, -1).Format("2006-01-02")
				for _, player := range ids {
					for range 12 {
						fee := coach.Call(b, "POST", "/api/fees", object{"player_id": player, "title": "Training", "amount": 150000, "due_on": day}).Want(b, 201).String("fee_id")
						coach.Call(b, "POST", "/api/fees/"+fee+"/payments", object{"amount": 150000, "method": "upi", "paid_on": yesterday}).Want(b, 201)
					}
					for range 6 {
						coach.Call(b, "POST", "/api/players/"+player+"/progress", object{"metric": "Sprint", "value": 11.5, "on": yesterday}).Want(b, 201)
					}
					for range 2 {
						coach.Call(b, "POST", "/api/players/"+player+"/reports", object{"title": "March", "text": strings.Repeat("Runs well. ", 30), "from": yesterday, "to": day}).Want(b, 201)
					}
				}
				for range 24 {
					coach.Call(b, "POST", "/api/messages", object{"to": object{"batch_id": batch}, "audience": "both", "text": "Training begins at 6 today. Bring water.", "channels": []string{"in_app"}}).Want(b, 201)
				}
				first += 1000
			}
			b.ReportMetric(float64(size()-before)/float64(players*b.N), "B/player")
			if engine == "postgres" {
				b.Log(queryOne[string](b, db, `SELECT string_agg(relname || ' ' || size, ', ') FROM (SELECT c.relname, pg_total_relation_size(c.oid) AS size FROM pg_class c
					JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY size DESC LIMIT 12) AS t`))
			}
		})
	}
}
