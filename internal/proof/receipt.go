package proof

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/approval"
)

// MediaReceipt is the media type of a receipt.
const MediaReceipt = "application/vnd.tlog-proof"

// receiptHeader is the first line of a receipt.
const receiptHeader = "c2sp.org/tlog-proof@v1"

// maxReceipt limits what ParseReceipt reads, in bytes. A receipt has about 4,000.
const maxReceipt = 64 << 10

// Receipt proves that a record is in the log: a C2SP tlog-proof, whose extra data has what the entry
// is the hash of. It needs nothing but the key of the log to be verified.
type Receipt struct {
	Body []byte
	// Disclosures show values of the body. The holder may leave out any of them.
	Disclosures []string
	Index       int64
	Proof       tlog.RecordProof
	// Checkpoint is a signed note.
	Checkpoint []byte
}

// Encode returns the text of r. The extra data is base64url(body) and the disclosures, each followed by "~", as RFC 9901
// joins the parts of an SD-JWT.
func (r Receipt) Encode() []byte {
	extra := base64.RawURLEncoding.EncodeToString(r.Body) + "~"
	for _, d := range r.Disclosures {
		extra += d + "~"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nextra %s\nindex %d\n", receiptHeader, base64.StdEncoding.EncodeToString([]byte(extra)), r.Index)
	for _, h := range r.Proof {
		fmt.Fprintf(&b, "%s\n", h)
	}
	b.WriteByte('\n')
	b.Write(r.Checkpoint)
	return b.Bytes()
}

// ParseReceipt reads a receipt. It checks its form; Verify checks what it says.
func ParseReceipt(text []byte) (Receipt, error) {
	var r Receipt
	if len(text) > maxReceipt {
		return r, fmt.Errorf("the file has more than %d bytes", maxReceipt)
	}
	head, checkpoint, ok := strings.Cut(string(text), "\n\n")
	lines := strings.Split(head, "\n")
	if lines[0] != receiptHeader {
		return r, fmt.Errorf("the first line is not %s", receiptHeader)
	}
	if !ok || len(lines) < 3 {
		return r, errors.New("the file is cut off")
	}
	extra, ok := strings.CutPrefix(lines[1], "extra ")
	if !ok {
		return r, errors.New("the second line does not begin with extra: the record is missing")
	}
	raw, err := decodeBase64(base64.StdEncoding, extra)
	if err != nil {
		return r, errors.New("the record is not in base64")
	}
	parts := strings.Split(string(raw), "~")
	if len(parts) < 2 || parts[len(parts)-1] != "" {
		return r, errors.New("the record does not end with ~")
	}
	if r.Body, err = decodeBase64(base64.RawURLEncoding, parts[0]); err != nil {
		return r, errors.New("the body of the record is not in base64url")
	}
	r.Disclosures = parts[1 : len(parts)-1]
	index, ok := strings.CutPrefix(lines[2], "index ")
	if !ok {
		return r, errors.New("the third line does not begin with index")
	}
	if r.Index, err = parseIndex(index); err != nil {
		return r, fmt.Errorf("the position: %w", err)
	}
	for _, line := range lines[3:] {
		h, err := parseHash(line)
		if err != nil {
			return r, fmt.Errorf("the proof: %w", err)
		}
		r.Proof = append(r.Proof, h)
	}
	r.Checkpoint = []byte(checkpoint)
	return r, nil
}

// decodeBase64 decodes the only form of a text: no line breaks, and the unused bits are zero.
func decodeBase64(e *base64.Encoding, text string) ([]byte, error) {
	raw, err := e.DecodeString(text)
	if err == nil && e.EncodeToString(raw) != text {
		err = base64.CorruptInputError(0)
	}
	return raw, err
}

// Verified is what a receipt proves.
type Verified struct {
	Body Body
	// Claims are the values that the receipt discloses.
	Claims     Claims
	Index      int64
	Checkpoint Checkpoint
	// Witnesses says of each known witness whether it cosigned the checkpoint.
	Witnesses []Cosigned
}

// Verify checks that r is of the log with that key: the signature of the checkpoint, the place of the record below it, and
// each disclosure. An error says in plain words what is wrong. Lines of other keys than those of witnesses are ignored.
func (r Receipt) Verify(key note.Verifier, witnesses ...note.Verifier) (Verified, error) {
	c, err := OpenCheckpoint(r.Checkpoint, key)
	if err != nil {
		return Verified{}, err
	}
	cosigned, err := openCosignatures(r.Checkpoint, witnesses)
	if err != nil {
		return Verified{}, err
	}
	if r.Index >= c.Size {
		return Verified{}, fmt.Errorf("the position is %d, but the checkpoint has %d records", r.Index, c.Size)
	}
	if err := tlog.CheckRecord(r.Proof, c.Size, c.Root, r.Index, tlog.RecordHash(entry(r.Body))); err != nil {
		return Verified{}, errors.New("the record is not in the log at this position: it was changed, or the proof is of another record")
	}
	v := Verified{Index: r.Index, Checkpoint: c, Witnesses: cosigned}
	if err := json.Unmarshal(r.Body, &v.Body); err != nil {
		return Verified{}, fmt.Errorf("the body is not the JSON of a record: %w", err)
	}
	if v.Body.SchemaVersion != SchemaVersion || v.Body.SDAlg != "sha-256" {
		return Verified{}, fmt.Errorf("the record has the version %.40q, want %q", v.Body.SchemaVersion, SchemaVersion)
	}
	v.Claims, err = v.Body.disclosed(r.Disclosures)
	return v, err
}

// Without returns r without the disclosures of claims. A name is also withheld from what was shown.
func (r Receipt) Without(names ...string) Receipt {
	kept := r
	for name, also := range map[string]string{"coach_name": shownCoach, "student_name": shownStudent} {
		if containsName(names, name) {
			names = append(slices.Clone(names), also)
		}
	}
	kept.Disclosures = nil
	for _, d := range r.Disclosures {
		raw, _ := base64.RawURLEncoding.DecodeString(d)
		name, _, ok := splitDisclosure(raw)
		if !ok || !containsName(names, name) {
			kept.Disclosures = append(kept.Disclosures, d)
		}
	}
	return kept
}

func containsName(names []string, name string) bool {
	for _, n := range names {
		if strings.TrimSpace(n) == name {
			return true
		}
	}
	return false
}

// quoted quotes a name that was shown.
func quoted(name string) string {
	if name == "" {
		return "(not disclosed)"
	}
	return strconv.Quote(name)
}

// nameFits say whether the provider of a proof knows the name that the coach entered.
var nameFits = map[string]string{
	"same": "The provider knows the name that the coach entered", "similar": "The provider knows a name like the one that the coach entered",
	"other": "The provider knows another name than the one that the coach entered", "unknown": "The provider did not say the name",
}

// Explain returns in plain English what the receipt proves, and what it does not.
func (v Verified) Explain() string {
	b := v.Body
	shown := func(name, otherwise string) string {
		if value := v.Claims[name]; value != "" {
			return value
		}
		return otherwise
	}
	number, coach := shown("party_phone", "a number that this copy does not show"), shown("coach_name", "a coach whom this copy does not name")
	student := shown("student_name", "a student whom this copy does not name")
	if born := v.Claims["student_birth_date"]; born != "" {
		student += ", born " + born
	}
	proved := map[string]string{
		ByOTP: "Someone who received a code at " + number, ByPasskey: "Someone with a passkey of " + number,
		ByButton: "Someone who used WhatsApp at " + number, ByKey: "Someone who answered a call at " + number, ByLink: "Someone who opened a link that was sent to " + number,
	}
	who := "The service or the coach " + coach + ", not the " + b.PartyRole
	if b.Authentication != nil {
		who = proved[b.Authentication.Method]
		if who == "" {
			who = "Someone at " + number
		}
		who += ", which the " + b.NumberSuppliedBy + " " + coach + " gave,"
	}
	did := map[string]string{
		"approved": "pressed yes", "rejected": "pressed no", "revoked": "took back an earlier yes", "disputed": `pressed "this is not me"`, "dispute_lifted": `took back "this is not me"`,
		"old_dispute_lifted": `took back "this is not me"`, "added": "added the student", "cancelled": "closed the question",
		"corrected": "changed a name, number or birth date, or the order or rule of the guardians", "guardian_removed": "removed the guardian",
		"asked": "asked the " + b.PartyRole + " at " + number, "removed": "ended the link with the student",
		"reset_by_number": "changed the number " + number + ", so an answer had to be asked again", "reset_by_student": "changed the name or birth date of the student, so an answer had to be asked again",
		"reset_by_18": "no longer counted the answer of the guardian, because the student is an adult and has not answered", "left": "deleted the account", "ended_by_student": "ended the view of the guardian, as an adult student",
		"coach_changed":    "changed the name or picture of the coach, and the answer stayed",
		"reset_by_proof":   "no longer counted an earlier yes, because the proof that the guardian is an adult ended",
		"reset_by_service": "no longer counted an earlier yes, because its record contradicted it",
	}[b.EventType]
	if did == "" {
		did = "changed the answer (" + b.EventType + ")"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "This receipt is genuine.\n\nIt proves:\n  %s %s at %s (UTC).\n", who, did, strings.TrimSuffix(strings.Replace(b.EventTime, "T", " ", 1), "Z"))
	if b.Authentication != nil && (b.Authentication.Method == ByOTP || b.Authentication.Method == ByPasskey) {
		fmt.Fprintf(&s, "  The number was proved %d seconds before.\n", b.Authentication.Age)
	}
	fmt.Fprintf(&s, "  It is about %s, and %s of the coach %s.\n", student, "the app services", coach)
	if seen := v.Claims.Shown(); seen != nil {
		fmt.Fprintf(&s, "  The question named the coach %s, the student %s and the batch %q", quoted(seen.CoachName), quoted(seen.StudentName), seen.Batch)
		if seen.CoachPictureHash != "" {
			fmt.Fprintf(&s, ", with a picture that has the SHA-256 hash %s", seen.CoachPictureHash)
		}
		s.WriteString(".\n")
	}
	adult := v.Claims.Proof()
	switch {
	case adult == nil:
	case adult.Method == approval.TextPlus:
		fmt.Fprintf(&s, "  The yes has the method %s: a second message was to follow it. It does not prove that the %s is an adult.\n", adult.Method, b.PartyRole)
	default:
		fmt.Fprintf(&s, "  The %s proved at %s (UTC) to be an adult: by %s (%s)", b.PartyRole, strings.TrimSuffix(strings.Replace(adult.At, "T", " ", 1), "Z"), adult.Provider, adult.Method)
		if adult.Assurance != "" {
			fmt.Fprintf(&s, ", which calls its assurance %q", adult.Assurance)
		}
		fmt.Fprintf(&s, ". %s.\n", nameFits[adult.NameFit])
	}
	if b.TextHash != "" {
		fmt.Fprintf(&s, "  The text that was shown has the SHA-256 hash %s, in the language %s; the notice %s.\n", b.TextHash, b.Language, b.PrivacyNotice)
	}
	if reason := v.Claims["reason"]; reason != "" {
		fmt.Fprintf(&s, "  The reason that was given: %s\n", strconv.Quote(reason))
	}
	fmt.Fprintf(&s, "  The answer was %q before and %q after. It is record %d of the log %s, and has not changed since the log had %d records.\n",
		b.PreviousState, b.EventState, v.Index, v.Checkpoint.Origin, v.Checkpoint.Size)
	for _, w := range v.Witnesses {
		if w.At.IsZero() {
			fmt.Fprintf(&s, "  The witness %s did not sign this state of the log.\n", w.Name)
		} else {
			fmt.Fprintf(&s, "  The witness %s signed this state of the log at %s (UTC): it has seen no other history.\n", w.Name, w.At.Format(time.DateTime))
		}
	}
	person := "that the person is a parent or an adult"
	if adult != nil {
		person = "that the person is a parent"
	}
	s.WriteString("\nIt does not prove:\n  who that person is, " + person + ", or that the person understood the question.\n" +
		"  A later record may say something else: this one alone does not show the answer of today.\n")
	return s.String()
}
