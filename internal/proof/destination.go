package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
)

// Destination is a URL that gets checkpoints.
type Destination struct {
	// Name is the host, for operators.
	Name string
	URL  string
	// Secret, whsec_ and base64, signs a webhook. Without it the URL gets a PUT.
	Secret string
}

// CheckpointEvent is the type of a webhook's message with a checkpoint.
const CheckpointEvent = "log.checkpoint"

// send makes one attempt to send a checkpoint.
func (d Destination) send(ctx context.Context, c *webhook.Sender, signed []byte, now time.Time) error {
	if d.Secret == "" {
		return d.put(ctx, c, signed)
	}
	id := sha256.Sum256(signed)
	size := sizeOf(signed)
	body, err := json.Marshal(map[string]any{
		"type": CheckpointEvent, "timestamp": wire.Timestamp(now), "data": map[string]any{"origin": nameOf(signed), "size": size, "checkpoint": string(signed)},
	})
	if err != nil {
		return err
	}
	r, err := c.Send(ctx, webhook.Message{
		ID: "log_" + strconv.FormatInt(size, 10) + "_" + hex.EncodeToString(id[:8]), URL: d.URL, Body: body, Secrets: []string{d.Secret},
	})
	if err != nil {
		return err
	}
	return failure(r)
}

// put replaces what the URL has.
func (d Destination) put(ctx context.Context, c *webhook.Sender, signed []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, d.URL, bytes.NewReader(signed))
	if err != nil {
		return errors.New("the URL is invalid") // the error would repeat it
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	r, _ := c.Attempt(req)
	return failure(r)
}

// get returns the checkpoint that the URL has, or nil if it has none or does not let the service read it.
func (d Destination) get(ctx context.Context, c *webhook.Sender) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL, nil)
	if err != nil {
		return nil, errors.New("the URL is invalid")
	}
	r, body := c.Attempt(req)
	switch {
	case r.Status == http.StatusOK && body == nil:
		return nil, attemptError{reason: "its response to GET was cut off"}
	case r.Status == http.StatusOK:
		return body, nil
	case r.Status == 0 || r.Status >= 500 || r.Status == http.StatusTooManyRequests:
		return nil, failure(r)
	}
	return nil, nil
}

// attemptError says why an attempt failed.
type attemptError struct {
	reason     string
	retryAfter time.Duration
}

func (e attemptError) Error() string { return e.reason }

// failure returns nil for a response with success.
func failure(r webhook.Response) error {
	switch {
	case r.Status >= 200 && r.Status < 300:
		return nil
	case r.Error != "":
		return attemptError{r.Error, 0}
	default:
		return attemptError{fmt.Sprintf("responded %d", r.Status), r.RetryAfter}
	}
}

// examine reads the checkpoint that a URL has, once in each process and before the process replaces it. It stops the log if the
// tree does not continue it, as the checkpoint of the file does: the database was restored from a backup.
func (s *Service) examine(ctx context.Context, id string, d Destination) error {
	if _, examined := s.examined.Load(id); examined {
		return nil
	}
	signed, err := d.get(ctx, s.Sender)
	if err != nil {
		return err
	}
	v, err := newSigner(signingKey(s.Secrets), nameOf(signed))
	if err == nil {
		_, err = OpenCheckpoint(signed, v)
	}
	if err == nil { // otherwise it is no checkpoint of this service
		stopped, err := s.guard(ctx, func(tx *store.Tx) error {
			state, err := s.lock(ctx, tx)
			if err != nil {
				return err
			}
			if state.stopped != "" { // after this attempt began: to send would replace the evidence
				return attemptError{reason: "the log has stopped"}
			}
			return s.compare(state, newTree(ctx, tx, state.size), "published", signed)
		})
		if err != nil {
			return err
		}
		if stopped {
			return attemptError{reason: "its checkpoint contradicts the database"}
		}
	}
	s.examined.Store(id, true)
	return nil
}
