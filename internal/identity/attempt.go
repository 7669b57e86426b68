package identity

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// The states of an attempt.
const (
	attemptStarted = "started"
	// attemptChecking: a callback took the code, which counts once.
	attemptChecking = "checking"
	// attemptAnswered: the provider said that the person is an adult, in a browser that is not signed in.
	attemptAnswered = "answered"
	attemptValid    = "valid"
	attemptFailed   = "failed"
)

// Attempt is what a guardian began at a provider.
type Attempt struct {
	ID, AccountID, PlayerID, Provider string
	State                             string
	Failure                           Failure
	ReturnTo                          string
	Via                               actor.Via
	StartedAt                         time.Time
	// Browser is what the browser must show: for an app in which the provider answers, else in which it answered before the attempt
	// is completed.
	Browser string
	// Asked is what the browser must show to Start: it was told whose number the attempt proves.
	Asked  string
	result string
}

// stateBytes is the length of the random part of an attempt.
const stateBytes = 32

// secretsOf returns the secrets of the attempt with a state. They are derived, so that no table has them.
func (s *Service) secretsOf(state string) Secrets {
	derive := func(what string) string {
		return base64.RawURLEncoding.EncodeToString(s.Secrets.MAC([]byte(what), []byte(state)))
	}
	return Secrets{State: state, Nonce: derive("nonce"), Verifier: derive("verifier")}
}

// Begin begins an attempt of the calling guardian about a player, and returns it with the address at the provider. The address of an
// app is the page of Opened, from which Start binds the attempt to the browser. Errors: not_found, validation_failed, rate_limited, provider_away.
func (s *Service) Begin(ctx context.Context, by actor.Actor, playerID, provider, returnTo string) (a Attempt, address string, err error) {
	player, err := s.Approvals.Player(ctx, by, playerID)
	if err != nil {
		return a, "", err
	}
	p, ok := s.provider(provider)
	if !ok || len(s.Choices()) == 0 {
		return a, "", fault.Validation([]fault.Field{{Pointer: "/provider", Code: "invalid_value", Detail: "This service has no such provider."}})
	}
	raw := make([]byte, stateBytes)
	if _, err := io.ReadFull(s.Rand, raw); err != nil {
		return a, "", err
	}
	secrets := s.secretsOf(base64.RawURLEncoding.EncodeToString(raw))
	if address, err = s.Client.AuthURL(ctx, p, secrets); err != nil {
		s.Log.Warn("a provider of proofs does not respond", "provider", p.Name, "error", err)
		return a, "", fault.New(fault.Unavailable, "unavailable", "%s does not respond. Try again later, or choose another one.", p.Label).After(time.Minute)
	}
	if by.Via != actor.ViaPage {
		address = s.PublicURL + StartPath + secrets.State
	}
	a = Attempt{ID: s.NewID(), AccountID: by.AccountID, PlayerID: player.ID, Provider: p.Name, State: attemptStarted, ReturnTo: returnTo, Via: by.Via}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := checkAttempts(ctx, tx, by.AccountID); err != nil {
			return err
		}
		a.StartedAt = tx.Now
		_, err := tx.Exec(ctx, `
			INSERT INTO proof_attempts (id, account_id, player_id, provider, state_hash, state, return_to, via, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			a.ID, a.AccountID, a.PlayerID, a.Provider, vault.HashToken(secrets.State), a.State, database.Text(a.ReturnTo), string(a.Via), database.Micros(a.StartedAt))
		return err
	})
	return a, address, err
}

// checkAttempts returns rate_limited if a provider found the person to be a minor within minorWait, or the account began maxAttempts.
func checkAttempts(ctx context.Context, tx *store.Tx, accountID string) error {
	var minorAt, firstAt time.Time
	var count int
	err := tx.QueryRow(ctx, `
		SELECT max(CASE WHEN failure = 'minor' THEN started_at END), min(started_at), count(*) FROM proof_attempts WHERE account_id = $1 AND started_at > $2`,
		accountID, database.Micros(tx.Now.Add(-attemptsWithin))).Scan(database.IntoTime(&minorAt), database.IntoTime(&firstAt), &count)
	switch {
	case err != nil:
		return fmt.Errorf("count the attempts of account %s: %w", accountID, err)
	case !minorAt.IsZero() && tx.Now.Before(minorAt.Add(minorWait)):
		return errTooSoon(minorAt.Add(minorWait).Sub(tx.Now))
	case count >= maxAttempts:
		return errTooSoon(firstAt.Add(attemptsWithin).Sub(tx.Now))
	}
	return nil
}

// attemptColumns are the columns of scanAttempt.
const attemptColumns = `id, account_id, player_id, provider, state, failure, result, return_to, via, started_at, state_hash`

func (s *Service) scanAttempt(row database.Scanner) (a Attempt, err error) {
	var hash []byte
	err = row.Scan(&a.ID, &a.AccountID, &a.PlayerID, &a.Provider, &a.State, database.IntoText((*string)(&a.Failure)), database.IntoText(&a.result), database.IntoText(&a.ReturnTo), &a.Via, database.IntoTime(&a.StartedAt), &hash)
	mark := func(what string) string {
		return base64.RawURLEncoding.EncodeToString(s.Secrets.MAC([]byte(what), hash))
	}
	a.Browser, a.Asked = mark("browser"), mark("asked")
	return a, err
}

// Answer takes the answer of a provider: the state with a code, or with an error of the provider. by is who is signed in to the browser,
// or the zero Actor, and browser what Start gave to it. A state counts once and within attemptFor; else it returns not_found. The attempt says how it ended.
func (s *Service) Answer(ctx context.Context, by actor.Actor, browser, state, code, refused string) (a Attempt, err error) {
	if len(state) != base64.RawURLEncoding.EncodedLen(stateBytes) {
		return a, fault.Missing()
	}
	err = s.DB.ExecRow(ctx, func(row database.Scanner) (err error) {
		a, err = s.scanAttempt(row)
		return err
	}, `UPDATE proof_attempts SET state = 'checking' WHERE state_hash = $1 AND state = 'started' AND started_at > $2 RETURNING `+attemptColumns,
		vault.HashToken(state), database.Micros(s.Now().Add(-attemptFor)))
	if database.IsNoRows(err) {
		return s.repeated(ctx, state)
	}
	if err != nil {
		return a, fmt.Errorf("take the answer of a provider: %w", err)
	}
	var found proved
	if a.Via != actor.ViaPage && subtle.ConstantTimeCompare([]byte(browser), []byte(a.Browser)) == 0 {
		err = failed(OtherBrowser, nil)
	} else {
		found, err = s.prove(ctx, a, state, code, refused)
	}
	if f, ok := errors.AsType[*Error](err); ok {
		a.State, a.Failure = attemptFailed, f.Failure
		if f.Failure != Cancelled && f.Failure != Minor {
			s.Log.Warn("a person was not proved to be an adult", "provider", a.Provider, "failure", f.Failure, "error", f.cause)
		}
		_, err = s.DB.Exec(ctx, `UPDATE proof_attempts SET state = 'failed', failure = $2 WHERE id = $1 AND state = 'checking'`, a.ID, string(a.Failure))
		return a, err
	}
	if err != nil {
		return a, err
	}
	// A person who began on a page is the one who is signed in to the browser. An app has no session there.
	if a.Via == actor.ViaPage && by.AccountID != a.AccountID {
		return s.keep(ctx, a, found)
	}
	return s.complete(ctx, a, found)
}

// repeated returns the attempt of a state that was answered before, as after a double tap or the back button. It waits for a request that
// asks the provider at this moment, and returns not_found if the person took longer than attemptFor.
func (s *Service) repeated(ctx context.Context, state string) (a Attempt, err error) {
	for range repeatedPolls {
		a, err = s.scanAttempt(s.DB.QueryRow(ctx, `SELECT `+attemptColumns+` FROM proof_attempts WHERE state_hash = $1`, vault.HashToken(state)))
		if err != nil || a.State != attemptChecking {
			break
		}
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(callTimeout / repeatedPolls):
		}
	}
	if database.IsNoRows(err) || err == nil && a.State == attemptStarted {
		err = fault.Missing()
	}
	a.Browser = "" // only the browser of the first answer gets it
	return a, err
}

// repeatedPolls is how often a repeated answer looks whether the first one is done.
const repeatedPolls = 40

// prove asks the provider. Errors: *Error.
func (s *Service) prove(ctx context.Context, a Attempt, state, code, refused string) (proved, error) {
	p, ok := s.provider(a.Provider)
	switch {
	case refused == "access_denied" || refused == "login_required" || refused == "interaction_required":
		return proved{}, failed(Cancelled, nil)
	case refused != "" || code == "":
		return proved{}, failed(Away, errors.New("the provider sent the person back with an error"))
	case !ok:
		return proved{}, failed(Away, errors.New("the provider is no longer in IDENTITY_PROVIDERS"))
	}
	entered, err := s.enteredName(ctx, a)
	if err != nil {
		return proved{}, err
	}
	who, err := s.Client.Prove(ctx, p, code, s.secretsOf(state), entered)
	switch {
	case err != nil:
		return proved{}, failed(FailureOf(err), err)
	case !who.Adult:
		return proved{}, failed(Minor, nil)
	}
	return proved{
		Method: p.Method, Provider: p.Name, Assurance: who.Assurance, NameFit: fitName(entered, who.Name),
		Subject: s.DB.SubjectHash(who.Issuer, who.Subject), At: s.Now(),
	}, nil
}

// enteredName returns the name that the coach of the player entered for the guardian.
func (s *Service) enteredName(ctx context.Context, a Attempt) (name string, err error) {
	err = s.DB.QueryRow(ctx, `SELECT name FROM parties WHERE player_id = $1 AND role = 'guardian' AND account_id = $2`, a.PlayerID, a.AccountID).Scan(database.IntoText(&name))
	if database.IsNoRows(err) {
		return "", failed(Away, errors.New("the coach has changed the guardian meanwhile"))
	}
	return name, err
}

// keep keeps what a provider said until the person signs in to this browser.
func (s *Service) keep(ctx context.Context, a Attempt, found proved) (Attempt, error) {
	text, err := json.Marshal(found)
	if err != nil {
		return a, err
	}
	a.State = attemptAnswered
	_, err = s.DB.Exec(ctx, `UPDATE proof_attempts SET state = 'answered', result = $2 WHERE id = $1 AND state = 'checking'`, a.ID, string(text))
	return a, err
}

// complete saves the proof of an attempt that is in the state a.State or checking.
func (s *Service) complete(ctx context.Context, a Attempt, found proved) (Attempt, error) {
	done := false
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `
			UPDATE proof_attempts SET state = 'valid', result = NULL WHERE id = $1 AND account_id = $2 AND state IN ('checking', 'answered')
				AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = $2 AND a.closed_at IS NULL AND a.mobile_number <> 'erased:' || a.id)`, a.ID, a.AccountID)
		if done = n == 1; err != nil || !done {
			return err
		}
		return found.save(ctx, tx, a.AccountID)
	})
	if err != nil {
		return a, fmt.Errorf("complete attempt %s: %w", a.ID, err)
	}
	if !done { // another request completed it, or the account was deleted
		a, err = s.scanAttempt(s.DB.QueryRow(ctx, `SELECT `+attemptColumns+` FROM proof_attempts WHERE id = $1 AND account_id = $2`, a.ID, a.AccountID))
		if database.IsNoRows(err) {
			err = fault.Missing()
		}
		return a, err
	}
	a.State = attemptValid
	return a, nil
}

// Finish completes an attempt of the caller, who has signed in to the browser in which the provider answered: browser is what it shows.
// Another browser changes nothing, so that a stranger who opened the address at the provider does not prove the number of the caller.
func (s *Service) Finish(ctx context.Context, by actor.Actor, id, browser string) (Attempt, error) {
	a, err := s.scanAttempt(s.DB.QueryRow(ctx, `SELECT `+attemptColumns+` FROM proof_attempts WHERE id = $1 AND account_id = $2`, id, by.AccountID))
	if database.IsNoRows(err) {
		return a, fault.Missing()
	}
	if err != nil || a.State != attemptAnswered || s.Now().Sub(a.StartedAt) > 2*attemptFor || subtle.ConstantTimeCompare([]byte(browser), []byte(a.Browser)) == 0 {
		return a, err
	}
	var found proved
	if err := json.Unmarshal([]byte(a.result), &found); err != nil {
		return a, fmt.Errorf("read the result of attempt %s: %w", id, err)
	}
	return s.complete(ctx, a, found)
}
