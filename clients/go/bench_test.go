package touchline_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"testing"

	touchline "github.com/touchline/touchline/clients/go"
	"github.com/touchline/touchline/clients/go/touchlinetest"
)

// BenchmarkSDK adds players, lists the newest, and reads one, with the SDK against a running service.
//
//	TOUCHLINE_PROGRAM=/tmp/touchline go test -run '^$' -bench SDK -benchtime 200x
func BenchmarkSDK(b *testing.B) {
	s := touchlinetest.Start(b)
	ctx := context.Background()
	c := touchline.New(touchline.Options{BaseURL: s.URL})
	const number = "98123 46001"
	if err := c.Session.RequestOTP(ctx, number, "coach", ""); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Session.SignIn(ctx, number, "coach", s.Code(number)); err != nil {
		b.Fatal(err)
	}
	profile := object{"name": "Asha Rao", "bio": "I coach.", "experience_years": 1, "sports": []string{"hockey"}}
	if _, err := touchline.Call[any](ctx, c, http.MethodPost, "/auth/complete-profile", profile); err != nil {
		b.Fatal(err)
	}
	type player struct {
		PlayerID string `json:"player_id"`
	}
	added := 0
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			added++
			body := object{
				"student":  object{"full_name": "Player " + strconv.Itoa(added), "date_of_birth": "2014-04-30"},
				"guardian": object{"name": "Meera Mehta", "relationship": "mother", "mobile_number": "98123 46002"},
			}
			if _, err := touchline.Call[player](ctx, c, http.MethodPost, "/api/players/add", body); err != nil {
				b.Fatal(err)
			}
		}
	})
	var newest player
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			for p, err := range touchline.All[player](ctx, c, "/api/players", nil) {
				if err != nil {
					b.Fatal(err)
				}
				newest = p
				break
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		connections := 0
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			if !i.Reused {
				connections++
			}
		}})
		for b.Loop() {
			if _, err := touchline.Get[player](traced, c, "/api/players/"+newest.PlayerID, nil); err != nil {
				b.Fatal(err)
			}
		}
		if connections > 1 {
			b.Errorf("%d connections, want one for all calls", connections)
		}
	})
}
