package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/platform/witness"
)

// offer is a checkpoint for a witness, and what the witness took last. Each witness has a row in log_destinations, whose lease
// lets one replica at a time send.
type offer struct {
	checkpoint, published []byte
	attempts              int
	failingSince          time.Time
	lease                 string
}

const (
	// publishEvery is the shortest time between two checkpoints for one witness.
	publishEvery = 10 * time.Second
	// publishLease is longer than an attempt may take. After it another replica may send.
	publishLease = 2 * time.Minute
	// publishRetry is the wait after the first failed attempt. Each further one doubles it, up to maxPublishRetry.
	publishRetry, maxPublishRetry = 10 * time.Second, 10 * time.Minute
	// maxRetryAfter limits the wait for which a witness asks.
	maxRetryAfter = time.Hour
	// cosignAgain is when a witness is asked again for the same checkpoint, so that its time is recent.
	cosignAgain = time.Hour
)

// Publications returns one job for each witness, so that none waits for another. A worker runs each every second.
func (s *Service) Publications() (jobs []func(context.Context) error) {
	for _, w := range s.Witnesses {
		jobs = append(jobs, func(ctx context.Context) error { return s.offer(ctx, w) })
	}
	return jobs
}

// offer asks a witness to cosign the newest checkpoint, if an attempt is due.
func (s *Service) offer(ctx context.Context, w witness.Witness) error {
	o, due, err := s.next(ctx, w)
	if err != nil {
		return fmt.Errorf("read the witness %s: %w", w.Name, err)
	}
	if s.Failing != nil {
		var since time.Duration
		if !o.failingSince.IsZero() {
			since = s.DB.Now().Sub(o.failingSince)
		}
		s.Failing(w.Name, since)
	}
	if !due {
		return nil
	}
	if claimed, err := s.claim(ctx, w, &o); err != nil || !claimed {
		return err
	}
	sent := s.cosign(ctx, w, o)
	return s.finish(context.WithoutCancel(ctx), w, o, sent, ctx.Err() != nil)
}

// next reads what a witness should get, and whether that is due.
func (s *Service) next(ctx context.Context, w witness.Witness) (o offer, due bool, err error) {
	var stopped string
	var cosign []byte
	var publishedAt, dueAt, cosignAt time.Time
	err = s.DB.QueryRow(ctx, `
		SELECT l.checkpoint, l.stopped_reason, l.cosign, l.cosign_at, d.published, d.published_at, d.due_at, coalesce(d.attempts, 0), d.failing_since
		FROM consent_log l LEFT JOIN log_destinations d ON d.id = $1 WHERE l.id = 1`, witnessID(w)).
		Scan(&o.checkpoint, database.IntoText(&stopped), &cosign, database.IntoTime(&cosignAt),
			&o.published, database.IntoTime(&publishedAt), database.IntoTime(&dueAt), &o.attempts, database.IntoTime(&o.failingSince))
	now := s.DB.Now()
	if database.IsNoRows(err) {
		return o, false, nil // Number tells the operators
	}
	if err != nil || stopped != "" || len(o.checkpoint) == 0 || dueAt.After(now) {
		return o, false, err
	}
	if o.checkpoint, err = s.target(ctx, o.checkpoint, cosign, cosignAt, now); err != nil || o.checkpoint == nil {
		return o, false, err
	}
	return o, !bytes.Equal(o.checkpoint, o.published) || now.Sub(publishedAt) >= cosignAgain, nil
}

// claim takes the lease of a witness. It reports false if another replica was first.
func (s *Service) claim(ctx context.Context, w witness.Witness, o *offer) (bool, error) {
	now := s.DB.Now()
	o.lease = s.DB.NewID()
	n, err := s.DB.Exec(ctx, `
		INSERT INTO log_destinations (id, due_at, lease, attempts) VALUES ($1, $2, $3, 1)
		ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, lease = excluded.lease, attempts = log_destinations.attempts + 1
		WHERE log_destinations.due_at <= $4 AND log_destinations.published IS NOT DISTINCT FROM $5`,
		witnessID(w), database.Micros(now.Add(publishLease)), o.lease, database.Micros(now), o.published)
	if err != nil {
		return false, fmt.Errorf("claim the witness %s: %w", w.Name, err)
	}
	o.attempts++
	return n == 1, nil
}

// finish saves the result of an attempt, unless the lease has ended. It returns the failure for the log.
func (s *Service) finish(ctx context.Context, w witness.Witness, o offer, sent error, stopping bool) error {
	now := s.DB.Now()
	switch {
	case sent == nil:
		_, err := s.DB.Exec(ctx, `
			UPDATE log_destinations SET published = $3, published_at = $4, due_at = $5, lease = NULL, attempts = 0, failing_since = NULL
			WHERE id = $1 AND lease = $2`, witnessID(w), o.lease, o.checkpoint, database.Micros(now), database.Micros(now.Add(publishEvery)))
		return err
	case stopping: // the attempt was aborted: the next process repeats it at once
		_, err := s.DB.Exec(ctx, `UPDATE log_destinations SET due_at = $3, lease = NULL WHERE id = $1 AND lease = $2`, witnessID(w), o.lease, database.Micros(now))
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
		witnessID(w), o.lease, database.Micros(now.Add(wait)), database.Micros(now))
	if o.failingSince.IsZero() {
		o.failingSince = now
	}
	return errors.Join(fmt.Errorf("the witness %s has accepted no checkpoint since %s, attempt %d: %w",
		w.Name, o.failingSince.Format(time.RFC3339), o.attempts, sent), err)
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
