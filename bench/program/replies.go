package program

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/touchline/touchline/bench"
)

const (
	// repliesOfFamily is how many replies each family writes: fewer than a day allows.
	repliesOfFamily = 25
	// replyAttempts is how often a call is repeated that the service did not take. Meta repeats for 7 days, with
	// pauses that grow; here they double from 1 s to maxReplyPause.
	replyAttempts = 20
	maxReplyPause = 16 * time.Second
	appSecret     = "bench"
)

// Replies is how fast the service takes what families write by WhatsApp.
type Replies struct {
	Sent int
	Rate float64 // replies a second
	// Took is the time of a call until the response 200, with its repetitions.
	Took Percentiles
	// Repeated is how many calls were answered with 5xx, and repeated. Lost is how many replies the coaches
	// do not have in the end.
	Repeated, Lost int
}

// String returns one line for people.
func (r Replies) String() string {
	return fmt.Sprintf("%d replies, %.0f/s: %s; %d repeated, %d lost", r.Sent, r.Rate, r.Took, r.Repeated, r.Lost)
}

// MeasureReplies measures a program: n replies of families, at rate replies a second, each in one signed call.
func MeasureReplies(ctx context.Context, p Program, engine string, rate float64, n int) (Replies, error) {
	const account = "TOUCHLINE_WHATSAPP_ACCOUNT=phone_id=1,token=bench,app_secret=" + appSecret + ",verify_token=bench"
	s, err := run(ctx, p, engine, 1, "TOUCHLINE_WHATSAPP=chat", account)
	if err != nil {
		return Replies{}, err
	}
	defer s.close()
	stop(s.process)
	if err := s.addFamilies(ctx, numberOfFamilies(n)); err != nil {
		return Replies{}, fmt.Errorf("add families: %w", err)
	}
	if s.process, err = s.server.Start(ctx); err != nil {
		return Replies{}, err
	}
	return s.measureReplies(ctx, rate, n)
}

func (s *runningServer) measureReplies(ctx context.Context, rate float64, n int) (Replies, error) {
	client := newOverloadClient(s.server.URL())
	families := numberOfFamilies(n)
	took, repeated := make([]time.Duration, n), make([]int, n)
	var wait sync.WaitGroup
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		select {
		case <-ctx.Done():
			return Replies{}, ctx.Err()
		case <-time.After(time.Until(due)):
		}
		wait.Go(func() {
			for repeated[i] < replyAttempts && client.do(replyCall(i, familyNumber(i%families))) != http.StatusOK {
				time.Sleep(min(time.Second<<repeated[i], maxReplyPause))
				repeated[i]++
			}
			took[i] = time.Since(due)
		})
	}
	wait.Wait()
	r := Replies{Sent: n, Rate: float64(n) / time.Since(start).Seconds(), Took: percentiles(took)}
	for _, times := range repeated {
		r.Repeated += times
	}
	db, err := s.openDatabase()
	if err != nil {
		return r, err
	}
	defer db.Close()
	var kept int
	err = db.QueryRowContext(ctx, `SELECT count(DISTINCT body) FROM team_replies`).Scan(&kept)
	r.Lost = n - kept
	return r, err
}

func numberOfFamilies(replies int) int { return (replies + repliesOfFamily - 1) / repliesOfFamily }

// replyCall returns the call of Meta with reply i, from a number.
func replyCall(i int, number string) *http.Request {
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{"messages":[`+
		`{"from":"%s","id":"wamid.%d","timestamp":"%d","type":"text","text":{"body":"Reply %d"}}]}}]}]}`, number[1:], i, time.Now().Unix(), i)
	mac := hmac.New(sha256.New, []byte(appSecret))
	mac.Write([]byte(body))
	header := http.Header{"Content-Type": {"application/json"}, "X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}
	return bench.NewRequest(http.MethodPost, "/receipts/whatsapp", header, body)
}
