package identity

import (
	"context"
	"crypto/subtle"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

// Opened is an attempt of an app that was opened in a browser. Any person can open its address, so it says whose number is proved.
type Opened struct {
	Attempt
	Number         phone.Number
	Student, Coach string
	// Label is the name of the provider.
	Label string
}

// Opened returns the attempt that an app began with a state, while the guardian stays one of the player. Errors: not_found.
func (s *Service) Opened(ctx context.Context, state string) (o Opened, err error) {
	a, p, err := s.started(ctx, state)
	if err != nil {
		return o, err
	}
	o = Opened{Attempt: a, Label: p.Label}
	err = s.DB.QueryRow(ctx, `
		SELECT a.mobile_number, p.student_name, c.name
		FROM parties y
		JOIN players p ON p.id = y.player_id AND p.deleted_at IS NULL
		JOIN accounts a ON a.id = y.account_id
		LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE y.player_id = $1 AND y.account_id = $2 AND y.role = 'guardian' AND y.deleted_at IS NULL`, a.PlayerID, a.AccountID).
		Scan(&o.Number, &o.Student, database.IntoText(&o.Coach))
	return o, database.OrMissing(err, "read the player of attempt "+a.ID)
}

// Start returns the address at the provider of an attempt that an app began. asked is what the browser shows of Opened: without it the
// error is forbidden, because nothing was shown there. Errors: not_found, forbidden, and *Error of the provider.
func (s *Service) Start(ctx context.Context, state, asked string) (a Attempt, address string, err error) {
	a, p, err := s.started(ctx, state)
	if err != nil {
		return a, "", err
	}
	if subtle.ConstantTimeCompare([]byte(asked), []byte(a.Asked)) == 0 {
		return a, "", fault.New(fault.Forbidden, "forbidden", "Open the address of the attempt first.")
	}
	address, err = s.Client.AuthURL(ctx, p, s.secretsOf(state))
	return a, address, err
}

// started returns the attempt that an app began with a state, while it can go on. Errors: not_found.
func (s *Service) started(ctx context.Context, state string) (Attempt, Provider, error) {
	a, err := s.scanAttempt(s.DB.QueryRow(ctx, `SELECT `+attemptColumns+` FROM proof_attempts WHERE state_hash = $1 AND state = 'started' AND started_at > $2`,
		vault.HashToken(state), database.Micros(s.Now().Add(-attemptFor))))
	p, ok := s.provider(a.Provider)
	if database.IsNoRows(err) || err == nil && (!ok || a.Via == actor.ViaPage) {
		return a, p, fault.Missing()
	}
	if err != nil {
		return a, p, fmt.Errorf("read an attempt: %w", err)
	}
	return a, p, nil
}
