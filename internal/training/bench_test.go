package training_test

import (
	"net/http"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkFeed polls a calendar that has not changed.
func BenchmarkFeed(b *testing.B) {
	run := func(b *testing.B, url string) {
		s := touchlinetest.New(b, url)
		coach := s.Coach(b, coachNumber)
		var schedule []map[string]any
		for _, day := range []string{"monday", "wednesday", "friday"} {
			schedule = append(schedule, map[string]any{"weekday": day, "start": "17:30", "end": "19:00"})
		}
		for range 5 {
			coach.Call(b, "POST", "/api/batches", map[string]any{"name": "U12", "schedule": schedule}).Want(b, 201)
		}
		path := coach.Call(b, "POST", "/api/calendar", nil).Want(b, 200).String("url")
		client := &http.Client{}
		tag := ""
		for b.Loop() {
			req, _ := http.NewRequest("GET", path, http.NoBody)
			if tag != "" {
				req.Header.Set("If-None-Match", tag)
			}
			resp, err := client.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			_ = resp.Body.Close()
			tag = resp.Header.Get("ETag")
		}
	}
	b.Run("sqlite", func(b *testing.B) { run(b, storetest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { run(b, storetest.Postgres(b)) })
}
