package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
)

// receiver gets checkpoints. Each has a row in log_destinations, whose lease lets one replica at a time send.
type receiver struct {
	id, name string
	// witness says that it gets the checkpoint that all witnesses are asked to cosign, and after an hour again.
	witness bool
	// readable says that a GET returns its checkpoint. Each process examines that once, also if no new one is due.
	readable bool
	give     func(ctx context.Context, o offer) error
}

// offer is a checkpoint for a receiver, and what the receiver took last.
type offer struct {
	checkpoint, published []byte
	attempts              int
	failingSince          time.Time
	lease                 string
}

const (
	// publishEvery is the shortest time between two checkpoints for one receiver.
	publishEvery = 10 * time.Second
	// publishLease is longer than an attempt may take. After it another replica may send.
	publishLease = 2 * time.Minute
	// publishRetry is the wait after the first failed attempt. Each further one doubles it, up to maxPublishRetry.
	publishRetry, maxPublishRetry = 10 * time.Second, 10 * time.Minute
	// maxRetryAfter limits the wait for which a receiver asks.
	maxRetryAfter = time.Hour
	// cosignAgain is when a witness is asked again for the same checkpoint, so that its time is recent.
	cosignAgain = time.Hour
)

// Publications returns one job for each destination and witness, so that none waits for another. A worker runs each every second.
func (s *Service) Publications() (jobs []func(context.Context) error) {
	for _, r := range s.receivers() {
		jobs = append(jobs, func(ctx context.Context) error { return s.offer(ctx, r) })
	}
	return jobs
}

// receivers returns what gets checkpoints.
func (s *Service) receivers() (list []receiver) {
	for _, d := range s.Destinations {
		id := receiverID("url", d.URL, d.Secret)
		list = append(list, receiver{id: id, name: d.Name, readable: d.Secret == "", give: func(ctx context.Context, o offer) error {
			if d.Secret == "" {
				if err := s.examine(ctx, id, d); err != nil {
					return err
				}
			}
			return d.send(ctx, s.Sender, o.checkpoint, s.DB.Now())
		}})
	}
	for _, w := range s.Witnesses {
		id := witnessID(w)
		list = append(list, receiver{id: id, name: w.Name, witness: true, give: func(ctx context.Context, o offer) error { return s.cosign(ctx, w, id, o) }})
	}
	return list
}

// receiverID returns the key of a receiver in log_destinations, from which its secrets cannot be read.
func receiverID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:16])
}

// offer sends the newest checkpoint to a receiver that does not have it, if an attempt is due.
func (s *Service) offer(ctx context.Context, r receiver) error {
	o, due, err := s.next(ctx, r)
	if err != nil {
		return fmt.Errorf("read the destination %s: %w", r.name, err)
	}
	if s.Failing != nil {
		var since time.Duration
		if !o.failingSince.IsZero() {
			since = s.DB.Now().Sub(o.failingSince)
		}
		s.Failing(r.name, since)
	}
	if !due {
		return nil
	}
	if claimed, err := s.claim(ctx, r, &o); err != nil || !claimed {
		return err
	}
	sent := r.give(ctx, o)
	return s.finish(context.WithoutCancel(ctx), r, o, sent, ctx.Err() != nil)
}

// next reads what a receiver should get, and whether that is due.
func (s *Service) next(ctx context.Context, r receiver) (o offer, due bool, err error) {
	var stopped string
	var cosign []byte
	var publishedAt, dueAt, cosignAt time.Time
	err = s.DB.QueryRow(ctx, `
		SELECT l.checkpoint, l.stopped_reason, l.cosign, l.cosign_at, d.published, d.published_at, d.due_at, coalesce(d.attempts, 0), d.failing_since
		FROM consent_log l LEFT JOIN log_destinations d ON d.id = $1 WHERE l.id = 1`, r.id).
		Scan(&o.checkpoint, database.IntoText(&stopped), &cosign, database.IntoTime(&cosignAt),
			&o.published, database.IntoTime(&publishedAt), database.IntoTime(&dueAt), &o.attempts, database.IntoTime(&o.failingSince))
	now := s.DB.Now()
	if database.IsNoRows(err) {
		return o, false, nil // Number tells the operators
	}
	if err != nil || stopped != "" || len(o.checkpoint) == 0 || dueAt.After(now) {
		return o, false, err
	}
	if !r.witness {
		_, examined := s.examined.Load(r.id)
		return o, r.readable && !examined || !bytes.Equal(o.checkpoint, o.published), nil
	}
	if o.checkpoint, err = s.target(ctx, o.checkpoint, cosign, cosignAt, now); err != nil || o.checkpoint == nil {
		return o, false, err
	}
	return o, !bytes.Equal(o.checkpoint, o.published) || now.Sub(publishedAt) >= cosignAgain, nil
}

// claim takes the lease of a receiver. It reports false if another replica was first.
func (s *Service) claim(ctx context.Context, r receiver, o *offer) (bool, error) {
	now := s.DB.Now()
	o.lease = s.DB.NewID()
	n, err := s.DB.Exec(ctx, `
		INSERT INTO log_destinations (id, due_at, lease, attempts) VALUES ($1, $2, $3, 1)
		ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, lease = excluded.lease, attempts = log_destinations.attempts + 1
		WHERE log_destinations.due_at <= $4 AND log_destinations.published IS NOT DISTINCT FROM $5`,
		r.id, database.Micros(now.Add(publishLease)), o.lease, database.Micros(now), o.published)
	if err != nil {
		return false, fmt.Errorf("claim the destination %s: %w", r.name, err)
	}
	o.attempts++
	return n == 1, nil
}

// finish saves the result of an attempt, unless the lease has ended. It returns the failure for the log.
func (s *Service) finish(ctx context.Context, r receiver, o offer, sent error, stopping bool) error {
	now := s.DB.Now()
	switch {
	case sent == nil:
		_, err := s.DB.Exec(ctx, `
			UPDATE log_destinations SET published = $3, published_at = $4, due_at = $5, lease = NULL, attempts = 0, failing_since = NULL
			WHERE id = $1 AND lease = $2`, r.id, o.lease, o.checkpoint, database.Micros(now), database.Micros(now.Add(publishEvery)))
		return err
	case stopping: // the attempt was aborted: the next process repeats it at once
		_, err := s.DB.Exec(ctx, `UPDATE log_destinations SET due_at = $3, lease = NULL WHERE id = $1 AND lease = $2`, r.id, o.lease, database.Micros(now))
		return err
	}
	wait := maxPublishRetry
	if o.attempts < 8 {
		wait = min(publishRetry<<(o.attempts-1), maxPublishRetry)
	}
	if failed, ok := errors.AsType[attemptError](sent); ok {
		wait = max(wait, min(failed.retryAfter, maxRetryAfter))
	}
	_, err := s.DB.Exec(ctx, `
		UPDATE log_destinations SET due_at = $3, lease = NULL, failing_since = coalesce(failing_since, $4) WHERE id = $1 AND lease = $2`,
		r.id, o.lease, database.Micros(now.Add(wait)), database.Micros(now))
	if o.failingSince.IsZero() {
		o.failingSince = now
	}
	return errors.Join(fmt.Errorf("the destination %s has accepted no checkpoint since %s, attempt %d: %w",
		r.name, o.failingSince.Format(time.RFC3339), o.attempts, sent), err)
}
