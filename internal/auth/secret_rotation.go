package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// nextSecretID is the id of the next service secret while values are sealed with it.
const nextSecretID = "service-next"

// secretChunk is how many rows one transaction of a rotation changes.
const secretChunk = 500

// ErrUnfinishedRotation says that some values are sealed with the next service secret.
var ErrUnfinishedRotation = errors.New("a rotation of the service secret was interrupted: run touchline keys rotate-secret again")

// ErrSecretReplaced says that the service secret is being replaced, or was, while this process runs with the old one.
var ErrSecretReplaced = errors.New("the service secret was replaced while this process ran: stop it now, because no other process can read what it encrypts")

// SecretRotation replaces the service secret of a service that is stopped.
type SecretRotation struct {
	Installation *Installation
	By           actor.Operator
	EntryID      string
	// Masters are the master keys.
	Masters [][]byte
	Sealed  []store.Sealed
	Ended   []store.Ended
	Now     time.Time
}

// Rotated says what a rotation of the service secret did.
type Rotated struct {
	// Sealed is the number of values that were sealed again. Unreadable values were sealed with another secret before: they stay.
	Sealed     int64 `json:"sealed"`
	Unreadable int64 `json:"unreadable"`
	// Ended is the number of rows that ended, by what they are.
	Ended map[string]int64 `json:"ended"`
}

// Run seals each value with a new secret, ends what depends on the old one, and then replaces it. Each chunk is a
// transaction: Run continues after an interruption, and no service starts before its end. Errors: ErrMasterKey.
func (r SecretRotation) Run(ctx context.Context) (done Rotated, err error) {
	from, err := newMasterKeys(func() ([][]byte, error) { return r.Masters, nil })
	if err != nil {
		return done, fmt.Errorf("master key: %w", err)
	}
	secret, old, next, err := r.begin(ctx, from)
	if err != nil {
		return done, err
	}
	done.Ended = map[string]int64{}
	for _, s := range r.Sealed {
		if err := r.seal(ctx, s, old, next, &done); err != nil {
			return done, fmt.Errorf("seal %s.%s: %w", s.Table, s.Column, err)
		}
	}
	for _, e := range r.Ended {
		args := []any{secretChunk, database.Micros(r.Now)}
		if !strings.Contains(e.Query, "$2") {
			args = args[:1]
		}
		for n := int64(1); n > 0; done.Ended[e.What] += n {
			n, err = r.Installation.sql.Exec(ctx, e.Query, args...)
			if err != nil {
				return done, fmt.Errorf("end %s: %w", e.What, err)
			}
		}
	}
	return done, r.finish(ctx, from, secret)
}

// begin returns the old and the next secret. It saves the next one, or reads it after an interruption.
func (r SecretRotation) begin(ctx context.Context, from *masterKeys) (secret []byte, old, next *vault.Vault, err error) {
	err = r.Installation.sql.Write(ctx, func(tx *database.Tx) error {
		service, err := serviceSecret(ctx, tx)
		if err == nil && service == nil {
			err = fault.New(fault.Conflict, "no_keys", "this database has no keys yet: start the service once")
		}
		if err != nil {
			return err
		}
		plain, _, err := from.open(*service)
		if err != nil {
			return err
		}
		old, err = vault.New(plain)
		if err != nil {
			return err
		}
		waiting := Secret{ID: nextSecretID, Purpose: string(vault.ForSecret)}
		err = tx.QueryRow(ctx, `SELECT sealed FROM secrets WHERE id = 'service-next'`).Scan(&waiting.Sealed)
		switch {
		case err == nil:
			secret, _, err = from.open(waiting)
		case database.IsNoRows(err):
			secret = make([]byte, vault.SecretBytes)
			_, _ = rand.Read(secret) // never fails (crypto/rand)
			err = r.add(ctx, tx, from, service, nextSecretID, secret)
			if err != nil {
				return err
			}
			for purpose := range keptMACs { // a key that an earlier rotation kept stays
				err = r.add(ctx, tx, from, service, keptMACPrefix+string(purpose), old.For(purpose).MACKey())
				if err != nil {
					return err
				}
			}
		}
		if err == nil {
			next, err = vault.New(secret)
		}
		return err
	})
	return secret, old, next, err
}

func (r SecretRotation) add(ctx context.Context, tx *database.Tx, from *masterKeys, service *Secret, id string, plain []byte) error {
	sealed, err := from.seal(service, vault.ForSecret, plain, id)
	if err != nil {
		return err
	}
	_, err = insertSecret(ctx, tx, Secret{ID: id, Purpose: string(vault.ForSecret), Sealed: sealed, CreatedAt: r.Now, ActiveAt: r.Now, EndsAt: r.Now.AddDate(1000, 0, 0)})
	return err
}

// sealedValue is a value with the key of its row.
type sealedValue struct {
	key    []any
	sealed []byte
}

// seal seals all values of a column with the next secret.
func (r SecretRotation) seal(ctx context.Context, s store.Sealed, old, next *vault.Vault, done *Rotated) error {
	after := []any{""}
	if strings.Contains(s.Read, "$3") {
		after = []any{"", ""}
	}
	for more := true; more; {
		var sealed, unreadable int64
		last := after
		err := r.Installation.sql.Write(ctx, func(tx *database.Tx) error {
			sealed, unreadable, last = 0, 0, after
			values, err := readSealed(ctx, tx, s, after)
			if err != nil {
				return err
			}
			more = len(values) == secretChunk
			for _, v := range values {
				last = v.key
				if len(v.sealed) == 0 {
					continue
				}
				plain, context, err := v.open(s.Purpose, old)
				if err != nil {
					_, _, err = v.open(s.Purpose, next)
					if err != nil {
						unreadable++
					}
					continue // sealed before an interruption
				}
				sealed++
				err = tx.Defer(ctx, s.Write, append([]any{v.sealed, next.For(s.Purpose).Seal(plain, context)}, v.key...)...)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		after = last
		done.Sealed, done.Unreadable = done.Sealed+sealed, done.Unreadable+unreadable
	}
	return nil
}

func (v sealedValue) open(p vault.Purpose, with *vault.Vault) (plain []byte, context string, err error) {
	parts := make([]string, len(v.key))
	for i, part := range v.key {
		parts[i] = part.(string)
	}
	context = strings.Join(parts, "\x00")
	plain, err = with.For(p).Open(v.sealed, context)
	return plain, context, err
}

func readSealed(ctx context.Context, tx *database.Tx, s store.Sealed, after []any) ([]sealedValue, error) {
	rs, err := tx.Query(ctx, s.Read, append([]any{secretChunk}, after...)...)
	return database.Collect(rs, err, func(row database.Scanner) (v sealedValue, err error) {
		keys := make([]string, len(after))
		dest := make([]any, 0, len(after)+1)
		for i := range keys {
			dest = append(dest, &keys[i])
		}
		err = row.Scan(append(dest, &v.sealed)...)
		v.sealed = bytes.Clone(v.sealed)
		for _, key := range keys {
			v.key = append(v.key, key)
		}
		return v, err
	})
}

// finish makes the next secret the service secret.
func (r SecretRotation) finish(ctx context.Context, from *masterKeys, secret []byte) error {
	return r.Installation.sql.Write(ctx, func(tx *database.Tx) error {
		service, err := serviceSecret(ctx, tx)
		if err != nil {
			return err
		}
		sealed, err := from.seal(service, vault.ForSecret, secret, serviceSecretID)
		if err != nil {
			return err
		}
		err = tx.ExecOne(ctx, `DELETE FROM secrets WHERE id = 'service-next'`)
		if errors.Is(err, database.ErrStale) {
			return fault.New(fault.Conflict, "rotated", "another command has finished this rotation")
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE secrets SET sealed = $1, created_at = $2, active_at = $2 WHERE id = 'service'`, sealed, database.Micros(r.Now))
		if err != nil {
			return err
		}
		return operator.AddEntry(ctx, tx, r.EntryID, r.By, operator.ServiceSecretRotated, "key", serviceSecretID, "")
	})
}
