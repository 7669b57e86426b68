package proof

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// insertBatch is the number of records in one statement.
const insertBatch = 100

// ConsentChanged is approval.Hooks.ConsentChanged: it inserts one record for each change. It signs
// nothing, and its statements leave with others of the transaction.
func ConsentChanged(ctx context.Context, tx *store.Tx, changes []approval.ConsentChange) error {
	for batch := range slices.Chunk(changes, insertBatch) {
		var records, keys []any
		for _, c := range batch {
			key := make([]byte, keyBytes)
			_, _ = rand.Read(key) // never fails (crypto/rand)
			claims := claimsOf(c)
			body := newBody(c, claims.digests(key), tx.DB().Settings()).encode()
			sealed, err := seal(tx.DB(), key, claims, c.ID)
			if err != nil {
				return err
			}
			records = append(records, c.ID, body, database.Micros(c.At))
			keys = append(keys, c.ID, c.Player.ID, string(c.Party), claims["party_id"], c.Version, sealed, c.GuardianID)
		}
		err := tx.Defer(ctx, `INSERT INTO consent_records (id, body, at) VALUES `+database.RowsOf(len(batch), 3), records...)
		if err == nil {
			err = tx.Defer(ctx, `INSERT INTO record_keys (record_id, player_id, party, account_id, version, sealed, guardian_id) VALUES `+database.RowsOf(len(batch), 7), keys...)
		}
		if err != nil {
			return fmt.Errorf("add records: %w", err)
		}
	}
	return nil
}

// newBody returns the body of a change.
func newBody(c approval.ConsentChange, digests []string, s store.Settings) Body {
	b := Body{
		SD: digests, SDAlg: "sha-256", Authentication: authenticationOf(c),
		EventState: string(c.After), EventTime: c.At.UTC().Format(timeFormat), EventType: string(c.Kind), First: c.First,
		Language: c.Wording.Language, PrivacyNotice: c.Wording.NoticeHash, TextHash: c.Wording.TextHash,
		NumberSuppliedBy: string(actor.Coach), PartyRole: string(c.Party), PIIController: s.Brand, PreviousState: string(c.Before),
		Profile: cmp.Or(s.PrivacyProfile, "none"), Purposes: approval.AppServices, RecordID: c.ID, SchemaVersion: SchemaVersion,
		ShownOn: shownOn[c.By.Via], Via: string(c.By.Via),
	}
	b.ShownOn = cmp.Or(b.ShownOn, "unknown")
	if c.By.Role != c.Party {
		b.ShownOn = "unknown"
	}
	return b
}

// timeFormat is RFC 3339 with microseconds.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// shownOn says where a party sees the question that it answers.
var shownOn = map[actor.Via]string{actor.ViaPage: "page", actor.ViaAPI: "client", actor.ViaChat: "whatsapp", actor.ViaVoice: "voice"}

func claimsOf(c approval.ConsentChange) Claims {
	p, a := c.Player, c.Player.Find(c.Party, c.GuardianID)
	claims := Claims{
		"coach_id": p.CoachID, "coach_name": p.CoachName, "player_id": p.ID, "reason": c.Reason, "request_id": c.RequestID,
		claimRow:             rowOf(c.Version, c.CoachDevice, consentRow(p.CreatedAt, c.Consent, p.Place(a))),
		"student_birth_date": p.Student.DateOfBirth.String(), "student_name": p.Student.FullName,
		"party_id": a.AccountID, "party_name": p.Student.FullName, "party_phone": string(a.Number),
	}
	claims.show(c.Wording)
	claims.prove(c.Proof)
	if c.Party == actor.Guardian { // without one, the name is empty, as in the row of the party
		claims["party_name"], claims["relationship"] = a.Name, a.Relationship
	}
	return claims
}

// rowOf returns the claim of the version of the player, whether the party approved on a device of the coach, and consentRow.
func rowOf(version int64, coachDevice bool, consent string) string {
	return strconv.FormatInt(version, 10) + " " + strconv.FormatBool(coachDevice) + " " + consent
}

// consentRow returns what the row of a player has about a consent, besides its state.
func consentRow(createdAt time.Time, c approval.Consent, place string) string {
	return consentRowOf(database.SinceMicros(createdAt), database.SinceMicros(c.ChangedAt), database.SinceMicros(c.PendingSince), string(c.PendingReason), place, c.Refused)
}

// consentRowOf is consentRow of a row as it is stored. place is approval.Player.Place.
func consentRowOf(createdAt, changedAt, pendingSince int64, reason, place string, refused bool) string {
	if refused {
		place += " refused"
	}
	return fmt.Sprintf("%d %d %d %s %s", createdAt, changedAt, pendingSince, reason, place)
}

// authenticationOf returns how the party proved its number, or nil if another actor made the change.
// A button or a key press counts as an OTP that was entered at that time.
func authenticationOf(c approval.ConsentChange) *Authentication {
	if c.By.Role != c.Party || c.By.Via == actor.ViaOperator {
		return nil
	}
	switch {
	case c.By.Via == actor.ViaChat:
		return &Authentication{Method: ByButton}
	case c.By.Via == actor.ViaVoice:
		return &Authentication{Method: ByKey}
	case c.By.SignedInAt.IsZero():
		return &Authentication{Method: ByLink}
	}
	a := &Authentication{Method: ByOTP, Age: max(0, int64(c.At.Sub(c.By.SignedInAt)/time.Second))}
	if c.By.Passkey {
		a.Method = ByPasskey
	}
	return a
}

// seal encrypts the key and the claims of a record.
func seal(db *store.DB, key []byte, claims Claims, recordID string) ([]byte, error) {
	return db.Seal(vault.ForRecord, string(key)+string(encodeJSON(claims)), recordID)
}

// opened is a record_keys row that was decrypted.
type opened struct {
	key    []byte
	claims Claims
}

// open decrypts the key and the claims of a record.
func open(db *store.DB, sealed []byte, recordID string) (o opened, err error) {
	o.key, err = openInto(db, sealed, recordID, &o.claims)
	return o, err
}

// openInto decrypts the claims of a record into claims, and returns the key.
func openInto(db *store.DB, sealed []byte, recordID string, claims any) (key []byte, err error) {
	plain, err := db.Unseal(vault.ForRecord, sealed, recordID)
	if err != nil {
		return nil, err
	}
	if len(plain) < keyBytes {
		return nil, fmt.Errorf("open record %s: %d bytes are too short", recordID, len(plain))
	}
	return []byte(plain[:keyBytes]), json.Unmarshal([]byte(plain[keyBytes:]), claims)
}

// OpenShown is approval.Hooks.OpenShown: it returns what a record says was shown.
func OpenShown(db *store.DB, recordID string, sealed []byte) (approval.Wording, error) {
	var claims struct { // the other claims are not read
		Rest    string `json:"shown"`
		Coach   string `json:"shown_coach_name"`
		Student string `json:"shown_student_name"`
	}
	if _, err := openInto(db, sealed, recordID, &claims); err != nil {
		return approval.Wording{}, err
	}
	s := Claims{shownClaim: claims.Rest, shownCoach: claims.Coach, shownStudent: claims.Student}.Shown()
	if s == nil {
		return approval.Wording{}, nil
	}
	return approval.Wording{
		Language: s.Language, TextHash: s.TextHash, NoticeHash: s.NoticeHash, Version: s.Version,
		CoachName: s.CoachName, CoachPicture: s.CoachPictureHash, StudentName: s.StudentName, Batch: s.Batch,
	}, nil
}

// Sealed are the columns that the service secret seals.
var Sealed = []store.Sealed{{
	Table: "record_keys", Column: "sealed", Purpose: vault.ForRecord,
	Read:  `SELECT record_id, sealed FROM record_keys WHERE record_id > $2 AND sealed IS NOT NULL ORDER BY record_id LIMIT $1`,
	Write: `UPDATE record_keys SET sealed = $2 WHERE record_id = $3 AND sealed = $1`,
}}
