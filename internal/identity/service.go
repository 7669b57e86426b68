package identity

import (
	"context"
	"embed"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

const (
	// proofMonths is how long a proof counts.
	proofMonths = 24
	// toldBefore is how long before its end the person is told.
	toldBefore = 30 * 24 * time.Hour
	// attemptFor is how long a person may take at a provider.
	attemptFor = 15 * time.Minute
	// minorWait is how long a person who was found to be a minor waits.
	minorWait = time.Hour
	// maxAttempts limits what an account begins within attemptsWithin.
	maxAttempts    = 20
	attemptsWithin = time.Hour
	// numbersOfPerson is how many numbers one person may prove before operators look at it.
	numbersOfPerson = 5
)

// Expired are the attempts that store.DB.Sweep deletes.
var Expired = store.Expired{
	What: "attempts to prove an adult", Query: `DELETE FROM proof_attempts WHERE id IN (SELECT id FROM proof_attempts WHERE started_at < $1 ORDER BY started_at LIMIT $2)`,
	Kept: 24 * time.Hour,
}

// Service makes and ends proofs, with their SQL.
type Service struct {
	DB        *store.DB
	Approvals *player.Service
	Providers []Provider
	Client    *Client
	// Secrets derives what binds the answer of a provider to an attempt.
	Secrets vault.Sealer
	// AppURL is where the app opens, or "". PublicURL is the address of the service.
	AppURL, PublicURL string
	Rand              io.Reader
	Log               *slog.Logger
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

// Choices returns the providers that a guardian may choose; none if no proof is asked for.
func (s *Service) Choices() []approval.ProofChoice {
	if r := s.Approvals.Rules.GuardianProof; r == "" || r == approval.ProofOff {
		return nil
	}
	choices := make([]approval.ProofChoice, len(s.Providers))
	for i, p := range s.Providers {
		choices[i] = approval.ProofChoice{Name: p.Name, Label: p.Label}
	}
	return choices
}

// provider returns the provider with a name.
func (s *Service) provider(name string) (Provider, bool) {
	i := slices.IndexFunc(s.Providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return s.Providers[i], true
}

// The states of Status.
const (
	None    = "none"
	Started = "started"
	Valid   = "valid"
	Ended   = "expired"
	Failed  = "failed"
)

// Status is the proof of one person.
type Status struct {
	State            string
	Method, Provider string
	NameFit          string
	At, EndsAt       time.Time
	// Failure is why the newest attempt failed.
	Failure Failure
}

// Status returns the proof of the caller, or how the newest attempt stands.
func (s *Service) Status(ctx context.Context, by actor.Actor) (Status, error) {
	st := Status{State: None}
	var attempt string
	var startedAt time.Time
	now := s.Now()
	err := s.DB.QueryRow(ctx, `
		SELECT i.method, i.provider, i.name_fit, i.proved_at, i.ends_at, t.state, t.failure, t.started_at
		FROM accounts a
		LEFT JOIN adult_proofs i ON i.account_id = a.id
		LEFT JOIN proof_attempts t ON t.id = (SELECT n.id FROM proof_attempts n WHERE n.account_id = a.id ORDER BY n.started_at DESC, n.id DESC LIMIT 1)
		WHERE a.id = $1`, by.AccountID).
		Scan(database.IntoText(&st.Method), database.IntoText(&st.Provider), database.IntoText(&st.NameFit), database.IntoTime(&st.At), database.IntoTime(&st.EndsAt),
			database.IntoText(&attempt), database.IntoText((*string)(&st.Failure)), database.IntoTime(&startedAt))
	if err != nil {
		return Status{}, fmt.Errorf("read the proof of account %s: %w", by.AccountID, err)
	}
	switch {
	case now.Before(st.EndsAt):
		st.State, st.Failure = Valid, ""
	case attempt == attemptFailed:
		st.State = Failed
	case attempt != "" && attempt != attemptValid && now.Sub(startedAt) < attemptFor:
		st.State = Started
	case st.Method != "":
		st.State = Ended
	}
	return st, nil
}

// NewestChild returns the newest player of a guardian, or "": the name that its coach entered for the guardian is compared.
func (s *Service) NewestChild(ctx context.Context, by actor.Actor) (id string, err error) {
	err = s.DB.QueryRow(ctx, `
		SELECT a.player_id FROM parties a JOIN players p ON p.id = a.player_id AND p.deleted_at IS NULL
		WHERE a.account_id = $1 AND a.role = 'guardian' AND a.deleted_at IS NULL ORDER BY a.player_id DESC LIMIT 1`, by.AccountID).Scan(&id)
	if database.IsNoRows(err) {
		return "", nil
	}
	return id, err
}

// Withdraw ends the proof of the caller, and the approvals that need it. It does nothing without a proof.
func (s *Service) Withdraw(ctx context.Context, by actor.Actor) error {
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM adult_proofs WHERE account_id = $1`, by.AccountID)
		if err != nil || n == 0 {
			return err
		}
		return s.Approvals.ProofEnded(ctx, tx, by.AccountID)
	})
	return fault.Wrap(err, "withdraw the proof of account %s", by.AccountID)
}

// proved is a proof that is about to be saved.
type proved struct {
	Method    Method  `json:"method"`
	Provider  string  `json:"provider"`
	Assurance string  `json:"assurance,omitempty"`
	NameFit   NameFit `json:"name_fit"`
	// Subject is the keyed hash of issuer and subject.
	Subject []byte    `json:"subject,omitempty"`
	At      time.Time `json:"at"`
}

// save makes p the proof of an account.
func (p proved) save(ctx context.Context, tx *store.Tx, accountID string) error {
	flag := ""
	if p.NameFit == OtherName {
		flag = "name"
	}
	if p.Subject != nil {
		var others int
		err := tx.QueryRow(ctx, `SELECT count(*) FROM adult_proofs WHERE subject_hash = $1 AND account_id <> $2`, p.Subject, accountID).Scan(&others)
		if err != nil {
			return fmt.Errorf("count the numbers of a person: %w", err)
		}
		if others >= numbersOfPerson {
			flag = "numbers"
		}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO adult_proofs (account_id, method, provider, proved_at, ends_at, assurance, name_fit, subject_hash, flag) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (account_id) DO UPDATE SET method = excluded.method, provider = excluded.provider, proved_at = excluded.proved_at, ends_at = excluded.ends_at,
			assurance = excluded.assurance, name_fit = excluded.name_fit, subject_hash = excluded.subject_hash, flag = excluded.flag, told_at = NULL, ended_at = NULL`,
		accountID, string(p.Method), p.Provider, database.Micros(p.At), database.Micros(p.At.AddDate(0, proofMonths, 0)), database.Text(p.Assurance), string(p.NameFit), p.Subject, database.Text(flag))
	return fault.Wrap(err, "save the proof of account %s", accountID)
}

// errTooSoon says that a person found to be a minor tries again too soon, or that an account tries too often.
func errTooSoon(wait time.Duration) error {
	return fault.New(fault.TooMany, "rate_limited", "You tried this before. Try again later.").After(wait)
}
