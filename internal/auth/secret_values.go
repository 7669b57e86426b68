package auth

import (
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// Sealed are the columns that the service secret seals, with the responses that are kept for repeated calls.
var Sealed = []store.Sealed{
	{
		Table: "accounts", Column: "closed_number", Purpose: vault.ForClosed,
		Read:  `SELECT id, closed_number FROM accounts WHERE id > $2 AND closed_number IS NOT NULL ORDER BY id LIMIT $1`,
		Write: `UPDATE accounts SET closed_number = $2 WHERE id = $3 AND closed_number = $1`,
	},
	{
		Table: "tls_entries", Column: "sealed", Purpose: vault.ForTLS,
		Read:  `SELECT name, sealed FROM tls_entries WHERE name > $2 AND sealed IS NOT NULL ORDER BY name LIMIT $1`,
		Write: `UPDATE tls_entries SET sealed = $2 WHERE name = $3 AND sealed = $1`,
	},
	{
		Table: "kept_answers", Column: "answer", Purpose: vault.ForResponses,
		Read:  `SELECT owner, key, answer FROM kept_answers WHERE (owner, key) > ($2, $3) AND answer IS NOT NULL ORDER BY owner, key LIMIT $1`,
		Write: `UPDATE kept_answers SET answer = $2 WHERE owner = $3 AND key = $4 AND answer = $1`,
	},
}

// Ended is what ends with the service secret: the secret derives the tokens, and seals codes and subscriptions.
var Ended = []store.Ended{
	{What: "push subscriptions", Query: `DELETE FROM push_subscriptions WHERE session_id IN (SELECT session_id FROM push_subscriptions LIMIT $1)`},
	{What: "sessions", Query: `UPDATE sessions SET revoked_at = $2 WHERE id IN (SELECT id FROM sessions WHERE revoked_at IS NULL LIMIT $1)`},
	{What: "known devices", Query: `DELETE FROM devices WHERE id IN (SELECT id FROM devices LIMIT $1)`},
	{What: "codes that were sent", Query: `DELETE FROM otp_challenges WHERE (mobile_number, role, device_id) IN (SELECT mobile_number, role, device_id FROM otp_challenges ORDER BY mobile_number, role, device_id LIMIT $1)`},
}

// keptMACs says what is protected by the purposes whose MAC keys outlive the service secret, because what they made cannot be made again: the
// signatures of the log, the hashes of former numbers, of disputes and of proved people, and the fingerprints of calls that may be repeated.
var keptMACs = map[vault.Purpose]string{
	vault.ForLog:       "signatures of the log of consents",
	vault.ForClosed:    "hashes of the former numbers of coaches",
	vault.ForDispute:   "hashes of the students and numbers of disputes",
	vault.ForIdentity:  "hashes of the people who proved to be adults",
	vault.ForResponses: "fingerprints of calls with an Idempotency-Key",
}

// keptMACPrefix precedes the purpose in the id of a kept MAC key.
const keptMACPrefix = "mac/"
