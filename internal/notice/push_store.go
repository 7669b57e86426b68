package notice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/vault"
)

// pushSecrets are the parts of a subscription that are stored sealed.
type pushSecrets struct {
	Endpoint, P256DH, Auth string
	Token                  string `json:",omitempty"`
}

// addressOf identifies the device of a subscription.
func addressOf(s message.PushSubscription) []byte {
	if s.Kind() == message.PushFCM {
		return []byte("fcm:" + s.Token)
	}
	return []byte(s.Endpoint)
}

// Save replaces the subscription of the caller's session. It removes subscriptions of
// other sessions of this role with the same device, and the oldest ones of the account
// beyond MaxPushSubscriptions.
func (p *PushSubscriptions) Save(ctx context.Context, by actor.Actor, s message.PushSubscription) error {
	plain, err := json.Marshal(pushSecrets{s.Endpoint, s.P256DH, s.Auth, s.Token})
	if err != nil {
		return err
	}
	sealer := p.Vault.For(vault.ForPush)
	endpoint := sealer.MAC(addressOf(s))
	err = p.DB.Write(ctx, func(tx *database.Tx) error {
		// A session that a concurrent request ends gets no subscription.
		err := tx.ExecOne(ctx, `
			INSERT INTO push_subscriptions (session_id, id, account_id, role, endpoint, sealed, show_names, ends_at, created_at)
			SELECT id, $3, account_id, role, $4, $5, $6, ends_at, $7 FROM sessions WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL
			ON CONFLICT (session_id) DO UPDATE SET id = excluded.id, endpoint = excluded.endpoint, sealed = excluded.sealed,
				show_names = excluded.show_names, created_at = excluded.created_at`,
			by.SessionID, by.AccountID, s.ID, endpoint, sealer.Seal(plain, s.ID), s.ShowNames, database.Micros(s.CreatedAt))
		if errors.Is(err, database.ErrStale) {
			return fault.SessionEnded() // another attempt would find no session either
		}
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `DELETE FROM push_subscriptions WHERE endpoint = $1 AND role = $2 AND session_id <> $3`, endpoint, string(by.Role), by.SessionID)
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `
			DELETE FROM push_subscriptions WHERE account_id = $1 AND id NOT IN (
				SELECT id FROM push_subscriptions WHERE account_id = $1 ORDER BY id DESC LIMIT $2)`, by.AccountID, MaxPushSubscriptions)
		if err != nil {
			return err
		}
		return idempotency.Complete(ctx, tx, idempotency.Work{})
	})
	return fault.Wrap(err, "save push subscription")
}

// OfSession returns the subscription of the caller's session, or false.
func (p *PushSubscriptions) OfSession(ctx context.Context, by actor.Actor) (message.PushSubscription, bool, error) {
	return p.scan(p.DB.QueryRow(ctx, `
		SELECT id, sealed, show_names, created_at FROM push_subscriptions WHERE session_id = $1 AND account_id = $2`,
		by.SessionID, by.AccountID))
}

// PushSubscription returns a subscription whose session is live, or false. It removes the
// subscription of a session that has ended.
func (p *PushSubscriptions) PushSubscription(ctx context.Context, id string) (message.PushSubscription, bool, error) {
	s, found, err := p.scan(p.DB.QueryRow(ctx, `
		SELECT p.id, p.sealed, p.show_names, p.created_at FROM push_subscriptions p JOIN sessions s ON s.id = p.session_id
		WHERE p.id = $1 AND s.revoked_at IS NULL AND s.idle_at > $2 AND s.ends_at > $2`, id, database.Micros(p.DB.Now())))
	if err == nil && !found {
		err = p.PushSubscriptionGone(ctx, id)
	}
	return s, found, err
}

func (p *PushSubscriptions) scan(row database.Scanner) (s message.PushSubscription, found bool, err error) {
	var sealed []byte
	err = row.Scan(&s.ID, &sealed, &s.ShowNames, database.IntoTime(&s.CreatedAt))
	if database.IsNoRows(err) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("read push subscription: %w", err)
	}
	plain, err := p.Vault.For(vault.ForPush).Open(sealed, s.ID)
	if err != nil {
		return s, false, fmt.Errorf("open push subscription %s: %w", s.ID, err)
	}
	var secrets pushSecrets
	if err := json.Unmarshal(plain, &secrets); err != nil {
		return s, false, fmt.Errorf("read push subscription %s: %w", s.ID, err)
	}
	s.Endpoint, s.P256DH, s.Auth, s.Token = secrets.Endpoint, secrets.P256DH, secrets.Auth, secrets.Token
	return s, true, nil
}

// Delete removes the subscription of the caller's session, if there is one.
func (p *PushSubscriptions) Delete(ctx context.Context, by actor.Actor) error {
	_, err := p.DB.Exec(ctx, `DELETE FROM push_subscriptions WHERE session_id = $1 AND account_id = $2`, by.SessionID, by.AccountID)
	return fault.Wrap(err, "delete push subscription")
}

// PushSubscriptionGone removes a subscription that the push service no longer knows.
func (p *PushSubscriptions) PushSubscriptionGone(ctx context.Context, id string) error {
	_, err := p.DB.Exec(ctx, `DELETE FROM push_subscriptions WHERE id = $1`, id)
	return fault.Wrap(err, "remove push subscription %s", id)
}

// EndPush removes the subscription of a session that ends.
func EndPush(ctx context.Context, tx *database.Tx, sessionID string) error {
	err := tx.Defer(ctx, `DELETE FROM push_subscriptions WHERE session_id = $1`, sessionID)
	return fault.Wrap(err, "end push messages of a session")
}

// EndPushOfAccount removes the subscriptions of an account, except the subscription of the session keep;
// "" keeps none.
func EndPushOfAccount(ctx context.Context, tx *database.Tx, accountID, keep string) error {
	err := tx.Defer(ctx, `DELETE FROM push_subscriptions WHERE account_id = $1 AND session_id <> $2`, accountID, keep)
	return fault.Wrap(err, "end push messages of an account")
}
