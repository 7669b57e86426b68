package touchline

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Event is a verified message of a webhook. A later release may send other types: ignore them.
type Event struct {
	ID        string    `json:"-"`
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      Change    `json:"data"`
}

// ErrWebhook is the error of a message that does not come from the service, or is old. Respond with 401.
var ErrWebhook = errors.New("the webhook message is not genuine")

// webhookTolerance is how far the timestamp of a message may be off.
const webhookTolerance = 5 * time.Minute

// VerifyWebhook verifies a message by the Standard Webhooks specification. body is as it arrived, now the present time. During a
// rotation give the old and the new secret.
func VerifyWebhook(header http.Header, body []byte, now time.Time, secrets ...string) (Event, error) {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || now.Sub(time.Unix(seconds, 0)).Abs() > webhookTolerance {
		return Event{}, fmt.Errorf("%w: it is not of the last minutes", ErrWebhook)
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return Event{}, fmt.Errorf("the secret is not base64: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
			if hmac.Equal([]byte(signature), []byte(want)) {
				event := Event{ID: id}
				return event, json.Unmarshal(body, &event)
			}
		}
	}
	return Event{}, fmt.Errorf("%w: the signature is wrong", ErrWebhook)
}

// Order is how a change follows those before it.
type Order string

// The orders of a change.
const (
	Next Order = "next" // apply it
	Old  Order = "old"  // it was seen
	Gap  Order = "gap"  // changes between are missing: read the availability of the player
)

// Sequences knows the newest sequence of each player. It is safe for concurrent use; its zero value knows none.
type Sequences struct {
	mu     sync.Mutex
	newest map[string]int64
}

// Check returns the order of a change and remembers its sequence.
func (s *Sequences) Check(change Change) Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil {
		s.newest = map[string]int64{}
	}
	before := s.newest[change.PlayerID]
	if change.Sequence <= before {
		return Old
	}
	s.newest[change.PlayerID] = change.Sequence
	if change.Sequence == before+1 {
		return Next
	}
	return Gap
}
