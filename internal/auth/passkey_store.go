package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// AddPasskeyChallenge counts the limits and saves a challenge. accountID is "" for a sign-in; an account
// has one challenge for a registration. Error: LimitExceeded.
func (db Store) AddPasskeyChallenge(ctx context.Context, id, accountID string, session webauthn.SessionData, limits []Limit) error {
	data, err := json.Marshal(session)
	if err != nil {
		return err
	}
	return db.DB.Write(ctx, func(tx *store.Tx) error {
		if exceeded, err := CountOccurrence(ctx, tx, tx.Now, limits); err != nil || exceeded != nil {
			if exceeded != nil {
				err = *exceeded
			}
			return err
		}
		if accountID != "" {
			if err := tx.Defer(ctx, `DELETE FROM passkey_challenges WHERE account_id = $1`, accountID); err != nil {
				return err
			}
		}
		return tx.Defer(ctx, `INSERT INTO passkey_challenges (id, account_id, data, ends_at) VALUES ($1, $2, $3, $4)`,
			id, database.Text(accountID), string(data), database.Micros(tx.Now.Add(PasskeyValidity)))
	})
}

// takePasskeyChallenge removes a challenge, so that it is answered once, and returns it. Error:
// passkey_expired.
func takePasskeyChallenge(ctx context.Context, tx *store.Tx, id, accountID string) (session webauthn.SessionData, err error) {
	var data string
	err = tx.QueryRow(ctx, `
		DELETE FROM passkey_challenges WHERE id = $1 AND COALESCE(account_id, '') = $2 AND ends_at > $3 RETURNING data`,
		id, accountID, database.Micros(tx.Now)).Scan(&data)
	if database.IsNoRows(err) {
		return session, errPasskeyExpired()
	}
	if err != nil {
		return session, fmt.Errorf("take passkey challenge: %w", err)
	}
	return session, json.Unmarshal([]byte(data), &session)
}

// AddPasskey adds the passkey for which verify returns a credential. A challenge whose answer is refused is
// used up. The update of the session locks it: the end of the session at the same time must end the passkey,
// see endPasskeys.
func (db Store) AddPasskey(ctx context.Context, by actor.Actor, challengeID string, p *Passkey, verify func(webauthn.SessionData) (*webauthn.Credential, error)) error {
	var refused error
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		challenge, err := takePasskeyChallenge(ctx, tx, challengeID, by.AccountID)
		if err != nil {
			return err
		}
		credential, err := verify(challenge)
		refused = err
		if err != nil {
			return nil
		}
		err = tx.ExecOne(ctx, `
			UPDATE sessions SET last_used_at = $3 WHERE id = $1 AND mobile_number = $2 AND revoked_at IS NULL AND idle_at > 0`,
			by.SessionID, string(by.Number), database.Micros(tx.Now))
		if errors.Is(err, database.ErrStale) {
			return fault.SessionEnded()
		}
		if err != nil {
			return err
		}
		credential.Attestation = webauthn.CredentialAttestation{} // it is not checked again
		p.credential = *credential
		data, err := json.Marshal(credential)
		if err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM passkeys WHERE account_id = $1`, by.AccountID).Scan(&count); err != nil {
			return err
		}
		if count >= maxPasskeys {
			return errPasskeyLimit()
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO passkeys (id, account_id, credential_id, name, credential, sign_count, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			p.ID, by.AccountID, credential.ID, database.Text(p.Name), string(data), int64(credential.Authenticator.SignCount), database.Micros(p.CreatedAt))
		if err != nil {
			return fmt.Errorf("add passkey: %w", err)
		}
		// A person who holds the session of another must not add a way in unnoticed.
		err = notice.Notify(ctx, tx, []event.Event{{Type: event.PasskeyAdded, Party: by.Role, PartyID: by.AccountID, SessionID: by.SessionID}})
		if err != nil {
			return err
		}
		return tx.Complete(ctx, idempotency.Work{ID: p.ID, New: true})
	})
	if database.IsUnique(err) {
		refused, err = err, nil
	}
	if err == nil && refused != nil {
		db.event(ctx, "passkey_refused", account(by.AccountID), session(by.SessionID), passkeyReason(refused))
		return errPasskeyInvalid(refused)
	}
	if err == nil {
		db.event(ctx, "passkey_added", account(by.AccountID), session(by.SessionID), passkey(p.ID))
	}
	return err
}

const passkeyColumns = `id, account_id, name, credential, sign_count, created_at, last_used_at`

func scanPasskey(s database.Scanner) (*Passkey, error) {
	p := new(Passkey)
	var data string
	var count int64
	err := s.Scan(&p.ID, &p.AccountID, database.IntoText(&p.Name), &data, &count, database.IntoTime(&p.CreatedAt), database.IntoTime(&p.LastUsedAt))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(data), &p.credential); err != nil {
		return nil, fmt.Errorf("read passkey %s: %w", p.ID, err)
	}
	p.credential.Authenticator.SignCount = uint32(count)
	return p, nil
}

// Passkeys lists the passkeys of an account, newest first, starting after the passkey with the ID after; ""
// starts with the first.
func (db Store) Passkeys(ctx context.Context, accountID, after string, limit int) ([]*Passkey, error) {
	rs, err := db.DB.Query(ctx, `
		SELECT `+passkeyColumns+` FROM passkeys WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
		accountID, database.Before(after), limit)
	return database.Collect(rs, err, scanPasskey)
}

// Passkey returns a passkey of an account, or nil.
func (db Store) Passkey(ctx context.Context, accountID, id string) (*Passkey, error) {
	p, err := scanPasskey(db.DB.QueryRow(ctx, `SELECT `+passkeyColumns+` FROM passkeys WHERE account_id = $1 AND id = $2`, accountID, id))
	if database.IsNoRows(err) {
		return nil, nil
	}
	return p, err
}

// RemovePasskey removes a passkey of an account; false if it has no such passkey.
func (db Store) RemovePasskey(ctx context.Context, by actor.Actor, id string) (bool, error) {
	n, err := db.DB.Exec(ctx, `DELETE FROM passkeys WHERE id = $1 AND account_id = $2`, id, by.AccountID)
	if n == 1 {
		db.event(ctx, "passkey_removed", account(by.AccountID), session(by.SessionID), passkey(id))
	}
	return n == 1, err
}

// PasskeyNumber returns the number of the account of a passkey, or "".
func (db Store) PasskeyNumber(ctx context.Context, credentialID []byte) (n phone.Number, err error) {
	err = db.DB.QueryRow(ctx, `
		SELECT a.mobile_number FROM passkeys p JOIN accounts a ON a.id = p.account_id WHERE p.credential_id = $1`, credentialID).Scan(&n)
	if database.IsNoRows(err) {
		return "", nil
	}
	return n, err
}

// SignInByPasskey takes the challenge, checks the answer with verify, and opens the session of the account
// of the passkey. A challenge whose answer is refused is used up.
func (db Store) SignInByPasskey(ctx context.Context, challengeID string, credentialID []byte, in *SignIn, verify func(webauthn.SessionData, *Passkey) (*webauthn.Credential, error)) error {
	var refused error
	var p *Passkey
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		refused, p = nil, nil
		challenge, err := takePasskeyChallenge(ctx, tx, challengeID, "")
		if err != nil {
			return err
		}
		p, refused, err = db.usePasskey(ctx, tx, credentialID, in.Session, func(p *Passkey) (*webauthn.Credential, error) { return verify(challenge, p) })
		if err != nil || refused != nil {
			return err
		}
		return db.openSession(ctx, tx, in, *in.Session)
	})
	if err != nil {
		return err
	}
	role := slog.String("role", string(in.Session.Role))
	if refused != nil {
		attrs := []slog.Attr{slog.String("code", fault.CodeOf(refused)), slog.String("by", "passkey")}
		if cause := errors.Unwrap(refused); cause != nil {
			attrs = append(attrs, passkeyReason(cause))
		}
		if p != nil {
			attrs = append(attrs, account(p.AccountID), passkey(p.ID))
		}
		db.event(ctx, "sign_in_refused", attrs...)
		return refused
	}
	db.sessions("opened", 1)
	db.event(ctx, "sign_in", account(p.AccountID), session(in.Session.ID), role, slog.String("by", "passkey"), passkey(p.ID))
	return nil
}

// usePasskey checks an answer of a passkey, saves its use, and sets account, role and number of a session.
// It locks the account until the commit: a suspension and the end of the role wait, or are seen here. refused
// says why the answer does not sign in.
func (db Store) usePasskey(ctx context.Context, tx *store.Tx, credentialID []byte, s *Session, verify func(*Passkey) (*webauthn.Credential, error)) (p *Passkey, refused, err error) {
	var suspended bool
	var number phone.Number
	p = new(Passkey)
	err = tx.QueryRow(ctx, `
		SELECT a.id, a.mobile_number, a.role, a.suspended_at IS NOT NULL FROM accounts a
		WHERE a.id = (SELECT k.account_id FROM passkeys k WHERE k.credential_id = $1) `+tx.ForShare("a"), credentialID).
		Scan(&s.AccountID, &number, &s.Role, &suspended)
	if database.IsNoRows(err) {
		return nil, errPasskeyInvalid(ErrUnknownPasskey), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("find account of passkey: %w", err)
	}
	if number != s.Number {
		return nil, nil, database.ErrStale // it changed after the device was looked up
	}
	p, err = scanPasskey(tx.QueryRow(ctx, `SELECT `+passkeyColumns+` FROM passkeys WHERE credential_id = $1`, credentialID))
	if database.IsNoRows(err) {
		return nil, errPasskeyInvalid(ErrUnknownPasskey), nil // it was removed meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	used, err := verify(p)
	if err == nil && used.Authenticator.CloneWarning {
		err = errors.New("the counter of the passkey went back: it may be copied")
	}
	if err != nil {
		return p, errPasskeyInvalid(err), nil
	}
	if suspended {
		return p, errSuspended(), nil
	}
	if s.Role != actor.Coach {
		if err := db.checkRoleHeld(ctx, tx, number, s.Role); errors.Is(err, database.ErrStale) {
			return p, errPasskeyInvalid(errors.New("the number no longer holds the role")), nil
		} else if err != nil {
			return nil, nil, err
		}
	}
	return p, nil, db.savePasskeyUse(ctx, tx, p, used)
}

// savePasskeyUse saves the counter and the time of a sign-in. The counter is the one that verify compared.
func (db Store) savePasskeyUse(ctx context.Context, tx *store.Tx, p *Passkey, used *webauthn.Credential) error {
	data, err := json.Marshal(used)
	if err != nil {
		return err
	}
	return tx.ExecOne(ctx, `
		UPDATE passkeys SET sign_count = $2, credential = $3, last_used_at = $4 WHERE id = $1 AND sign_count = $5`,
		p.ID, int64(used.Authenticator.SignCount), string(data), database.Micros(tx.Now), int64(p.credential.Authenticator.SignCount))
}
