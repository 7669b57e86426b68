package auth

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
)

// KeyInfo describes a key of the installation without the key.
type KeyInfo struct {
	ID        string    `json:"id"`
	Protects  string    `json:"protects"`
	CreatedAt time.Time `json:"created_at"`
	ActiveAt  time.Time `json:"active_at"`
	// EndsAt is zero if the key does not end.
	EndsAt time.Time `json:"ends_at,omitzero"`
	// MasterKey is the id of the master key that encrypts it, "" if no known one does.
	MasterKey string `json:"master_key"`
}

var protects = map[vault.Purpose]string{
	vault.ForSecret:  "refresh, device and page tokens, OTPs, links, medical information, legal names, closed numbers, webhook secrets, push subscriptions, certificates, records and checkpoints of consents",
	vault.ForVAPID:   "push messages to browsers",
	vault.ForSigning: "access tokens",
}

// ListKeys describes all keys. Without a master key each MasterKey is "".
func (in *Installation) ListKeys(ctx context.Context, masters [][]byte) ([]KeyInfo, error) {
	var known []masterKey
	for _, key := range masters {
		m, err := newMasterKey(key)
		if err != nil {
			return nil, fmt.Errorf("master key: %w", err)
		}
		known = append(known, m)
	}
	all, err := in.Secrets(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	list := make([]KeyInfo, len(all))
	for i, s := range all {
		p := vault.Purpose(s.Purpose)
		list[i] = KeyInfo{ID: s.ID, Protects: protects[p], CreatedAt: s.CreatedAt, ActiveAt: s.ActiveAt}
		if p == vault.ForSigning {
			list[i].EndsAt = s.EndsAt
		}
		if purpose, kept := strings.CutPrefix(s.ID, keptMACPrefix); kept {
			list[i].Protects = keptMACs[vault.Purpose(purpose)]
		}
		if _, under, ok := openWith(known, s); ok {
			list[i].MasterKey = under.id
		}
	}
	return list, nil
}

// Reencrypted says how many keys a rotation of the master key encrypted, and how many it found
// encrypted under the next master key.
type Reencrypted struct {
	Changed, Done int
}

// RotateMasterKey encrypts all keys under next. Those that next encrypts already stay. It is one transaction:
// after a crash either all keys are encrypted under next or none is. masters decrypt the keys until now. dryRun changes
// nothing. Errors: ErrMasterKey.
func (in *Installation) RotateMasterKey(ctx context.Context, by actor.Operator, entryID string, masters [][]byte, next []byte, dryRun bool) (Reencrypted, error) {
	to, err := newMasterKey(next)
	if err != nil {
		return Reencrypted{}, fmt.Errorf("new master key: %w", err)
	}
	from, err := newMasterKeys(func() ([][]byte, error) { return masters, nil })
	if err != nil {
		return Reencrypted{}, fmt.Errorf("master key: %w", err)
	}
	var r Reencrypted
	err = in.sql.Write(ctx, func(tx *database.Tx) error {
		// A replica that adds a key locks this row, so its key is read below or is encrypted under next.
		n, err := tx.Exec(ctx, `UPDATE secrets SET active_at = active_at WHERE id = 'service'`)
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "no_keys", "this database has no keys yet: start the service once")
		}
		if err != nil {
			return err
		}
		all, err := secrets(ctx, tx)
		if err != nil {
			return err
		}
		r = Reencrypted{}
		for _, s := range all {
			p := vault.Purpose(s.Purpose)
			if _, _, ok := openWith([]masterKey{to}, s); ok {
				r.Done++
				continue
			}
			plain, _, err := from.open(s)
			if err != nil {
				return fmt.Errorf("key %s: %w", s.ID, err)
			}
			r.Changed++
			if dryRun {
				continue
			}
			if _, err := tx.Exec(ctx, `UPDATE secrets SET sealed = $2 WHERE id = $1`, s.ID, to.vault.For(p).Seal(plain, s.ID)); err != nil {
				return err
			}
		}
		if dryRun || r.Changed == 0 {
			return nil
		}
		return operator.AddEntry(ctx, tx, entryID, by, operator.MasterKeyRotated, "key", to.id, "")
	})
	return r, err
}

// RotateSigningKey adds a signing key that signs from now on, and removes a key that would have signed later. It returns the
// id of the new key. masters are the master keys.
func (in *Installation) RotateSigningKey(ctx context.Context, by actor.Operator, entryID string, masters [][]byte, now time.Time) (id string, err error) {
	from, err := newMasterKeys(func() ([][]byte, error) { return masters, nil })
	if err != nil {
		return "", fmt.Errorf("master key: %w", err)
	}
	id = keyIDPrefix + now.UTC().Format("20060102T150405")
	plain, s, err := newSigningKey(id, now, now)
	if err != nil {
		return "", err
	}
	err = in.sql.Write(ctx, func(tx *database.Tx) error {
		service, err := serviceSecret(ctx, tx)
		if err == nil && service == nil {
			err = fault.New(fault.Conflict, "no_keys", "this database has no keys yet: start the service once")
		}
		if err != nil {
			return err
		}
		s.Sealed, err = from.seal(service, vault.ForSigning, plain, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM secrets WHERE purpose = 'signing' AND active_at > $1`, database.Micros(now)); err != nil {
			return err
		}
		added, err := insertSecret(ctx, tx, s)
		if err == nil && !added {
			err = fault.New(fault.Conflict, "signing_key_exists", "another call made a signing key in this second: try again")
		}
		if err != nil {
			return err
		}
		return operator.AddEntry(ctx, tx, entryID, by, operator.SigningKeyRotated, "key", id, "")
	})
	return id, err
}
