package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
)

// operators serves proofs to operators, who check papers in person.
type operators struct {
	*Service
	admin *admin.Server
}

// OperatorOperations returns the operations with which operators record checks of papers, and find proofs to look at.
func (s *Service) OperatorOperations(a *admin.Server) []admin.Route {
	o, kyc := operators{s, a}, a.Scope(operator.KYC)
	return []admin.Route{
		{Method: "GET", Pattern: "/api/admin/guardian-proofs", Handle: endpoint.Handle(o.list), Authorize: kyc, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/admin/guardian-proofs", Handle: endpoint.Handle(o.record), Authorize: kyc, Body: endpoint.JSON},
	}
}

type paperRequest struct {
	MobileNumber string `json:"mobile_number" rule:"required,min=1,max=64"`
	NameFit      string `json:"name_fit" rule:"required,oneof=same|similar|other"`
}

// paperResponse is the GuardianProof of admin-openapi.yaml.
type paperResponse struct {
	GuardianAccountID string `json:"guardian_account_id"`
	Method            string `json:"method"`
	Provider          string `json:"provider"`
	At                string `json:"at"`
	EndsAt            string `json:"ends_at"`
	NameFit           string `json:"name_fit"`
	// Flag is why operators look at it, or null.
	Flag *string `json:"flag"`
}

// record serves POST /api/admin/guardian-proofs.
func (o operators) record(ctx context.Context, r admin.Request[paperRequest]) (admin.Response, error) {
	in, f := r.Body, r.Faults
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	number, err := o.admin.Phones.Parse(in.MobileNumber)
	if err != nil {
		f.Add("/mobile_number", "invalid_number", "This is not a complete mobile number.")
		return admin.Response{}, f.Err()
	}
	account, p, err := o.RecordPapers(ctx, r.Caller.Operator(), number, NameFit(in.NameFit))
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.Created("/api/admin/guardian-proofs", paperResponse{
		account, string(p.Method), p.Provider, wire.Timestamp(p.At), wire.Timestamp(p.At.AddDate(0, proofMonths, 0)), string(p.NameFit), nil,
	}), nil
}

// papers is the provider of a check in person.
const papers = "papers"

// RecordPapers records that an operator saw in person the papers of the guardian with a number. It returns not_found if no player has it.
func (s *Service) RecordPapers(ctx context.Context, by actor.Operator, number phone.Number, fit NameFit) (account string, p proved, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id FROM accounts WHERE mobile_number = $1 AND role = 'guardian' AND closed_at IS NULL`, string(number)).Scan(&account)
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return fmt.Errorf("find the guardian: %w", err)
		}
		p = proved{Method: ByOperator, Provider: papers, NameFit: fit, At: tx.Now}
		if err := p.save(ctx, tx, account); err != nil {
			return err
		}
		return tx.Record(ctx, by, "proof.papers", "account", account, "")
	})
	return account, p, err
}

// Flagged is a proof that operators look at.
type Flagged struct {
	AccountID, Method, Provider, NameFit string
	// Flag is name or numbers: see the table.
	Flag       string
	At, EndsAt time.Time
}

// list serves GET /api/admin/guardian-proofs: proofs of a person who proved more than numbersOfPerson numbers, and proofs with another name.
func (o operators) list(ctx context.Context, r admin.Request[admin.NoBody]) (admin.Response, error) {
	f := r.Faults
	page := o.admin.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	found, err := o.Flagged(ctx, page.After.ID, page.ReadLimit())
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.PageResponse(page, found, newPaperResponse, func(p Flagged) admin.Keyset { return admin.Keyset{ID: p.AccountID} }), nil
}

func newPaperResponse(p Flagged) paperResponse {
	return paperResponse{p.AccountID, p.Method, p.Provider, wire.Timestamp(p.At), wire.Timestamp(p.EndsAt), p.NameFit, wire.OrNull(p.Flag)}
}

// Flagged returns at most limit proofs to look at, the newest accounts first. after is the account of the last one before, "" at the start.
func (s *Service) Flagged(ctx context.Context, after string, limit int) ([]Flagged, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT account_id, method, provider, name_fit, flag, proved_at, ends_at
		FROM adult_proofs WHERE flag IS NOT NULL AND account_id < $1 ORDER BY account_id DESC LIMIT $2`, database.Before(after), limit)
	return database.Collect(rs, err, func(row database.Scanner) (f Flagged, err error) {
		return f, row.Scan(&f.AccountID, &f.Method, &f.Provider, &f.NameFit, &f.Flag, database.IntoTime(&f.At), database.IntoTime(&f.EndsAt))
	})
}
