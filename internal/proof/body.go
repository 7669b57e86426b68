// Package proof records each change of a consent so that a family can prove later what was asked
// and answered. A record has a body without names, numbers or ids of people. In their place it has
// salted digests (RFC 9901), which only the holder of the disclosures can match with values. The
// bodies are the entries of an append-only log (RFC 6962), whose signed checkpoints anyone can keep.
//
// docs/proof.md describes what the records prove, and what they do not.
package proof

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
)

// SchemaVersion is the version of Body.
const SchemaVersion = "touchline-consent/1"

// Body is what the log proves about one change of a consent. The names follow ISO/IEC TS 27560
// where it has them. The fields are in the order of their names: with encoding/json this gives the
// canonical form of RFC 8785 for the values that occur.
type Body struct {
	// SD are the digests of the disclosures, sorted.
	SD    []string `json:"_sd"`
	SDAlg string   `json:"_sd_alg"`
	// Authentication says how the party proved its number; nil if the party did nothing.
	Authentication *Authentication `json:"authentication,omitempty"`
	// EventState is the state of the consent after the event, PreviousState the state before.
	EventState string `json:"event_state"`
	// EventTime is RFC 3339 in UTC with microseconds.
	EventTime string `json:"event_time"`
	EventType string `json:"event_type"`
	// First says that it is the first record of a party: the coach added the player.
	First bool `json:"first,omitempty"`
	// Language, PrivacyNotice and TextHash are the language and the SHA-256 hashes (hex) of what
	// was shown; empty if they are not known.
	Language string `json:"language"`
	// NumberSuppliedBy says who entered the number of the party.
	NumberSuppliedBy string `json:"number_supplied_by"`
	PartyRole        string `json:"party_role"`
	PIIController    string `json:"pii_controller"`
	PreviousState    string `json:"previous_state"`
	PrivacyNotice    string `json:"privacy_notice"`
	// Profile is the privacy profile of the service.
	Profile       string   `json:"profile"`
	Purposes      []string `json:"purposes"`
	RecordID      string   `json:"record_id"`
	SchemaVersion string   `json:"schema_version"`
	// ShownOn is where the party saw or heard the question: page, sms, whatsapp, voice, client or unknown. The claim shown
	// has what it showed.
	ShownOn  string `json:"shown_on"`
	TextHash string `json:"text_hash"`
	Via      string `json:"via"`
}

// Authentication is how a party proved that it holds its number.
type Authentication struct {
	// Age is how many seconds before the event.
	Age    int64  `json:"age"`
	Method string `json:"method"`
}

// The methods of Authentication.
const (
	ByOTP     = "otp"
	ByPasskey = "passkey"
	ByButton  = "whatsapp_button"
	ByKey     = "voice_key"
	ByLink    = "link"
)

// encode returns the canonical form of b.
func (b Body) encode() []byte { return encodeJSON(b) }

// encodeJSON is json.Marshal without the escapes for HTML.
func encodeJSON(v any) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only strings and integers
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// entry returns the entry of the log for a body: its SHA-256 hash.
func entry(body []byte) []byte {
	sum := sha256.Sum256(body)
	return sum[:]
}

// keyBytes is the length of the key of a record.
const keyBytes = 32

// saltBytes is the length of a salt: RFC 9901 recommends 128 bits.
const saltBytes = 16

// Claims are the values behind the digests of a body, by name.
type Claims map[string]string

// claimNames are the claims that each body has a digest of, also of an empty value. So the number
// of digests says nothing.
var claimNames = []string{
	"coach_id", "coach_name", "party_id", "party_name", "party_phone", "player_id", "reason", "relationship",
	proofClaim, "request_id", claimRow, shownClaim, shownCoach, shownStudent, "student_birth_date", "student_name",
}

// The claims of what a party was shown. The value of shownClaim is the JSON object of shownRest. The names are claims of their
// own, so that a receipt can withhold one of them and still prove the rest.
const (
	shownClaim   = "shown"
	shownCoach   = "shown_coach_name"
	shownStudent = "shown_student_name"
)

// proofClaim is the claim of the proof with which a guardian said yes. Its value is the JSON object of AdultProof.
const proofClaim = "proof"

// isObject reports whether the value of a claim is a JSON object.
func isObject(name string) bool { return name == shownClaim || name == proofClaim }

// AdultProof is the proof that a guardian who said yes is an adult, or another method of consent, for which Adult is false. It never
// has a birth date or a document. The fields are in the order of their names.
type AdultProof struct {
	Adult     bool   `json:"adult"`
	Assurance string `json:"assurance,omitempty"`
	// At is RFC 3339 in UTC.
	At       string `json:"at"`
	Method   string `json:"method"`
	NameFit  string `json:"name_fit"`
	Provider string `json:"provider"`
}

// prove adds the claim of a proof. A second message proves no adult.
func (c Claims) prove(a approval.AdultProof) {
	if a.Method != "" {
		c[proofClaim] = string(encodeJSON(AdultProof{a.Method != approval.TextPlus, a.Assurance, a.At.UTC().Format(time.RFC3339), a.Method, a.NameFit, a.Provider}))
	}
}

// Proof returns the proof with which a guardian said yes, or nil.
func (c Claims) Proof() *AdultProof {
	var a AdultProof
	if json.Unmarshal([]byte(c[proofClaim]), &a) != nil {
		return nil
	}
	return &a
}

// Shown is what a party was shown when it answered. A name that a receipt withholds is empty.
type Shown struct {
	CoachName   string `json:"coach_name"`
	StudentName string `json:"student_name"`
	shownRest
}

// shownRest is Shown without names of persons. The fields are in the order of their names.
type shownRest struct {
	// Batch has the names of the student's batches.
	Batch string `json:"batch"`
	// CoachPictureHash is the SHA-256 of the coach's picture, in hexadecimal digits; empty if the coach shows none.
	CoachPictureHash string `json:"coach_picture_hash,omitempty"`
	Language         string `json:"language"`
	NoticeHash       string `json:"notice_hash"`
	TextHash         string `json:"text_hash"`
	// Version is the version of the request; 0 if the party was shown no open request.
	Version int64 `json:"version,omitempty"`
}

// show adds the claims of what was shown, if that is known.
func (c Claims) show(w approval.Wording) {
	if !w.Known() {
		return
	}
	c[shownCoach], c[shownStudent] = w.CoachName, w.StudentName
	c[shownClaim] = string(encodeJSON(shownRest{
		Batch: w.Batch, CoachPictureHash: w.CoachPicture, Language: w.Language, NoticeHash: w.NoticeHash, TextHash: w.TextHash, Version: w.Version,
	}))
}

// Shown returns what the party was shown, or nil if the claims do not have it.
func (c Claims) Shown() *Shown {
	s := Shown{CoachName: c[shownCoach], StudentName: c[shownStudent]}
	if json.Unmarshal([]byte(c[shownClaim]), &s.shownRest) != nil {
		return nil
	}
	return &s
}

// splitDisclosure returns the name and the value of a decoded disclosure.
func splitDisclosure(raw []byte) (name, value string, ok bool) {
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || len(parts) != 3 || json.Unmarshal(parts[1], &name) != nil {
		return "", "", false
	}
	switch name {
	case shownClaim:
		ok = json.Unmarshal(parts[2], new(shownRest)) == nil
	case proofClaim:
		ok = json.Unmarshal(parts[2], new(AdultProof)) == nil
	default:
		return name, value, json.Unmarshal(parts[2], &value) == nil
	}
	return name, string(parts[2]), ok
}

// claimRow is the claim of what the tables have beside the other claims: see rowOf. Receipts do not show it.
const claimRow = "row"

// disclosure returns the disclosure of a claim: base64url of a JSON array of salt, name and value.
func disclosure(key []byte, name, value string) string {
	return newDisclosureHash(key).disclosure(name, value)
}

// disclosureHash makes the disclosures of one record. An audit makes those of all records, so it uses its memory again.
type disclosureHash struct {
	mac                   hash.Hash
	salt, array, encoding []byte
}

func newDisclosureHash(key []byte) *disclosureHash {
	return &disclosureHash{mac: hmac.New(sha256.New, key)}
}

func (h *disclosureHash) disclosure(name, value string) string { return string(h.encode(name, value)) }

// encode returns a disclosure, until the next call.
func (h *disclosureHash) encode(name, value string) []byte {
	h.mac.Reset()
	h.mac.Write([]byte(name))
	h.salt = h.mac.Sum(h.salt[:0])
	h.array = append(h.array[:0], `["`...)
	h.array = base64.RawURLEncoding.AppendEncode(h.array, h.salt[:saltBytes])
	h.array = append(append(h.array, `","`...), name...)
	h.array = append(h.array, `",`...)
	switch {
	case isObject(name) && value != "":
		h.array = append(h.array, value...)
	case plainJSON(value):
		h.array = append(append(append(h.array, '"'), value...), '"')
	default:
		h.array = append(h.array, encodeJSON(value)...)
	}
	h.array = append(h.array, ']')
	h.encoding = base64.RawURLEncoding.AppendEncode(h.encoding[:0], h.array)
	return h.encoding
}

// plainJSON reports whether a text is the same in JSON.
func plainJSON(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// digest returns the hash of a disclosure.
func (h *disclosureHash) digest(name, value string) [sha256.Size]byte {
	return sha256.Sum256(h.encode(name, value))
}

// digestOf returns the digest of a disclosure.
func digestOf(disclosure string) string {
	sum := sha256.Sum256([]byte(disclosure))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// digests returns the digests of all claims, sorted.
func (c Claims) digests(key []byte) []string {
	list := make([]string, len(claimNames))
	h := newDisclosureHash(key)
	for i, name := range claimNames {
		sum := h.digest(name, c[name])
		list[i] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	slices.Sort(list)
	return list
}

// disclosures returns the disclosures of the claims that have a value, by name.
func (c Claims) disclosures(key []byte) []string {
	var list []string
	for _, name := range claimNames {
		if c[name] != "" && name != claimRow {
			list = append(list, disclosure(key, name, c[name]))
		}
	}
	return list
}

// disclosed returns the claims of disclosures, each of which must have a digest in b.
func (b Body) disclosed(disclosures []string) (Claims, error) {
	claims := Claims{}
	for i, d := range disclosures {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(d)
		if err != nil || strings.ContainsAny(d, "\r\n") {
			return nil, fmt.Errorf("disclosure %d is not base64url", i+1)
		}
		name, value, ok := splitDisclosure(raw)
		if !ok {
			return nil, fmt.Errorf("disclosure %d is not an array of salt, name and value", i+1)
		}
		if !slices.Contains(b.SD, digestOf(d)) {
			return nil, fmt.Errorf("the body has no digest of disclosure %d (%s)", i+1, name)
		}
		if _, twice := claims[name]; twice {
			return nil, fmt.Errorf("%s is disclosed twice", name)
		}
		claims[name] = value
	}
	return claims, nil
}
