package store_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/platform/witness"
	"github.com/touchline/touchline/internal/proof"
)

// consentLog is the log of consents, without a published checkpoint.
func (p *fixture) consentLog() *proof.Service {
	return &proof.Service{DB: p.db, Secrets: p.vault.For(vault.ForLog), Origin: "touchline.example/log"}
}

// proofStatements runs the statements on records and their log.
func (p *fixture) proofStatements() {
	p.Helper()
	// The worker of runService may have signed the log with another key.
	for _, statement := range []string{
		`DELETE FROM log_tiles`, `DELETE FROM log_hashes`, `UPDATE consent_records SET position = NULL`,
		`UPDATE consent_log SET origin = '', size = 0, checkpoint = NULL, stopped_at = NULL, stopped_reason = NULL`,
	} {
		ok(p, run(p.db, statement))
	}
	by := p.coach(130)
	a := p.add(by, "Asha Rao", number(131), number(132))
	guardian := p.as(actor.Guardian, number(131))
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	log := p.consentLog()
	var full []any // a tile
	for i := range 256 {
		full = append(full, fmt.Sprint("tile ", i), []byte("{}"), 1)
	}
	ok(p, run(p.db, `INSERT INTO consent_records (id, body, at) VALUES `+database.RowsOf(256, 3), full...))
	ok(p, log.Work(bg))
	records, err := log.Receipts(bg, guardian, "", 5)
	ok(p, err)
	_, err = log.Receipt(bg, guardian, records[0].Body.RecordID)
	ok(p, err)
	ok(p, log.Sample(bg))
	_, err = log.Checkpoint(bg)
	ok(p, err)
	p.publishStatements(log)
	for _, path := range []string{"0/000.p/1", "entries/000.p/1"} {
		_, err = log.Tile(bg, path)
		ok(p, err)
	}
	_, err = log.CurrentKey(bg)
	ok(p, err)
	_, err = log.Audit(bg) // finds the records that other statements sealed with another secret
	ok(p, err)
	for _, statement := range []string{ // a key that was erased, a log without its row, and a record without a key
		`UPDATE record_keys SET sealed = NULL WHERE party = 'student' AND player_id = '` + a.ID + `'`,
		`UPDATE consent_log SET id = 2`, `UPDATE consent_log SET id = 1`,
		`DELETE FROM record_keys WHERE party = 'student' AND player_id = '` + a.ID + `'`,
	} {
		ok(p, run(p.db, statement))
		_, err = log.Audit(bg)
		ok(p, err)
	}
	ok(p, run(p.db, `UPDATE consent_log SET size = size + 1`))
	ok(p, p.decide(guardian, a.ID, approval.Revoke))
	ok(p, log.Work(bg)) // stops
	ok(p, run(p.db, `UPDATE consent_log SET size = size - 1`))
	_, err = log.Continue(bg, actor.Operator{Name: "shell:test"})
	ok(p, err)
	if _, err := log.Continue(bg, actor.Operator{}); fault.KindOf(err) != fault.Conflict {
		p.Errorf("continue a log that runs: got %v, want a conflict", err)
	}
}

// publishStatements runs the statements of witnesses: an attempt that is aborted, one that fails, and one that succeeds.
func (p *fixture) publishStatements(log *proof.Service) {
	p.Helper()
	aborted, abort := context.WithCancel(bg)
	status := http.StatusTeapot
	log.Sender = webhook.NewOperatorSender(p.db.Now)

	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	key := append([]byte{4}, private.Public().(ed25519.PublicKey)...)
	hash := sha256.Sum256(append([]byte("w.example\n"), key...))
	cosigning := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != http.StatusOK {
			abort()
			w.WriteHeader(status)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, signed, _ := strings.Cut(string(body), "\n\n")
		text, _, _ := strings.Cut(signed, "\n\n")
		signature := ed25519.Sign(private, []byte("cosignature/v1\ntime 1\n"+text+"\n"))
		line := slices.Concat(hash[:4], []byte{7: 1}, signature)
		fmt.Fprintf(w, "— w.example %s\n", base64.StdEncoding.EncodeToString(line))
	}))
	defer cosigning.Close()
	w, err := witness.Parse(fmt.Sprintf("witness w w.example+%x+%s %s", hash[:4], base64.StdEncoding.EncodeToString(key), cosigning.URL))
	ok(p, err)
	log.Witnesses = []witness.Witness{w}
	ask := log.Publications()[0]
	ok(p, ask(aborted))
	if ask(bg) == nil {
		p.Error("a status 418 is a success")
	}
	ok(p, run(p.db, `UPDATE log_destinations SET due_at = 0`)) // the wait after a failure
	status = http.StatusOK
	ok(p, ask(bg))
	signed, err := log.Checkpoint(bg)
	if err != nil || !strings.Contains(string(signed), "w.example") {
		p.Errorf("cosigned checkpoint: %s, %v", signed, err)
	}
	log.Witnesses = nil
}
