package store_test

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestFrozenReplica: a replica that freezes inside a transaction that holds a counter of a total
// delays only requests of the same counter on another replica, by about a second.
func TestFrozenReplica(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	var responses, last atomic.Int64
	frozen := make(chan struct{})
	ended := make(chan struct{})
	relay := storetest.Relay(t, url, func(client, server net.Conn) {
		go storetest.Copy(server, client, func() {})
		go copyUntilFrozen(client, server, &responses, &last, frozen)
		go func() { <-ended; client.Close(); server.Close() }()
	})
	other, replica := newFixture(t, url), newFixture(t, relay)
	t.Cleanup(func() { close(ended) }) // before the databases close
	hour := limit("hour", 1000, time.Hour)
	hour.Total = true
	limits := []auth.Limit{hour}
	request := func(p *fixture, n int) error {
		now := p.clock.Now()
		_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{
			Challenge: auth.Challenge{
				ChallengeKey: auth.ChallengeKey{Number: number(n), Role: actor.Coach}, ID: uuid.NewString(), Code: []byte("x"),
				SentAt: now, EndsAt: now.Add(time.Hour),
			},
			MaxAttempts: 5, LastSentBefore: now, Limits: func(auth.RoleFacts) []auth.Limit { return limits }, Channel: "sms",
		})
		return err
	}
	ok(t, request(other, 1))   // the rows exist
	ok(t, request(replica, 2)) // statements are prepared
	responses.Store(0)
	ok(t, request(replica, 3))
	last.Store(2 * responses.Load())
	go func() { _ = request(replica, 4) }()
	<-frozen
	var longest time.Duration
	for i := range auth.MinuteShards {
		start := time.Now()
		ok(t, request(other, 5+i))
		longest = max(longest, time.Since(start))
	}
	if longest > 2*time.Second {
		t.Errorf("one of %d requests for an OTP took %s while another replica is frozen, want at most 2s", auth.MinuteShards, longest)
	}
	if longest < 500*time.Millisecond {
		t.Error("no request met the frozen replica")
	}
}

// copyUntilFrozen copies what the server sends. It counts responses inside a transaction.
// At the last one it closes frozen and stops for good.
func copyUntilFrozen(client, server net.Conn, responses, last *atomic.Int64, frozen chan struct{}) {
	inTransaction := []byte{'Z', 0, 0, 0, 5, 'T'}
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			client.Close()
			return
		}
		if bytes.HasSuffix(buffer[:n], inTransaction) && responses.Add(1) == last.Load() {
			close(frozen)
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			server.Close()
			return
		}
	}
}
