package auth

import "github.com/touchline/touchline/internal/store"

// Expired are the rows of sign-in that the sweep deletes.
var Expired = []store.Expired{
	{What: "challenges", Query: `DELETE FROM otp_challenges WHERE (mobile_number, role, device_id) IN (SELECT mobile_number, role, device_id FROM otp_challenges WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`, Kept: ChallengesKept},
	{What: "sends", Query: `DELETE FROM otp_sends WHERE challenge_id IN (SELECT challenge_id FROM otp_sends WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`, Kept: FraudWindow},
	{What: "failures", Query: `DELETE FROM otp_failures WHERE who IN (SELECT who FROM otp_failures WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "limits", Query: `DELETE FROM limits WHERE (key, shard) IN (SELECT key, shard FROM limits WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "devices", Query: `DELETE FROM devices WHERE id IN (SELECT id FROM devices WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "challenges of passkeys", Query: `DELETE FROM passkey_challenges WHERE id IN (SELECT id FROM passkey_challenges WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`},
	{What: "confirmed addresses", Query: `DELETE FROM confirmed_addresses WHERE (mobile_number, role) IN (SELECT mobile_number, role FROM confirmed_addresses WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "devices of coaches", Query: `DELETE FROM coach_devices WHERE (token_hash, coach_id) IN (SELECT token_hash, coach_id FROM coach_devices WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "former numbers", Query: `DELETE FROM former_numbers WHERE (account_id, number_hash) IN (SELECT account_id, number_hash FROM former_numbers WHERE left_at < $1 ORDER BY left_at LIMIT $2) AND left_at < $1`, Kept: FormerNumbersKept},
	{What: "sessions", Query: `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`, Kept: SessionsKept},
}
